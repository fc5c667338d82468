"""Shell completions from the library, where its database runs: Tab must not start a server."""

import contextlib
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model

from kbsite import boot
from kbsite.postgres.home import home_of, socket_path
from transcripts.models import Collection, Video

LIMIT = 50


def video_ids(incomplete: str) -> list[tuple[str, str]]:
    """Complete a video's id; its title is the help."""
    with contextlib.suppress(Exception):  # a completion that fails is no completion
        if _join_database():
            rows = Video.objects.filter(key__istartswith=incomplete).values_list("key", "title")
            return list(rows[:LIMIT])
    return []


def collections(incomplete: str) -> list[tuple[str, str]]:
    """Complete a collection's slug; its name is the help."""
    with contextlib.suppress(Exception):
        if _join_database():
            rows = Collection.objects.filter(slug__istartswith=incomplete)
            return list(rows.values_list("slug", "name")[:LIMIT])
    return []


def user_names(incomplete: str) -> list[str]:
    """Complete a user's name."""
    with contextlib.suppress(Exception):
        if _join_database():
            rows = get_user_model().objects.filter(username__istartswith=incomplete)
            return list(rows.values_list("username", flat=True)[:LIMIT])
    return []


def _join_database() -> bool:
    is_running = (
        bool(settings.DATABASE_URL)
        or socket_path(home_of(Path(settings.DATA_DIR)).sockets).exists()
    )
    if is_running:
        boot.boot(migrate=False)
    return is_running
