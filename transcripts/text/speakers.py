"""Names of speakers in captions that write them before what is said: “Speaker 0: Yes.” Pure."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from transcripts.text.cues import Cue, Word

LOWER: Final = "".join(filter(str.islower, map(chr, range(0x600))))  # Latin, Greek, Cyrillic
_LABEL = r"(?P<before>^|[.!?…\"”)\]]\s+|>>\s*)(?P<name>{names})(?=:(?:\s|$))"


def named(cues: Iterable[Cue], names: Mapping[str, str]) -> list[Cue]:
    """Return cues in which speakers have other names: ``names`` maps old ones to new ones."""
    change = renaming(names)
    return [
        cue
        if (text := change(cue.text)) == cue.text
        else replace(cue, text=text, words=_without_label(cue.words, names))
        for cue in cues
    ]


def renaming(names: Mapping[str, str]) -> Callable[[str], str]:
    """Return what changes the names of speakers in a part of a transcript."""
    if not names:
        return str
    old_names = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    label = re.compile(_LABEL.format(names=old_names))
    return lambda text: label.sub(lambda match: match["before"] + names[match["name"]], text)


def renamed(names: Mapping[str, str], speaker: str, name: str) -> dict[str, str]:
    """Return the names by the labels of the file, once who is called ``speaker`` has a new one."""
    labels = [label for label, given in names.items() if given == speaker] or [speaker]
    changed = {**names, **dict.fromkeys(labels, name)}
    return {label: given for label, given in changed.items() if given != label}


def _without_label(words: tuple[Word, ...], names: Mapping[str, str]) -> tuple[Word, ...]:
    """Return the timed words without those that a cue's label was made of."""
    labels = {"".join(f"{name}:".split()) for name in names}
    beginning = ""
    for count, word in enumerate(words, start=1):
        beginning += word.text.strip()
        if beginning in labels:
            return words[count:]
    return words
