"""The key bindings, and the text of the help on them."""

from typing import Final

from textual.binding import Binding, BindingType

BINDINGS: Final[tuple[BindingType, ...]] = (
    Binding("a", "add", "Add"),
    Binding("n", "choose_next(1)", "Next"),
    Binding("p", "choose_next(-1)", "Back"),
    Binding("o", "open_link", "Open"),
    Binding("y", "copy_link", "Copy"),
    Binding("t", "show_trace", "How"),
    Binding("z", "zoom", "Zoom", show=False),
    Binding("slash", "filter_sources", "Find", show=False),
    Binding("escape", "switch_focus", "Ask/read"),
    Binding("ctrl+n", "start_conversation", "New"),
    Binding("ctrl+o", "list_conversations", "Earlier", show=False),
    Binding("ctrl+c", "stop", "Stop", show=False, priority=True),
    Binding("f1", "show_keys", "Keys"),
    Binding("ctrl+q", "quit", "Quit", priority=True),
)

KEYS: Final = """\
Esc           switch between the question and the answers
Tab           next panel; Shift+Tab: previous panel
Enter         ask · tick a source · open the citation

In the answers and the sources:
n, p or → ←   next or previous citation, through all answers
1–9           the citation of that number
o             open it in a browser; over SSH: copy its address
y             copy its address to the clipboard (OSC 52)
t             show how this answer was made
z             maximize the panel, and restore it
Space         tick a source; ticked sources alone are asked
a             add a video's address, a file or a folder
/             filter the sources by words of their titles

Everywhere:
Ctrl+N        start another conversation
Ctrl+O        continue an earlier one
Ctrl+C        stop the current answer
Ctrl+Q        quit"""
