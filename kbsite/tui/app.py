"""The terminal interface as a program: keys, threads, and what becomes of what they bring."""

import contextlib
import os
import sys
from typing import ClassVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.events import Key
from textual.timer import Timer
from textual.widgets import Footer, Input, OptionList, Static
from textual.worker import get_current_worker

from kbsite.tui.dialogs import ConversationDialog, Leaflet, LineDialog
from kbsite.tui.keys import BINDINGS, KEYS
from kbsite.tui.messages import AnswerUpdate, CallSucceeded, SourcesLoaded
from kbsite.tui.notebook import Earlier, Link, Notebook, SourceList
from kbsite.tui.panels import (
    NO_SOURCES,
    NOTHING_CHOSEN,
    ConversationPanel,
    Details,
    SourcesPanel,
    Talk,
    TurnView,
)
from kbsite.tui.places import QuoteInContext
from kbsite.tui.turns import Turn, explained, printable
from transcripts.errors import KnowledgeBaseError

BUSY_SECONDS, IDLE_SECONDS = 1.0, 5.0  # between two looks at the sources
MAX_QUESTION = 1_000  # characters


class CuebaseApp(App[None]):
    """Sources on the left, the conversation beside them, the details of what is cited below or, where there is room, on the right."""

    TITLE = "Cuebase"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (50, "-small"), (70, "-usual"), (130, "-wide")]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (18, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [*BINDINGS]

    def __init__(self, notebook: Notebook) -> None:
        super().__init__()
        self._notebook = notebook
        self._words = ""
        self._adding: list[str] = []
        self._answering = False
        self._timer: Timer | None = None
        # Held here, for a query of the app looks at whatever dialog is on top.
        self._title = Static(id="title", markup=False)
        self._sources, self._conversation, self._details = (
            SourcesPanel(),
            ConversationPanel(),
            Details(),
        )
        self._question = Input(
            placeholder="Ask your sources …", max_length=MAX_QUESTION, id="question"
        )

    def compose(self) -> ComposeResult:
        """Yield the panels."""
        yield self._title
        with Container(id="desk"):
            yield self._sources
            with Talk(id="talk"):
                yield self._conversation
                yield self._question
            yield self._details
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Begin with the question, and look at the sources."""
        self._question.focus()
        self._tell_title()
        self._look()

    def on_unmount(self) -> None:
        """Leave what is being added to a later time."""
        self._notebook.close()

    # Asking

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Ask what was typed, unless an answer is still being made."""
        question = event.value.strip()
        if not question or self._answering:
            return
        event.input.clear()
        self._answering = True
        view = self._conversation.add(Turn(question=question))
        self._ask(view, question, self._sources.ticked)

    @work(thread=True, group="asking", exclusive=True)
    def _ask(self, view: TurnView, question: str, sources: tuple[str, ...]) -> None:
        worker = get_current_worker()
        try:
            with contextlib.closing(self._notebook.ask(question, sources)) as events:
                for event in events:
                    if worker.is_cancelled:
                        break
                    self.post_message(AnswerUpdate(view, event))
            self.post_message(AnswerUpdate(view))
        except KnowledgeBaseError as error:
            self.post_message(AnswerUpdate(view, error=error))

    def on_told(self, message: AnswerUpdate) -> None:
        """Show what came in of an answer."""
        turn = message.view.turn
        if not turn.is_running:
            self._answering = False
            return
        if message.event is not None:
            turn.take(message.event)
        elif message.error is not None:
            turn.fail(message.error.message, message.error.hint)
        else:
            turn.fail("Stopped.", "Ask again for a whole answer.")
        self._answering = turn.is_running
        if message.view.is_attached:
            self._conversation.draw(message.view)
            self._show(self._conversation.chosen)

    def action_stop(self) -> None:
        """Let go of the answer that is being made; what is told of it stays."""
        self.workers.cancel_group(self, "asking")

    # Citations

    def action_walk(self, step: int) -> None:
        """Choose the next citation or the one before."""
        self._show(self._conversation.walk(step))

    def on_key(self, event: Key) -> None:
        """Choose a citation by its digit."""
        if event.character and event.character in "123456789":
            self._show(self._conversation.pick(event.character))

    def action_open_link(self) -> None:
        """Open the chosen citation in a browser; where there is none, as over SSH, copy its address."""
        link = self._link()
        if link is None:
            return
        if _has_browser():
            self.open_url(link.url)
            self.notify(link.url, title=f"Opened: {link.label}", markup=False)
        else:
            self._copy(link, title="No browser here; copied")

    def action_copy_link(self) -> None:
        """Copy the address of the chosen citation through the terminal."""
        link = self._link()
        if link is not None:
            self._copy(link, title="Copied")

    def action_explain(self) -> None:
        """Show how the answer was made."""
        turn = self._conversation.current
        if turn is not None and turn.ending is not None:
            self.push_screen(Leaflet("How this answer was made", explained(turn.ending)))

    # Sources

    @work(thread=True, group="shelf", exclusive=True)
    def _look(self) -> None:
        try:
            found = SourcesLoaded(self._notebook.shelf(self._words))
        except KnowledgeBaseError as error:
            found = SourcesLoaded(SourceList(), problem=f"{error.message} {error.hint}".strip())
        self.post_message(found)

    def on_shelved(self, message: SourcesLoaded) -> None:
        """Show the sources, and look again in a while."""
        if not self._sources.is_attached:  # it is being closed
            return
        if message.problem:
            self._details.show_note(printable(message.problem))
        else:
            self._show_shelf(message.shelf)
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(
            BUSY_SECONDS if self._adding or message.shelf.unfinished else IDLE_SECONDS, self._look
        )

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the source under the cursor, while the cursor is there."""
        one = self._sources.current
        if event.option_list is self._sources and self._sources.has_focus and one is not None:
            self._details.show_source(one)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Tick a source."""
        self._sources.tick(event.option.id or "")

    def on_sources_ticked(self) -> None:
        """Say what is asked now."""
        self._tell_title()

    def action_add(self) -> None:
        """Ask what is to be added."""
        self.push_screen(
            LineDialog(
                "Add",
                "An address at YouTube, or a file or folder on this machine: captions, PDF, Markdown, text, HTML.",
            ),
            self._begin_adding,
        )

    def action_find(self) -> None:
        """Ask for words of the titles."""
        self.push_screen(
            LineDialog("Find sources", "Words of their titles; empty: all.", value=self._words),
            self._narrow,
        )

    def _begin_adding(self, what: str | None) -> None:
        if what:
            self._adding.append(what)
            self._tell_title()
            self._add(what)
            self._look()

    @work(thread=True, group="adding")
    def _add(self, what: str) -> None:
        try:
            said = CallSucceeded(self._notebook.add(what))
        except KnowledgeBaseError as error:
            said = CallSucceeded(f"{error.message} {error.hint}".strip(), is_problem=True)
        self._adding.remove(what)
        self.post_message(said)

    def on_said(self, message: CallSucceeded) -> None:
        """Tell what became of what was added."""
        self.notify(
            printable(message.text),
            severity="error" if message.is_problem else "information",
            timeout=10,
            markup=False,
        )
        self._tell_title()
        self._look()

    def _narrow(self, words: str | None) -> None:
        if words is not None:
            self._words = words
            self._sources.border_title = f"Sources: {words}" if words else "SourcesPanel"
            self._look()

    # Conversations

    def action_begin_anew(self) -> None:
        """Begin another conversation."""
        self.action_stop()
        self._notebook.begin_anew()
        self._conversation.begin()
        self._details.show_note(NOTHING_CHOSEN)
        self._question.focus()

    @work(thread=True, group="history", exclusive=True)
    def action_resume(self) -> None:
        """Offer the earlier conversations."""
        try:
            earlier = self._notebook.earlier()
        except KnowledgeBaseError as error:
            self.post_message(
                CallSucceeded(f"{error.message} {error.hint}".strip(), is_problem=True)
            )
            return
        self.call_from_thread(self._offer, earlier)

    def _offer(self, earlier: tuple[Earlier, ...]) -> None:
        if earlier:
            self.push_screen(ConversationDialog(earlier), self._go_on_with)
        else:
            self.notify("There is no earlier conversation.")

    def _go_on_with(self, conversation: str | None) -> None:
        if conversation:
            self.action_stop()
            self._resume(conversation)

    @work(thread=True, group="history", exclusive=True)
    def _resume(self, conversation: str) -> None:
        try:
            turns = self._notebook.resume(conversation)
        except KnowledgeBaseError as error:
            self.post_message(
                CallSucceeded(f"{error.message} {error.hint}".strip(), is_problem=True)
            )
            return
        self.call_from_thread(self._conversation.begin, turns)

    # Panels

    def action_switch(self) -> None:
        """Go from the question to the answers, and from anywhere else to the question."""
        if self.screen.maximized:
            self.screen.minimize()
        elif self._question.has_focus:
            self._conversation.focus()
        else:
            self._question.focus()

    def action_zoom(self) -> None:
        """Give the panel the whole screen, or its place again."""
        if self.screen.maximized:
            self.screen.minimize()
        elif self.focused is not None:
            self.screen.maximize(self.focused)

    def action_keys(self) -> None:
        """List the keys."""
        self.push_screen(Leaflet("Keys", Content(KEYS)))

    def _show_shelf(self, shelf: SourceList) -> None:
        self._sources.show(shelf)
        if not shelf.total and not self._words and not self._adding:
            self._details.show_note(NO_SOURCES)

    def _show(self, place: QuoteInContext | None) -> None:
        if place is not None:
            self._details.show_place(place, self._notebook.links(place))

    def _link(self) -> Link | None:
        place = self._conversation.chosen
        links = self._notebook.links(place) if place else ()
        if not links:
            self.notify(
                "No citation is chosen." if place is None else "Nothing opens this place.",
                severity="warning",
            )
        return links[0] if links else None

    def _copy(self, link: Link, *, title: str) -> None:
        self.copy_to_clipboard(link.url)
        self.notify(link.url, title=f"{title}: {link.label}", markup=False)

    def _tell_title(self) -> None:
        count = len(self._sources.ticked)
        asked = f"{count} ticked source{'' if count == 1 else 's'}" if count else "all sources"
        adding = (
            f" · adding {self._adding[-1].rstrip('/').rpartition('/')[2]} …" if self._adding else ""
        )
        self._title.update(printable(f"Cuebase · {self._notebook.name} · asking {asked}{adding}"))


def _has_browser() -> bool:
    """Say whether a browser would come up before whoever sits here; one in the terminal itself would be drawn over."""
    if os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"):
        return False
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
