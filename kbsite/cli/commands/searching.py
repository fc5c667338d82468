"""Finding: search, and sources."""

from datetime import date, datetime
from typing import Annotated

import typer

from citations.passages import SearchMode
from kbsite.cli import completion
from kbsite.cli.options import Json
from kbsite.cli.terminal import open_library, print_json
from transcripts.timecodes import parse_clock

DAY = ["%Y-%m-%d"]
Many = list[str] | None
Collections = Annotated[
    Many,
    typer.Option(
        "--collection",
        "-c",
        metavar="NAME",
        help="Only in this collection; repeatable.",
        autocompletion=completion.collections,
        show_default=False,
    ),
]
Kinds = Annotated[
    Many,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="Only video, pdf, markdown or text; repeatable.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("search")(search)
    app.command("sources")(list_sources)


def search(
    query: Annotated[str, typer.Argument(help='Words, "a phrase", -without; or a question.')],
    inside: Annotated[
        Many,
        typer.Option(
            "--in",
            metavar="ID",
            help="Only in this source or video; repeatable.",
            autocompletion=completion.video_ids,
            show_default=False,
        ),
    ] = None,
    mode: Annotated[
        SearchMode,
        typer.Option("--mode", "-m", help="By words and meaning, by words, or by meaning."),
    ] = SearchMode.HYBRID,
    collection: Collections = None,
    kind: Kinds = None,
    channel: Annotated[
        Many, typer.Option(help="Only of this channel or author; repeatable.", show_default=False)
    ] = None,
    tag: Annotated[
        Many,
        typer.Option("--tag", "-t", help="Only with this tag; repeatable.", show_default=False),
    ] = None,
    lang: Annotated[
        list[str] | None,
        typer.Option(
            "--language",
            "--lang",
            metavar="CODE",
            help="Only this language; repeatable.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=DAY,
            metavar="DAY",
            help="Published on this day (2024-01-31) or later.",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            formats=DAY, metavar="DAY", help="Published on this day or earlier.", show_default=False
        ),
    ] = None,
    start: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="TIME",
            help="Only what is said from this moment on: 90, 12:34 or 1h2m3s.",
            show_default=False,
        ),
    ] = "",
    end: Annotated[
        str,
        typer.Option(
            "--to", metavar="TIME", help="Only what is said up to this moment.", show_default=False
        ),
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=50, help="How many passages at most.")
    ] = 5,
    rerank: Annotated[
        bool, typer.Option(help="Let the cross-encoder order the best, where there is one.")
    ] = True,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Say how each score came about, and how long each stage took."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Find the passages of the library that answer best, each with the second it is said or the page it is on.

    A video that is not indexed yet is searched by its words alone when --in names it.
    """
    span = [_milliseconds(text) for text in (start, end)]
    scope = open_library()
    from citations.library.filters import Filter
    from kbsite.cli import search as cli_search

    filter = Filter(
        collections=tuple(collection or ()),
        sources=tuple(inside or ()),
        kinds=tuple(kind or ()),
        channels=tuple(channel or ()),
        tags=tuple(tag or ()),
        languages=tuple(lang or ()),
        since=_day(since),
        until=_day(until),
        start=span[0],
        end=span[1],
    )
    cli_search.find(
        scope,
        query,
        cli_search.SearchOptions(
            mode=mode, limit=limit, rerank=rerank, explain=explain, as_json=as_json
        ),
        filter,
    )


def list_sources(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Words of the title, author or video id.", show_default=False),
    ] = None,
    state: Annotated[
        str,
        typer.Option(
            metavar="STATE", help="Only pending, words, ready or failed.", show_default=False
        ),
    ] = "",
    collection: Collections = None,
    kind: Kinds = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many sources at most.")
    ] = 50,
    offset: Annotated[int, typer.Option(min=0, max=10_000_000, help="Skip so many.")] = 0,
    as_json: Json = False,
) -> None:
    """List what can be found and cited, newest first, and how far each is indexed."""
    scope = open_library()
    from citations.library import sources
    from citations.library.filters import Filter
    from kbsite.cli import output

    filter = Filter(collections=tuple(collection or ()), kinds=tuple(kind or ()))
    page = sources.list_sources(
        scope, filter, words=" ".join(words or ()), state=state, offset=offset, limit=limit
    )
    if as_json:
        print_json(output.page(page))
    else:
        output.print_sources(page)


def _milliseconds(text: str) -> int | None:
    return round(parse_clock(text) * 1000) if text else None


def _day(moment: datetime | None) -> date | None:
    return moment.date() if moment else None
