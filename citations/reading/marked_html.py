"""Marks in HTML at the characters of the plain text that has the same words. Pure."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

Span = tuple[int, int]  # characters [first, last)

AHEAD: Final = 24  # characters that the text has more at once: bullets, numbers, bars of tables
_PARTS: Final = re.compile(r"(<[^<>]*>)")


def mark(
    markup: str,
    text: str,
    marks: Mapping[str, Sequence[Span]],
    labels: Mapping[int, str] | None = None,
) -> str:
    """Wrap the spans of ``text`` in <mark> elements of these classes within well-formed HTML.

    ``labels`` are the buttons of marks, by the characters at which these begin.

    White space may differ, and the text may have characters that HTML makes of tags, such as the
    numbers of a list.
    """
    classes: dict[int, list[str]] = {}
    for name, spans in marks.items():
        for first, last in spans:
            for position in range(first, last):
                classes.setdefault(position, []).append(name)
    if not classes:
        return markup
    position = 0
    parts: list[str] = []
    for part in _PARTS.split(markup):
        if part.startswith("<"):
            parts.append(part)
            continue
        letters = html.unescape(part)
        positions = [*_aligned(letters, text, position)]
        position = positions[-1] if positions else position
        parts += _marked(letters, positions, classes, labels or {})
    return "".join(parts)


def _aligned(letters: str, text: str, position: int) -> Iterator[int]:
    """Yield, for each letter, the position in the text behind it."""
    for letter in letters:
        if not letter.isspace():
            place = text.find(letter, position, position + AHEAD)
            position = place + 1 if place >= 0 else position
        yield position


def _marked(
    letters: str,
    positions: Sequence[int],
    classes: Mapping[int, list[str]],
    labels: Mapping[int, str],
) -> Iterator[str]:
    names = [" ".join(classes.get(position - 1, ())) for position in positions]
    for index in reversed(range(len(letters))):  # blanks are marked between marked letters
        if letters[index].isspace() and names[index] not in names[index + 1 : index + 2]:
            names[index] = ""
    runs = groupby(zip(letters, names, positions, strict=True), key=lambda letter: letter[1])
    for name, members in runs:
        run = [*members]
        text = html.escape("".join(letter for letter, _, _ in run), quote=False)
        if not name or not text.strip():
            yield text
            continue
        announced = [labels[position - 1] for _, _, position in run if position - 1 in labels]
        yield f'<mark class="{name}">{label(announced[0]) if announced else ""}{text}</mark>'


def label(text: str) -> str:
    """Return the button of a mark, for the keyboard and for screen readers alone."""
    return f'<button type="button" class="visually-hidden">{html.escape(text)}: </button>'
