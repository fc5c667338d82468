"""Options and groups that several commands share; shells complete from the running database."""

import contextlib
from collections.abc import Callable
from datetime import date
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils import timezone
from typer.core import TyperGroup

from citations.formats import KINDS
from citations.schemas.filters import LISTS, FilterIn
from kbsite import boot
from kbsite.cli import server
from kbsite.postgres.home import home_of, socket_path
from transcripts.core.languages import code_of
from transcripts.models import Collection, Video
from transcripts.text.timecodes import parse_clock

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
    Many, option("--kind", metavar="|".join(KINDS), help="Only sources of this kind; repeatable.")
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


# Options for the parts of a filter that are not called as in addresses, and how they are completed.
_FILTERS: Final[dict[str, tuple[tuple[str, ...], dict[str, Any]]]] = {
    "sources": (("--in",), {"metavar": "ID", "autocompletion": video_ids}),
    "collections": (
        ("--collection", "-c"),
        {"metavar": "NAME", "autocompletion": collection_slugs},
    ),
    "kinds": (("--kind",), {"metavar": "|".join(KINDS)}),
    "tags": (("--tag", "-t"), {}),
    "languages": (("--language", "--lang"), {"metavar": "CODE"}),
    "start": (("--from",), {"metavar": "TIME"}),
    "end": (("--to",), {"metavar": "TIME"}),
}


def filtered(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each part of a filter, in place of its parameter ``filter``:
    the parts that were given, by their names.
    """

    @wraps(command)
    def run(**values: Any) -> None:
        parts = {name: values.pop(name) for name in FilterIn.model_fields}
        given = {name: value for name, value in parts.items() if value not in (None, [])}
        command(filter=given, **values)

    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=_filter_option(name))
        for name in FilterIn.model_fields
    ]
    own = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for parameter in signature(command).parameters.values()
        if parameter.name != "filter"
    ]
    shown = signature(command).replace(parameters=[*own[:1], *options, *own[1:]])
    vars(run)["__signature__"] = shown
    run.__annotations__ = {part.name: part.annotation for part in (*own, *options)}
    return run


def _filter_option(part: str) -> Any:
    names = {list_part: name for name, list_part in LISTS.items()}
    flags, about = _FILTERS.get(part, ((f"--{names.get(part, part)}",), {}))
    help = FilterIn.model_fields[part].description or ""
    if part in names:
        return Annotated[Many, option(*flags, help=f"{help[:-1]}; repeatable.", **about)]
    if part in ("since", "until"):
        return Annotated[date | None, option(*flags, help=help, metavar="DAY", parser=day)]
    help = f"{help.replace('second', 'time')} Such as 90, 12:34 or 1h2m3s."
    return Annotated[float | None, option(*flags, help=help, parser=parse_clock, **about)]


class ListGroup(TyperGroup):
    """Says what to type for a command that it does not have, such as ``list``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, path = args[0], ctx.command_path
        if not (name in self.commands or name.startswith("-") or ctx.resilient_parsing):
            others = ", ".join(f"`{path} {command}`" for command in self.commands)
            ctx.fail(
                f"There is no `{path} {name}`. `{path}` alone lists, and `{path} --help` shows how"
                f" to narrow the list. Its commands: {others}."
            )
        return super().resolve_command(ctx, args)
