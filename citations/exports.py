"""Conversations written down: Markdown, JSON, a page to print, and bibliographies of what is cited."""
