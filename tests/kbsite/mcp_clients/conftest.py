"""A served endpoint, and a caller of it."""

from tests.kbsite.mcp.conftest import _clean, endpoint, shelf

__all__ = ["_clean", "endpoint", "shelf"]
