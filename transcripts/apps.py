"""The transcripts app."""

from django.apps import AppConfig


class TranscriptsConfig(AppConfig):
    """Fetch, store, read, page and search transcripts."""

    name = "transcripts"
    default_auto_field = "django.db.models.BigAutoField"
