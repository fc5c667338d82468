"""The three panels, and the dialogs over them."""

import re
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from kbsite.tui.notebook import EarlierConversation, Link, ListedSource, SourceList
from kbsite.tui.turns import QuoteInContext, Turn, printable, turn_content

WELCOME = """\
Ask a question below. Answers are made of your sources, and every quote in them was found there \
word for word.

Tab goes from panel to panel, F1 lists the keys."""
NO_SOURCES = """\
Nothing is here yet.

Press a (outside the question) to add a video, a document or a folder."""
NOTHING_CHOSEN = "n and p walk through an answer’s citations; each is shown here."
_ESCAPE = Binding("escape", "dismiss", "Close")


class SourcesPanel(OptionList):
    """The sources; questions go to the ticked ones, or to all if none is ticked."""

    BORDER_TITLE = "Sources"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "select", "Tick", show=False)]

    class SelectionChanged(Message):
        """The set of ticked sources has changed."""

    def __init__(self) -> None:
        super().__init__(id="sources", markup=False)
        self._sources: dict[str, ListedSource] = {}
        self._ticked: dict[str, None] = {}

    def show(self, listed: SourceList) -> None:
        """Update the list; ticks and cursor stay."""
        old, self._sources = self._sources, {source.id: source for source in listed.sources}
        if list(old) == list(self._sources):
            for source in listed.sources:
                if source != old[source.id]:
                    self._redraw(source.id)
        else:
            current = self.highlighted_option
            self.set_options(
                Option(_row(source, is_ticked=key in self._ticked), id=key)
                for key, source in self._sources.items()
            )
            if current is not None and current.id in self._sources:
                self.highlighted = self.get_option_index(current.id)
            elif self._sources:
                self.highlighted = 0
        count, total = len(listed.sources), f"{listed.total:,}"
        counts = f"{count} of {total}" if count < listed.total else total
        busy = f" · {listed.unfinished:,} in progress" if listed.unfinished else ""
        self.border_subtitle = counts + busy

    @property
    def current(self) -> ListedSource | None:
        """The source under the cursor."""
        option = self.highlighted_option
        return self._sources.get(option.id or "") if option else None

    @property
    def ticked(self) -> tuple[str, ...]:
        """The ids of the ticked sources, shown or not."""
        return tuple(self._ticked)

    def toggle(self, key: str) -> None:
        if key in self._ticked:
            del self._ticked[key]
        else:
            self._ticked[key] = None
        self._redraw(key)
        self.post_message(self.SelectionChanged())

    def _redraw(self, key: str) -> None:
        self.replace_option_prompt(key, _row(self._sources[key], is_ticked=key in self._ticked))


class TurnView(Static):
    def __init__(self, turn: Turn) -> None:
        super().__init__(turn_content(turn))
        self.turn = turn

    def draw(self, chosen: QuoteInContext | None = None) -> None:
        self.update(turn_content(self.turn, chosen))


class ConversationPanel(VerticalScroll):
    """Questions and answers, and the chosen citation."""

    ALLOW_MAXIMIZE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "app.choose_next(1)", "Next citation", show=False),
        Binding("left", "app.choose_next(-1)", "Previous citation", show=False),
        Binding("enter", "app.open_link", "Open", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(Static(WELCOME, id="welcome", markup=False), id="conversation")
        self._chosen: tuple[TurnView, int] | None = None

    def replace(self, turns: Sequence[Turn] = ()) -> None:
        self._chosen = None
        self.remove_children(TurnView)
        self.query_one("#welcome").display = not turns
        self.mount_all(TurnView(turn) for turn in turns)
        self.scroll_end(animate=False)

    def add(self, turn: Turn) -> TurnView:
        self.query_one("#welcome").display = False
        view = TurnView(turn)
        self.mount(view)
        self.call_after_refresh(self.scroll_end, animate=False)
        return view

    def draw(self, view: TurnView) -> None:
        """Redraw a turn, keep its question in sight, and choose its first citation."""
        if view.turn.quotes and not (self._chosen and self._chosen[0] is view):
            self._choose(view, 0)
        view.draw(self.chosen if self._chosen and self._chosen[0] is view else None)
        self.call_after_refresh(self.scroll_to_widget, view, animate=False, top=True)

    @property
    def chosen(self) -> QuoteInContext | None:
        if self._chosen is None:
            return None
        view, index = self._chosen
        return view.turn.quotes[index] if index < len(view.turn.quotes) else None

    @property
    def current(self) -> Turn | None:
        """The turn of the chosen quote, or the last one."""
        view = self._current_view()
        return view.turn if view else None

    def choose_next(self, step: int) -> QuoteInContext | None:
        """Choose the next or previous quote of all turns, and stop at the ends; return it."""
        positions = [
            (view, index) for view in self.query(TurnView) for index in range(len(view.turn.quotes))
        ]
        if not positions:
            return None
        last = len(positions) - 1
        at = positions.index(self._chosen) + step if self._chosen in positions else last
        self._choose(*positions[max(0, min(at, last))])
        return self.chosen

    def choose_label(self, label: str) -> QuoteInContext | None:
        """Choose a quote of the current turn by its label; return it, or None if there is none."""
        view = self._current_view()
        labels = [quote.label for quote in view.turn.quotes] if view else []
        if view is None or label not in labels:
            return None
        self._choose(view, labels.index(label))
        return self.chosen

    def _current_view(self) -> TurnView | None:
        return self._chosen[0] if self._chosen else next(reversed(self.query(TurnView)), None)

    def _choose(self, view: TurnView, index: int) -> None:
        previous, self._chosen = self._chosen, (view, index)
        if previous is not None and previous[0] is not view:
            previous[0].draw()
            self.scroll_to_widget(view, animate=False)
        view.draw(self.chosen)


class QuestionPanel(Vertical):
    BORDER_TITLE = "Conversation"
    ALLOW_MAXIMIZE = True


class DetailsPanel(VerticalScroll):
    BORDER_TITLE = "Details"
    ALLOW_MAXIMIZE = True

    def __init__(self) -> None:
        super().__init__(Static(NOTHING_CHOSEN, markup=False), id="details")

    def show_quote(self, quote: QuoteInContext, links: Sequence[Link]) -> None:
        title = f"[{quote.label}] {_one_line(quote.title)}"
        prefix = f"… {_from_word(_one_line(quote.prefix))}" if quote.prefix else ""
        suffix = f"{_to_word(_one_line(quote.suffix))} …" if quote.suffix else ""
        about = filter(None, (_one_line(quote.heading), _one_line(quote.channel)))
        self._show(
            Content.styled(title, "bold $primary") + Content.styled(f"  {quote.place}", "dim"),
            Content.styled(prefix, "dim")
            + Content.styled(_one_line(quote.text), "bold")
            + Content.styled(suffix, "dim"),
            *(Content.styled(f"{link.label}: {link.url}", "dim") for link in links),
            Content.styled(" · ".join(about), "dim"),
        )

    def show_source(self, source: ListedSource) -> None:
        self._show(
            Content.styled(printable(source.title), "bold $primary"),
            Content.styled(printable(source.about), "dim"),
            Content(printable(source.progress)),
            Content.styled(printable(source.problem), "$error"),
        )

    def show_note(self, text: str) -> None:
        self._show(Content.styled(text, "dim"))

    def _show(self, *lines: Content) -> None:
        self.query_one(Static).update(Content("\n").join([line for line in lines if line.plain]))
        self.scroll_home(animate=False)


def _one_line(text: str) -> str:
    """Return text with its whitespace collapsed; a blank at either end stays."""
    return re.sub(r"\s+", " ", printable(text))


def _from_word(text: str) -> str:
    fragment, blank, rest = text.partition(" ")
    return rest if blank and fragment.islower() else text.lstrip()


def _to_word(text: str) -> str:
    rest, blank, fragment = text.rpartition(" ")
    return rest if blank and fragment.isalnum() else text.rstrip()


def _row(source: ListedSource, *, is_ticked: bool) -> Content:
    box = Content.styled("[x] " if is_ticked else "[ ] ", "bold" if is_ticked else "dim")
    mark = Content.styled(f"{_one_line(source.mark)} ", "dim") if source.mark else Content()
    if source.problem:
        state = Content.styled("! ", "$error")
    elif source.progress:
        state = Content.styled(f"{printable(source.progress)} ", "$accent")
    else:
        state = Content() if source.is_ready else Content.styled("… ", "dim")
    return box + state + mark + Content(_one_line(source.title))


class LineDialog(ModalScreen[str | None]):
    """Asks for a line; returns None when it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [_ESCAPE]

    def __init__(self, title: str, about: str, *, value: str = "") -> None:
        super().__init__()
        self._title, self._about, self._value = title, about, value

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._title
            yield Static(self._about, markup=False)
            yield Input(self._value, id="line", compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())


class ConversationDialog(ModalScreen[str | None]):
    """Offers earlier conversations; returns the id of one, or None when it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [_ESCAPE]

    def __init__(self, conversations: Sequence[EarlierConversation]) -> None:
        super().__init__()
        self._conversations = conversations

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog tall") as box:
            box.border_title = "Earlier conversations"
            options = []
            for conversation in self._conversations:
                time = Content.styled(f"{conversation.updated_at}  ", "dim")
                label = time + Content(printable(conversation.title))
                options.append(Option(label, id=conversation.id))
            yield OptionList(*options)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option.id)


class TextDialog(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [_ESCAPE, Binding("q", "dismiss", "Close", show=False)]

    def __init__(self, title: str, text: Content) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog tall") as box:
            box.border_title, box.border_subtitle = self._title, "Esc closes"
            yield Static(self._text)
