"""`kb search` and `kb sources`."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Annotated

import typer

from citations.errors import SourceNotFound
from citations.library import sources
from citations.library.filters import Filter, matching
from citations.passages import SearchMode
from citations.schemas.search import SearchOut
from citations.search import pipeline as search_pipeline
from kbsite.cli import output
from kbsite.cli.database import open_library
from kbsite.cli.options import InCollections, InSources, Json, Many, Offset, argument, option
from kbsite.cli.terminal import note, print_json
from transcripts import library
from transcripts.models import Video
from transcripts.scope import Scope
from transcripts.timecodes import parse_clock

DAY = ["%Y-%m-%d"]
Kinds = Annotated[
    Many,
    option("--kind", metavar="KIND", help="Only video, pdf, markdown, text or html; repeatable."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How to search and how to print the result."""

    mode: SearchMode
    limit: int
    rerank: bool
    explain: bool
    as_json: bool


def search(
    query: Annotated[
        str, typer.Argument(help='Words, "a phrase" or -word to exclude; or a question.')
    ],
    inside: InSources = None,
    mode: Annotated[
        SearchMode,
        typer.Option("--mode", "-m", help="By words and meaning, by words, or by meaning."),
    ] = SearchMode.HYBRID,
    collection: InCollections = None,
    kind: Kinds = None,
    channel: Annotated[Many, option(help="Only this channel or author; repeatable.")] = None,
    tag: Annotated[Many, option("--tag", "-t", help="Only with this tag; repeatable.")] = None,
    lang: Annotated[
        Many, option("--language", "--lang", metavar="CODE", help="Only this language; repeatable.")
    ] = None,
    since: Annotated[
        datetime | None,
        option(formats=DAY, metavar="DAY", help="Published on this day (2024-01-31) or later."),
    ] = None,
    until: Annotated[
        datetime | None,
        option(formats=DAY, metavar="DAY", help="Published on this day or earlier."),
    ] = None,
    start: Annotated[
        str, option("--from", metavar="TIME", help="Only from this time on: 90, 12:34 or 1h2m3s.")
    ] = "",
    end: Annotated[str, option("--to", metavar="TIME", help="Only up to this time.")] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=50, help="At most this many passages.")
    ] = 5,
    rerank: Annotated[
        bool, typer.Option(help="Rerank the best passages, if a cross-encoder is installed.")
    ] = True,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show how scores come about, and stage times.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Search the library for passages.

    Each passage has the time it is said or its page. If --in names a video that is not indexed
    yet, its words are searched.
    """
    filter = Filter(
        collections=tuple(collection or ()),
        sources=tuple(inside or ()),
        kinds=tuple(kind or ()),
        channels=tuple(channel or ()),
        tags=tuple(tag or ()),
        languages=tuple(lang or ()),
        since=_day(since),
        until=_day(until),
        start=_milliseconds(start),
        end=_milliseconds(end),
    )
    scope = open_library()
    options = SearchOptions(mode=mode, limit=limit, rerank=rerank, explain=explain, as_json=as_json)
    if video := _unindexed_video(scope, filter):
        _search_words(video, query, options, filter)
    else:
        _search(scope, query, options, filter)


def list_sources(
    words: Annotated[Many, argument("[WORDS]…", "Words of the title, author or video id.")] = None,
    state: Annotated[
        str, option(metavar="STATE", help="Only pending, words, ready or failed.")
    ] = "",
    collection: InCollections = None,
    kind: Kinds = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, help="At most this many sources.")
    ] = 50,
    offset: Offset = 0,
    as_json: Json = False,
) -> None:
    """List the sources and their indexing state."""
    filter = Filter(collections=tuple(collection or ()), kinds=tuple(kind or ()))
    page = sources.list_sources(
        open_library(), filter, words=" ".join(words or ()), state=state, offset=offset, limit=limit
    )
    if as_json:
        print_json(output.SourcesOut.model_validate(page))
    else:
        output.print_sources(page)


def _search(scope: Scope, query: str, options: SearchOptions, filter: Filter) -> None:
    results = search_pipeline.search(
        scope,
        query,
        mode=options.mode,
        limit=options.limit,
        filter=filter,
        explain=options.explain,
        rerank=options.rerank,
    )
    if options.as_json:
        print_json(SearchOut.model_validate(results))
    else:
        output.print_results(results, explain=options.explain)
    output.print_notes(results)


def _search_words(video: Video, query: str, options: SearchOptions, filter: Filter) -> None:
    text = (
        f"“{video}” is not indexed yet, so only the words of its transcript were searched."
        " `kb sources` shows its state."
    )
    note(text)
    result = library.search(
        video, query, language=next(iter(filter.languages), ""), limit=library.MAX_HITS
    )
    hits = tuple(hit for hit in result.hits if _overlaps(hit, filter))
    result = replace(result, hits=hits[: options.limit])
    if options.as_json:
        print_json(output.segments(result, query, note=text))
    else:
        output.print_hits(result)


def _unindexed_video(scope: Scope, filter: Filter) -> Video | None:
    """Return the video that the filter names alone, if none of its sources is indexed yet."""
    if len(filter.sources) != 1:
        return None
    named = Filter(sources=filter.sources)
    try:
        matches = list(matching(scope, named).select_related("video__collection"))
    except SourceNotFound:
        collection = next(iter(filter.collections), "")
        return library.find_video(scope, filter.sources[0], collection=collection)
    return None if any(source.chunk_count for source in matches) else matches[0].video


def _overlaps(hit: library.SegmentHit, filter: Filter) -> bool:
    is_after_start = filter.start is None or hit.end * 1000 > filter.start
    return is_after_start and (filter.end is None or hit.start * 1000 < filter.end)


def _milliseconds(text: str) -> int | None:
    return round(parse_clock(text) * 1000) if text else None


def _day(moment: datetime | None) -> date | None:
    return moment.date() if moment else None
