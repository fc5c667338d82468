"""The terminal interface, by its keys."""

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual.pilot import Pilot
from textual.widgets import Input

from citations.answers.answer import AnswerPart, Claim, Preparation, Progress, UnreadySource
from citations.schemas.answers import ClaimOut, TracedReplyOut
from kbsite.tui.notebook import ListedSource
from kbsite.tui.panels import ConversationPanel, SourcesPanel
from kbsite.tui.turns import Turn, turn_content
from tests.kbsite.tui.conftest import (
    ANSWERED,
    REFUSAL,
    WAIT,
    FakeNotebook,
    ask,
    drawn,
    driven,
    enter,
    leave,
    seen,
    shows,
    until,
)
from transcripts.core.errors import Unavailable

pytestmark = pytest.mark.anyio
ASKING = "^q Quit esc Ask/read ^n New f1 Keys"
READING = "^q Quit a Add n Next p Back o Open y Copy t How esc Ask/read ^n New f1 Keys"


class SvgExtension(SingleFileSnapshotExtension):
    """Keeps a picture of the screen as a file of its own."""

    _write_mode = WriteMode.TEXT
    file_extension = "svg"


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(SvgExtension)


def chosen(pilot: Pilot[None]) -> str:
    quote = pilot.app.query_one(ConversationPanel).chosen
    return quote.label if quote else ""


def notes(pilot: Pilot[None]) -> list[str]:
    return [note.message for note in pilot.app._notifications]


async def test_an_answer_comes_with_its_citations_and_the_first_is_shown(
    notebook: FakeNotebook, picture: SnapshotAssertion
) -> None:
    async with driven(notebook) as pilot:
        await ask(pilot)
        await shows(
            pilot,
            "Wait longer each time. [1]",
            "2 citations · the sources’ own words",
            "[1] When a service says no  0:12–0:17",
        )
        assert await drawn(pilot, ASKING) == picture
    assert notebook.questions == [("How long?", ())]
    assert notebook.calls == ["left", "closed"]


async def test_keys_walk_through_the_citations_and_stop_at_the_ends(notebook: FakeNotebook) -> None:
    async with driven(notebook) as pilot:
        await ask(pilot)
        await leave(pilot)
        for key, label in (
            ("n", "2"),
            ("right", "2"),
            ("p", "1"),
            ("left", "1"),
            ("2", "2"),
            ("9", "2"),
        ):
            await pilot.press(key)
            assert (key, chosen(pilot)) == (key, label)
        await shows(pilot, "[2] Counting, Waiting, Keeping Time  pages 10–11")


async def test_the_link_of_a_citation_is_copied_over_ssh_and_opened_where_there_is_a_browser(
    notebook: FakeNotebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    async with driven(notebook) as pilot:
        monkeypatch.setattr(pilot.app, "open_url", opened.append)
        await leave(pilot)
        await pilot.press("o")
        assert pilot.app.clipboard == ""  # nothing is chosen yet
        await ask(pilot)
        await leave(pilot)
        await pilot.press("enter")
        await until(
            pilot,
            lambda: pilot.app.clipboard == "http://127.0.0.1:8000/videos/1/?t=12s&until=17500",
        )
        assert opened == []
        monkeypatch.delenv("SSH_CONNECTION")
        monkeypatch.delenv("SSH_TTY", raising=False)
        monkeypatch.setenv("DISPLAY", ":0")
        await pilot.press("n", "o")
        await until(pilot, lambda: opened == ["http://127.0.0.1:8000/sources/2/pages/10/"])


async def test_a_refusal_says_so_and_shows_what_comes_nearest(
    notebook: FakeNotebook, picture: SnapshotAssertion
) -> None:
    notebook.events = [Progress(stage="retrieve"), REFUSAL]

    async with driven(notebook) as pilot:
        await ask(pilot, "Will it rain?")
        await shows(
            pilot,
            "I cannot find information about rain in the",
            "[a] Counting, Waiting, Keeping Time page 3:",
            "nothing was made up",
            "Rain is not told of here.",
        )
        assert await drawn(pilot, ASKING) == picture


async def test_claims_are_shown_while_the_answer_is_made_and_it_can_be_stopped(
    notebook: FakeNotebook,
) -> None:
    notebook.hold_before = TracedReplyOut

    async with driven(notebook) as pilot:
        await ask(pilot, "why", shown="twice the one before. [2]")
        await shows(pilot, "Looking for passages …")
        await enter(pilot, "#question", "more")  # one question at a time: it stays in the line
        assert pilot.app.query_one("#question", Input).value == "more"
        await pilot.press("ctrl+c")
        notebook.go.set()
        await shows(pilot, "Stopped.", "Wait longer each time. [1]")
        await pilot.press("enter")
        await shows(pilot, "❯ more", "2 citations")
    assert [question for question, _ in notebook.questions] == ["why", "more"]


async def test_what_goes_wrong_is_said_with_what_to_try_and_the_next_question_is_taken(
    notebook: FakeNotebook,
) -> None:
    notebook.events = [
        Progress(stage="route"),
        Unavailable("The database does not answer.", hint="Check that it runs."),
    ]

    async with driven(notebook) as pilot:
        await ask(pilot, shown="The database does not answer.")
        await shows(pilot, "Check that it runs.")
        notebook.events = [REFUSAL]
        await ask(pilot, "again")


async def test_only_ticked_sources_are_asked(notebook: FakeNotebook) -> None:
    async with driven(notebook) as pilot:
        await pilot.press("shift+tab", "shift+tab", "down", "space")
        await shows(pilot, "asking 1 ticked source", "[x] embed 40 %")
        notebook.sources.insert(0, ListedSource(id="9", title="New"))
        await pilot.press("slash")
        await enter(pilot, "#line", "")  # updates the sources
        await shows(pilot, "[ ] New", "[x] embed 40 %")
        await pilot.press("escape")
        await ask(pilot, "one")
        await pilot.press("shift+tab", "shift+tab", "enter")
        await shows(pilot, "asking all sources")
        await pilot.press("escape")
        await ask(pilot, "all")
    assert notebook.questions == [("one", ("2",)), ("all", ())]


async def test_sources_are_found_by_words_of_their_titles(notebook: FakeNotebook) -> None:
    async with driven(notebook) as pilot:
        await leave(pilot)
        await pilot.press("slash")
        await enter(pilot, "#line", "waiting")
        await shows(pilot, "Sources: waiting")
        await until(pilot, lambda: pilot.app.screen.query_one(SourcesPanel).option_count == 1)
        await pilot.press("space")
        await shows(pilot, "asking 1 ticked source")
        await pilot.press("slash", "escape")  # left as it was
        await shows(pilot, "Sources: waiting")
    assert notebook.searches == ["", "waiting"]


async def test_a_source_is_added_and_how_far_each_is_is_shown(
    notebook: FakeNotebook, picture: SnapshotAssertion
) -> None:
    notebook.sources.append(
        ListedSource(id="4", title="A scan", problem="No page has text. Recognise its words first.")
    )

    async with driven(notebook, size=(140, 30)) as pilot:
        await leave(pilot)
        await pilot.press("a")
        await enter(pilot, "#line", "talk.vtt")
        await shows(pilot, "[ ] talk.vtt", "asking all sources\n")
        assert notes(pilot) == ["Added: talk.vtt"]
        await pilot.press("shift+tab", "end")
        await shows(pilot, "No page has text. Recognise its words")
        assert await drawn(pilot, READING) == picture
        notebook.failure = Unavailable("YouTube refuses.", hint="Try later.")
        await pilot.press("a")
        await enter(pilot, "#line", "x")
        await until(pilot, lambda: notes(pilot)[1:] == ["YouTube refuses. Try later."])


async def test_sources_are_looked_at_while_a_dialog_is_open(
    notebook: FakeNotebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbsite.tui.app.BUSY_SECONDS", 0.02)

    async with driven(notebook) as pilot:
        await pilot.press("f1")
        looks = len(notebook.searches)
        await until(pilot, lambda: len(notebook.searches) > looks + 2)
        await pilot.press("escape")
        notebook.sources[1] = ListedSource(id="2", title="Counted")
        await shows(pilot, "[ ] Counted")


async def test_how_an_answer_was_made_is_told(
    notebook: FakeNotebook, picture: SnapshotAssertion
) -> None:
    async with driven(notebook) as pilot:
        await leave(pilot)
        await pilot.press("t")  # there is no answer yet
        assert len(pilot.app.screen_stack) == 1
        await ask(pilot)
        await leave(pilot)
        await pilot.press("t")
        await shows(
            pilot,
            "How long? (specific)",
            "Looking for passages",
            "12.3 ms",
            "verbatim",
            "not_found",
            "level 0",
        )
        assert await drawn(pilot, READING) == picture
        await pilot.press("escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)


async def test_conversations_are_begun_anew_and_gone_on_with(notebook: FakeNotebook) -> None:
    async with driven(notebook) as pilot:
        await ask(pilot)
        await pilot.press("ctrl+n")
        await shows(pilot, "Ask a question below.", "n and p walk through")
        assert "How long?" not in seen(pilot.app)
        await pilot.press("ctrl+o")
        await shows(pilot, "About waiting")
        await pilot.press("enter")
        await shows(pilot, "❯ How long?", "2 citations")
    assert notebook.calls == ["left", "started", "resumed c1", "closed"]


async def test_nothing_that_a_terminal_or_markup_would_obey_reaches_the_screen(
    notebook: FakeNotebook,
) -> None:
    notebook.sources = [
        ListedSource(id="1", title="\x1b[31mRed\x07 [bold]title[/bold] \u202eright")
    ]

    async with driven(notebook) as pilot:
        await shows(pilot, "[31mRed [bold]tit")
        await ask(pilot, "[red]what")


async def test_the_keys_are_listed_and_a_panel_may_have_the_screen(notebook: FakeNotebook) -> None:
    async with driven(notebook) as pilot:
        await pilot.press("f1")
        await shows(pilot, "Shift+Tab")
        await pilot.press("escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        await leave(pilot)
        await pilot.press("z")
        await until(
            pilot, lambda: "Details" not in seen(pilot.app), describe=lambda: seen(pilot.app)
        )
        await pilot.press("z")
        await shows(pilot, "Details")


@pytest.mark.parametrize("size", [(40, 12), (48, 30), (80, 12)])
async def test_without_room_for_three_panels_the_answer_is_shown_and_others_open_under_the_focus(
    notebook: FakeNotebook, size: tuple[int, int]
) -> None:
    async with driven(notebook, size=size) as pilot:
        await ask(pilot, shown="Wait longer each time. [1]")
        await shows(pilot, "Each pause is twice", "[1] When a service says no")
        await pilot.press("tab")
        await shows(pilot, "Add some")


async def test_what_stands_around_a_quote_begins_and_ends_with_a_whole_word(
    notebook: FakeNotebook,
) -> None:
    quote = replace(WAIT, prefix="fuses. Think of it: ", suffix=" Add some chance, or els")
    reply = replace(ANSWERED, quotes=(quote, *ANSWERED.quotes[1:]))
    notebook.events = [TracedReplyOut.model_validate(reply)]

    async with driven(notebook) as pilot:
        await ask(pilot)
        await shows(pilot, "… Think of it: Wait longer each time. Add some", "chance, or …")


async def test_an_empty_library_says_what_to_do_first(notebook: FakeNotebook) -> None:
    notebook.sources = []

    async with driven(notebook, size=(60, 20)) as pilot:
        await shows(pilot, "Nothing is here yet.")


def test_claims_beside_the_first_stand_under_a_line() -> None:
    claims = [
        ClaimOut.model_validate(claim)
        for claim in (Claim(text="Wait."), Claim(text="Never wait.", is_more=True))
    ]
    lines = turn_content(Turn("How long?", claims=claims)).plain.splitlines()
    assert lines[:4] == ["❯ How long?", "Wait.", "More from the sources:", "Never wait."]


def test_each_of_several_questions_heads_its_claims_and_what_was_not_ready_is_said() -> None:
    reply = replace(
        ANSWERED,
        question="How long? Why? Who?",
        claims=(
            Claim(text="Ten seconds.", heading="How long?"),
            Claim(text="The server.", heading="Who?"),
        ),
        parts=(
            AnswerPart(heading="How long?", is_answered=True, confidence=0.85),
            AnswerPart(heading="Why?", is_answered=False),
            AnswerPart(heading="Who?", is_answered=True),
        ),
        unready=(UnreadySource(title="Soup", state=Preparation.READING, collection=1),),
    )
    turn = Turn.of(TracedReplyOut.model_validate(reply))
    lines = [line for line in turn_content(turn).plain.splitlines() if line]
    assert lines[1:9] == [
        *("How long?", "sure", "Ten seconds."),
        *("Why?", "The sources do not answer this question."),
        *("Who?", "The server."),
        "1 source was not ready yet when this was asked: “Soup”.",
    ]
