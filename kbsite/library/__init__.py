"""One library, here or on a server, and what the commands do with it."""
