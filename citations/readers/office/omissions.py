"""What a file has that is not read, counted, so that its reader can be told."""

from collections import Counter
from typing import Final

PICTURE: Final = "picture"
CHART: Final = "chart"
EMBEDDED: Final = "embedded"
COMMENT: Final = "comment"
HIDDEN: Final = "hidden"  # words and shapes that are not shown
EQUATION: Final = "equation"
INCOMPLETE: Final = "incomplete"  # equations


def note_of(omitted: Counter[str]) -> str:
    """Return sentences for the user, "" where everything is read."""
    notes = []
    if count := omitted[PICTURE]:
        notes.append(f"Pictures, of which only the descriptions are read: {count}.")
    if count := omitted[CHART]:
        notes.append(f"Charts that are not read: {count}.")
    if count := omitted[EMBEDDED]:
        notes.append(f"Embedded files that are not read: {count}.")
    if count := omitted[COMMENT]:
        notes.append(f"Comments that are not read: {count}.")
    if count := omitted[HIDDEN]:
        notes.append(f"Hidden texts that are not read: {count}.")
    if count := omitted[EQUATION]:
        notes.append(f"Equations that could not be read: {count}.")
    if count := omitted[INCOMPLETE]:
        notes.append(f"Equations of which some parts are read as words alone: {count}.")
    return " ".join(notes)
