"""What a search of the library found, and how far sources are indexed: as JSON and on a terminal."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rich.text import Text

from citations.library.sources import SourcePage
from citations.models import Source, State
from citations.passages import Explanation, NearDuplicate, Passage, Results, place
from kbsite.cli.terminal import note, out, printable, say, table
from transcripts.conf import absolute
from transcripts.library import VideoSearch
from transcripts.timecodes import seconds

TERMS_SHOWN = 6


def passage(one: Passage) -> dict[str, Any]:
    """Return a passage for programs; times in seconds."""
    origin, locator = one.origin, one.locator
    found = {
        "source_id": str(origin.id),
        "title": origin.title,
        "kind": origin.kind,
        "text": one.text,
        "start": seconds(locator.start),
        "end": seconds(locator.end),
        "page": locator.page,
        "last_page": locator.last_page,
        "timestamp_link": one.timestamp_link,
        "score": one.score,
        "link": absolute(one.link),
        "channel": origin.author,
        "collection": origin.collection,
        "language": origin.language,
        "video": origin.key or None,
        "heading": one.heading,
        "context": one.context,
        "spans": one.spans,
        "also": [_near_duplicate(duplicate) for duplicate in one.duplicates],
        "chunk": one.chunk,
    }
    return found if one.explanation is None else {**found, "explanation": asdict(one.explanation)}


def segments(found: VideoSearch) -> list[dict[str, Any]]:
    """Return the segments of one transcript in the same form; their source is not indexed, so it has no id."""
    video, same = found.video, ("text", "start", "end", "timestamp_link", "score", "spans")
    about = {
        "source_id": None,
        "title": video.title,
        "kind": "video",
        "page": None,
        "video": video.key,
        "language": found.transcript.language,
    }
    return [about | {name: getattr(hit, name) for name in same} for hit in found.hits]


def source(one: Source) -> dict[str, Any]:
    """Return what is to be known of a source."""
    return {
        "id": str(one.uuid),
        "title": one.title,
        "kind": one.kind,
        "video": one.video.key if one.video else None,
        "channel": one.author,
        "collection": one.collection.slug,
        "language": one.language,
        "tags": one.tags,
        "url": one.url,
        "state": one.state,
        "step": one.step,
        "percent": one.percent,
        "chunks": one.chunk_count,
        "pages": one.document.page_count or None if hasattr(one, "document") else None,
        "characters": one.characters,
        "code": one.error_code,
        "message": one.error,
        "hint": one.hint,
    }


def page(found: SourcePage) -> dict[str, Any]:
    """Return a page of sources, with how many there are in each state."""
    return {
        "sources": [source(one) for one in found.sources],
        "total": found.total,
        "counts": asdict(found.counts),
        "next": found.next,
    }


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


def _near_duplicate(one: NearDuplicate) -> dict[str, Any]:
    where = {
        "start": seconds(one.locator.start),
        "end": seconds(one.locator.end),
        "page": one.locator.page,
    }
    return {
        "source_id": str(one.origin.id),
        "title": one.origin.title,
        **where,
        "link": absolute(one.link),
        "similarity": one.similarity,
    }


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _rank(value: int | None) -> str:
    return "–" if value is None else f"#{value}"
