"""The content API under /api/content/ (Django REST framework, browsable): the content types as resources."""

from kbsite.content.parsers import Pages, TokenAuthentication

__all__ = ["Pages", "TokenAuthentication"]
