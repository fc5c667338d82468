"""The terminal interface as a program: panels, keys, and calls to the notebook in threads."""

import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Footer, Input, OptionList, Static
from textual.worker import get_current_worker

from citations.formats import NAMES
from kbsite.library.base import AnswerStep
from kbsite.tui import panels
from kbsite.tui.keys import BINDINGS, KEYS
from kbsite.tui.notebook import EarlierConversation, Link, Notebook, SourceList
from kbsite.tui.panels import ConversationDialog, LineDialog, TextDialog
from kbsite.tui.turns import QuoteInContext, Turn, printable, trace_content
from transcripts.core.errors import KnowledgeBaseError
from transcripts.text.queries import MAX_QUESTION

T = TypeVar("T")
BUSY_SECONDS, IDLE_SECONDS = 1.0, 5.0  # between two updates of the sources


@dataclass
class SourcesLoaded(Message):
    """The sources, or the problem with loading them."""

    sources: SourceList
    problem: str = ""


@dataclass
class AnswerUpdate(Message):
    """An event of an answer, or the error that ends it. Neither: no more events follow."""

    view: panels.TurnView
    event: AnswerStep | None = None
    error: KnowledgeBaseError | None = None


@dataclass
class CallFinished(Message):
    """The result of a call, as a sentence."""

    text: str
    is_problem: bool = False


class CuebaseApp(App[None]):
    """Sources on the left, the conversation beside them, details below or on the right."""

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
        self._is_answering = False
        self._timer: Timer | None = None
        # A query of the app would search the dialog on top.
        self._title = Static(id="title", markup=False)
        self._sources = panels.SourcesPanel()
        self._conversation = panels.ConversationPanel()
        self._details = panels.DetailsPanel()
        self._question = Input(
            placeholder="Ask your sources …", max_length=MAX_QUESTION, id="question"
        )

    def compose(self) -> ComposeResult:
        yield self._title
        with Container(id="panels"):
            yield self._sources
            with panels.QuestionPanel(id="talk"):
                yield self._conversation
                yield self._question
            yield self._details
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        self._question.focus()
        self._update_title()
        self._load_sources()

    def on_unmount(self) -> None:
        self._notebook.close()

    # Questions

    def on_input_submitted(self, event: Input.Submitted) -> None:
        question = event.value.strip()
        if not question or self._is_answering:
            return
        event.input.clear()
        self._is_answering = True
        view = self._conversation.add(Turn(question=question))
        self._ask(view, question, self._sources.ticked)

    @work(thread=True, group="asking", exclusive=True)
    def _ask(self, view: panels.TurnView, question: str, sources: tuple[str, ...]) -> None:
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

    def on_answer_update(self, message: AnswerUpdate) -> None:
        turn = message.view.turn
        if not turn.is_running:
            self._is_answering = False
            return
        if message.event is not None:
            turn.apply(message.event)
        elif message.error is not None:
            turn.fail(message.error.message, message.error.hint)
        else:
            turn.fail("Stopped.", "Ask again for a whole answer.")
        self._is_answering = turn.is_running
        if message.view.is_attached:
            self._conversation.draw(message.view)
            self._show_details(self._conversation.chosen)

    def action_stop(self) -> None:
        """Stop the current answer; its claims so far stay."""
        self.workers.cancel_group(self, "asking")

    # Citations

    def action_choose_next(self, step: int) -> None:
        self._show_details(self._conversation.choose_next(step))

    def on_key(self, event: Key) -> None:
        if event.character and event.character in "123456789":
            self._show_details(self._conversation.choose_label(event.character))

    def action_open_link(self) -> None:
        """Open the chosen citation in a browser, or copy its address if there is none."""
        link = self._chosen_link()
        if link is None:
            return
        if _has_browser():
            self.open_url(link.url)
            self.notify(link.url, title=f"Opened: {link.label}", markup=False)
        else:
            self._copy(link, title="No browser here; copied")

    def action_copy_link(self) -> None:
        link = self._chosen_link()
        if link is not None:
            self._copy(link, title="Copied")

    def action_show_trace(self) -> None:
        turn = self._conversation.current
        if turn is not None and turn.reply is not None:
            self.push_screen(TextDialog("How this answer was made", trace_content(turn.reply)))

    # Sources

    @work(thread=True, group="sources", exclusive=True)
    def _load_sources(self) -> None:
        try:
            message = SourcesLoaded(self._notebook.list_sources(self._words))
        except KnowledgeBaseError as error:
            message = SourcesLoaded(SourceList(), problem=error.text)
        self.post_message(message)

    def on_sources_loaded(self, message: SourcesLoaded) -> None:
        listed = message.sources
        if not self._sources.is_attached:  # the program is closing
            return
        if message.problem:
            self._details.show_note(printable(message.problem))
        else:
            self._sources.show(listed)
            if not listed.total and not self._words and not self._adding:
                self._details.show_note(panels.NO_SOURCES)
        if self._timer is not None:
            self._timer.stop()
        seconds = BUSY_SECONDS if self._adding or listed.unfinished else IDLE_SECONDS
        self._timer = self.set_timer(seconds, self._load_sources)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        source = self._sources.current
        if event.option_list is self._sources and self._sources.has_focus and source is not None:
            self._details.show_source(source)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._sources.toggle(event.option.id or "")

    def on_sources_panel_selection_changed(self) -> None:
        self._update_title()

    def action_add(self) -> None:
        about = f"A YouTube address, or a file or folder on this machine: captions, {NAMES}."
        self.push_screen(LineDialog("Add", about), self._start_adding)

    def _start_adding(self, target: str | None) -> None:
        if target:
            self._adding.append(target)
            self._update_title()
            self._add(target)
            self._load_sources()

    @work(thread=True, group="adding")
    def _add(self, target: str) -> None:
        try:
            message = CallFinished(self._notebook.add(target))
        except KnowledgeBaseError as error:
            message = CallFinished(error.text, is_problem=True)
        self._adding.remove(target)
        self.post_message(message)

    def on_call_finished(self, message: CallFinished) -> None:
        self.notify(
            printable(message.text),
            severity="error" if message.is_problem else "information",
            timeout=10,
            markup=False,
        )
        self._update_title()
        self._load_sources()

    def action_filter_sources(self) -> None:
        about = "Words of their titles; empty: all."
        self.push_screen(LineDialog("Find sources", about, value=self._words), self._filter)

    def _filter(self, words: str | None) -> None:
        if words is not None:
            self._words = words
            self._sources.border_title = f"Sources: {words}" if words else "Sources"
            self._load_sources()
            self._sources.focus()  # whoever looked for sources ticks them next

    # Conversations

    def action_start_conversation(self) -> None:
        self.action_stop()
        self._notebook.start_conversation()
        self._conversation.replace()
        self._details.show_note(panels.NOTHING_CHOSEN)
        self._question.focus()

    def action_list_conversations(self) -> None:
        self._fetch(self._notebook.earlier_conversations, self._offer)

    def _offer(self, conversations: tuple[EarlierConversation, ...]) -> None:
        if conversations:
            self.push_screen(ConversationDialog(conversations), self._continue)
        else:
            self.notify("There is no earlier conversation.")

    def _continue(self, conversation: str | None) -> None:
        if conversation:
            self.action_stop()
            resume = partial(self._notebook.resume, conversation)
            self._fetch(resume, self._conversation.replace)

    @work(thread=True, group="conversations", exclusive=True)
    def _fetch(self, call: Callable[[], T], show: Callable[[T], None]) -> None:
        try:
            result = call()
        except KnowledgeBaseError as error:
            self.post_message(CallFinished(error.text, is_problem=True))
        else:
            self.call_from_thread(show, result)

    # Panels

    def action_switch_focus(self) -> None:
        """Switch between the question and the answers, or restore a maximized panel."""
        if self.screen.maximized:
            self.screen.minimize()
        elif self._question.has_focus:
            self._conversation.focus()
        else:
            self._question.focus()

    def action_zoom(self) -> None:
        if self.screen.maximized:
            self.screen.minimize()
        elif self.focused is not None:
            self.screen.maximize(self.focused)

    def action_show_keys(self) -> None:
        self.push_screen(TextDialog("Keys", Content(KEYS)))

    def _show_details(self, quote: QuoteInContext | None) -> None:
        if quote is not None:
            self._details.show_quote(quote, self._notebook.links(quote))

    def _chosen_link(self) -> Link | None:
        quote = self._conversation.chosen
        links = self._notebook.links(quote) if quote else ()
        if not links:
            problem = "No citation is chosen." if quote is None else "This citation has no link."
            self.notify(problem, severity="warning")
        return links[0] if links else None

    def _copy(self, link: Link, *, title: str) -> None:
        self.copy_to_clipboard(link.url)
        self.notify(link.url, title=f"{title}: {link.label}", markup=False)

    def _update_title(self) -> None:
        count = len(self._sources.ticked)
        scope = f"{count} ticked source{'' if count == 1 else 's'}" if count else "all sources"
        title = f"Cuebase · {self._notebook.name} · asking {scope}"
        if self._adding:
            title += f" · adding {self._adding[-1].rstrip('/').rpartition('/')[2]} …"
        self._title.update(printable(title))


def _has_browser() -> bool:
    """Say whether a browser would open in a window; one in this terminal would be drawn over."""
    if os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"):
        return False
    has_display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return has_display or sys.platform in ("darwin", "win32")
