"""Open the lists of the admin, and run their actions."""

from typing import Any

from django.db import models
from django.test import Client
from django.urls import reverse


def listing(model: type[models.Model], **query: str) -> str:
    """Return the address of a table's list."""
    about = model._meta
    return reverse(f"admin:{about.app_label}_{about.model_name}_changelist", query=query)


def act(browser: Client, model: type[models.Model], action: str, rows: Any, **more: str) -> str:
    """Run an action on rows and return the page that follows."""
    sent = {"action": action, "_selected_action": [row.pk for row in rows], **more}
    response = browser.post(listing(model), sent, follow=True)
    assert response.status_code == 200
    return response.content.decode()
