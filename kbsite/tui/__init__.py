"""The terminal interface: sources, a conversation, citations. It talks to a ``Notebook`` only."""
