"""What `kb search` does: the library is searched, or the transcript of a video that is not indexed yet."""

from dataclasses import dataclass, replace

from citations.errors import SourceNotFound
from citations.library.filters import Filter, matching
from citations.passages import SearchMode
from citations.search import pipeline as search_pipeline
from kbsite.cli import output, shapes
from kbsite.cli.terminal import note, print_json
from transcripts import library
from transcripts.models import Video
from transcripts.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How to search and how to show it."""

    mode: SearchMode
    limit: int
    rerank: bool
    explain: bool
    as_json: bool


def find(scope: Scope, query: str, wishes: SearchOptions, filter: Filter) -> None:
    """Search and print. Raises what ``retrieval.search`` raises, and ``VideoNotFound``."""
    if video := _not_indexed(scope, filter):
        _find_in(video, query, wishes, filter)
        return
    results = search_pipeline.search(
        scope,
        query,
        mode=wishes.mode,
        limit=wishes.limit,
        filter=filter,
        explain=wishes.explain,
        rerank=wishes.rerank,
    )
    if wishes.as_json:
        print_json([output.passage(one) for one in results.passages])
    else:
        output.print_results(results, explain=wishes.explain)
    output.print_notes(results)


def _not_indexed(scope: Scope, filter: Filter) -> Video | None:
    """Return the video that is meant when one alone is named and nothing of it is indexed yet."""
    if len(filter.sources) != 1:
        return None
    try:
        named = list(
            matching(scope, Filter(sources=filter.sources)).select_related("video__collection")
        )
    except SourceNotFound:
        return library.find_video(
            scope, filter.sources[0], collection=next(iter(filter.collections), "")
        )
    return None if any(one.chunk_count for one in named) else named[0].video


def _find_in(video: Video, query: str, wishes: SearchOptions, filter: Filter) -> None:
    note(
        f"“{video}” is not indexed yet: the words of its transcript were searched. `kb sources` shows how far it is."
    )
    found = library.search(
        video, query, language=next(iter(filter.languages), ""), limit=library.MAX_HITS
    )
    found = replace(
        found, hits=tuple(hit for hit in found.hits if _overlaps(hit, filter))[: wishes.limit]
    )
    if wishes.as_json:
        print_json(output.segments(found))
    else:
        shapes.print_hits(found)


def _overlaps(hit: library.SegmentHit, filter: Filter) -> bool:
    after = filter.start is None or hit.end * 1000 > filter.start
    return after and (filter.end is None or hit.start * 1000 < filter.end)
