"""What a file has that is not read, counted, so that its reader can be told."""

from collections import Counter
from typing import Final

PICTURE: Final = "picture"
CHART: Final = "chart"
EMBEDDED: Final = "embedded"
COMMENT: Final = "comment"
HIDDEN: Final = "hidden"  # words and shapes that are not shown
STRUCK: Final = "struck"  # what its author takes back
SIGN: Final = "sign"  # of a font's own
EQUATION: Final = "equation"
INCOMPLETE: Final = "incomplete"  # equations
_NOTES: Final = {
    PICTURE: "Pictures, of which only the descriptions are read: {0}.",
    CHART: "Charts that are not read: {0}.",
    EMBEDDED: "Embedded files that are not read: {0}.",
    COMMENT: "Comments that are not read: {0}.",
    HIDDEN: "Hidden texts that are not read: {0}.",
    STRUCK: "Texts that are struck out and not read: {0}.",
    SIGN: "Signs of fonts that could not be read: {0}.",
    EQUATION: "Equations that could not be read: {0}.",
    INCOMPLETE: "Equations of which some parts are read as words alone: {0}.",
}


def note_of(omitted: Counter[str]) -> str:
    """Return sentences for the user, "" where everything is read."""
    return " ".join(note.format(omitted[kind]) for kind, note in _NOTES.items() if omitted[kind])
