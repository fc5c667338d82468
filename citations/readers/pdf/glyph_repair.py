"""Corrects letters that a PDF displays right but encodes wrong: ligatures, and lost character maps.

Only letters that cannot be meant are replaced: “funcƟon” is no word of any language, while a single
ϵ may be mathematics. Pure.
"""

import math
import re
import unicodedata
from dataclasses import dataclass

LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}

# Fonts of the Calibri family whose character map was lost encode these glyphs always alike.
LOST_LIGATURES = {"Ɵ": "ti", "Ō": "ft", "Ʃ": "tt", "ƫ": "tti", "ƞ": "tf", "ƪ": "ttf"}
LOST_DIGITS = dict(zip("ϬϭϮϯϰϱϲϳϴϵ", "0123456789", strict=True))
LOST_CAPITALS = dict(
    zip("ƒ\x83\x90\x91\x92›\x9b¥¦«®¹½ÃÄÊÖÙÝãçôø", "aabcdeefghijlmnoprstuvx", strict=True)
)
NOT_MATHEMATICS = frozenset("ϬϭϮϯ")  # the other lost digits are also Greek symbols

MIN_LETTERS = 20  # of a text that is judged
LEAST_DIFFERENCE = 0.2  # of the shares of common and rare letters
MAX_SHIFT = 32  # between the places of letters in a font and their codes; 29 is usual

_LOST_LIGATURE = re.compile(r"(?<=[A-Za-zƟƩƫƞƪ])[ƟŌƩƫƞƪ]|[ƟƩƫƞƪ](?=[a-z])|Ō(?=/)")
_CAPITALS = re.compile(r"[A-Z][" + re.escape("".join(LOST_CAPITALS)) + r"]{3,}(?![a-zA-Z])")
_NO_CAPITAL = re.compile(r"[½®¥«¦\x83\x90-\x92\x9b]")
_LETTER = r"(?:[^\W_]|[\ue000-\uf8ff\ufffd]{2})"  # one unknown character by itself is a bullet
_WORD = re.compile(_LETTER + r"(?:[^\s,;()\[\]{}=+<>/|*·×]*" + _LETTER + ")?")
_WRONG = re.compile("[\ue000-\uf8ff\ufffd\u0180-\u01bf\u03e2-\u03ef\U000f0000-\U0010ffff]")
_LATIN = re.compile(r"[A-Za-z]{2}")
# Shorter ones are often symbols, longer ones an alphabet.
_RUN = re.compile(r"(?<![A-Za-z])[A-Za-z]{3,20}(?![A-Za-z])")
# Unicode names of letters that may stand in a Latin word: mathematics, or scripts without spaces.
_MIXABLE_NAMES = (
    "LATIN GREEK MODIFIER MATHEMATICAL DOUBLE-STRUCK SCRIPT BLACK-LETTER MICRO CJK HIRAGANA "
    "KATAKANA HANGUL"
)
_MIXABLE = tuple(_MIXABLE_NAMES.split())


@dataclass(frozen=True, slots=True)
class RepairedText:
    """A corrected text; ``origin`` holds the index in the given text of each character.

    ``repaired`` and ``garbled`` count words with corrected and with remaining wrong letters.
    """

    text: str
    origin: list[int]
    words: int = 0
    repaired: int = 0
    garbled: int = 0


def repair_glyphs(text: str) -> RepairedText:
    changes = _changes(text)
    parts, origin = [], []
    for index, letter in enumerate(text):
        parts.append(changes.get(index, letter))
        origin += [index] * len(parts[-1])
    words = list(_WORD.finditer(text))
    wrong = {index for index in changes if text[index] not in LIGATURES}
    repaired = sum(not wrong.isdisjoint(range(word.start(), word.end())) for word in words)
    garbled = sum(_is_garbled(word) for word in _WORD.findall("".join(parts)))
    return RepairedText("".join(parts), origin, len(words), repaired, garbled)


def is_gibberish(text: str) -> bool:
    """Whether a text's Latin words are surely none, as where letters are stored by their places in
    a font: “0SVIQ MTWYQ”. Their difference is judged at one and a half times its deviation.
    """
    difference, deviation = _difference(text)
    return difference + 1.5 * deviation < LEAST_DIFFERENCE


def find_shift(text: str) -> int:
    """Return by how much the codes of letters stored by their places differ from their characters,
    0 if no number makes words of them.
    """
    if _difference(text)[0] >= LEAST_DIFFERENCE:
        return 0
    shifted = ((_difference(_shifted(text, shift)), shift) for shift in range(1, MAX_SHIFT))
    (difference, deviation), shift = max(shifted)
    return shift if difference - 1.5 * deviation > LEAST_DIFFERENCE and deviation else 0


def _shifted(text: str, shift: int) -> str:
    return "".join(chr(ord(letter) + shift) for letter in text)


def _difference(text: str) -> tuple[float, float]:
    """Return how much more common than rare letters there are, and the standard deviation: in
    languages in Latin script, “aeinorst” are half of the letters or more, “jkqvwxyz” a fifth or
    less. Where there are too few to judge, neither says anything.
    """
    plain = unicodedata.normalize("NFD", text.lower())
    words = _RUN.findall("".join(filter(lambda letter: not unicodedata.combining(letter), plain)))
    letters = "".join(set(words))
    count = len(letters)
    if count < MIN_LETTERS or 2 * len("".join(words)) < sum(map(str.isalpha, text)):
        return LEAST_DIFFERENCE, 0.0
    common, rare = (sum(map(letters.count, own)) / count for own in ("aeinorst", "jkqvwxyz"))
    difference = common - rare
    return difference, math.sqrt((common + rare - difference**2) / count)


def _changes(text: str) -> dict[int, str]:
    """Return the replacement of each wrong character by its index."""
    if text.isascii():
        return {}
    changes = {index: LIGATURES[letter] for index, letter in enumerate(text) if letter in LIGATURES}
    changes |= {match.start(): LOST_LIGATURES[match[0]] for match in _LOST_LIGATURE.finditer(text)}
    if NOT_MATHEMATICS.intersection(text):
        changes |= {
            index: LOST_DIGITS[letter] for index, letter in enumerate(text) if letter in LOST_DIGITS
        }
    for match in _CAPITALS.finditer(text):
        if _NO_CAPITAL.search(match[0]):
            indexes = range(match.start() + 1, match.end())
            changes |= {index: LOST_CAPITALS[text[index]] for index in indexes}
    return changes


def _is_garbled(word: str) -> bool:
    """Whether a word has an impossible letter, or mixes Latin with another script."""
    if word.isascii():
        return False
    if _WRONG.search(word):
        return True
    return bool(_LATIN.search(word)) and any(
        letter > "\u036f"
        and letter.isalpha()
        and not unicodedata.name(letter, "").startswith(_MIXABLE)
        for letter in word
    )
