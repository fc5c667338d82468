"""Options that several commands share."""

from typing import Annotated, Any

import typer

from kbsite.cli import completion


def argument(metavar: str, help: str, **rest: Any) -> Any:
    """Declare an argument whose help shows no default."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, **rest)


def option(*names: str, help: str, **rest: Any) -> Any:
    """Declare an option whose help shows no default."""
    return typer.Option(*names, help=help, show_default=False, **rest)


Many = list[str] | None
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Wait = Annotated[bool, typer.Option("--wait", "-w", help="Wait until the jobs end.")]
VideoId = Annotated[
    str,
    argument("ID", "The video's id or its YouTube address.", autocompletion=completion.video_ids),
]
UserName = Annotated[
    str,
    argument("[NAME]", "The user's name; unset: the owner.", autocompletion=completion.user_names),
]
InCollection = Annotated[
    str,
    option(
        "--collection",
        "-c",
        metavar="NAME",
        help="The collection, by name or slug.",
        autocompletion=completion.collections,
    ),
]
InCollections = Annotated[
    Many,
    option(
        "--collection",
        "-c",
        metavar="NAME",
        help="Only this collection; repeatable.",
        autocompletion=completion.collections,
    ),
]
InSources = Annotated[
    Many,
    option(
        "--in",
        metavar="ID",
        help="Only this source or video; repeatable.",
        autocompletion=completion.video_ids,
    ),
]
Language = Annotated[
    str, option("--lang", metavar="CODE", help="Caption language, such as en or pt-BR.")
]
Track = Annotated[
    str,
    option(
        "--lang",
        metavar="CODE",
        help="Language, such as en or pt-BR; en.auto: speech recognition beside a better en.",
    ),
]
Offset = Annotated[int, typer.Option(min=0, max=10_000_000, help="Skip this many.")]
