"""Who speaks, where a caption file says so apart from the words.

WebVTT's ``<v Ada Lovelace>`` and TTML's ``ttm:agent`` become what other captions write: “Ada
Lovelace: ”, before the first words of each turn.
"""

import re
from collections.abc import Sequence
from typing import Final

from transcripts.captions.speech import plain
from transcripts.text.speakers import LOWER

MAX_NAME: Final = 100  # characters

_TAG: Final = re.compile(  # with the dash that some editors write before a turn
    r"(?:^[-–—][ \t]*)?<v(?:\.[^\s<>]*)?(?:\s([^<>]*))?>|(</v>)", re.IGNORECASE | re.MULTILINE
)
_NO_NAME: Final = re.compile(r"[^\w.&'’-]+")  # “Lovelace, Ada (Guest)”; a colon would end the name
# Up to six words, the first and the last without a small letter at the beginning.
_SPOKEN_WORD: Final = r"(?:(?:Dr|Hon|Mr|Ms|Mrs|Prof|St|[A-Z])\.|[\w'’&/-]+,?)"
_SOMEBODY: Final = re.compile(
    r"(?=.{1,60}$)(?:(?i:speaker|spk)[ _]?\d+"
    rf"|(?=[^\W\d_{LOWER}])(?:{_SPOKEN_WORD} ){{0,5}}"
    rf"(?:(?![{LOWER}](?!['’])){_SPOKEN_WORD}(?<!,)|\([^()]+\)))"
)
_NUMBERED: Final = re.compile(r"(?:speaker|spk)?[ _]?0*([0-9]+|[A-Za-z])", re.IGNORECASE)


def name_of(annotation: str) -> str:
    """Return a name that can stand before a colon: in one line, with capitals; "" if none is left.

    Readers know a speaker by the capitals at the beginning of the first and the last word. What
    recognisers call people, such as SPEAKER_01 or 1, becomes "Speaker 1".
    """
    if match := _NUMBERED.fullmatch(annotation.strip()):
        return f"Speaker {match[1].upper()}"
    words = _NO_NAME.sub(" ", plain(annotation))[:MAX_NAME].rstrip(". ").split()
    for place in {0, len(words) - 1} if words else ():
        words[place] = words[place][0].upper() + words[place][1:]
    return " ".join(words)


def is_name(line: str) -> bool:
    """Return whether a line may be the name of who speaks, rather than what somebody says."""
    return _SOMEBODY.fullmatch(line) is not None


def are_names(lines: Sequence[str], *, of: int) -> bool:
    """Return whether lines that stand at ``of`` places name who speaks: they come again there."""
    names = [line for line in lines if is_name(line)]
    is_usual = len(names) > 1 and len(names) * 5 >= of * 4
    return is_usual and len(set(names)) * 3 <= len(names) * 2


class Voices:
    """The voices of one file, in the order of its cues."""

    def __init__(self) -> None:
        self._last = ""

    def labelled(self, name: str, text: str) -> str:
        """Return what ``name`` says, with the name where another voice spoke last.

        Without a name, or without words, nobody else begins to speak.
        """
        said = plain(text)
        if not name or not said or name == self._last:
            return text
        self._last = name
        return text if said.startswith(f"{name}:") else f"{name}: {text}"

    def turns(self, lines: Sequence[str]) -> list[Sequence[str]]:
        """Split the marked-up lines of a cue where another voice begins; [] if it names none."""
        text = "\n".join(lines)
        first, *rest = _TAG.split(text) if "<" in text else [text]
        if not rest:
            return []
        turns = [[first]]
        voices: list[str] = []  # those whose tags are open
        for annotation, end, speech in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
            if end:
                del voices[-1:]
            else:
                voices.append(name_of(annotation or ""))
            before = self._last
            labelled = self.labelled(voices[-1] if voices else "", speech)
            if self._last == before:
                turns[-1].append(labelled)
            else:
                turns.append([labelled])
        return ["".join(turn).split("\n") for turn in turns]
