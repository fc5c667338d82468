"""Questions answered over MCP, and their citations: what is asked, what is answered, within the token budget."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from citations.answers.answer import Claim, FinalEvent, Quote, Reply
from citations.notebook import answers, conversations, export, questions
from citations.passages import pages
from kbsite.auth import Caller
from kbsite.mcp.budget import as_json, costs, fitting, longest, tokens
from kbsite.mcp.render_transcript import NAME, TITLE, answer, joined
from kbsite.mcp.tool_inputs import Arguments, Collection, Text
from transcripts.errors import KnowledgeBaseError
from transcripts.timecodes import clock

NOTE = 300  # characters of a note
LEAST = 32  # tokens of a text, however small the budget

_ENDS = (".", "!", "?", "…", "”", ")")
_CITE = "Cite as [1](link). get_citation gives what stands around a quote; conversationId asks what follows on this."
_FEWER = "The budget left something out: ask for more maxTokens, or more narrowly."


class AskKnowledgeBase(Arguments):
    """Arguments of ask_knowledge_base."""

    text: Annotated[
        Text,
        Field(
            alias="question",
            min_length=1,
            max_length=1000,
            description="What you want to know; several questions in one are answered each.",
        ),
    ]
    conversation_id: Annotated[
        Text,
        Field(
            max_length=50,
            description="conversation_id of an answer that this follows on; its sources stay.",
        ),
    ] = ""
    collection: Collection = ""
    source_ids: Annotated[
        list[Annotated[Text, Field(min_length=1, max_length=500)]],
        Field(max_length=50, description="Only from these: ids of sources or videos."),
    ] = []


class GetCitation(Arguments):
    """Arguments of get_citation."""

    citation_id: Annotated[
        Text,
        Field(min_length=1, max_length=50, description="citation_id that ask_knowledge_base gave."),
    ]


class ClaimAnswer(BaseModel):
    """A sentence or two of an answer, and the numbers of its citations."""

    label: str | None = None
    text: str
    citations: list[int] = []
    is_supported: bool = True


class CitationAnswer(BaseModel):
    """A quote that was found word for word, and where."""

    citation_id: str | None = None
    number: int
    quote: str
    prefix: str | None = None
    suffix: str | None = None
    source_id: str
    title: str
    author: str | None = None
    heading: str | None = None
    place: str
    start: float | None = None
    end: float | None = None
    page: int | None = None
    last_page: int | None = None
    link: str


class NearAnswer(BaseModel):
    """A passage that comes near, though it does not answer."""

    source_id: str
    title: str
    text: str
    start: float | None = None
    page: int | None = None
    link: str


class ReplyAnswer(BaseModel):
    """An answer whose every citation was checked, or a refusal."""

    outcome: Literal["answered", "partial", "refused"]
    asked_as: str
    note: str | None = None
    confidence: float | None = None
    model: str | None = None
    conversation_id: str
    is_cut: bool = False
    claims: list[ClaimAnswer] = []
    citations: list[CitationAnswer] = []
    nearest: list[NearAnswer] = []


def ask(by: Caller, asked: AskKnowledgeBase) -> CallToolResult:
    """Answer a question, as the next of a conversation or the first of a new one. Raises what ``questions`` and ``conversations.find`` raise."""
    if asked.conversation_id:
        put = questions.put(
            by.scope,
            by.user,
            conversations.find(by.scope, by.user, asked.conversation_id),
            asked.text,
        )
    else:
        put = questions.put_first(
            by.scope, by.user, asked.text, collection=asked.collection, sources=asked.source_ids
        )
    for event in questions.respond(by.scope, by.user, put):
        if isinstance(event, FinalEvent):
            return answer(*reply_answer(event.reply, asked, conversation=put.conversation.uuid))
    raise KnowledgeBaseError("The answer has no end.", hint="Ask again.")


def reply_answer(reply: Reply, asked: Arguments, *, conversation: UUID) -> tuple[str, ReplyAnswer]:
    """Return an answer within the budget: its claims first, then their citations, or the passages that come nearest."""
    data = ReplyAnswer(
        outcome=reply.outcome.value,
        asked_as=reply.asked_as[:NOTE],
        note=reply.note[:NOTE] or None,
        confidence=None if reply.confidence is None else round(reply.confidence, 3),
        model=reply.model[:NAME] or None,
        conversation_id=str(conversation),
    )
    room = asked.budget - max(
        tokens(_head(data, reply.question)) + tokens(_CITE) + tokens(_FEWER), tokens(as_json(data))
    )
    claims = [_shorter(_claim(one), "text", room) for one in reply.claims]
    data.claims, room = _taken(claims, room, of=len(claims))
    shown = {number for claim in data.claims for number in claim.citations}
    cited = [_shorter(_citation(one), "quote", room) for one in reply.quotes if one.number in shown]
    data.citations, room = _taken(cited, room, of=len(cited))
    near = [_shorter(_near(one.as_json()), "text", room) for one in reply.nearest]
    data.nearest, _ = _taken(near, room, of=len(near))
    data.is_cut = (len(data.claims), len(data.citations), len(data.nearest)) < (
        len(claims),
        len(cited),
        len(near),
    )
    lines = [_line(0, row) for row in (*data.claims, *data.citations, *data.nearest)]
    tail = "\n".join(
        part for part in (_CITE if data.citations else "", _FEWER if data.is_cut else "") if part
    )
    return joined(_head(data, reply.question), lines, tail, None), data


def citation(by: Caller, asked: GetCitation) -> CallToolResult:
    """Look a citation up. Raises ``CitationNotFound``."""
    quote = answers.find_citation(by.scope, asked.citation_id)
    whole = _citation(quote).model_copy(
        update={
            "prefix": quote.prefix or None,
            "suffix": quote.suffix or None,
            "author": quote.origin.author[:NAME] or None,
        }
    )
    data = _shorter(whole, "quote", asked.budget)
    about = " · ".join(part for part in (data.title, data.place, data.heading, data.author) if part)
    return answer(
        f"{about}\n{data.prefix or ''}«{data.quote}»{data.suffix or ''}\n{data.link}", data
    )


def _citation(quote: Quote) -> CitationAnswer:
    found = export.citation(quote)
    same = ("number", "quote", "start", "end", "page", "last_page", "place", "link")
    about = {
        "citation_id": found["id"],
        "source_id": found["source"],
        "title": found["title"][:TITLE],
        "heading": found["heading"][:TITLE] or None,
    }
    return CitationAnswer(**about, **{name: found[name] for name in same})


def _near(passage: Mapping[str, Any]) -> NearAnswer:
    found = export.nearest(passage)
    same = {name: found[name] for name in ("text", "start", "page", "link")}
    return NearAnswer(source_id=found["source"], title=found["title"][:TITLE], **same)


def _taken(rows: list[Any], room: int, *, of: int) -> tuple[list[Any], int]:
    """Return the first rows that fit, and the room that they leave."""
    if not rows or room < LEAST:
        return [], room
    each = list(costs(rows, _line))
    count = fitting(each, room=room)
    return rows[:count], room - sum(each[:count])


def _shorter(row: Any, name: str, room: int) -> Any:
    """Keep one row within half of the room, with less of its text where need be."""
    text = getattr(row, name)
    cost = next(iter(costs([row.model_copy(update={name: ""})], _line)))
    left = max(room // 2 - cost, LEAST)
    return (
        row
        if tokens(text) <= left
        else row.model_copy(update={name: text[: longest(text, 0, room=left)]})
    )


def _head(data: ReplyAnswer, question: str) -> str:
    asked = f"Understood as: {data.asked_as}" if data.asked_as != question else ""
    sure = (
        f"Confidence {data.confidence:.0%}."
        if data.confidence is not None and data.outcome != "refused"
        else ""
    )
    return "\n".join(
        part
        for part in (data.note or "", sure, asked, f"conversationId={data.conversation_id}")
        if part
    )


def _claim(one: Claim) -> ClaimAnswer:
    return ClaimAnswer(
        label=one.label[:NAME] or None,
        text=one.text,
        citations=list(one.citations),
        is_supported=one.is_supported,
    )


def _line(_: int, row: BaseModel) -> str:
    match row:
        case ClaimAnswer():
            marks = "".join(f" [{number}]" for number in row.citations)
            return f"{f'{row.label}: ' if row.label else ''}{row.text}{marks}{'' if row.is_supported else ' (not supported by the sources)'}"
        case CitationAnswer():
            return f"[{row.number}] “{row.quote}” – “{row.title}”, {row.place} ({row.link}) citationId={row.citation_id} sourceId={row.source_id}"
        case NearAnswer():
            return f"Nearest: “{row.title}”{_at(row)} ({row.link}) {row.text}{'' if row.text.endswith(_ENDS) else ' …'}"
    return ""


def _at(row: NearAnswer) -> str:
    if row.start is not None:
        return f" at {clock(round(row.start * 1000))}"
    return f", {pages(row.page)}" if row.page else ""
