"""The admin of videos, transcripts and jobs. Staff see every collection."""

from transcripts.admin import audit, collections, jobs, videos
from transcripts.core.admin.tables import AuditedAdmin, RecordAdmin, Table

__all__ = ["AuditedAdmin", "RecordAdmin", "Table", "audit", "collections", "jobs", "videos"]
