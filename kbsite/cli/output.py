"""Readings, search results and sources in a terminal, and two shapes of `--json`."""

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
from transcripts.library import SegmentHit, VideoReading, VideoSearch
from transcripts.schemas import Shape
from transcripts.timecodes import clock, milliseconds

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
    """Print passages by source, with the query's words marked and, if asked, their scores."""
    if not results.passages:
        say(f"Nothing answers “{results.query}”.", "dim")
    ranks = {id(passage): rank for rank, passage in enumerate(results.passages, start=1)}
    for group in _by_source(results.passages):
        _print_heading(group[0])
        for passage in group:
            _print_passage(passage, ranks[id(passage)])
    if explain and results.passages:
        _print_scores(results.passages)
        _print_stages(results)


def print_notes(results: Results) -> None:
    """Print to the error output which stages were skipped, and why."""
    for sentence in results.notes:
        note(sentence)


def print_sources(page: SourcePage) -> None:
    """Print a table of sources, then their problems and what is still being indexed."""
    columns = ("ID", "Title", "Kind", "Language", "State", "Chunks", "Collection")
    rows = (
        (
            source.uuid,
            source.title,
            source.kind,
            source.language,
            state(source),
            source.chunk_count,
            source.collection.slug,
        )
        for source in page.sources
    )
    table(columns, rows, empty="No sources. Add one with `kb add`.")
    if page.counts.unfinished:
        note(f"{page.counts.unfinished} of {page.counts.total} are still being indexed.")
    for source in page.sources:
        if source.error:
            note(f"{source.title}: {source.error} {source.hint}".rstrip(), "yellow")
    if page.next is not None:
        note(f"{page.total} in all; next page: --offset {page.next}")


def state(source: Source) -> str:
    """Return a source's state and progress in words."""
    label = str(State(source.state).label)
    is_busy = source.step and source.total
    return f"{label} ({source.step}, {source.percent} %)" if is_busy else label


def indexed(sources: Iterable[Source]) -> str:
    """Return the distinct states of a video's sources."""
    return ", ".join(dict.fromkeys(str(State(source.state).label) for source in sources))


def print_reading(result: VideoReading) -> None:
    """Print cues with their times, then how to read on."""
    part, key, transcript = result.reading, result.video.key, result.transcript
    language = transcript.language or "unknown language"
    heading = f"{result.video.title} · {language} · {clock(transcript.duration)}"
    if part.chunk:
        heading += f" · chunk {part.chunk.index} of 0–{part.chunk.count - 1}"
    note(heading, "bold")
    for cue in part.cues:
        line = Text(f"{clock(cue.start):>8}  ", style="cyan") + Text(printable(cue.text), style="")
        out().print(line, soft_wrap=not out().is_terminal)
    if part.warning:
        note(part.warning, "yellow")
    if part.chunk and part.chunk.next is not None:
        note(f"Read on: kb show {key} --chunk {part.chunk.next}")
    if part.hints:
        note(
            f"This is a preview. Read on: kb show {key} --chunk 0 (to {part.total_chunks - 1}),"
            f" --start 1:00 --end 2:00, or --full; kb search WORDS --in {key}"
        )


def print_hits(result: VideoSearch) -> None:
    """Print the hits in one video, with the query's words marked."""
    if not result.hits:
        say(f"Nothing in “{result.video}” answers “{result.query}”.", "dim")
    for hit in result.hits:
        span = f"{clock(milliseconds(hit.start))}–{clock(milliseconds(hit.end))}"
        _print_text(Text(span, style="cyan"), hit)
        say("")


def _by_source(passages: Sequence[Passage]) -> list[list[Passage]]:
    groups: dict[UUID, list[Passage]] = {}
    for passage in passages:
        groups.setdefault(passage.origin.id, []).append(passage)
    return list(groups.values())


def _print_heading(passage: Passage) -> None:
    origin = passage.origin
    about = " · ".join(filter(None, (origin.author, origin.language, origin.collection)))
    title = Text(printable(origin.title), style="bold")
    out().print(title + Text(f"  {printable(about)}", style="dim"), soft_wrap=True)


def _print_passage(passage: Passage, rank: int) -> None:
    _print_text(Text(f"{rank:>2}. ") + Text(place(passage.locator), style="cyan"), passage)
    for duplicate in passage.duplicates:
        title, location = duplicate.origin.title, place(duplicate.locator)
        say(f"    also said in “{title}” {location}  {absolute(duplicate.link)}", "dim")
    say("")


def _print_text(heading: Text, passage: Passage | SegmentHit) -> None:
    """Print heading, score, link, and the text with its marked spans."""
    text = Text(printable(passage.text))
    if len(text) == len(passage.text):  # else control characters were removed and spans shifted
        for start, end in passage.spans:
            text.stylize("bold yellow", start, end)
    detail = f"  {passage.score:.2f}  {printable(absolute(passage.timestamp_link))}"
    out().print(heading + Text(detail, style="dim"), soft_wrap=True)
    out().print(text, soft_wrap=not out().is_terminal)


def _print_scores(passages: Sequence[Passage]) -> None:
    columns = ("#", "Score", "Words", "BM25", "Meaning", "Cosine", "RRF", "Cross-encoder", "How")
    explained = [
        (rank, passage.score, passage.explanation)
        for rank, passage in enumerate(passages, start=1)
        if passage.explanation
    ]
    rows = [_score_row(rank, score, explanation) for rank, score, explanation in explained]
    table(columns, rows, title="How the scores came about")
    for rank, _, explanation in explained:
        if explanation.terms:
            bm25 = f"BM25 {explanation.bm25 or 0:.3f}"
            say(f"{rank:>2}. {bm25} = {_term_sum(explanation)}", "dim")


def _score_row(rank: int, score: float, explanation: Explanation) -> tuple[str, ...]:
    return (
        str(rank),
        _number(score, 3),
        _rank(explanation.lexical_rank),
        _number(explanation.bm25, 3),
        _rank(explanation.vector_rank),
        _number(explanation.cosine, 3),
        _number(explanation.rrf, 5),
        _number(explanation.rerank_score, 3),
        explanation.formula,
    )


def _print_stages(results: Results) -> None:
    rows = (
        (stage.name, f"{stage.milliseconds:.1f}", stage.count or "", stage.note)
        for stage in results.stages
    )
    title = f"Stages, {results.milliseconds:.1f} ms in all"
    table(("Stage", "ms", "Passages", ""), rows, title=title)


def _term_sum(explanation: Explanation) -> str:
    best = sorted(explanation.terms, key=lambda term: -term.score)
    shown = " + ".join(f"{printable(term.term)} {term.score:.3f}" for term in best[:TERMS_SHOWN])
    return f"{shown} + …" if len(best) > TERMS_SHOWN else shown


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _rank(value: int | None) -> str:
    return "–" if value is None else f"#{value}"
