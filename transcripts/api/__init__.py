"""The operations on transcripts and jobs under /api/v1/."""

from transcripts.api.endpoints import router

__all__ = ["router"]
