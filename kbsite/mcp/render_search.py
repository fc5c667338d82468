"""What a search of the library found, and which sources there are, as tool answers within the token budget."""

from collections.abc import Sequence
from dataclasses import asdict

from pydantic import BaseModel

from citations.library.sources import SourcePage
from citations.models import Source
from citations.passages import (
    Explanation,
    NearDuplicate,
    Passage,
    Results,
    interval,
    pages,
    seconds,
)
from kbsite.mcp.budget import as_json, costs, fitting, longest, tokens
from kbsite.mcp.render_transcript import CURSOR, NAME, TITLE, joined
from kbsite.mcp.tool_inputs import ListSources, SearchKnowledgeBase
from kbsite.mcp.tool_outputs import (
    AlsoAnswer,
    ExplanationAnswer,
    KnowledgeAnswer,
    PassageAnswer,
    SourceAnswer,
    SourcesAnswer,
    StageAnswer,
    TermAnswer,
)
from transcripts.conf import absolute

TWINS, TERMS, NOTES = 5, 8, 3  # of each, that an answer names
SENTENCE = 200  # characters of a note
LEAST = 32  # tokens of a passage's text, however small the budget

_READ_ON = "To read around a passage: get_transcript with videoId, startTime and endTime; to narrow the search: sourceId."
_NOTHING = "No passage answers. Next: search_knowledge_base with other words or fewer filters, or list_sources to see what there is."
_NO_SOURCES = "No source matches. Next: list_sources without filters, or add_source."


def knowledge_answer(found: Results, asked: SearchKnowledgeBase) -> tuple[str, KnowledgeAnswer]:
    """Return a page of passages."""
    offset, _ = asked.place
    data = KnowledgeAnswer(query=found.query, mode=found.mode.value, reranked=found.reranked)
    data.notes = [note[:SENTENCE] for note in found.notes[:NOTES]]
    if asked.explain:
        data.stages = [
            StageAnswer(name=stage.name, ms=round(stage.milliseconds, 1), count=stage.count)
            for stage in found.stages
        ]
    head = "\n".join([_said(found), *data.notes])
    room = asked.budget - CURSOR - max(tokens(head) + tokens(_READ_ON), tokens(as_json(data)))
    rows = [
        _slim(_passage(one), room=room)
        for one in found.passages[offset : offset + asked.max_results]
    ]
    data.passages = rows[: fitting(costs(rows, _passage_line), room=room)]
    shown = offset + len(data.passages)
    data.next_cursor = asked.going_on(
        shown if data.passages and shown < len(found.passages) else None
    )
    lines = [_passage_line(offset + number, one) for number, one in enumerate(data.passages)]
    return joined(head, lines, _READ_ON if lines else "", data.next_cursor), data


def sources_answer(found: SourcePage, asked: ListSources) -> tuple[str, SourcesAnswer]:
    """Return a page of sources."""
    offset, _ = asked.place
    data = SourcesAnswer(
        total=found.total, indexing=found.counts.unfinished, failed=found.counts.failed
    )
    head = _counted(found) if found.total else _NO_SOURCES
    rows = [_source(one) for one in found.sources]
    data.sources = rows[
        : fitting(
            costs(rows, _source_line),
            room=asked.budget - CURSOR - tokens(head) - tokens(as_json(data)),
        )
    ]
    shown = offset + len(data.sources)
    data.next_cursor = asked.going_on(shown if data.sources and shown < found.total else None)
    return joined(head, [_source_line(0, one) for one in data.sources], "", data.next_cursor), data


# Passages


def _said(found: Results) -> str:
    if not found.passages:
        return _NOTHING
    return f"{len(found.passages)} passages, best first{', ordered by the cross-encoder' if found.reranked else ''}."


def _passage(one: Passage) -> PassageAnswer:
    return PassageAnswer(
        source_id=str(one.origin.id),
        title=one.origin.title[:TITLE],
        kind=one.origin.kind,
        channel=one.origin.author[:NAME],
        video_id=one.origin.key or None,
        text=one.text,
        start=seconds(one.locator.start),
        end=seconds(one.locator.end),
        page=one.locator.page,
        last_page=one.locator.last_page,
        score=round(one.score, 4),
        timestamp_link=one.timestamp_link,
        heading=one.heading[:TITLE] or None,
        also=[_also(duplicate) for duplicate in one.duplicates[:TWINS]],
        explanation=_explanation(one.explanation) if one.explanation else None,
    )


def _also(duplicate: NearDuplicate) -> AlsoAnswer:
    link = absolute(duplicate.link)
    return AlsoAnswer(
        source_id=str(duplicate.origin.id),
        title=duplicate.origin.title[:TITLE],
        start=seconds(duplicate.locator.start),
        page=duplicate.locator.page,
        link=link,
    )


def _explanation(how: Explanation) -> ExplanationAnswer:
    best = sorted(how.terms, key=lambda term: -term.score)[:TERMS]
    terms = [
        TermAnswer(term=term.term[:NAME], frequency=term.frequency, score=term.score)
        for term in best
    ]
    return ExplanationAnswer(**{**asdict(how), "terms": terms})


def _slim(row: PassageAnswer, *, room: int) -> PassageAnswer:
    """Keep a single passage within the budget: first without what is said beside it, then with less of its text."""
    bare = row.model_copy(update={"text": ""})
    if _cost(bare) > room // 2:
        bare = bare.model_copy(update={"also": [], "explanation": None})
    text = row.text[: longest(row.text, 0, room=max(room - _cost(bare), LEAST))] if row.text else ""
    return bare.model_copy(update={"text": text})


def _cost(row: PassageAnswer) -> int:
    return next(iter(costs([row], _passage_line)))


def _passage_line(number: int, one: BaseModel) -> str:
    if not isinstance(one, PassageAnswer):
        return ""
    name = f"videoId={one.video_id}" if one.video_id else f"sourceId={one.source_id}"
    lines = [
        f"{number + 1}. “{one.title}” ({name}){_place(one.start, one.end, one.page, one.last_page)} {one.text} ({one.timestamp_link})"
    ]
    lines += [
        f"   Also said in “{duplicate.title}”{_place(duplicate.start, None, duplicate.page)} ({duplicate.link})"
        for duplicate in one.also
    ]
    return "\n".join([*lines, *_reasons(one.explanation)])


def _reasons(how: ExplanationAnswer | None) -> Sequence[str]:
    if how is None:
        return ()
    words = (
        f"words #{how.lexical_rank}, BM25 {how.bm25:.3f}"
        if how.lexical_rank and how.bm25 is not None
        else "not by words"
    )
    meaning = (
        f"meaning #{how.vector_rank}, cosine {how.cosine:.3f}"
        if how.vector_rank and how.cosine is not None
        else "not by meaning"
    )
    return (
        f"   Score {how.formula}; {words}; {meaning}; RRF {how.rrf:.5f} = {how.rrf_lexical:.5f} + {how.rrf_vector:.5f}",
    )


def _place(
    start: float | None, end: float | None, page: int | None, last_page: int | None = None
) -> str:
    times = [None if time is None else int(time * 1000) for time in (start, end)]
    written = interval(*times) or pages(page, last_page)
    return f" [{written}]" if written else ""


# Sources


def _counted(found: SourcePage) -> str:
    parts = [f"{found.total} sources, newest first"]
    if found.counts.unfinished:
        parts.append(f"{found.counts.unfinished} still being indexed")
    if found.counts.failed:
        parts.append(f"{found.counts.failed} failed")
    return f"{'; '.join(parts)}."


def _source(one: Source) -> SourceAnswer:
    return SourceAnswer(
        source_id=str(one.uuid),
        title=one.title[:TITLE],
        kind=one.kind,
        channel=one.author[:NAME],
        collection=one.collection.slug,
        language=one.language,
        video_id=one.video.key if one.video else None,
        published_at=one.published_at.date().isoformat() if one.published_at else None,
        state=one.state,
        chunks=one.chunk_count,
        pages=one.document.page_count or None if hasattr(one, "document") else None,
        error=f"{one.error} {one.hint}".strip()[:SENTENCE] or None,
    )


_STATES = {
    "pending": "not indexed yet",
    "words": "found by words",
    "ready": "found by words and meaning",
    "failed": "failed",
}


def _source_line(_: int, one: BaseModel) -> str:
    if not isinstance(one, SourceAnswer):
        return ""
    video = f"videoId={one.video_id}" if one.video_id else None
    pages = f"{one.pages} pages" if one.pages else None
    about = [
        one.source_id,
        one.title,
        video,
        one.kind,
        pages,
        one.channel,
        one.language,
        one.collection,
        _STATES[one.state],
        one.error,
    ]
    return f"- {' · '.join(part for part in about if part)}"
