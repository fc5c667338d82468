"""Stored answers as a scope may see them.

Visibility is checked at each read, and claims with invisible sources are dropped.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from citations.answers.answer import AnswerPart, Claim, Preparation, Quote, UnreadySource
from citations.answers.sections import Section, by_question
from citations.errors import AnswerNotFound, CitationNotFound
from citations.models import Answer, AnswerState, Citation, Conversation, Source
from transcripts.core.lists import row_of
from transcripts.core.player import Player
from transcripts.core.scope import Scope

LOST = "The process that answered this question stopped."
ASK_AGAIN = "Ask again."


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord:
    """A question and its answer, without what the scope may not see.

    ``withheld`` counts claims that cite sources outside the scope. ``gone`` holds cited numbers
    whose sources were deleted. ``nearest`` (after a refusal), ``unready`` and ``trace`` omit
    invisible sources.
    """

    id: UUID
    conversation: UUID
    ordinal: int
    question: str
    full_question: str
    state: AnswerState
    claims: tuple[Claim, ...] = ()
    parts: tuple[AnswerPart, ...] = ()
    quotes: tuple[Quote, ...] = ()
    gone: tuple[int, ...] = ()
    nearest: tuple[Mapping[str, Any], ...] = ()
    note: str = ""
    unready: tuple[UnreadySource, ...] = ()
    error: str = ""
    hint: str = ""
    confidence: float | None = None
    model: str = ""
    trace: Mapping[str, Any] = field(default_factory=dict)
    feedback: int | None = None
    milliseconds: float | None = None
    created_at: datetime
    withheld: int = 0

    @property
    def player(self) -> Player:
        """Whether a file plays any of its quotes."""
        has_file = any(quote.origin.player == Player.FILE for quote in self.quotes)
        return Player.FILE if has_file else Player.NONE

    @property
    def is_running(self) -> bool:
        return self.state == AnswerState.RUNNING

    @property
    def sections(self) -> list[Section[Claim]]:
        """The claims under the questions that they answer."""
        return by_question(self.claims, self.parts)

    @property
    def text(self) -> str:
        """The claims without citations; after a refusal, the reason."""
        return " ".join(claim.text for claim in self.claims) or self.note


def find_answer(
    scope: Scope, user: User | None, reference: UUID | str, *, shared: bool = False
) -> Answer:
    """Return the user's answer of this id, or also a ``shared`` one. Raises ``AnswerNotFound``."""
    own = Conversation.objects.of(scope, user)
    conversations = Conversation.objects.readable(scope, user) if shared else own
    rows = Answer.objects.filter(conversation__in=conversations)
    return row_of(rows.select_related("conversation__collection"), reference, AnswerNotFound)


def find_citation(scope: Scope, reference: UUID | str) -> Quote:
    """Return a visible citation of an answer, whoever asked. Raises ``CitationNotFound``."""
    visible = Citation.objects.in_answers().visible(scope)
    rows = visible.select_related("source__collection", "source__video__media")
    return quote_of(row_of(rows, reference, CitationNotFound))


def of_conversation(scope: Scope, conversation: Conversation) -> tuple[AnswerRecord, ...]:
    """Return the answers of a conversation in order."""
    answers = Answer.objects.filter(conversation=conversation).select_related("conversation")
    return read(scope, answers.order_by("ordinal"))


def read(scope: Scope, answers: Iterable[Answer]) -> tuple[AnswerRecord, ...]:
    """Return answers as the scope may see them, in four queries."""
    rows = list(answers)
    quotes: dict[int, list[Quote]] = {row.pk: [] for row in rows}
    citations = Citation.objects.visible(scope).filter(answer__in=quotes)
    citations = citations.select_related("source__collection", "source__video__media")
    for citation in citations.order_by("answer", "number"):
        quotes[citation.answer_id or 0].append(quote_of(citation))
    stored: dict[int, set[int]] = {row.pk: set() for row in rows}
    numbers = Citation.objects.filter(answer__in=stored).values_list("answer_id", "number")
    for answer, number in numbers:
        stored[answer or 0].add(number or 0)
    visible = _visible(scope, rows)
    return tuple(
        _record(row, _Evident(scope, tuple(quotes[row.pk]), frozenset(stored[row.pk]), visible))
        for row in rows
    )


def state_of(answer: Answer) -> AnswerState:
    """Return a question's state: if its process died, failed or the state before."""
    if answer.state == AnswerState.RUNNING and not answer.is_active:
        return AnswerState(answer.trace.get("outcome", AnswerState.FAILED))
    return AnswerState(answer.state)


def quote_of(row: Citation) -> Quote:
    """Return a citation as a value. Load its source, collection and video with it."""
    return Quote(
        number=row.number or 0,
        source=row.source_id,
        origin=row.source.origin,
        locator=row.locator,
        text=row.quote,
        prefix=row.prefix,
        suffix=row.suffix,
        digest=row.digest,
        heading=row.section_heading,
        speaker=row.speaker,
        link=row.permalink,
        id=row.uuid,
    )


def _visible(scope: Scope, rows: Iterable[Answer]) -> frozenset[str]:
    """Return the visible ones among the sources that answers name."""
    ids = {
        passage["source"]
        for row in rows
        for passage in (*row.nearest, *row.trace.get("evidence", ()))
    }
    ids |= {source["source_id"] for row in rows for source in row.unready} - {None}
    if not ids:
        return frozenset()
    visible = Source.objects.visible(scope).filter(uuid__in=ids)
    return frozenset(map(str, visible.values_list("uuid", flat=True)))


@dataclass(frozen=True, slots=True)
class _Evident:
    """What a scope may see of an answer's evidence.

    ``stored`` are the numbers of all citations (others that claims cite were deleted), ``quotes``
    the visible ones, ``seen`` the visible sources.
    """

    scope: Scope
    quotes: tuple[Quote, ...]
    stored: frozenset[int]
    seen: frozenset[str]

    @property
    def numbers(self) -> frozenset[int]:
        return frozenset(quote.number for quote in self.quotes)

    def shows(self, row: Answer, claim: Mapping[str, Any], *, is_whole: bool) -> bool:
        """Say whether a claim is visible: each citation is, or is gone from a readable collection.

        A claim without citations is visible if all evidence is.
        """
        cited = frozenset(claim["citations"])
        if not cited:
            return is_whole
        if not self.numbers.issuperset(cited & self.stored):
            return False
        if cited <= self.stored:
            return True
        collection = row.conversation.collection_id
        default = [collection] if collection else None  # older claims have no collections
        collections = claim.get("collections", default)
        return collections is not None and self.scope.readable.issuperset(collections)

    def names(self, source: Mapping[str, Any]) -> bool:
        """Say whether a source that was not ready may be named; not when it was deleted."""
        is_seen = source["source_id"] is None or source["source_id"] in self.seen
        return is_seen and source["collection"] in self.scope.readable


def _record(row: Answer, evident: _Evident) -> AnswerRecord:
    trace, is_whole = _trace(row.trace, evident.numbers, evident.seen)
    claims = tuple(
        Claim(
            text=stored["text"],
            label=stored.get("label", ""),
            citations=tuple(stored["citations"]),
            is_supported=stored["is_supported"],
            is_more=stored.get("is_more", False),
            heading=stored.get("heading", ""),
            answer=stored.get("answer", ""),
        )
        for stored in row.claims
        if evident.shows(row, stored, is_whole=is_whole)
    )
    cited = {number for claim in claims for number in claim.citations}
    state = state_of(row)
    is_lost = state == AnswerState.FAILED and row.state == AnswerState.RUNNING
    same = (
        *("ordinal", "question", "full_question", "note", "confidence", "model", "feedback"),
        *("milliseconds", "created_at"),
    )
    return AnswerRecord(
        id=row.uuid,
        conversation=row.conversation.uuid,
        state=state,
        claims=claims,
        quotes=evident.quotes,
        gone=tuple(sorted(cited - evident.stored)),
        parts=tuple(AnswerPart(**part) for part in row.parts),
        nearest=tuple(passage for passage in row.nearest if passage["source"] in evident.seen),
        unready=tuple(
            UnreadySource(
                title=stored["title"],
                state=Preparation(stored["state"]),
                collection=stored["collection"],
                source_id=UUID(stored["source_id"]) if stored["source_id"] else None,
            )
            for stored in row.unready
            if evident.names(stored)
        ),
        error=LOST if is_lost else row.error,
        hint=ASK_AGAIN if is_lost else row.hint,
        trace=trace,
        withheld=len(row.claims) - len(claims),
        **{name: getattr(row, name) for name in same},
    )


def _trace(
    trace: Mapping[str, Any], numbers: frozenset[int], visible: frozenset[str]
) -> tuple[dict[str, Any], bool]:
    """Return the visible part of a trace, and whether that is all."""
    evidence = trace.get("evidence", [])
    passages = [passage for passage in evidence if passage["source"] in visible]
    is_whole = len(passages) == len(evidence)
    numbers_ = {passage["number"] for passage in passages} | ({0} if is_whole else set())
    checks = [
        check
        for check in trace.get("checks", [])
        if check["evidence"] in numbers_ and check["number"] in numbers | {0}
    ]
    return {**trace, "evidence": passages, "checks": checks} if trace else {}, is_whole
