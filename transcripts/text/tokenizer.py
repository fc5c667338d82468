"""The words of a text, as they are indexed, searched and highlighted."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from operator import add

TOKENIZER_VERSION: int = 4
"""Changes with any result of ``tokenize``, ``stem`` or ``counted``: what the version before has
indexed is indexed again, and searched by ``terms.worth_before`` until then."""

MAX_QUERY_WORDS = 512  # words of a query that count


def tokenize(text: str, *, shortest: int = 2) -> list[str]:
    """Split text into the words that are indexed and searched, in order, with repetitions.

    - ASCII: lower-case runs of letters, digits and underscores. Runs of one character are dropped
      ("It's 5 a.m." gives "it").
    - Beyond ASCII: case and compatibility forms are folded (NFKC, "ß" is "ss", full-width "Ａ" is
      "a"), accents stay, combining marks belong to their letter, soft hyphens and joiners are
      dropped. Single letters are dropped here, too.
    - Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese have no (reliable) blanks between
      words: every two neighbouring characters (with their vowel signs and tones) are a token, and
      so is a character that stands alone.
    - Apostrophes: ' and ’ (also ‘ ʼ ＇) are equal. Between two letters beyond ASCII they belong to
      the word ("п’ять" is one token); beside an ASCII letter they separate ("it’s" gives "it",
      "l’été" gives "été").

    ``shortest`` 1 keeps single letters and digits: phrases need them, the index does not.
    """
    folded = _fold(text)
    if folded.isascii():
        return [word for word in folded.replace("'", " ").split() if len(word) >= shortest]
    tokens: list[str] = []
    for word in _WORDS.findall(folded):
        if word[0] >= _FIRST_UNSPACED and is_unspaced(word):
            parts = units(word)
            tokens.extend(map(add, parts, parts[1:]) if len(parts) > 1 else parts)
        elif len(word) >= shortest:
            tokens.append(word)
    return tokens


def word_places(text: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the words of a text and the spans that they are written in, in order; of scripts
    without blanks the single characters, too.
    """
    if not text.isascii():
        text = _plain(text)
    if text.isascii():
        return [(match[0], match.span()) for match in _LONG.finditer(text.translate(_ASCII))]
    folded, owners = _fold_aligned(text)
    return [(word, (owners[start][0], owners[stop - 1][1])) for word, start, stop in _scan(folded)]


def joined_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join the spans that touch or overlap, of those that are in order."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


# Folding

_APOSTROPHES = "‘’‛ʼ"
UNSPACED_RANGES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # ideographs
    "\U00020000-\U0003ffff"  # ideographs
    "\u3041-\u31ff\U0001b000-\U0001b16f"  # kana, bopomofo
)
_FIRST_UNSPACED = UNSPACED_RANGES[0]
_LETTER = f"[^ '{UNSPACED_RANGES}]"
_WORDS = re.compile(
    rf"[{UNSPACED_RANGES}]+"
    rf"|{_LETTER}+(?:(?<=[^\x00-\x7f])'(?=[^\x00-\x7f{UNSPACED_RANGES}]){_LETTER}+)*"
)
_LONG = re.compile("[^ ']{2,}")
_UNSPACED = re.compile(f"[{UNSPACED_RANGES}]")
_SIGNS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059"
    "\u105e-\u1060\u1062-\u1064\u1067-\u106d"
    "\u1071-\u1074\u1082-\u108d\u109a-\u109d\u17b4-\u17d3\u17dd\u302a-\u302f\u3099\u309a"
)
_UNITS = re.compile(f".[{_SIGNS}]*")
_ASCII = "".join(
    chr(code).lower() if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128)
)
# Replaced first, so that most English captions take the fast path; slow folding gives the same.
_TYPOGRAPHY = tuple(zip("’“”–—…♪\xa0", "'       ", strict=True))

_FIGURES = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED = re.compile(f"[{_FIGURES}]+")


class _Folding(dict[int, str]):
    """Case folding by character, computed on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = result = _fold_character(chr(code))
        return result


_FOLDING = _Folding(
    {ord(apostrophe): "'" for apostrophe in "'" + _APOSTROPHES} | {0x200B: " ", 0x034F: ""}
)


def _fold_character(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or "VARIATION SELECTOR" in unicodedata.name(character, ""):
        return ""
    return character if character.isalnum() or character == "_" or category in ("Mn", "Mc") else " "


def _fold(text: str) -> str:
    """Reduce text to folded letters and digits, blanks, and (beyond ASCII) apostrophes."""
    if not text.isascii():
        text = _plain(text)
    return text.translate(_ASCII) if text.isascii() else _fold_beyond_ascii(text)


def _plain(text: str) -> str:
    """Return a text of the same length with plain signs, and without the marks of notes."""
    for written, plain in _TYPOGRAPHY:
        text = text.replace(written, plain)
    has_figures = any(figure in text for figure in _FIGURES)
    return _RAISED.sub(_without_note, text) if has_figures else text


def _without_note(figures: re.Match[str]) -> str:
    """Behind three letters, raised figures lead to a note: “left¹” is the word left, m² is m2."""
    before = figures.string[max(0, figures.start() - 3) : figures.start()]
    is_note = len(before) == 3 and before.isalpha()
    return " " * len(figures[0]) if is_note else figures[0]


def _fold_beyond_ascii(text: str) -> str:
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    # "İ" folds to "i" and a dot, which nobody types.
    return text.replace("i\u0307", "i").translate(_FOLDING)


class _FoldingAlone(dict[str, str | None]):
    """What characters fold to wherever they stand; None: it depends on those before."""

    def __missing__(self, character: str) -> str | None:
        first = ord(unicodedata.normalize("NFKC", character)[0])
        is_joined = unicodedata.category(chr(first)).startswith("M") or first in _JAMO
        self[character] = result = None if is_joined else _fold_beyond_ascii(character)
        return result


_JAMO = range(0x1100, 0x1200)  # letters that make syllables
_FOLDING_ALONE = _FoldingAlone()


def _fold_aligned(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Fold text, and return for each folded character the span of the text that it comes from."""
    spans: list[tuple[int, int]] = []
    for index, character in enumerate(text):
        if _FOLDING_ALONE[character] is None and spans and _is_joined(text, spans[-1][0], index):
            spans[-1] = spans[-1][0], index + 1
        else:
            spans.append((index, index + 1))
    parts = [_FOLDING_ALONE.get(part := text[a:b]) or _fold_beyond_ascii(part) for a, b in spans]
    owners = [span for span, part in zip(spans, parts, strict=True) for _ in part]
    return "".join(parts), owners


def _is_joined(text: str, start: int, index: int) -> bool:
    """Tell whether a character folds together with those from ``start`` on."""
    if unicodedata.category(text[index]).startswith("M"):
        return True
    fold, before, character = _fold_beyond_ascii, text[start:index], text[index]
    return fold(before + character) != fold(before) + fold(character)


def _scan(folded: str) -> Iterator[tuple[str, int, int]]:
    """Yield tokens of folded text with their spans, and single characters of unspaced scripts."""
    for match in _WORDS.finditer(folded):
        word, start = match.group(), match.start()
        if word[0] >= _FIRST_UNSPACED and is_unspaced(word):
            borders = [start, *(start + unit.end() for unit in _UNITS.finditer(word))]
            for first, second in chain(pairwise(borders), zip(borders, borders[2:], strict=False)):
                yield folded[first:second], first, second
        elif len(word) > 1:
            yield word, start, match.end()


def is_unspaced(word: str) -> bool:
    """Return whether a token is of a script without blanks between words."""
    return word[0] >= _FIRST_UNSPACED and _UNSPACED.match(word) is not None


def units(word: str) -> list[str]:
    """Split a token of an unspaced script into its characters, each with its signs."""
    return _UNITS.findall(word)


def is_lone(word: str) -> bool:
    """Return whether a token is a single character of an unspaced script, with its signs."""
    return is_unspaced(word) and _UNITS.fullmatch(word) is not None


def query_counts(query: str) -> dict[str, int]:
    """Count the first ``MAX_QUERY_WORDS`` words of a query."""
    return Counter(tokenize(query)[:MAX_QUERY_WORDS])
