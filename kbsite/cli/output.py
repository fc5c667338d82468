"""What a search of the library found, and how far sources are indexed: as JSON and on a terminal."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from rich.text import Text

from citations.library.sources import SourcePage
from citations.models import Source, State
from citations.passages import Explanation, Passage, Results, place
from citations.schemas.search import SearchOut, SourceOut
from kbsite.cli.terminal import note, out, printable, say, table
from transcripts.conf import absolute
from transcripts.library import VideoSearch
from transcripts.schemas import Shape
from transcripts.timecodes import milliseconds

TERMS_SHOWN = 6


class StateCountsOut(Shape):
    """The number of sources in each state."""

    pending: int
    words: int
    ready: int
    failed: int


class SourcesOut(Shape):
    """A page of sources, and how many there are in each state."""

    sources: list[SourceOut]
    total: int
    counts: StateCountsOut
    next: int | None


def segments(result: VideoSearch, query: str, *, note: str) -> dict[str, Any]:
    """Return the segments of a video in the shape of a search, but without ids of a source."""
    video = result.video
    about = {
        "source": UUID(int=0),
        "title": video.title,
        "origin": {
            "kind": "video",
            "author": video.channel,
            "collection": video.collection.slug,
            "language": result.transcript.language,
            "key": video.key,
        },
        "link": f"/videos/{video.pk}/",
        **{"context": "", "heading": "", "mark": None, "explanation": None},
        **{"duplicates": (), "chunk": 0},
    }
    passages = [
        about
        | {name: getattr(hit, name) for name in ("text", "score", "spans", "timestamp_link")}
        | {"start": milliseconds(hit.start), "end": milliseconds(hit.end)}
        for hit in result.hits
    ]
    search = {"query": query, "mode": "lexical", "passages": passages, "notes": [note]}
    unused = {"stages": (), "reranked": False, "hypothesis": "", "milliseconds": 0}
    shape = SearchOut.model_validate(search | unused).model_dump(mode="json")
    unindexed = {"source_id": None, "chunk": None}
    return shape | {"passages": [passage | unindexed for passage in shape["passages"]]}


def print_results(results: Results, *, explain: bool = False) -> None:
    """Print the passages by source, the query's words marked, and with ``explain`` how each score came about."""
    if not results.passages:
        say(f"Nothing answers “{results.query}”.", "dim")
    ranks = {id(one): rank for rank, one in enumerate(results.passages, start=1)}
    for group in _by_source(results.passages):
        _print_heading(group[0])
        for one in group:
            _print_passage(one, ranks[id(one)])
    if explain and results.passages:
        _print_scores(results.passages)
        _print_stages(results)


def print_notes(results: Results) -> None:
    """Print what was left out and why, to the error output."""
    for sentence in results.notes:
        note(sentence)


def print_sources(found: SourcePage) -> None:
    """Print a table of sources, and what is still on its way."""
    columns = ("ID", "Title", "Kind", "Language", "State", "Chunks", "Collection")
    rows = (
        (
            one.uuid,
            one.title,
            one.kind,
            one.language,
            state(one),
            one.chunk_count,
            one.collection.slug,
        )
        for one in found.sources
    )
    table(columns, rows, empty="No sources. Add something with `kb add`.")
    if found.counts.unfinished:
        note(f"{found.counts.unfinished} of {found.counts.total} are still being indexed.")
    for one in found.sources:
        if one.error:
            note(f"{one.title}: {one.error} {one.hint}".rstrip(), "yellow")
    if found.next is not None:
        note(f"{found.total} in all; the next: --offset {found.next}")


def state(one: Source) -> str:
    """Say how far a source is."""
    label = str(State(one.state).label)
    return f"{label} ({one.step}, {one.percent} %)" if one.step and one.total else label


def indexed(sources: Iterable[Source]) -> str:
    """Say how far a video's sources are, each state once."""
    return ", ".join(dict.fromkeys(str(State(one.state).label) for one in sources))


def _by_source(passages: Sequence[Passage]) -> list[list[Passage]]:
    groups: dict[Any, list[Passage]] = {}
    for one in passages:
        groups.setdefault(one.origin.id, []).append(one)
    return list(groups.values())


def _print_heading(one: Passage) -> None:
    about = " · ".join(
        part for part in (one.origin.author, one.origin.language, one.origin.collection) if part
    )
    out().print(
        Text(printable(one.origin.title), style="bold")
        + Text(f"  {printable(about)}", style="dim"),
        soft_wrap=True,
    )


def _print_passage(one: Passage, rank: int) -> None:
    text = Text(printable(one.text))
    if len(text) == len(
        one.text
    ):  # else there was something that a terminal would obey, and the spans no longer fit
        for start, end in one.spans:
            text.stylize("bold yellow", start, end)
    heading = Text(f"{rank:>2}. ") + Text(place(one.locator), style="cyan")
    out().print(
        heading + Text(f"  {one.score:.2f}  {printable(one.timestamp_link)}", style="dim"),
        soft_wrap=True,
    )
    out().print(text, soft_wrap=not out().is_terminal)
    for duplicate in one.duplicates:
        say(
            f"    also said in “{duplicate.origin.title}” {place(duplicate.locator)}  {absolute(duplicate.link)}",
            "dim",
        )
    say("")


def _print_scores(passages: Sequence[Passage]) -> None:
    columns = ("#", "Score", "Words", "BM25", "Meaning", "Cosine", "RRF", "Cross-encoder", "How")
    explained = [
        (rank, one.score, one.explanation)
        for rank, one in enumerate(passages, start=1)
        if one.explanation
    ]
    table(
        columns,
        [_score_row(rank, score, how) for rank, score, how in explained],
        title="How the scores came about",
    )
    for rank, _, how in explained:
        if how.terms:
            say(f"{rank:>2}. BM25 {how.bm25 or 0:.3f} = {_terms(how)}", "dim")


def _score_row(rank: int, score: float, how: Explanation) -> tuple[str, ...]:
    numbers = (
        _number(how.bm25, 3),
        _rank(how.vector_rank),
        _number(how.cosine, 3),
        _number(how.rrf, 5),
        _number(how.rerank_score, 3),
    )
    return (str(rank), _number(score, 3), _rank(how.lexical_rank), *numbers, how.formula)


def _print_stages(results: Results) -> None:
    rows = (
        (one.name, f"{one.milliseconds:.1f}", one.count or "", one.note) for one in results.stages
    )
    table(
        ("Stage", "ms", "Passages", ""), rows, title=f"Stages, {results.milliseconds:.1f} ms in all"
    )


def _terms(how: Explanation) -> str:
    best = sorted(how.terms, key=lambda term: -term.score)
    shown = " + ".join(f"{printable(term.term)} {term.score:.3f}" for term in best[:TERMS_SHOWN])
    return f"{shown} + …" if len(best) > TERMS_SHOWN else shown


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _rank(value: int | None) -> str:
    return "–" if value is None else f"#{value}"
