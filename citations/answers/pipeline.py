"""From a question to an answer: route, retrieve, write, check; each stage returns a value."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final

from django.contrib.auth.models import User

from citations.answers import evidence as answer_evidence
from citations.answers import library_notes, source_facts, writers
from citations.answers.answer import (
    GROUND,
    AnswerOutcome,
    AnswerPart,
    AnswerTrace,
    Draft,
    Event,
    Evidence,
    EvidenceSet,
    FinalEvent,
    Progress,
    QuestionPart,
    Reply,
    Route,
    WritingTask,
)
from citations.answers.citation_check import Proof
from citations.answers.question.wording import asks_for_more, quoted
from citations.answers.sections import heading
from citations.answers.understanding import ROUTE, Understanding, understand, understand_everywhere
from citations.answers.writers import SentenceRater
from citations.answers.writing.sentence_ranking import Rate, stems
from citations.library.filters import Filter, matching, resolve
from citations.models import Source
from citations.passages import NEAREST, Stage
from citations.vectors import language_gap
from transcripts.core.scope import Scope
from transcripts.core.stages import finish
from transcripts.text.queries import read_question

RETRIEVE, WRITE = "retrieve", "write"
LIMIT: Final = 10  # passages for each part of a question
MAX_ASKED_ABOUT: Final = 3  # sources whose dates, lengths, ... are asked for
MAX_PASSAGES: Final = 30  # passages for a question that asks for more
# Cosine, by the model that confidence is calibrated for, from which on a passage covers a question
# in other words.
COVERING_COSINE: Final = 0.35


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest:
    """A question, who asks it, and where to look."""

    scope: Scope
    question: str
    history: tuple[tuple[str, str], ...]
    filter: Filter
    user: User | None
    earlier_quotes: tuple[str, ...] = ()
    uses_llm: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """The evidence of a question, and the answer that was written from it."""

    route: Route
    evidence: EvidenceSet
    draft: Draft
    proof: Proof
    stages: tuple[Stage, ...]
    notes: tuple[str, ...]

    @property
    def is_supported(self) -> bool:
        return any(claim.is_supported for claim in self.draft.claims)


def ask(
    scope: Scope,
    question: str,
    *,
    history: Sequence[tuple[str, str]] = (),
    filter: Filter = Filter(),
    user: User | None = None,
    earlier_quotes: Iterable[str] = (),
    uses_llm: bool = True,
) -> Iterator[Event]:
    """Answer a question from what ``scope`` may read; the last event is a ``FinalEvent``.

    ``history`` has (question, answer) of earlier turns, oldest first. ``earlier_quotes`` are the
    quotes of earlier answers: an answer to a question that asks for more does not repeat them.
    Without ``uses_llm``, the sources' own sentences answer even if a language model is configured.

    Raises at once ``EmptyQuery``, ``InvalidInput`` for a question that is too long, and what
    ``filters.resolve`` raises. The iterator raises what ``evidence.collect`` raises; other failures
    are noted in the answer.
    """
    text = read_question(question)
    resolve(scope, filter)
    request = AnswerRequest(
        scope=scope,
        question=text,
        history=tuple(history),
        filter=filter,
        user=user,
        earlier_quotes=tuple(earlier_quotes) if asks_for_more(text) else (),
        uses_llm=uses_llm,
    )
    return _events(request)


def _events(request: AnswerRequest) -> Iterator[Event]:
    started = perf_counter()
    yield Progress(stage=ROUTE)
    scope, filter, question = request.scope, request.filter, request.question
    if library_notes.needs_help(scope, filter, question, is_first=not request.history):
        reply = Reply(
            question=question,
            full_question=question,
            outcome=AnswerOutcome.HELP,
            trace=AnswerTrace(route=Route(parts=())),
            note=library_notes.help_note(scope, filter),
            milliseconds=(perf_counter() - started) * 1000,
        )
        yield FinalEvent(reply=reply)
        return
    understanding = understand(
        scope, question, history=request.history, filter=filter, uses_llm=request.uses_llm
    )
    yield Progress(stage=RETRIEVE)
    unready = library_notes.unready_sources(scope, filter)  # before it is searched
    attempt = yield from _attempt(request, understanding)
    if understanding.selected and not (attempt.is_supported or understanding.fact):
        attempt = yield from _attempt_everywhere(request, understanding, attempt)
    reply = _reply(request, understanding, attempt, started)
    yield FinalEvent(reply=replace(reply, unready=unready))


# Retrieve, write, check


def _attempt(
    request: AnswerRequest, understanding: Understanding
) -> Generator[Event, None, _Attempt]:
    selected = understanding.selected
    evidence = answer_evidence.collect(
        request.scope,
        understanding.route.parts,
        filter=understanding.filter,
        # The search finds earlier quotes again.
        limit=min(MAX_PASSAGES, LIMIT + len(request.earlier_quotes)),
        user=request.user,
        expand=request.uses_llm,
    )
    proof = Proof(evidence.evidence, scope=request.scope, filter=understanding.filter)
    embedder = understanding.models.embedder
    rater = SentenceRater(embedder) if embedder else None
    trusted = writers.calibrated(rater)
    draft, stages = Draft(), evidence.stages
    is_open, is_anywhere = True, selected is None and not understanding.fact
    if understanding.fact:
        sources = _asked_about(request.scope, understanding)
        draft = yield from source_facts.write(understanding.fact, sources, proof)
        is_open = bool(sources) and not draft.claims
    parts = understanding.route.parts
    if is_open and (is_anywhere or _is_covered(parts, evidence.evidence, trusted)):
        yield Progress(stage=WRITE)
        started = perf_counter()
        task = WritingTask(
            full_question=understanding.full_question,
            parts=parts,
            evidence=evidence,
            earlier_quotes=request.earlier_quotes,
        )
        known = draft.remarks
        draft = yield from writers.write(task, proof, understanding.models.llm, rater)
        draft = replace(draft, remarks=(*known, *draft.remarks))
        checked = proof.milliseconds
        writing = (perf_counter() - started) * 1000 - checked
        stages += (
            _stage(WRITE, writing, count=len(draft.claims)),
            _stage(GROUND, checked, count=len(proof.checks)),
        )
    return _Attempt(
        route=understanding.route,
        evidence=evidence,
        draft=draft,
        proof=proof,
        stages=stages,
        notes=(
            *((selected.note,) if selected else ()),
            *evidence.notes,
            *(rater.notes if rater else ()),
            *draft.notes,
        ),
    )


def _asked_about(scope: Scope, understanding: Understanding) -> list[Source]:
    """Return the sources of which a date, a length, ... is asked; none if several may be meant."""
    filter = understanding.filter
    rows = matching(scope, filter).filter(chunk_count__gt=0)
    sources = list(rows.select_related("video", "document", "transcript")[:MAX_ASKED_ABOUT])
    is_clear = len(sources) == 1 or understanding.selected or filter.sources
    return sources if is_clear else []


def _attempt_everywhere(
    request: AnswerRequest, understanding: Understanding, first: _Attempt
) -> Generator[Event, None, _Attempt]:
    """Search all sources when the named ones do not answer: a title may be a subject, too."""
    selected = understanding.selected
    everywhere = understand_everywhere(request.scope, understanding, filter=request.filter)
    second = yield from _attempt(request, everywhere)
    spent, tokens = first.draft.tokens, second.draft.tokens
    total = {name: spent.get(name, 0) + tokens.get(name, 0) for name in {**spent, **tokens}}
    notes = tuple(note for note in first.notes if selected and note != selected.note)
    return replace(
        second,
        draft=replace(
            second.draft, tokens=total, remarks=(*first.draft.remarks, *second.draft.remarks)
        ),
        stages=(*first.stages, everywhere.stage, *second.stages),
        notes=(*((selected.miss_note,) if selected else ()), *notes, *second.notes),
    )


def _is_covered(
    parts: Sequence[QuestionPart], evidence: Sequence[Evidence], rate: Rate | None
) -> bool:
    """Tell whether passages cover a part: half of its words, or a passage near to it.

    A search in one source always finds something, so that scores tell nothing. Every source covers
    a question about itself as a whole.
    """
    texts = [passage.text for passage in evidence]
    vocabulary = {word for text in texts for word in stems(text)}
    for part in parts:
        subject = set(stems(part.text))
        if part.is_of_the_whole or 2 * len(subject & vocabulary) >= len(subject):
            return True
        nearness = rate(part.text, texts) if rate and texts else None
        if nearness is not None and max(nearness) >= COVERING_COSINE:
            return True
    return False


def _stage(name: str, milliseconds: float, *, count: int = 0) -> Stage:
    finish("answer", name, milliseconds=milliseconds)
    return Stage(name=name, milliseconds=milliseconds, count=count)


# The reply


def _reply(
    request: AnswerRequest, understanding: Understanding, attempt: _Attempt, started: float
) -> Reply:
    draft, evidence = attempt.draft, attempt.evidence.evidence
    is_refused = not attempt.is_supported
    is_partial = draft.missing or draft.is_cut_off
    outcome = AnswerOutcome.PARTIAL if is_partial else AnswerOutcome.ANSWERED
    nearest = sorted(evidence, key=lambda passage: -passage.score)[:NEAREST] if is_refused else ()
    trace = AnswerTrace(
        route=attempt.route,
        evidence=evidence,
        checks=tuple(attempt.proof.checks),
        stages=(understanding.stage, *attempt.stages),
        tokens=draft.tokens,
        signs=draft.signs,
        notes=tuple(dict.fromkeys((*understanding.notes, *attempt.notes))),
    )
    return Reply(
        question=request.question,
        full_question=understanding.full_question,
        outcome=AnswerOutcome.REFUSED if is_refused else outcome,
        trace=trace,
        claims=() if is_refused else draft.claims,
        parts=_parts(attempt),
        quotes=() if is_refused else tuple(attempt.proof.quotes),
        nearest=tuple(nearest),
        note=_note(request, understanding.full_question, attempt),
        confidence=None if is_refused else draft.confidence,
        model=draft.model,
        milliseconds=(perf_counter() - started) * 1000,
    )


def _parts(attempt: _Attempt) -> tuple[AnswerPart, ...]:
    """Return the questions as headings, of several that are answered one by one.

    What stands with the claims of another question is not among them.
    """
    questions = attempt.route.parts if attempt.is_supported else ()
    answered = {claim.heading for claim in attempt.draft.claims if claim.heading}
    if len(questions) < 2 or not answered:
        return ()
    missing = {heading(text) for text in attempt.draft.missing}
    headings = dict.fromkeys(heading(question.text) for question in questions)
    return tuple(
        AnswerPart(
            heading=heading,
            is_answered=heading in answered,
            confidence=attempt.draft.confidences.get(heading) if heading in answered else None,
        )
        for heading in headings
        if heading in answered | missing
    )


def _note(request: AnswerRequest, full_question: str, attempt: _Attempt) -> str:
    """Say what the sources do not answer, unless a heading of the answer does, and how else it
    differs from what was asked for.
    """
    draft = attempt.draft
    is_whole = len(draft.missing) < len(attempt.route.parts)
    missing = draft.missing if attempt.is_supported or not is_whole else [full_question]
    headings = {part.heading for part in _parts(attempt)}
    noun = "more information" if draft.repeats else "information"
    refusals = (
        f"I cannot find {noun} about {quoted(text)} in the sources."
        for text in dict.fromkeys(missing)
        if heading(text) not in headings
    )
    sources = matching(request.scope, request.filter)
    advice = language_gap.advice(" ".join(missing), sources) if missing else ""
    return " ".join(filter(None, (*refusals, advice, *draft.remarks)))
