"""`kb ask`: print an answer's claims as they are written, then the passages they cite."""

from collections.abc import Iterable
from contextlib import nullcontext
from textwrap import shorten
from typing import Annotated, Final

import typer
from rich.text import Text

from citations.answers.answer import MORE, Progress, answer_spans
from citations.answers.library_notes import unready_note
from citations.answers.sections import UNANSWERED, by_question
from citations.errors import ConversationNotFound
from citations.schemas.answers import ClaimOut, NearestOut, QuotationOut, TracedReplyOut
from citations.stages import stage_name
from citations.sureness import level_of
from kbsite.cli.options import InCollection, InSources, Json
from kbsite.cli.server import chosen_library
from kbsite.cli.terminal import err, note, out, print_json, printable, say, table
from kbsite.library.base import AnswerStep, Library
from transcripts.core.errors import InvalidInput, KnowledgeBaseError

NEAREST_SHOWN: Final = 280  # characters of a nearest passage


def ask(
    question: Annotated[
        str, typer.Argument(help="The question; several questions are answered one by one.")
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
    if follow_up and inside:
        raise InvalidInput(
            "A follow-up question uses the same sources as the one before.",
            hint="Leave --in out, or ask without --follow-up.",
        )
    with chosen_library() as library:
        conversation = _latest_conversation(library, collection) if follow_up else ""
        steps = library.answer(
            question, collection=collection, sources=inside or (), conversation=conversation
        )
        reply = _follow(steps, quiet=as_json)
    if as_json:
        print_json(reply if trace else reply.model_dump(mode="json", exclude={"trace"}))
        return
    _print_citations(reply)
    if trace:
        _print_trace(reply)


def _latest_conversation(library: Library, collection: str) -> str:
    """Return the id of the latest conversation. Raises ``ConversationNotFound``."""
    for conversation in library.list_conversations(collection=collection, limit=1):
        return str(conversation.id)
    raise ConversationNotFound(
        "There is no conversation to continue.", hint="Ask without --follow-up."
    )


def _follow(steps: Iterable[AnswerStep], *, quiet: bool) -> TracedReplyOut:
    """Print stages and claims as they come, unless ``quiet``; return the answer."""
    reply, heading, has_more = None, "", False
    with nullcontext() if quiet else err().status("Asking …") as status:
        for step in steps:
            match step:
                case TracedReplyOut():
                    reply = step
                case Progress(stage=stage) if status:
                    status.update(f"{stage_name(stage)} …")
                case ClaimOut() if not quiet:
                    if step.heading and step.heading != heading:
                        _print_heading(step.heading)
                        has_more = False
                    if step.is_more and not has_more:
                        say(f"\n{MORE}:", "dim")
                    heading, has_more = step.heading, step.is_more
                    _print_claim(step)
    if reply is None:
        raise KnowledgeBaseError("The answer is incomplete.", hint="Ask again.")
    return reply


def _print_heading(heading: str) -> None:
    say("")
    out().print(Text(printable(heading), style="bold underline"), soft_wrap=True)


def _print_claim(claim: ClaimOut) -> None:
    numbers = "".join(f" [{number}]" for number in claim.citations)
    label = Text(f"{printable(claim.label)}: " if claim.label else "", style="bold")
    said = Text(printable(claim.text))
    for first, last in answer_spans(said.plain, printable(claim.answer)):
        said.stylize("bold", first, last)
    text = label + said + Text(numbers, style="bold cyan")
    if not claim.is_supported:
        text += Text(" (not supported by the sources)", style="yellow")
    out().print(text, soft_wrap=not out().is_terminal)


def _print_citations(reply: TracedReplyOut) -> None:
    if reply.state == "help":
        say(reply.note)
        return
    _print_missing(reply)
    for quote in reply.citations:
        _print_passage(f"[{quote.number}]", quote, quote.quote)
    if reply.nearest:
        say("\nWhat comes nearest:", "dim")
    for passage in reply.nearest:
        text = shorten(" ".join(passage.text.split()), NEAREST_SHOWN, placeholder=" …")
        _print_passage("–", passage, text)
    is_refused = reply.state == "refused"
    writer = reply.model or "the sources’ own words"
    about = ["nothing was made up" if is_refused else writer]
    about += [f"{reply.milliseconds / 1000:.1f} s"] if reply.milliseconds is not None else []
    shares = [reply.confidence, *(part.confidence for part in reply.parts)]
    known = [level_of(share).sureness.label for share in shares if share is not None]
    note(" · ".join([*([" and ".join(known)] if known else []), *about]))


def _print_missing(reply: TracedReplyOut) -> None:
    """Print what the sources do not answer, and which of them were not ready."""
    for section in by_question(reply.claims, reply.parts):
        if not section.claims:
            _print_heading(section.heading)
            say(str(UNANSWERED), "dim")
    if reply.note:
        say(reply.note, "yellow" if reply.state == "refused" else "dim")
    if unready := unready_note(reply.unready):
        say(unready, "dim")


def _print_passage(label: str, passage: QuotationOut | NearestOut, text: str) -> None:
    head = (
        Text(f"{label} ", style="bold cyan")
        + Text(printable(passage.title), style="bold")
        + Text(f" {passage.place}", style="cyan")
    )
    say("")
    out().print(head, soft_wrap=True)
    say(f"“{' '.join(text.split())}”")
    say(passage.link, "dim")


def _print_trace(reply: TracedReplyOut) -> None:
    trace = reply.trace
    parts = [(part.text, part.breadth) for part in trace.parts]
    table(("Question", "Kind"), parts, title=f"\nQuestions, split by {trace.by}")
    stages = [
        (stage_name(stage.name), f"{stage.milliseconds:.1f}", stage.count or "", stage.note)
        for stage in trace.stages
    ]
    title = f"\nStages, {reply.milliseconds or 0:.1f} ms in all"
    table(("Stage", "ms", "Count", ""), stages, title=title)
    passages = [
        (item.number, item.level, f"{item.score:.2f}", item.title, item.place)
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
