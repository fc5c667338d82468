"""Renders search results and lists of sources as tools' answers."""

from functools import partial

from citations.library.sources import SourcePage
from citations.passages import Explanation, Results, SearchMode
from citations.schemas.search import LocatedOut, PassageOut, SourceOut
from citations.search.candidates import is_by_words
from citations.search.pipeline import BY_WORDS_NOTE, SPEAKER_NOTE
from citations.vectors import language_gap
from citations.vectors.language_gap import LANGUAGE_NOTE, StateLabel
from kbsite.mcp.answer_text import CURSOR, clip, for_models, page, shorten, tokens
from kbsite.mcp.tool_inputs import ListSources, SearchKnowledgeBase

DUPLICATES = 5  # that an answer names

_BY_WORDS = "Found by words alone: give words that the source would use."
_READ_ON = (
    "To read around a passage: get_transcript with videoId, startTime and endTime; to narrow the "
    "search: sourceId."
)
_NO_PASSAGES = (
    "No passage answers. Next: search_knowledge_base with other words or fewer filters, or "
    "list_sources to see what there is."
)
_NOT_RELEVANT = (
    "Nothing in the library seems to answer this; these are the nearest passages. Do not cite them "
    "as an answer. Next: search_knowledge_base with other words."
)
_NO_SOURCES = "No source matches. Next: list_sources without filters, or add_source."


def render_search(results: Results, arguments: SearchKnowledgeBase) -> str:
    rows = map(PassageOut.model_validate, results.passages)
    head = _search_head(results)
    room = arguments.budget - CURSOR - tokens(head) - tokens(_READ_ON)
    shown = [_fit(row, room=room) for row in rows]
    tail = _READ_ON if shown else ""
    return page(head, shown, _passage_line, arguments, total=results.total, tail=tail)


def _search_head(results: Results) -> str:
    count = f"{results.total} passages, best first."
    if not results.total:
        count = _NO_PASSAGES
    elif results.nothing_relevant:
        count = _NOT_RELEVANT
    notes = [note for note in (BY_WORDS_NOTE, LANGUAGE_NOTE, SPEAKER_NOTE) if note in results.notes]
    suggestion = f"Did you mean “{results.suggestion}”?" if results.suggestion else ""
    is_instead = results.mode == SearchMode.BOTH and is_by_words(results.stages)
    by_words = _BY_WORDS if is_instead else ""
    return "\n".join(part for part in (count, *notes, by_words, suggestion) if part)


def render_sources(listed: SourcePage, arguments: ListSources) -> str:
    counts = listed.counts
    progress = f"; {counts.unfinished} still being indexed" if counts.unfinished else ""
    failures = f"; {counts.failed} failed" if counts.failed else ""
    head = f"{listed.total} sources, newest first{progress}{failures}."
    if not listed.total:
        head = _NO_SOURCES
    rows = [clip(SourceOut.model_validate(source)) for source in listed.sources]
    line = partial(_source_line, label=language_gap.state_labels())
    return page(head, rows, line, arguments, total=listed.total)


# Passages


def _fit(passage: PassageOut, *, room: int) -> PassageOut:
    """Fit one passage into the budget: without what is beside it, then with less text."""
    duplicates = [clip(duplicate) for duplicate in passage.duplicates[:DUPLICATES]]
    row = clip(passage).model_copy(update={"text": "", "duplicates": duplicates})
    if _cost(row) > room // 2:
        row = row.model_copy(update={"duplicates": [], "parts": [], "explanation": None})
    row.text = shorten(passage.text, room=room - _cost(row))
    return row


def _cost(row: PassageOut) -> int:
    return tokens(_passage_line(0, row)) + 1


def _passage_line(number: int, row: PassageOut) -> str:
    name = f"videoId={row.video_id}" if row.video_id else f"sourceId={row.source_id}"
    place = ", ".join(filter(None, (row.shown_place, row.speaker)))
    position = f" [{place}]" if place else ""
    lines = [f"{number + 1}. “{row.title}” ({name}){position} {row.text} ({row.timestamp_link})"]
    lines += [
        f"   Also said in {titled(duplicate)} ({duplicate.link})" for duplicate in row.duplicates
    ]
    if not row.is_likely:
        lines[0] += " (probably not on the subject)"
    return "\n".join([*lines, *([_reasons(row.explanation)] if row.explanation else [])])


def _reasons(how: Explanation) -> str:
    words, meaning = "not by words", "not by meaning"
    if how.lexical_rank and how.bm25 is not None:
        words = f"words #{how.lexical_rank}, BM25 {how.bm25:.3f}"
    if how.vector_rank and how.cosine is not None:
        meaning = f"meaning #{how.vector_rank}, cosine {how.cosine:.3f}"
    fusion = f"RRF {how.rrf:.5f} = {how.rrf_lexical:.5f} + {how.rrf_vector:.5f}"
    return f"   Score {how.formula}; {words}; {meaning}; {fusion}"


# Sources


def _source_line(_: int, row: SourceOut, *, label: StateLabel) -> str:
    about = (
        str(row.id),
        row.title,
        f"videoId={row.video_id}" if row.video_id else "",
        row.kind,
        f"{row.pages} {'slides' if row.has_slides else 'pages'}" if row.pages else "",
        row.channel,
        row.language,
        row.collection,
        label(row.state, row.language),
        for_models(row.error),
    )
    return f"- {' · '.join(part for part in about if part)}"


def titled(row: LocatedOut) -> str:
    """Write a row's title and location: “Steam”, 3:28–3:40."""
    return ", ".join(filter(None, (f"“{getattr(row, 'title', '')}”", row.place)))
