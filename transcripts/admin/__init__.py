"""The admin of videos, transcripts and jobs. Whoever gets in here is staff and sees every collection: scopes do not apply."""

from transcripts.admin import collections, jobs, videos
from transcripts.admin.tables import Record, Table

__all__ = ["Record", "Table", "collections", "jobs", "videos"]
