"""The operations on transcripts and jobs under /api/v1/. What only lists content is in the content API."""

from transcripts.api.endpoints import router

__all__ = ["router"]
