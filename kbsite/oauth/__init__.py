"""OAuth 2.1: programs that a user connects, over django-oauth-toolkit."""
