"""A notebook without a library, and the interface driven by keys."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from citations.answers.answer import (
    AnswerOutcome,
    AnswerTrace,
    CheckedQuote,
    Claim,
    Evidence,
    Progress,
    QuestionPart,
    Quote,
    Reply,
    Route,
)
from citations.passages import Locator, PassageSource, Stage
from citations.schemas.answers import ClaimEventOut, TracedReplyOut
from kbsite.library.base import AnswerStep
from kbsite.tui import app
from kbsite.tui.app import CuebaseApp
from kbsite.tui.notebook import EarlierConversation, Link, ListedSource, SourceList
from kbsite.tui.turns import QuoteInContext, Turn

TALK = PassageSource(id=UUID(int=1), kind="video", title="When a service says no", author="Ada")
BOOK = PassageSource(id=UUID(int=2), kind="pdf", title="Counting, Waiting, Keeping Time")
WAIT = Quote(
    number=1,
    source=1,
    origin=TALK,
    locator=Locator(span=(10, 40), start=12_000, end=17_500),
    text="Wait longer each time.",
    prefix="It refuses. ",
    suffix=" Add some chance.",
    digest="d",
    link="/videos/1/?t=12s&until=17500",
)
DOUBLE = Quote(
    number=2,
    source=2,
    origin=BOOK,
    locator=Locator(span=(5, 30), page=10, last_page=11),
    text="Each pause is twice the one before.",
    prefix="",
    suffix="",
    digest="e",
    heading="2.1 Backoff",
    link="/sources/2/pages/10/",
)
EVIDENCE = Evidence(
    number=1,
    source=2,
    origin=BOOK,
    locator=Locator(span=(0, 9), page=3),
    text="Rain is not told of here.",
    spans=((0, 9),),
    digest="e",
    level=0,
    score=0.2,
)
CLAIMS = (
    Claim(text="Wait longer each time.", citations=(1,)),
    Claim(text="Each pause is twice the one before.", citations=(2,)),
)
TRACE = AnswerTrace(
    route=Route(parts=(QuestionPart(text="How long?"),)),
    evidence=(EVIDENCE,),
    checks=(
        CheckedQuote(quote="Wait longer each time.", verdict="verbatim", evidence=1, number=1),
        CheckedQuote(quote="Never wait.", verdict="not_found"),
    ),
    stages=(Stage(name="retrieve", milliseconds=12.3, count=10, note="by words alone"),),
    tokens={"input": 1_200},
    notes=("Not re-ranked.",),
)
ANSWERED = Reply(
    question="How long?",
    full_question="How long?",
    outcome=AnswerOutcome.ANSWERED,
    trace=TRACE,
    claims=CLAIMS,
    quotes=(WAIT, DOUBLE),
    confidence=0.81,
    milliseconds=420.0,
)
REFUSED = Reply(
    question="Will it rain?",
    full_question="Will it rain?",
    outcome=AnswerOutcome.REFUSED,
    trace=TRACE,
    nearest=(EVIDENCE,),
    note="I cannot find information about rain in the sources.",
    milliseconds=90.0,
)
ANSWER, REFUSAL = map(TracedReplyOut.model_validate, (ANSWERED, REFUSED))


class FakeNotebook:
    """A notebook that returns prepared events and records its calls."""

    name = "Lectures"

    def __init__(self) -> None:
        self.sources = [
            ListedSource(id="1", title=TALK.title, about="video · Ada"),
            ListedSource(id="2", title=BOOK.title, progress="embed 40 %"),
        ]
        self.events: list[AnswerStep | Exception] = [
            Progress(stage="retrieve"),
            ClaimEventOut.of(CLAIMS[0], (WAIT,)),
            ClaimEventOut.of(CLAIMS[1], (DOUBLE,)),
            ANSWER,
        ]
        self.questions: list[tuple[str, tuple[str, ...]]] = []
        self.searches: list[str] = []
        self.calls: list[str] = []
        self.failure: Exception | None = None
        self.hold_before: type[object] | None = None  # the kind of event that waits until ``go``
        self.go = threading.Event()

    def list_sources(self, words: str = "") -> SourceList:
        self.searches.append(words)
        matches = tuple(
            source for source in self.sources if words.casefold() in source.title.casefold()
        )
        unfinished = sum(bool(source.progress) for source in matches)
        return SourceList(sources=matches, total=len(matches), unfinished=unfinished)

    def add(self, target: str) -> str:
        if self.failure:
            raise self.failure
        self.sources.insert(0, ListedSource(id="3", title=target))
        return f"Added: {target}"

    def ask(
        self, question: str, sources: tuple[str, ...] = ()
    ) -> Generator[AnswerStep, None, None]:
        self.questions.append((question, sources))
        try:
            for event in self.events:
                if self.hold_before is type(event):
                    self.go.wait(5)
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.calls.append("left")

    def start_conversation(self) -> None:
        self.calls.append("started")

    def earlier_conversations(self) -> tuple[EarlierConversation, ...]:
        return (EarlierConversation(id="c1", title="About waiting", updated_at="20 Nov 10:00"),)

    def resume(self, conversation: str) -> tuple[Turn, ...]:
        self.calls.append(f"resumed {conversation}")
        return (Turn.of(ANSWER),)

    def links(self, quote: QuoteInContext) -> tuple[Link, ...]:
        return (Link(label="Cuebase", url=quote.link),) if quote.link else ()

    def close(self) -> None:
        self.calls.append("closed")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeNotebook]:
    """The notebook, on a machine that is reached over SSH."""
    monkeypatch.setattr(app, "BUSY_SECONDS", 60)  # no update of the sources in the middle of a test
    for module in ("textual.app", "textual.pilot"):
        monkeypatch.setattr(f"{module}.wait_for_idle", _moment)
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22")
    notebook = FakeNotebook()
    yield notebook
    notebook.go.set()


async def _moment(*_: float) -> None:
    """Let the interface handle keys. Textual would wait for an idle processor, maybe forever."""
    await asyncio.sleep(0.01)


@asynccontextmanager
async def driven(
    notebook: FakeNotebook, *, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Pilot[None]]:
    """Open the interface for the block, which presses keys, and close it."""
    opened = CuebaseApp(notebook)
    opened.animation_level = "none"
    async with opened.run_test(size=size) as pilot:
        opened.query_one("#question", Input).cursor_blink = False
        await until(pilot, lambda: bool(notebook.searches) and not len(opened.workers))
        yield pilot


async def shows(pilot: Pilot[None], *texts: str) -> None:
    """Wait until all of the texts are on the screen."""
    await until(
        pilot,
        lambda: all(text in seen(pilot.app) for text in texts),
        describe=lambda: f"{texts} on\n{seen(pilot.app)}",
    )


async def until(
    pilot: Pilot[None], condition: Callable[[], bool], *, describe: Callable[[], str] = str
) -> None:
    """Wait until something holds, at most fifteen seconds."""
    for _ in range(1_500):
        await pilot.pause()
        if condition():
            return
    pytest.fail(describe())


async def enter(pilot: Pilot[None], line: str, text: str) -> None:
    """Put a text into a line and press Enter; typing it would take longer."""
    await until(
        pilot,
        lambda: bool(pilot.app.screen.query(line)),
        describe=lambda: f"{line} on\n{seen(pilot.app)}",
    )
    field = pilot.app.screen.query_one(line, Input)
    field.focus()
    field.value = text
    await pilot.press("enter")


async def ask(pilot: Pilot[None], question: str = "How long?", *, shown: str = "") -> None:
    """Ask, and wait for the answer, or for ``shown`` where it scrolls the question out of sight."""
    await enter(pilot, "#question", question)
    await shows(pilot, *((shown,) if shown else (f"❯ {question}", "citations ·")))


async def leave(pilot: Pilot[None]) -> None:
    """Go from the question to the answers."""
    await until(pilot, lambda: pilot.app.screen.query_one("#question", Input).has_focus)
    await pilot.press("escape")
    await until(pilot, lambda: pilot.app.screen.query_one("#conversation").has_focus)


async def drawn(pilot: Pilot[None], keys: str) -> str:
    """Return a picture of the screen once its last line shows these keys and it is still.

    When the focus moves, that line is empty for a moment, and colours follow words later.
    """
    await shows(pilot, keys)
    await until(pilot, lambda: not len(pilot.app.workers))
    picture, same = "", 0
    for _ in range(500):
        await pilot.pause()
        picture, before = pilot.app.export_screenshot(), picture
        same = same + 1 if picture == before else 0
        if same == 10 and keys in seen(pilot.app):
            return picture
    pytest.fail(f"It is never still:\n{seen(pilot.app)}")


def seen(shown: App[None]) -> str:
    """Return what is on the screen as text."""
    width = shown.size.width
    lines = shown.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in line)[:width].rstrip() for line in lines)
