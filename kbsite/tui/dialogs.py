"""What comes up over the panels: a line to type, a list to choose from, a text to read."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from kbsite.tui.notebook import Earlier
from kbsite.tui.turns import printable

_ESCAPE = Binding("escape", "dismiss", "Close")


class LineDialog(ModalScreen[str | None]):
    """Asks for a line; gives None when it is left."""

    BINDINGS: ClassVar[list[BindingType]] = [_ESCAPE]

    def __init__(self, title: str, about: str, *, value: str = "") -> None:
        super().__init__()
        self._title, self._about, self._value = title, about, value

    def compose(self) -> ComposeResult:
        """Yield the line and what it is for."""
        with Vertical(classes="dialog") as box:
            box.border_title = self._title
            yield Static(self._about, markup=False)
            yield Input(self._value, id="line", compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give back what was typed."""
        event.stop()
        self.dismiss(event.value.strip())


class ConversationDialog(ModalScreen[str | None]):
    """Offers the earlier conversations; gives the id of one, None when it is left."""

    BINDINGS: ClassVar[list[BindingType]] = [_ESCAPE]

    def __init__(self, earlier: Sequence[Earlier]) -> None:
        super().__init__()
        self._earlier = earlier

    def compose(self) -> ComposeResult:
        """Yield the list."""
        with Vertical(classes="dialog tall") as box:
            box.border_title = "Earlier conversations"
            yield OptionList(
                *(
                    Option(
                        Content.styled(f"{one.when}  ", "dim") + Content(printable(one.title)),
                        id=one.id,
                    )
                    for one in self._earlier
                )
            )

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give back which one was chosen."""
        event.stop()
        self.dismiss(event.option.id)


class Leaflet(ModalScreen[None]):
    """Shows a text to be scrolled through."""

    BINDINGS: ClassVar[list[BindingType]] = [_ESCAPE, Binding("q", "dismiss", "Close", show=False)]

    def __init__(self, title: str, text: Content) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        """Yield the text."""
        with VerticalScroll(classes="dialog tall") as box:
            box.border_title, box.border_subtitle = self._title, "Esc closes"
            yield Static(self._text)
