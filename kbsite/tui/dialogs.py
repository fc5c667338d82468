"""Dialogs over the panels: an input line, a list of conversations, a text."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from kbsite.tui.notebook import EarlierConversation
from kbsite.tui.turns import printable

_ESCAPE = Binding("escape", "dismiss", "Close")


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
