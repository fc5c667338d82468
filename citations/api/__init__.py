"""The operations on the whole library under /api/v1/: search, index again, mark. Sources and chunks are listed in the content API."""

from citations.api.operations import router

__all__ = ["router"]
