"""The scopes that applications may ask for."""

from typing import Any

from django.http import HttpRequest
from oauth2_provider.scopes import SettingsScopes

from transcripts.core.access import AccessLevel


class Scopes(SettingsScopes):
    """Leaves managing out of the metadata: clients ask for whatever these name."""

    def get_available_scopes(
        self, application: Any = None, request: HttpRequest | None = None, *args: Any, **kwargs: Any
    ) -> list[str]:
        """Return what an application may ask for; without one, what the metadata name."""
        return list((AccessLevel.MANAGE if application else AccessLevel.WRITE).scopes)
