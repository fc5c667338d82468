"""The keys of the interface: what each does, and how they are listed."""

from typing import Final

from textual.binding import Binding, BindingType

BINDINGS: Final[tuple[BindingType, ...]] = (
    Binding("a", "add", "Add"),
    Binding("n", "walk(1)", "Next"),
    Binding("p", "walk(-1)", "Back"),
    Binding("o", "open_link", "Open"),
    Binding("y", "copy_link", "Copy"),
    Binding("t", "explain", "How"),
    Binding("z", "zoom", "Zoom", show=False),
    Binding("slash", "find", "Find", show=False),
    Binding("escape", "switch", "Ask/read"),
    Binding("ctrl+n", "begin_anew", "New"),
    Binding("ctrl+o", "resume", "Earlier", show=False),
    Binding("ctrl+c", "stop", "Stop", show=False, priority=True),
    Binding("f1", "keys", "Keys"),
    Binding("ctrl+q", "quit", "Quit", priority=True),
)

KEYS: Final = """\
Esc           from the question to the answers and back
Tab           from panel to panel; Shift+Tab goes back
Enter         ask · tick a source · open the citation

In the answers and the sources:
n, p or → ←   the next citation, the one before, in all answers
1–9           the citation of that number
o             open it in a browser; over SSH: copy its address
y             copy its address to the clipboard (OSC 52)
t             how this answer was made
z             the panel alone, and back
Space         tick a source: only those are asked; none: all
a             add a video's address, a file or a folder
/             find sources by words of their titles

Everywhere:
Ctrl+N        begin another conversation
Ctrl+O        go on with an earlier one
Ctrl+C        stop the answer that is being made
Ctrl+Q        quit"""
