"""What `kb ask` does: a question is answered as it is written, each claim with the numbers of its citations, and these with their places below."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, Final

from rich.text import Text

from citations.answers.answer import (
    AnswerOutcome,
    Claim,
    ClaimEvent,
    Event,
    FinalEvent,
    Progress,
    Reply,
)
from citations.errors import ConversationNotFound
from citations.models import Answer, Conversation
from citations.notebook import answers, conversations, export, questions
from citations.passages import Locator, PassageSource, place
from kbsite.cli.terminal import err, note, out, print_json, printable, say, table
from kbsite.tui.stages import told
from transcripts.conf import absolute
from transcripts.errors import InvalidInput, KnowledgeBaseError
from transcripts.scope import Scope

NEAREST_SHOWN: Final = 280  # characters of a passage that came near


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """What is asked, and how the answer is shown."""

    sources: tuple[str, ...] = ()
    collection: str = ""
    follow_up: bool = False
    with_trace: bool = False
    as_json: bool = False


def ask(scope: Scope, question: str, wishes: AskOptions) -> None:
    """Answer and print. Raises what ``questions`` raises."""
    answer = (
        _put_next(scope, question, wishes)
        if wishes.follow_up
        else _put_first(scope, question, wishes)
    )
    reply = _told(questions.respond(scope, None, answer), is_quiet=wishes.as_json)
    if wishes.as_json:
        print_json(as_json(scope, answer.conversation, reply, with_trace=wishes.with_trace))
        return
    _print_end(reply)
    if wishes.with_trace:
        _print_trace(reply)


def as_json(
    scope: Scope, conversation: Conversation, reply: Reply, *, with_trace: bool = False
) -> dict[str, Any]:
    """Return an answer for programs, as every door gives it; times in seconds."""
    kept = answers.of(scope, conversation)[-1]
    found = {
        "conversation": str(conversation.uuid),
        "outcome": reply.outcome.value,
        **export.as_json(kept),
    }
    return {**found, "trace": reply.trace.as_json()} if with_trace else found


def _put_first(scope: Scope, question: str, wishes: AskOptions) -> Answer:
    return questions.put_first(
        scope, None, question, collection=wishes.collection, sources=wishes.sources
    )


def _put_next(scope: Scope, question: str, wishes: AskOptions) -> Answer:
    return questions.put(scope, None, _latest(scope, wishes), question)


def _latest(scope: Scope, wishes: AskOptions) -> Conversation:
    if wishes.sources:
        raise InvalidInput(
            "A question that follows is asked of the same sources as the one before.",
            hint="Leave --in out, or ask without --follow-up.",
        )
    found = conversations.list_conversations(
        scope, None, collection=wishes.collection, limit=1
    ).conversations
    if not found:
        raise ConversationNotFound(
            "Nothing was asked yet that a question could follow.", hint="Ask without --follow-up."
        )
    return found[0]


def _told(events: Iterable[Event], *, is_quiet: bool) -> Reply:
    """Print what is told as it comes, unless it is to be quiet; return the whole answer."""
    shown = events if is_quiet else _shown(events)
    reply = next((event.reply for event in shown if isinstance(event, FinalEvent)), None)
    if reply is None:
        raise KnowledgeBaseError("The answer has no end.", hint="Ask again.")
    return reply


def _shown(events: Iterable[Event]) -> Iterator[Event]:
    with err().status("") as status:
        for event in events:
            match event:
                case Progress(stage=stage):
                    status.update(told(stage))
                case ClaimEvent(claim=claim):
                    _print_claim(claim)
            yield event


def _print_claim(claim: Claim) -> None:
    marks = "".join(f" [{number}]" for number in claim.citations)
    label = Text(f"{printable(claim.label)}: " if claim.label else "", style="bold")
    text = label + Text(printable(claim.text)) + Text(marks, style="bold cyan")
    out().print(
        text
        if claim.is_supported
        else text + Text(" (not supported by the sources)", style="yellow"),
        soft_wrap=not out().is_terminal,
    )


def _print_end(reply: Reply) -> None:
    if reply.note:
        say(reply.note, "yellow" if reply.outcome is AnswerOutcome.REFUSED else "dim")
    for quote in reply.quotes:
        say("")
        _print_place(f"[{quote.number}]", quote.origin, quote.locator, quote.text, quote.link)
    if reply.nearest:
        say("\nWhat comes nearest:", "dim")
    for one in reply.nearest:
        say("")
        _print_place(
            "–",
            one.origin,
            one.locator,
            shorten(" ".join(one.text.split()), NEAREST_SHOWN, placeholder=" …"),
            one.link,
        )
    author = (
        "nothing was made up"
        if reply.outcome is AnswerOutcome.REFUSED
        else reply.model or "the sources’ own words"
    )
    about = [author, f"{reply.milliseconds / 1000:.1f} s"]
    if reply.confidence is not None:
        about.insert(0, f"confidence {reply.confidence:.0%}")
    note(" · ".join(about))


def _print_place(label: str, origin: PassageSource, locator: Locator, text: str, link: str) -> None:
    head = (
        Text(f"{label} ", style="bold cyan")
        + Text(printable(origin.title), style="bold")
        + Text(f" {place(locator)}", style="cyan")
    )
    out().print(head, soft_wrap=True)
    say(f"“{' '.join(text.split())}”")
    say(absolute(link), "dim")


def _print_trace(reply: Reply) -> None:
    trace = reply.trace
    table(
        ("Question", "Kind"),
        [(part.text, part.breadth) for part in trace.route.parts],
        title=f"\nQuestions, decided by {trace.route.by}",
    )
    rows = [
        (one.name, f"{one.milliseconds:.1f}", one.count or "", one.note) for one in trace.stages
    ]
    table(("Stage", "ms", "Count", ""), rows, title=f"\nStages, {reply.milliseconds:.1f} ms in all")
    passages = [
        (one.number, one.level, f"{one.score:.2f}", one.origin.title, place(one.locator))
        for one in trace.evidence
    ]
    table(
        ("#", "Level", "Score", "Source", "Place"),
        passages,
        title="\nPassages (level 0 a chunk, 1 paragraphs, 2 a section, 3 a document)",
    )
    checks = [
        (one.verdict, f"[{one.number}]" if one.number else "–", one.quote) for one in trace.checks
    ]
    table(
        ("Verdict", "Citation", "Quote"),
        checks,
        title="\nQuotes, checked word for word",
        empty="No quote was checked.",
    )
    if trace.tokens:
        say(
            "Tokens: " + ", ".join(f"{name} {count:,}" for name, count in trace.tokens.items()),
            "dim",
        )
    for sentence in trace.notes:
        note(sentence)
