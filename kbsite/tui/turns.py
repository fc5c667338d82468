"""A question, its answer so far and its quotes, and their text on the screen."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from string import ascii_lowercase
from typing import Any

from textual.content import Content

from citations.answers import answer
from citations.answers.library_notes import unready_note
from citations.answers.sections import UNANSWERED, by_question
from citations.passages import Locator, PassageSource, place
from citations.stages import stage_name

NEAREST_SHOWN = 140  # characters of a nearest passage


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteInContext:
    """A quote and the text around it. ``label``: its number, or a letter for a nearest passage."""

    label: str
    origin: PassageSource
    locator: Locator
    text: str
    prefix: str = ""
    suffix: str = ""
    heading: str = ""
    link: str = ""


def cited(quote: answer.Quote) -> QuoteInContext:
    return QuoteInContext(
        label=str(quote.number),
        origin=quote.origin,
        locator=quote.locator,
        text=quote.text,
        prefix=quote.prefix,
        suffix=quote.suffix,
        heading=quote.heading,
        link=quote.link,
    )


def nearest(evidence: answer.Evidence, index: int) -> QuoteInContext:
    """Return a nearest passage; the first is labelled “a”."""
    return QuoteInContext(
        label=letter(index),
        origin=evidence.origin,
        locator=evidence.locator,
        text=evidence.text,
        heading=evidence.heading,
        link=evidence.link,
    )


def letter(index: int) -> str:
    """Return the label of a nearest passage."""
    return ascii_lowercase[index % len(ascii_lowercase)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFooter:
    """The facts about a whole answer; ``trace`` is the JSON form of its trace."""

    is_refusal: bool = False
    parts: Sequence[answer.AnswerPart] = ()
    note: str = ""
    unready: Sequence[answer.UnreadySource] = ()
    model: str = ""
    confidence: float | None = None
    milliseconds: float = 0.0
    trace: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, reply: answer.Reply) -> "AnswerFooter":
        return cls(
            is_refusal=reply.outcome is answer.AnswerOutcome.REFUSED,
            parts=reply.parts,
            note=reply.note,
            unready=reply.unready,
            model=reply.model,
            confidence=reply.confidence,
            milliseconds=reply.milliseconds,
            trace=reply.trace.as_json(),
        )


@dataclass(slots=True)
class Turn:
    """A question and its answer so far. A refusal has nearest passages as ``quotes``."""

    question: str
    stage: str = "route"
    claims: list[answer.Claim] = field(default_factory=list)
    quotes: list[QuoteInContext] = field(default_factory=list)
    footer: AnswerFooter | None = None
    problem: str = ""
    hint: str = ""

    @property
    def is_running(self) -> bool:
        return self.footer is None and not self.problem

    def apply(self, event: answer.Event) -> None:
        match event:
            case answer.Progress(stage=stage):
                self.stage = stage
            case answer.ClaimEvent(claim=claim, quotes=quotes):
                self.claims.append(claim)
                self.quotes += map(cited, quotes)
            case answer.FinalEvent(reply=reply):
                self.footer = AnswerFooter.of(reply)
                self.claims = list(reply.claims)
                self.quotes = list(map(cited, reply.quotes)) or [
                    nearest(evidence, index) for index, evidence in enumerate(reply.nearest)
                ]

    def fail(self, problem: str, hint: str = "") -> None:
        self.problem, self.hint = problem, hint


def printable(text: str) -> str:
    """Return text without control characters, except line breaks; tabs become blanks."""
    return "".join(
        mark if mark.isprintable() or mark == "\n" else " " if mark == "\t" else "" for mark in text
    )


def turn_content(turn: Turn, chosen: QuoteInContext | None = None) -> Content:
    """Return a turn with the chosen quote's label highlighted, without colours too."""
    parts = [Content.styled(f"❯ {printable(turn.question)}", "bold $primary")]
    for section in by_question(turn.claims, turn.footer.parts if turn.footer else ()):
        parts += [Content.styled(f"\n{printable(section.heading)}", "bold")] * bool(section.heading)
        parts += [Content.styled(str(UNANSWERED), "dim")] * (not section.claims)
        if section.confidence is not None:
            parts.append(Content.styled(f"confidence {section.confidence:.0%}", "dim"))
        for is_more, claims in groupby(section.claims, key=lambda claim: claim.is_more):
            parts += [Content.styled(f"{answer.MORE}:", "dim")] if is_more else []
            parts += [_claim(claim, turn.quotes, chosen) for claim in claims]
    if turn.footer is not None:
        parts += _footer(turn, turn.footer, chosen)
    elif turn.problem:
        hint = Content.styled(f"\n{printable(turn.hint)}" if turn.hint else "", "dim")
        parts.append(Content.styled(printable(turn.problem), "$error") + hint)
    else:
        parts.append(Content.styled(f"{stage_name(turn.stage)} …", "dim italic"))
    return Content("\n").join(parts)


def trace_content(footer: AnswerFooter) -> Content:
    """Return how an answer was made: questions, stages, passages, checked quotes, tokens."""
    trace = footer.trace
    questions = [f"· {part['text']} ({part['breadth']})" for part in trace.get("parts", ())]
    tokens = ", ".join(f"{name} {count:,}" for name, count in trace.get("tokens", {}).items())
    stages = [
        f"{stage_name(stage['name']):<36} {stage['milliseconds']:8.1f} ms"
        f"  {stage['count'] or '':>4}  {stage['note']}".rstrip()
        for stage in trace.get("stages", ())
    ]
    passages = [
        f"{item['number']:>3}. level {item['level']}  {item['score']:.2f}  {item['title']}"
        for item in trace.get("evidence", ())
    ]
    checks = [
        f"{check['verdict']:<13} {f'[{number}]' if (number := check['number']) else '–':<5}"
        f" {check['quote']}"
        for check in trace.get("checks", ())
    ]
    parts = [
        _heading("Questions", f"decided by {trace.get('by', 'rules')}"),
        *_lines(questions),
        _heading("Stages", f"{footer.milliseconds:.0f} ms in all"),
        *_lines(stages),
        _heading("Passages", "level 0 a chunk, 1 paragraphs, 2 a section, 3 a document"),
        *_lines(passages),
        _heading("Quotes", "checked word for word"),
        *_lines(checks),
        *([_heading("Tokens", tokens)] if tokens else []),
        *(Content.styled(printable(note), "dim") for note in trace.get("notes", ())),
    ]
    return Content("\n").join(parts)


def _lines(texts: Iterable[str]) -> list[Content]:
    return [Content(printable(text)) for text in texts]


def _claim(
    claim: answer.Claim, quotes: Sequence[QuoteInContext], chosen: QuoteInContext | None
) -> Content:
    prefix = Content.styled(f"{printable(claim.label)}: ", "bold") if claim.label else Content()
    text = prefix + Content(printable(claim.text))
    if not claim.is_supported:
        text += Content.styled(" (not supported by the sources)", "$warning")
    for number in claim.citations:
        quote = next((quote for quote in quotes if quote.label == str(number)), None)
        text += Content(" ") + _label(str(number), is_chosen=quote is not None and quote == chosen)
    return text


def _footer(turn: Turn, footer: AnswerFooter, chosen: QuoteInContext | None) -> list[Content]:
    count, seconds = len(turn.quotes), f"{footer.milliseconds / 1000:.1f} s"
    citations = f"{count} citation{'' if count == 1 else 's'}" if count else "no citations"
    confidence = "" if footer.confidence is None else f"confidence {footer.confidence:.0%}"
    writer = printable(footer.model) or "the sources’ own words"
    facts = [citations, writer, confidence, seconds] if turn.claims else [seconds]
    if footer.is_refusal:
        facts = ["no citations", "nothing was made up", seconds]
    parts = []
    if footer.note:
        style = "$warning" if footer.is_refusal else "dim"
        parts.append(Content.styled(printable(footer.note), style))
    if unready := unready_note(footer.unready):
        parts.append(Content.styled(printable(unready), "dim"))
    if footer.is_refusal and turn.quotes:
        parts.append(Content.styled("What comes nearest:", "dim"))
        parts += [_nearest(quote, is_chosen=quote == chosen) for quote in turn.quotes]
    return [*parts, Content.styled(" · ".join(filter(None, facts)), "dim")]


def _nearest(quote: QuoteInContext, *, is_chosen: bool) -> Content:
    text = " ".join(printable(quote.text).split())
    cut = text if len(text) <= NEAREST_SHOWN else f"{text[:NEAREST_SHOWN]}…"
    source = f" {printable(quote.origin.title)} {place(quote.locator)}: "
    return _label(quote.label, is_chosen=is_chosen) + Content.styled(source, "dim") + Content(cut)


def _label(label: str, *, is_chosen: bool) -> Content:
    return Content.styled(f"[{label}]", "bold reverse" if is_chosen else "bold $accent")


def _heading(name: str, about: str) -> Content:
    return Content.styled(f"\n{name}", "bold") + Content.styled(f"  {about}", "dim")
