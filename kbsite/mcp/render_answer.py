"""Renders answers to questions, their citations, and checked quotes as tools' answers."""

from typing import Any

from citations.answers.answer import Quote
from citations.quotes.verification import VerifiedQuote
from citations.schemas.answers import ClaimOut, NearestOut, QuotationOut, QuoteCheckOut, ReplyOut
from kbsite.mcp.budget import LEAST, Row, costs, fitting, shorten, size, tokens
from kbsite.mcp.render_transcript import CURSOR, joined, material
from kbsite.mcp.tool_inputs import Arguments, VerifyQuote
from kbsite.mcp.tool_outputs import ReplyPage, clip, titled

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


def render_reply(reply: ReplyOut, asked: Arguments) -> tuple[str, ReplyPage]:
    """Return an answer within the budget: claims first, then citations or the nearest passages."""
    claims, citations, nearest = reply.claims, reply.citations, reply.nearest
    data = clip(ReplyPage(**{**dict(reply), "claims": [], "citations": [], "nearest": []}))
    around = tokens(_head(data)) + tokens(_CITE) + tokens(_CUT)
    room = asked.budget - CURSOR - max(around, size(data))
    data.claims, room = _take(claims, "text", room)
    shown = {number for claim in data.claims for number in claim.citations}
    citations = [
        quotation.model_copy(update={"prefix": "", "suffix": "", "channel": ""})
        for quotation in citations
        if quotation.number in shown
    ]
    data.citations, room = _take(citations, "quote", room)
    data.nearest, _ = _take(nearest, "text", room)
    parts = ((claims, data.claims), (citations, data.citations), (nearest, data.nearest))
    data.is_cut = any(len(kept) < len(all_) for all_, kept in parts)
    lines = [_line(0, row) for row in (*data.claims, *data.citations, *data.nearest)]
    tail = [*([_CITE] if data.citations else []), *([_CUT] if data.is_cut else [])]
    return joined(_head(data), lines, "\n".join(tail), None), data


def render_citation(quote: Quote, asked: Arguments) -> tuple[str, QuotationOut]:
    """Return a citation with the text around it."""
    data = _shorten(clip(QuotationOut.model_validate(quote)), "quote", asked.budget - CURSOR)
    about = (data.title, data.place, data.heading, data.channel)
    quoted = f"{data.prefix}«{data.quote}»{data.suffix}"
    said = f"{' · '.join(part for part in about if part)}\n{quoted}"
    return f"{material(said)}\n{data.link}", data


def render_quote_check(check: VerifiedQuote, asked: VerifyQuote) -> tuple[str, QuoteCheckOut]:
    """Return the verdict, the location, and the words that differ."""
    whole = clip(QuoteCheckOut.model_validate(check))
    differences = [clip(difference) for difference in whole.differences[:DIFFERENCES]]
    data = whole.model_copy(update={"differences": differences, "text": ""})
    advice = _ADVICE[data.verdict] if data.is_enough else _TOO_SHORT
    advice = _NEGATED.format(data.negation) if data.negation else advice
    data.text = shorten(whole.text, room=asked.budget // 2 - size(data) - tokens(advice) - CURSOR)
    lines = []
    if data.title:
        lines.append(f"{titled(data)} {data.link}: {data.text}")
    for difference in differences:  # words that the quote adds or omits, or both sides
        words = filter(None, (difference.quoted, difference.actual))
        lines.append(f"- {difference.kind}: " + " → ".join(f"“{side}”" for side in words))
    return joined(advice, lines, "", None), data


def _take(rows: list[Row], name: str, room: int) -> tuple[list[Row], int]:
    """Return the first rows that fit, their text ``name`` shortened, and the room they leave."""
    if not rows or room < LEAST:
        return [], room
    rows = [_shorten(clip(row), name, room) for row in rows]
    each = list(costs(rows, _line))
    count = fitting(each, room=room)
    return rows[:count], room - sum(each[:count])


def _shorten(row: Row, name: str, room: int) -> Row:
    """Keep a row within half of the room, with less of its text if needed."""
    text = getattr(row, name)
    (cost,) = costs([row.model_copy(update={name: ""})], _line)
    left = max(room // 2 - cost, LEAST)
    return row if tokens(text) <= left else row.model_copy(update={name: shorten(text, room=left)})


def _head(data: ReplyPage) -> str:
    confidence = ""
    if data.confidence is not None and data.state != "refused":
        confidence = f"Confidence {data.confidence:.0%}."
    full_question = (
        f"Understood as: {data.full_question}" if data.full_question != data.question else ""
    )
    parts = (data.note, confidence, full_question, f"conversationId={data.conversation_id}")
    return "\n".join(part for part in parts if part)


def _line(_: int, row: Any) -> str:
    match row:
        case ClaimOut():
            marks = "".join(f" [{number}]" for number in row.citations)
            label = f"{row.label}: " if row.label else "More: " if row.is_more else ""
            doubt = "" if row.is_supported else " (not supported by the sources)"
            return f"{label}{row.text}{marks}{doubt}"
        case QuotationOut():
            quoted = f"[{row.number}] “{row.quote}” – {titled(row)} ({row.link})"
            return f"{quoted} citationId={row.id} sourceId={row.source_id}"
        case NearestOut():
            rest = "" if row.text.endswith(_ENDS) else " …"
            return f"Nearest: {titled(row)} ({row.link}) {row.text}{rest}"
    return ""
