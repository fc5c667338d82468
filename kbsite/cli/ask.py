"""`kb ask`: print an answer's claims as they are written, then the passages they cite."""

from collections.abc import Iterable, Iterator
from textwrap import shorten
from typing import Annotated, Final

import typer
from rich.text import Text

from citations.answers.answer import (
    MORE,
    STAGE_LABELS,
    AnswerOutcome,
    Claim,
    ClaimEvent,
    Event,
    FinalEvent,
    Progress,
    Reply,
)
from citations.errors import ConversationNotFound
from citations.models import Conversation
from citations.notebook import answers, conversations, questions
from citations.passages import Locator, PassageSource, place
from citations.schemas.answers import ReplyOut, TracedReplyOut
from kbsite.cli.database import open_library
from kbsite.cli.options import InCollection, InSources, Json
from kbsite.cli.terminal import err, note, out, print_json, printable, say, table
from transcripts.conf import absolute
from transcripts.errors import InvalidInput, KnowledgeBaseError
from transcripts.scope import Scope

NEAREST_SHOWN: Final = 280  # characters of a nearest passage


def ask(
    question: Annotated[
        str, typer.Argument(help="The question; several in one are answered one by one.")
    ],
    inside: InSources = None,
    collection: InCollection = "",
    follow_up: Annotated[
        bool,
        typer.Option(
            "--follow-up", "-f", help="Continue the latest conversation, with its sources."
        ),
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show questions, stages, passages and checked quotes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Answer a question from the library, with citations.

    Every quote is verbatim in its source. A question that the library does not answer is refused.
    """
    scope = open_library()
    if follow_up:
        conversation = _latest_conversation(scope, collection, has_sources=bool(inside))
        answer = questions.ask(scope, None, conversation, question)
    else:
        answer = questions.ask_first(
            scope, None, question, collection=collection, sources=tuple(inside or ())
        )
    events = questions.respond(scope, None, answer)
    shown = events if as_json else _shown(events)
    reply = next((event.reply for event in shown if isinstance(event, FinalEvent)), None)
    if reply is None:
        raise KnowledgeBaseError("The answer is incomplete.", hint="Ask again.")
    if as_json:
        record = answers.of_conversation(scope, answer.conversation)[-1]
        print_json((TracedReplyOut if trace else ReplyOut).model_validate(record))
        return
    _print_citations(reply)
    if trace:
        _print_trace(reply)


def _latest_conversation(scope: Scope, collection: str, *, has_sources: bool) -> Conversation:
    if has_sources:
        raise InvalidInput(
            "A follow-up question uses the same sources as the one before.",
            hint="Leave --in out, or ask without --follow-up.",
        )
    page = conversations.list_conversations(scope, None, collection=collection, limit=1)
    if not page.conversations:
        raise ConversationNotFound(
            "There is no conversation to continue.", hint="Ask without --follow-up."
        )
    return page.conversations[0]


def _shown(events: Iterable[Event]) -> Iterator[Event]:
    has_more = False
    with err().status("") as status:
        for event in events:
            match event:
                case Progress(stage=stage):
                    status.update(f"{STAGE_LABELS.get(stage, stage)} …")
                case ClaimEvent(claim=claim):
                    if claim.is_more and not has_more:
                        say(f"\n{MORE}:", "dim")
                    has_more = claim.is_more
                    _print_claim(claim)
            yield event


def _print_claim(claim: Claim) -> None:
    numbers = "".join(f" [{number}]" for number in claim.citations)
    label = Text(f"{printable(claim.label)}: " if claim.label else "", style="bold")
    text = label + Text(printable(claim.text)) + Text(numbers, style="bold cyan")
    if not claim.is_supported:
        text += Text(" (not supported by the sources)", style="yellow")
    out().print(text, soft_wrap=not out().is_terminal)


def _print_citations(reply: Reply) -> None:
    if reply.outcome is AnswerOutcome.HELP:
        say(reply.note)
        return
    is_refused = reply.outcome is AnswerOutcome.REFUSED
    if reply.note:
        say(reply.note, "yellow" if is_refused else "dim")
    for quote in reply.quotes:
        _print_passage(f"[{quote.number}]", quote.origin, quote.locator, quote.text, quote.link)
    if reply.nearest:
        say("\nWhat comes nearest:", "dim")
    for passage in reply.nearest:
        text = shorten(" ".join(passage.text.split()), NEAREST_SHOWN, placeholder=" …")
        _print_passage("–", passage.origin, passage.locator, text, passage.link)
    writer = reply.model or "the sources’ own words"
    about = ["nothing was made up" if is_refused else writer, f"{reply.milliseconds / 1000:.1f} s"]
    if reply.confidence is not None:
        about.insert(0, f"confidence {reply.confidence:.0%}")
    note(" · ".join(about))


def _print_passage(
    label: str, origin: PassageSource, locator: Locator, text: str, link: str
) -> None:
    head = (
        Text(f"{label} ", style="bold cyan")
        + Text(printable(origin.title), style="bold")
        + Text(f" {place(locator)}", style="cyan")
    )
    say("")
    out().print(head, soft_wrap=True)
    say(f"“{' '.join(text.split())}”")
    say(absolute(link), "dim")


def _print_trace(reply: Reply) -> None:
    trace = reply.trace
    parts = [(part.text, part.breadth) for part in trace.route.parts]
    table(("Question", "Kind"), parts, title=f"\nQuestions, split by {trace.route.by}")
    stages = [
        (stage.name, f"{stage.milliseconds:.1f}", stage.count or "", stage.note)
        for stage in trace.stages
    ]
    title = f"\nStages, {reply.milliseconds:.1f} ms in all"
    table(("Stage", "ms", "Count", ""), stages, title=title)
    passages = [
        (item.number, item.level, f"{item.score:.2f}", item.origin.title, place(item.locator))
        for item in trace.evidence
    ]
    title = "\nPassages (level 0: chunk, 1: paragraphs, 2: section, 3: document)"
    table(("#", "Level", "Score", "Source", "Location"), passages, title=title)
    checks = [
        (check.verdict, f"[{check.number}]" if check.number else "–", check.quote)
        for check in trace.checks
    ]
    columns, title = ("Verdict", "Citation", "Quote"), "\nQuotes, checked word for word"
    table(columns, checks, title=title, empty="No quote was checked.")
    if trace.tokens:
        counts = ", ".join(f"{name} {count:,}" for name, count in trace.tokens.items())
        say(f"Tokens: {counts}", "dim")
    for sentence in trace.notes:
        note(sentence)
