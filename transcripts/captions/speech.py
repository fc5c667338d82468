"""Spoken text without markup and unsafe characters, and who speaks where a file says so apart.

WebVTT's ``<v Ada Lovelace>`` and TTML's ``ttm:agent`` become what other captions write: “Ada
Lovelace: ”, before the first words of each turn. Everything here takes linear time.
"""

import html
import re
from collections.abc import Sequence
from html.entities import html5
from typing import Final

from transcripts.captions.caption_errors import CaptionsTooLarge
from transcripts.text.cues import LOWER

MAX_LABEL: Final = 300  # characters of an id or a title
MAX_LINES: Final = 1_500_000
MAX_NAME: Final = 100  # characters

# PostgreSQL stores neither NUL nor lone surrogates; bidi overrides change how a text reads.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_INVISIBLE: Final = " \u200b\u200c\u200d\u200e\u200f\u2060\u00ad"

# Only known tags are markup: captions contain "List<String>", "a < b > c" and "the <s> token".
_BREAK: Final = re.compile(r"<br[ \t]*/?>|\[br\]", re.IGNORECASE)
_TAG: Final = re.compile(
    r"</?(?:b|i|u|c|v|rt|em|lang|ruby|font|span|strong|script|style|iframe|object|embed|img|svg"
    r"|link|meta)(?:[.\s/][^<>]*)?>"
    r"|<a\s[^<>]*>|</a>|<(?:[0-9]{1,4}:)?[0-9]{2}:[0-9]{2}\.[0-9]{2,3}>",
    re.IGNORECASE,
)
_OVERRIDE: Final = re.compile(
    r"\{\\(?:an?[0-9]|[ibus][01]|pos\(|move\(|fad\(|fs[0-9]|fn|[1-4]?c&)[^{}]*\}"
)
_ENTITY: Final = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")

_VOICE: Final = re.compile(  # with the dash that some editors write before a turn
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


def clean(text: str) -> str:
    """Drop unsafe characters and collapse white space; "" if nothing visible is left."""
    # As most texts are; no white space but the blank is printable.
    is_tidy = text.isprintable() and "  " not in text
    text = text.strip() if is_tidy else " ".join(without_unsafe(text).split())
    return text if text.isascii() or text.strip(_INVISIBLE) else ""


def without_unsafe(text: str) -> str:
    """Drop control characters except white space, lone surrogates, bidi overrides and marks."""
    return _UNSAFE.sub("", text)


def lines(text: str) -> list[str]:
    """Split at line breaks only. str.splitlines would also split at U+2028 and the like.

    Raises ``CaptionsTooLarge`` above ``MAX_LINES``, before the lines fill the memory.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.count("\n") > MAX_LINES:
        raise CaptionsTooLarge(f"It has more than {MAX_LINES:,} lines.", hint="Split the file.")
    return text.split("\n")


def plain(marked: str) -> str:
    """Return the text of a marked-up line: drop tags and styles, decode references once, clean."""
    if "<" in marked or "[" in marked:
        marked = _TAG.sub("", _BREAK.sub(" ", marked))
    if "{" in marked:
        marked = _OVERRIDE.sub("", marked)
    if "&" in marked:
        marked = _ENTITY.sub(character_of, marked)
    return clean(marked)


def protected(text: str) -> str:
    """Escape only what ``plain`` would change; players can still read the rest."""
    text = _TAG.sub(_reference, _ENTITY.sub(r"&amp;\1;", text))
    return _without_styles(text).replace("-->", "--&gt;")


def escaped(text: str) -> str:
    """Escape ``&``, ``<``, ``>`` and whatever else ``plain`` would change."""
    return _without_styles(html.escape(text, quote=False))


def label(value: object) -> str:
    """Return a title or id as one clean line of at most ``MAX_LABEL`` characters, or ""."""
    return clean(value[: 4 * MAX_LABEL])[:MAX_LABEL].strip() if isinstance(value, str) else ""


def language_tag(value: object) -> str:
    """Return the language if it looks like a BCP 47 tag, else ""."""
    return value if isinstance(value, str) and _LANGUAGE.fullmatch(value) else ""


def pieces(text: str, limit: int) -> list[str]:
    """Split a clean text into parts of at most ``limit`` characters, at blanks if there are any."""
    parts = []
    position = 0
    while len(text) - position > limit:
        cut = text.rfind(" ", position + 1, position + limit + 1)
        stop = cut if cut > 0 else position + limit
        parts.append(text[position:stop])
        position = stop + (cut > 0)
    parts.append(text[position:])
    return [part for part in parts if part]


def character_of(match: re.Match[str]) -> str:
    """Return the character of a reference in HTML, such as ``&#233;``, without “&” and “;”."""
    name = match[1]
    if not name.startswith("#"):
        return html5.get(f"{name};", match[0])
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if code <= 0x10FFFF else ""


def _without_styles(text: str) -> str:
    return _OVERRIDE.sub(_reference, _BREAK.sub(_reference, text))


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0][0])};{match[0][1:]}"


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
        first, *rest = _VOICE.split(text) if "<" in text else [text]
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
