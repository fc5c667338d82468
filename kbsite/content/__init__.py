"""The content API under /api/content/: content types as browsable resources."""

from kbsite.content.parsers import Pages, TokenAuthentication

__all__ = ["Pages", "TokenAuthentication"]
