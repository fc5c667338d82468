"""Letters that a file shows right but names wrong: ligatures, and the tables that some programs lose on the way. Pure.

A word is mended only where its letters cannot be meant: “funcƟon” is no word of any language, a lone ϵ may well be one of mathematics.
"""

import re
import unicodedata
from dataclasses import dataclass

LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}

# What a font of the Calibri family names its ligatures and old-style digits when its table of characters was lost: they stand at the same places always.
LOST_LIGATURES = {"Ɵ": "ti", "Ō": "ft", "Ʃ": "tt", "ƫ": "tti", "ƞ": "tf", "ƪ": "ttf"}
LOST_DIGITS = dict(zip("ϬϭϮϯϰϱϲϳϴϵ", "0123456789", strict=True))
LOST_CAPITALS = dict(
    zip("ƒ\x83\x90\x91\x92›\x9b¥¦«®¹½ÃÄÊÖÙÝãçôø", "aabcdeefghijlmnoprstuvx", strict=True)
)
NOT_MATHEMATICS = frozenset("ϬϭϮϯ")  # the others of these are Greek symbols as well

_LIGATURE_PLACE = re.compile(r"(?<=[A-Za-zƟƩƫƞƪ])[ƟŌƩƫƞƪ]|[ƟƩƫƞƪ](?=[a-z])|Ō(?=/)")
_CAPITALS = re.compile(r"[A-Z][" + re.escape("".join(LOST_CAPITALS)) + r"]{3,}(?![a-zA-Z])")
_TELLING = re.compile(r"[½®¥«¦\x83\x90-\x92\x9b]")
_LETTER = r"(?:[^\W_]|[\ue000-\uf8ff\ufffd]{2})"  # one that is none by itself is a bullet
_WORD = re.compile(_LETTER + r"(?:[^\s,;()\[\]{}=+<>/|*·×]*" + _LETTER + ")?")
_WRONG = re.compile("[\ue000-\uf8ff\ufffd\u0180-\u01bf\u03e2-\u03ef\U000f0000-\U0010ffff]")
_LATIN = re.compile(r"[A-Za-z]{2}")


@dataclass(frozen=True, slots=True)
class RepairedText:
    """A text put right. ``origin`` says for each of its characters which one of the given text it comes from."""

    text: str
    origin: list[int]
    words: int = 0
    mended: int = 0
    garbled: int = 0


def repair_glyphs(text: str) -> RepairedText:
    """Put right what can be, and count the words that had or have wrong letters."""
    changes = _changes(text)
    parts, origin = [], []
    for index, letter in enumerate(text):
        instead = changes.get(index, letter)
        parts.append(instead)
        origin += [index] * len(instead)
    words = list(_WORD.finditer(text))
    mended = sum(
        1
        for word in words
        if any(
            text[index] not in LIGATURES
            for index in range(word.start(), word.end())
            if index in changes
        )
    )
    garbled = sum(1 for word in _WORD.findall("".join(parts)) if _is_garbled(word))
    return RepairedText("".join(parts), origin, len(words), mended, garbled)


def _changes(text: str) -> dict[int, str]:
    """Return what stands instead of which characters."""
    if text.isascii():
        return {}
    changes = {index: LIGATURES[letter] for index, letter in enumerate(text) if letter in LIGATURES}
    changes.update(
        (found.start(), LOST_LIGATURES[found[0]]) for found in _LIGATURE_PLACE.finditer(text)
    )
    if NOT_MATHEMATICS.intersection(text):
        changes.update(
            (index, LOST_DIGITS[letter])
            for index, letter in enumerate(text)
            if letter in LOST_DIGITS
        )
    for found in _CAPITALS.finditer(text):
        if _TELLING.search(found[0]):
            changes.update(
                (index, LOST_CAPITALS[text[index]])
                for index in range(found.start() + 1, found.end())
            )
    return changes


def _is_garbled(word: str) -> bool:
    """Say whether a word has a letter that is none, or Latin letters among those of other scripts."""
    if word.isascii():
        return False
    if _WRONG.search(word):
        return True
    return bool(_LATIN.search(word)) and any(
        letter > "\u036f" and letter.isalpha() and not _may_mix(letter) for letter in word
    )


def _may_mix(letter: str) -> bool:
    """Say whether a letter of another script may stand in a Latin word: as a sign of mathematics, or where no blanks part words."""
    return unicodedata.name(letter, "").startswith(_MIXERS)


_MIXERS = (
    "LATIN",
    "GREEK",
    "MODIFIER",
    "MATHEMATICAL",
    "DOUBLE-STRUCK",
    "SCRIPT",
    "BLACK-LETTER",
    "MICRO",
    "CJK",
    "HIRAGANA",
    "KATAKANA",
    "HANGUL",
)
