"""A question and what is known of its answer so far, and how both are written on the screen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from textual.content import Content

from citations.answers.answer import (
    AnswerOutcome,
    Claim,
    ClaimEvent,
    Event,
    FinalEvent,
    Progress,
    Reply,
)
from citations.passages import place as written_place
from kbsite.tui.places import QuoteInContext, cited, near
from kbsite.tui.stages import told

NEAREST_SHOWN = 140  # characters of a passage that came near


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFooter:
    """What is known of a whole answer beside its claims. ``trace`` is what ``replies.Trace.as_json`` makes of how it was made."""

    is_refusal: bool = False
    note: str = ""
    model: str = ""
    confidence: float | None = None
    milliseconds: float = 0.0
    trace: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Turn:
    """A question, and its answer as far as it is told. ``places`` are its citations, or, of a refusal, the passages that came near."""

    question: str
    stage: str = "route"
    claims: list[Claim] = field(default_factory=list)
    places: list[QuoteInContext] = field(default_factory=list)
    ending: AnswerFooter | None = None
    problem: str = ""
    hint: str = ""

    @property
    def is_running(self) -> bool:
        """Whether more is to come."""
        return self.ending is None and not self.problem

    def take(self, event: Event) -> None:
        """Note what is told."""
        match event:
            case Progress(stage=stage):
                self.stage = stage
            case ClaimEvent(claim=claim, quotes=quotes):
                self.claims.append(claim)
                self.places += map(cited, quotes)
            case FinalEvent(reply=reply):
                self.ending = _ending_of(reply)
                self.claims = list(reply.claims)
                self.places = list(map(cited, reply.quotes)) or [
                    near(one, index) for index, one in enumerate(reply.nearest)
                ]

    def fail(self, problem: str, hint: str = "") -> None:
        """Note that there will be no answer, and why."""
        self.problem, self.hint = problem, hint


def printable(text: str) -> str:
    """Return text without what a terminal would obey; line breaks stay, tabs become blanks."""
    return "".join(
        mark if mark.isprintable() or mark == "\n" else " " if mark == "\t" else "" for mark in text
    )


def written(turn: Turn, chosen: QuoteInContext | None = None) -> Content:
    """Return a turn as it is shown; the mark of the chosen place stands out, without colours too."""
    parts = [Content.styled(f"❯ {printable(turn.question)}", "bold $primary")]
    parts += [_claim(claim, turn.places, chosen) for claim in turn.claims]
    if turn.ending is not None:
        parts += _ending(turn, turn.ending, chosen)
    elif turn.problem:
        parts.append(
            Content.styled(printable(turn.problem), "$error")
            + Content.styled(f"\n{printable(turn.hint)}" if turn.hint else "", "dim")
        )
    else:
        parts.append(Content.styled(told(turn.stage), "dim italic"))
    return Content("\n").join(parts)


def explained(ending: AnswerFooter) -> Content:
    """Return how an answer was made: questions, passages, verdicts, milliseconds, tokens."""
    trace = ending.trace
    parts = [_heading("Questions", f"decided by {trace.get('by', 'rules')}")]
    parts += [
        Content(f"· {printable(one['text'])} ({one['breadth']})") for one in trace.get("parts", ())
    ]
    parts.append(_heading("Stages", f"{ending.milliseconds:.0f} ms in all"))
    parts += [Content(_stage(one)) for one in trace.get("stages", ())]
    parts.append(_heading("Passages", "level 0 a chunk, 1 paragraphs, 2 a section, 3 a document"))
    parts += [
        Content(
            f"{one['number']:>3}. level {one['level']}  {one['score']:.2f}  {printable(one['title'])}"
        )
        for one in trace.get("evidence", ())
    ]
    parts.append(_heading("Quotes", "checked word for word"))
    parts += [Content(_check(one)) for one in trace.get("checks", ())]
    if tokens := trace.get("tokens"):
        parts.append(
            _heading("Tokens", ", ".join(f"{name} {count:,}" for name, count in tokens.items()))
        )
    parts += [Content.styled(printable(note), "dim") for note in trace.get("notes", ())]
    return Content("\n").join(parts)


def _stage(one: Mapping[str, Any]) -> str:
    return f"{one['name']:<12} {one['milliseconds']:8.1f} ms  {one['count'] or '':>4}  {printable(one['note'])}".rstrip()


def _check(one: Mapping[str, Any]) -> str:
    mark = f"[{one['number']}]" if one["number"] else "–"
    return f"{one['verdict']:<13} {mark:<5} {printable(one['quote'])}"


def _ending_of(reply: Reply) -> AnswerFooter:
    return AnswerFooter(
        is_refusal=reply.outcome is AnswerOutcome.REFUSED,
        note=reply.note,
        model=reply.model,
        confidence=reply.confidence,
        milliseconds=reply.milliseconds,
        trace=reply.trace.as_json(),
    )


def _claim(claim: Claim, places: list[QuoteInContext], chosen: QuoteInContext | None) -> Content:
    label = Content.styled(f"{printable(claim.label)}: ", "bold") if claim.label else Content()
    text = label + Content(printable(claim.text))
    if not claim.is_supported:
        text += Content.styled(" (not supported by the sources)", "$warning")
    for number in claim.citations:
        place = next((one for one in places if one.label == str(number)), None)
        text += Content(" ") + _mark(str(number), is_chosen=place is not None and place == chosen)
    return text


def _ending(turn: Turn, ending: AnswerFooter, chosen: QuoteInContext | None) -> list[Content]:
    parts = (
        [Content.styled(printable(ending.note), "$warning" if ending.is_refusal else "dim")]
        if ending.note
        else []
    )
    if ending.is_refusal and turn.places:
        parts.append(Content.styled("What comes nearest:", "dim"))
        parts += [_nearest(one, is_chosen=one == chosen) for one in turn.places]
    return [*parts, Content.styled(_figures(turn, ending), "dim")]


def _nearest(place: QuoteInContext, *, is_chosen: bool) -> Content:
    text = " ".join(printable(place.text).split())
    shown = text if len(text) <= NEAREST_SHOWN else f"{text[:NEAREST_SHOWN]}…"
    return (
        _mark(place.label, is_chosen=is_chosen)
        + Content.styled(
            f" {printable(place.origin.title)} {written_place(place.locator)}: ", "dim"
        )
        + Content(shown)
    )


def _figures(turn: Turn, ending: AnswerFooter) -> str:
    if ending.is_refusal:
        return f"no citations · nothing was made up · {ending.milliseconds / 1000:.1f} s"
    count = len(turn.places)
    parts = [
        f"{count} citation{'' if count == 1 else 's'}" if count else "no citations",
        printable(ending.model) or "the sources’ own words",
    ]
    if ending.confidence is not None:
        parts.append(f"confidence {ending.confidence:.0%}")
    return " · ".join([*parts, f"{ending.milliseconds / 1000:.1f} s"])


def _mark(label: str, *, is_chosen: bool) -> Content:
    return Content.styled(f"[{label}]", "bold reverse" if is_chosen else "bold $accent")


def _heading(name: str, about: str = "") -> Content:
    return Content.styled(f"\n{name}", "bold") + Content.styled(
        f"  {about}" if about else "", "dim"
    )
