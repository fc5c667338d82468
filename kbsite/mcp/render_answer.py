"""Renders answers to questions, their citations, and checked quotes as tools' answers."""

from collections.abc import Sequence
from typing import Any

from citations.answers.answer import ClaimEvent, Event, Progress, Quote, answer_spans
from citations.answers.library_notes import unready_note
from citations.answers.sections import UNANSWERED, by_question
from citations.quotes.verification import VerifiedQuote
from citations.schemas.answers import ClaimOut, NearestOut, QuotationOut, QuoteCheckOut, ReplyOut
from citations.sureness import level_of
from kbsite.mcp.answer_text import (
    CURSOR,
    MIN_TEXT,
    Row,
    clip,
    costs,
    fitting,
    for_models,
    joined,
    material,
    shorten,
    tokens,
)
from kbsite.mcp.render_search import titled
from kbsite.mcp.tool_inputs import Arguments, VerifyQuote

DIFFERENCES = 5  # that the answer on a quote names
_ENDS = (".", "!", "?", "…", "”", ")")
_CITE = (
    "Cite as [1](link). get_citation gives the text around a quote; conversationId asks a "
    "follow-up question."
)
_CUT = "The budget left something out: ask for more maxTokens, or a narrower question."
_ADVICE = {
    "verbatim": "Verbatim: you may cite it.",
    "misattributed": "Misattributed: it is word for word in another source; cite that one.",
    "altered": "Altered: do not cite it as it is. The source's words, and what differs:",
    "not_found": "Not found: do not cite it. Next: search_knowledge_base for what it says.",
}
_NEGATED = "Do not cite it: in the source “{}” stands right before it. Quote that word, too."
_TOO_SHORT = "Too short to prove anything: verify_quote with three words or more."


_STEPS = {
    "route": "understanding the question",
    "retrieve": "searching the library",
    "rerank": "ranking the passages",
    "write": "writing the answer",
    "ground": "writing the answer, and checking its quotes",  # each as soon as it is written
}


def render_step(event: Event) -> str:
    """Return what answering has come to: a stage, or a claim that was checked."""
    match event:
        case Progress():
            return _STEPS.get(event.stage, event.stage)
        case ClaimEvent():
            cited = "".join(f"[{number}]" for number in event.claim.citations)
            return f"writing the answer; checked so far:\n{material(event.claim.text)} {cited}"
    return "storing the answer"


def render_reply(reply: ReplyOut, arguments: Arguments) -> str:
    """Return an answer within the budget: claims first, then citations or the nearest passages."""
    head, unready = _head(clip(reply)), unready_note(reply.unready)
    frame = (head, unready, _CITE, _CUT, *_headings(reply))
    room = arguments.budget - CURSOR - sum(map(tokens, frame))
    claims, room = _take(reply.claims, "text", room)
    cited = {number for claim in claims for number in claim.citations}
    quotations = [quotation for quotation in reply.citations if quotation.number in cited]
    citations, room = _take(quotations, "quote", room)
    nearest, _ = _take(reply.nearest, "text", room)
    pairs = ((reply.claims, claims), (quotations, citations), (reply.nearest, nearest))
    is_cut = any(len(cut) < len(rows) for rows, cut in pairs)
    lines = [*_claim_lines(reply, claims), *(_line(0, row) for row in (*citations, *nearest))]
    lines += [unready] if unready else []
    tail = [*([_CITE] if citations else []), *([_CUT] if is_cut else [])]
    return joined(head, lines, "\n".join(tail))


def _claim_lines(reply: ReplyOut, claims: Sequence[ClaimOut]) -> list[str]:
    lines = []
    for section in by_question(claims, reply.parts):
        lines += [f"## {for_models(section.heading)}"] if section.heading else []
        lines += [_confidence(section.confidence)] if section.confidence is not None else []
        lines += [_line(0, claim) for claim in section.claims] or [str(UNANSWERED)]
    return lines


def _headings(reply: ReplyOut) -> list[str]:
    below = (
        _confidence(part.confidence or 0.0) if part.is_answered else UNANSWERED
        for part in reply.parts
    )
    return [f"## {part.heading}\n{line}\n" for part, line in zip(reply.parts, below, strict=True)]


def render_citation(quote: Quote, arguments: Arguments) -> str:
    """Return a citation with the text around it."""
    data = _shorten(clip(QuotationOut.model_validate(quote)), "quote", arguments.budget - CURSOR)
    about = (data.title, data.place, data.heading, data.channel)
    quoted = f"{data.prefix}«{data.quote}»{data.suffix}"
    text = f"{' · '.join(part for part in about if part)}\n{quoted}"
    return f"{material(text)}\n{data.link}"


def render_quote_check(check: VerifiedQuote, arguments: VerifyQuote) -> str:
    """Return the verdict, the location, and the words that differ."""
    data = clip(QuoteCheckOut.model_validate(check))
    advice = _ADVICE[data.verdict] if data.is_enough else _TOO_SHORT
    advice = _NEGATED.format(data.negation) if data.negation else advice
    differences = []
    for difference in map(clip, data.differences[:DIFFERENCES]):
        sides = filter(None, (difference.quoted, difference.actual))  # one adds or omits words
        words = " → ".join(f"“{side}”" for side in sides)
        differences.append(f"- {difference.kind}: {words}")
    lines = [f"{titled(data)} {data.link}: "] if data.title else []
    room = arguments.budget - CURSOR - tokens(advice) - sum(map(tokens, (*lines, *differences)))
    if lines:
        lines[0] += shorten(data.text, room=room)
    return joined(advice, [*lines, *differences], "")


def _take(rows: list[Row], name: str, room: int) -> tuple[list[Row], int]:
    """Return the first rows that fit, their text ``name`` shortened, and the room they leave."""
    if not rows or room < MIN_TEXT:
        return [], room
    rows = [_shorten(clip(row), name, room) for row in rows]
    sizes = list(costs(rows, _line))
    count = fitting(sizes, room=room)
    return rows[:count], room - sum(sizes[:count])


def _shorten(row: Row, name: str, room: int) -> Row:
    """Keep a row within half of the room, with less of its text if needed."""
    text = getattr(row, name)
    (cost,) = costs([row.model_copy(update={name: ""})], _line)
    budget = max(room // 2 - cost, MIN_TEXT)
    if tokens(text) <= budget:
        return row
    return row.model_copy(update={name: shorten(text, room=budget)})


def _confidence(share: float) -> str:
    level = level_of(share)
    return f"{level.sureness.label.capitalize()}. {level.held}."


def _head(data: ReplyOut) -> str:
    confidence = "" if data.confidence is None else _confidence(data.confidence)
    full_question = (
        f"Understood as: {data.full_question}" if data.full_question != data.question else ""
    )
    conversation = f"conversationId={data.conversation_id}"
    return "\n".join(filter(None, (for_models(data.note), confidence, full_question, conversation)))


def _line(_: int, row: Any) -> str:
    match row:
        case ClaimOut():
            marks = "".join(f" [{number}]" for number in row.citations)
            label = f"{row.label}: " if row.label else "More: " if row.is_more else ""
            doubt = "" if row.is_supported else " (not supported by the sources)"
            text = row.text
            for first, last in answer_spans(text, row.answer):
                text = f"{text[:first]}**{text[first:last]}**{text[last:]}"
            return f"{label}{text}{marks}{doubt}"
        case QuotationOut():
            quoted = f"[{row.number}] “{row.quote}” – {titled(row)} ({row.link})"
            return f"{quoted} citationId={row.id} sourceId={row.source_id}"
        case NearestOut():
            rest = "" if row.text.endswith(_ENDS) else " …"
            return f"Nearest: {titled(row)} ({row.link}) {row.text}{rest}"
    return ""
