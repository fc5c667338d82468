"""Options that several commands share, and their shell completions from the running database."""

import contextlib
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer
from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils import timezone

from citations.formats import KINDS
from kbsite import boot
from kbsite.cli import server
from kbsite.postgres.home import home_of, socket_path
from transcripts.core.languages import code_of
from transcripts.models import Collection, Video

COMPLETIONS = 50


def argument(metavar: str, help: str, **rest: Any) -> Any:
    """Declare an argument whose help shows no default."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, **rest)


def option(*names: str, help: str, **rest: Any) -> Any:
    """Declare an option whose help shows no default."""
    return typer.Option(*names, help=help, show_default=False, **rest)


def day(text: str) -> date:
    """Read the day of an option."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        message = f"“{text}” is no day: write it as {timezone.localdate():%Y-%m-%d}."
        raise typer.BadParameter(message) from None


def video_ids(incomplete: str) -> list[tuple[str, str]]:
    """Complete a video's id; its title is the help."""
    return _complete(Video, incomplete, "key", "title")


def user_names(incomplete: str) -> list[str]:
    return _complete(get_user_model(), incomplete, "username")


def collection_slugs(incomplete: str) -> list[tuple[str, str]]:
    """Complete a collection's slug; its name is the help."""
    return _complete(Collection, incomplete, "slug", "name")


def _complete(model: Any, incomplete: str, *fields: str) -> list[Any]:
    if server.address():  # these would be rows of this machine
        return []
    with contextlib.suppress(Exception):  # a completion that fails is no completion
        sockets = home_of(Path(settings.DATA_DIR)).sockets
        if settings.DATABASE_URL or socket_path(sockets).exists():  # Tab must not start a server
            boot.boot(migrate=False)
            rows = model.objects.filter(**{f"{fields[0]}__istartswith": incomplete})
            return list(rows.values_list(*fields, flat=len(fields) == 1)[:COMPLETIONS])
    return []


def of_user(help: str) -> Any:
    """Declare an option that names a user."""
    return option("--user", "-u", metavar="NAME", help=help, autocompletion=user_names)


def _collection(help: str) -> Any:
    names = ("--collection", "-c")
    return option(*names, metavar="NAME", help=help, autocompletion=collection_slugs)


Many = list[str] | None
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Wait = Annotated[bool, typer.Option("--wait", "-w", help="Wait until the jobs end.")]
VideoId = Annotated[
    str, argument("ID", "The recording's id or its YouTube address.", autocompletion=video_ids)
]
InCollection = Annotated[str, _collection("The collection, by name or slug.")]
InCollections = Annotated[Many, _collection("Only this collection; repeatable.")]
InSources = Annotated[
    Many,
    option(
        "--in",
        metavar="ID",
        help="Only this source or recording; repeatable.",
        autocompletion=video_ids,
    ),
]
Kinds = Annotated[
    Many, option("--kind", metavar="KIND", help=f"Only {', '.join(KINDS)}; repeatable.")
]
Language = Annotated[
    str,
    option("--lang", metavar="CODE", parser=code_of, help="Caption language, such as en or pt-BR."),
]
Track = Annotated[
    str,
    option(
        "--lang",
        metavar="CODE",
        help="Language, such as en or pt-BR; en.auto: speech recognition beside a better en.",
    ),
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="At most this many.")]
Offset = Annotated[int, typer.Option(min=0, max=10_000_000, help="Skip this many.")]
