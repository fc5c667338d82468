"""Completions out of the library. They are given only where the database runs already: a Tab must not start a server."""

import contextlib
from pathlib import Path

MOST = 50


def video_ids(incomplete: str) -> list[tuple[str, str]]:
    """Complete the id of a video; its title is the help."""
    with contextlib.suppress(Exception):  # a completion that fails is no completion
        if _open_quietly():
            from transcripts.models import Video

            return list(
                Video.objects.filter(key__istartswith=incomplete).values_list("key", "title")[:MOST]
            )
    return []


def collections(incomplete: str) -> list[tuple[str, str]]:
    """Complete the slug of a collection."""
    with contextlib.suppress(Exception):
        if _open_quietly():
            from transcripts.models import Collection

            return list(
                Collection.objects.filter(slug__istartswith=incomplete).values_list("slug", "name")[
                    :MOST
                ]
            )
    return []


def users(incomplete: str) -> list[str]:
    """Complete the name of a user."""
    with contextlib.suppress(Exception):
        if _open_quietly():
            from django.contrib.auth import get_user_model

            return list(
                get_user_model()
                .objects.filter(username__istartswith=incomplete)
                .values_list("username", flat=True)[:MOST]
            )
    return []


def _open_quietly() -> bool:
    from kbsite import settings
    from kbsite.postgres.process import home_of, socket_path

    running = (
        bool(settings.DATABASE_URL)
        or socket_path(home_of(Path(settings.DATA_DIR)).sockets).exists()
    )
    if running:
        from kbsite.boot import boot

        boot(migrate=False)
    return running
