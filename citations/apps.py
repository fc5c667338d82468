"""The knowledge engine: what can be cited, and what has been."""

from django.apps import AppConfig


class CitationsConfig(AppConfig):
    name = "citations"
    default_auto_field = "django.db.models.BigAutoField"
