"""The citations app."""

from django.apps import AppConfig


class CitationsConfig(AppConfig):
    """The knowledge engine: what can be cited, and what has been."""

    name = "citations"
    default_auto_field = "django.db.models.BigAutoField"
