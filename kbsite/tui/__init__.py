"""The terminal interface: sources, a conversation, the details of what is cited. It shows a ``Notebook`` and knows no database."""
