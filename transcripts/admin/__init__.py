"""The admin of videos, transcripts and jobs. Staff see every collection."""

from transcripts.admin import collections, jobs, videos
from transcripts.admin.tables import AuditedAdmin, RecordAdmin, Table

__all__ = ["AuditedAdmin", "RecordAdmin", "Table", "collections", "jobs", "videos"]
