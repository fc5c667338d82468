"""The admin of videos, transcripts and jobs. Whoever gets in here is staff and sees every collection: scopes do not apply."""

from transcripts.admin import collections, jobs, videos
from transcripts.admin.tables import RecordAdmin, Table

__all__ = ["RecordAdmin", "Table", "collections", "jobs", "videos"]
