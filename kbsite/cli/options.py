"""Options that several commands share."""

from typing import Annotated

import typer

from kbsite.cli import completion

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Go on without asking.")]
VideoId = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="The video's id, or its address at YouTube.",
        autocompletion=completion.video_ids,
        show_default=False,
    ),
]
InCollection = Annotated[
    str,
    typer.Option(
        "--collection",
        "-c",
        metavar="NAME",
        help="The collection, by name or slug.",
        autocompletion=completion.collections,
        show_default=False,
    ),
]
Language = Annotated[
    str,
    typer.Option(
        "--lang", metavar="CODE", help="Caption language, such as en or pt-BR.", show_default=False
    ),
]
Track = Annotated[
    str,
    typer.Option(
        "--lang",
        metavar="CODE",
        help="Language, such as en or pt-BR; en.auto: speech recognition beside a better en.",
        show_default=False,
    ),
]
