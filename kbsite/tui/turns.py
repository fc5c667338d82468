"""A question, its answer so far and its quotes, and their text on the screen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from string import ascii_lowercase

from textual.content import Content

from citations.answers.answer import MORE, Progress, answer_spans
from citations.answers.library_notes import unready_note
from citations.answers.sections import UNANSWERED, by_question
from citations.schemas.answers import (
    ClaimEventOut,
    ClaimOut,
    NearestOut,
    QuotationOut,
    TracedReplyOut,
)
from citations.stages import stage_name
from citations.sureness import level_of
from kbsite.library.base import AnswerStep
from transcripts.core.errors import InvalidUrl
from transcripts.text.timecodes import milliseconds, parse_target, watch_url

NEAREST_SHOWN = 140  # characters of a nearest passage


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteInContext:
    """A quote and the text around it. ``label``: its number, or a letter for a nearest passage."""

    label: str
    title: str
    place: str
    text: str
    link: str
    youtube: str = ""  # the address that plays it there, if it is from there
    channel: str = ""
    prefix: str = ""
    suffix: str = ""
    heading: str = ""


def cited(quote: QuotationOut) -> QuoteInContext:
    return QuoteInContext(
        label=str(quote.number),
        title=quote.title,
        place=quote.place,
        text=quote.quote,
        link=quote.link,
        youtube=_on_youtube(quote),
        channel=quote.channel,
        prefix=quote.prefix,
        suffix=quote.suffix,
        heading=quote.heading,
    )


def nearest(passage: NearestOut, index: int) -> QuoteInContext:
    """Return a nearest passage; the first is labelled “a”."""
    return QuoteInContext(
        label=ascii_lowercase[index % len(ascii_lowercase)],
        title=passage.title,
        place=passage.place,
        text=passage.text,
        heading=passage.heading,
        link=passage.link,
    )


def _on_youtube(quote: QuotationOut) -> str:
    if quote.start is None or not quote.url:
        return ""
    try:
        return watch_url(parse_target(quote.url).id, at_ms=milliseconds(quote.start))
    except InvalidUrl:
        return ""


@dataclass(slots=True)
class Turn:
    """A question and its answer so far. A refusal has nearest passages as ``quotes``."""

    question: str
    stage: str = "route"
    claims: list[ClaimOut] = field(default_factory=list)
    quotes: list[QuoteInContext] = field(default_factory=list)
    reply: TracedReplyOut | None = None
    problem: str = ""
    hint: str = ""

    @classmethod
    def of(cls, reply: TracedReplyOut) -> "Turn":
        """Return a stored answer as a turn."""
        turn = cls(question=reply.question, claims=reply.claims)
        if reply.state in ("running", "failed"):
            turn.fail(reply.error or "This question is still being answered.", reply.hint)
        else:
            turn.apply(reply)
        return turn

    @property
    def is_running(self) -> bool:
        return self.reply is None and not self.problem

    def apply(self, step: AnswerStep) -> None:
        match step:
            case Progress(stage=stage):
                self.stage = stage
            case ClaimEventOut():
                self.claims.append(step)
                self.quotes += map(cited, step.quotes)
            case TracedReplyOut():
                self.reply, self.claims = step, step.claims
                self.quotes = list(map(cited, step.citations)) or [
                    nearest(passage, index) for index, passage in enumerate(step.nearest)
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
    for section in by_question(turn.claims, turn.reply.parts if turn.reply else ()):
        parts += [Content.styled(f"\n{printable(section.heading)}", "bold")] * bool(section.heading)
        parts += [Content.styled(str(UNANSWERED), "dim")] * (not section.claims)
        if section.confidence is not None:
            parts.append(Content.styled(level_of(section.confidence).sureness.label, "dim"))
        for is_more, claims in groupby(section.claims, key=lambda claim: claim.is_more):
            parts += [Content.styled(f"{MORE}:", "dim")] if is_more else []
            parts += [_claim(claim, turn.quotes, chosen) for claim in claims]
    if turn.reply is not None:
        parts += _footer(turn, turn.reply, chosen)
    elif turn.problem:
        hint = Content.styled(f"\n{printable(turn.hint)}" if turn.hint else "", "dim")
        parts.append(Content.styled(printable(turn.problem), "$error") + hint)
    else:
        parts.append(Content.styled(f"{stage_name(turn.stage)} …", "dim italic"))
    return Content("\n").join(parts)


def trace_content(reply: TracedReplyOut) -> Content:
    """Return how an answer was made: questions, stages, passages, checked quotes, tokens."""
    trace = reply.trace

    def lines(texts: Iterable[str]) -> list[Content]:
        return [Content(printable(text)) for text in texts]

    questions = [f"· {part.text} ({part.breadth})" for part in trace.parts]
    tokens = ", ".join(f"{name} {count:,}" for name, count in trace.tokens.items())
    stages = [
        f"{stage_name(stage.name):<36} {stage.milliseconds:8.1f} ms"
        f"  {stage.count or '':>4}  {stage.note}".rstrip()
        for stage in trace.stages
    ]
    passages = [
        f"{item.number:>3}. level {item.level}  {item.score:.2f}  {item.title}"
        for item in trace.evidence
    ]
    checks = [
        f"{check.verdict:<13} {f'[{check.number}]' if check.number else '–':<5} {check.quote}"
        for check in trace.checks
    ]
    parts = [
        _heading("Questions", f"decided by {trace.by or 'rules'}"),
        *lines(questions),
        _heading("Stages", f"{reply.milliseconds or 0:.0f} ms in all"),
        *lines(stages),
        _heading("Passages", "level 0 a chunk, 1 paragraphs, 2 a section, 3 a document"),
        *lines(passages),
        _heading("Quotes", "checked word for word"),
        *lines(checks),
        *([_heading("Tokens", tokens)] if tokens else []),
        *(Content.styled(printable(note), "dim") for note in trace.notes),
    ]
    return Content("\n").join(parts)


def _claim(
    claim: ClaimOut, quotes: Sequence[QuoteInContext], chosen: QuoteInContext | None
) -> Content:
    prefix = Content.styled(f"{printable(claim.label)}: ", "bold") if claim.label else Content()
    said = Content(printable(claim.text))
    for first, last in answer_spans(said.plain, printable(claim.answer)):
        said = said.stylize("bold", first, last)
    text = prefix + said
    if not claim.is_supported:
        text += Content.styled(" (not supported by the sources)", "$warning")
    for number in claim.citations:
        quote = next((quote for quote in quotes if quote.label == str(number)), None)
        text += Content(" ") + _label(str(number), is_chosen=quote is not None and quote == chosen)
    return text


def _footer(turn: Turn, reply: TracedReplyOut, chosen: QuoteInContext | None) -> list[Content]:
    is_refusal = reply.state == "refused"
    count, seconds = len(turn.quotes), f"{(reply.milliseconds or 0) / 1000:.1f} s"
    citations = f"{count} citation{'' if count == 1 else 's'}" if count else "no citations"
    known = reply.confidence
    sureness = "" if known is None else level_of(known).sureness.label
    writer = printable(reply.model) or "the sources’ own words"
    facts = [citations, writer, sureness, seconds] if turn.claims else [seconds]
    if is_refusal:
        facts = ["no citations", "nothing was made up", seconds]
    parts = []
    if reply.note:
        style = "$warning" if is_refusal else "dim"
        parts.append(Content.styled(printable(reply.note), style))
    if unready := unready_note(reply.unready):
        parts.append(Content.styled(printable(unready), "dim"))
    if is_refusal and turn.quotes:
        parts.append(Content.styled("What comes nearest:", "dim"))
        for quote in turn.quotes:
            text = " ".join(printable(quote.text).split())
            cut = text if len(text) <= NEAREST_SHOWN else f"{text[:NEAREST_SHOWN]}…"
            source = Content.styled(f" {printable(quote.title)} {quote.place}: ", "dim")
            parts.append(_label(quote.label, is_chosen=quote == chosen) + source + Content(cut))
    return [*parts, Content.styled(" · ".join(filter(None, facts)), "dim")]


def _label(label: str, *, is_chosen: bool) -> Content:
    return Content.styled(f"[{label}]", "bold reverse" if is_chosen else "bold $accent")


def _heading(name: str, about: str) -> Content:
    return Content.styled(f"\n{name}", "bold") + Content.styled(f"  {about}", "dim")
