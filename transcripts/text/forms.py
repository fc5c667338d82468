"""Other forms in which the words of a text are found: joined, in parts, without accents, and the
signs and capitals of names. Pure.

``tokenize`` gives the words that a text is ranked by and that make its length. Forms stand beside
them in the index and make no text longer:

- a letter, a digit or a sign that stands alone: “plan B”, “5 kg”, “§ 3”, an emoji; and a name with
  its sign: “C++”, “.NET”, “-404”;
- a name in capitals, as it is written: “IT”, “WHO”;
- after ``OTHER`` what a word is written as elsewhere, and is worth ``WORTH`` of it: “wifi” for
  “Wi-Fi”, “user” of “loadUserProfile”, “cafe” for “café”, “mueller” and “muller” for “Müller”,
  “0301234567” for “030 1234567”, “rfc2616” for “RFC 2616”, and a word that is hyphenated at the
  end of a line.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise
from typing import Final, NamedTuple

from transcripts.text.bm25 import QueryWord
from transcripts.text.tokenizer import MAX_QUERY_WORDS, UNSPACED_RANGES, is_unspaced, tokenize

OTHER: Final = "~"  # no word has it
WORTH: Final = 0.5
MAX_JOINED: Final = 64  # characters
MAX_PAIRED: Final = 6  # words of a query whose neighbours may be one word elsewhere
MAX_BRIEF: Final = 2  # words of a query in which every single letter counts


class WrittenName(NamedTuple):
    """What is written as one name, and how: its words, joined, with its sign, in capitals."""

    start: int
    end: int
    words: tuple[str, ...]
    joined: str = ""
    signed: str = ""
    capitals: str = ""
    underscored: str = ""  # one word of ``tokenize``
    parts: tuple[str, ...] = ()  # that are no words of ``tokenize``
    is_single: bool = False  # a letter, digit or sign that counts by itself

    @property
    def has_sign(self) -> bool:
        return bool(self.signed) or not self.words[0].isalnum()

    @property
    def forms(self) -> Iterator[str]:
        if self.is_single:
            yield from (word for word in self.words if len(word) == 1)
        yield from filter(None, (self.signed, self.capitals))
        written = (*self.words, self.joined)
        others = {*self.parts, self.joined, *(form for word in written for form in folded(word))}
        yield from (OTHER + other for other in others - {""})


def names(text: str) -> list[WrittenName]:
    """Return the names of a text, in order, with where they are."""
    within = [
        name._replace(start=name.start + piece.start(), end=name.end + piece.start())
        for piece in _PIECES.finditer(text)
        for name in _names_in(piece[0])
    ]
    names = sorted([*within, *_across_blanks(text)])
    return names if has_capitals(text) else [name._replace(capitals="") for name in names]


def has_capitals(text: str) -> bool:
    """Tell whether capitals mean something in a text: it is not written in capitals throughout."""
    capitals = _ASCII_CAPITAL.findall(text) if text.isascii() else filter(str.isupper, text)
    return len([*capitals]) <= len(text) // 2 or len(text.split()) <= 2


_ASCII_CAPITAL: Final = re.compile("[A-Z]")


def without_marks(piece: str) -> str:
    """Return a piece of text without blanks without the marks around it that change no word or form
    of it, or as it is where it has nothing else.
    """
    return piece.lstrip(_BEFORE).rstrip(_BEHIND) or piece


def plain_word(piece: str) -> str:
    """Return the word that a piece without marks is, "" if it may have other forms or go on."""
    is_plain = len(piece) > 1 and piece.isascii() and piece.isalpha()
    return piece.lower() if is_plain and piece[1:].islower() else ""


_BEFORE: Final = '([{<|*`";?!~^“”„'
_BEHIND: Final = ')]}>|`";?!~^“”.,:…'


def forms_of(piece: str) -> Iterator[str]:
    """Yield the forms of a piece of text without blanks."""
    for part in _PIECES.findall(piece):
        for _, written, is_single in _written_in(part):
            yield from _forms_of_name(written, is_single)


def goes_on(piece: str) -> bool:
    """Tell whether a piece may be one name with what follows it."""
    return _ACROSS.search(piece + " ") is not None


def forms_across(text: str) -> Iterator[str]:
    """Yield the forms of names with blanks, of a text with pieces that may go on."""
    return chain.from_iterable(name.forms for name in _across_blanks(text))


# Letters

_MARKS: Final = re.compile(  # of Latin, Greek, Cyrillic, Hebrew and Arabic letters; and the tatweel
    "(?<!\u0438)[\u0300-\u036f]|[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]"
)
_LETTERS: Final = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "æ": "ae", "œ": "oe", "ħ": "h"}
)
_AS_TWO: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


@lru_cache(maxsize=1 << 14)
def folded(word: str) -> tuple[str, ...]:
    """Return a word of ``tokenize`` without its accents and marks, where it has some: “muller” and
    “mueller” for “müller”.
    """
    if word.isascii() or is_unspaced(word):
        return ()
    plain = (_bare(word), _bare(word.translate(_AS_TWO)))
    return tuple(dict.fromkeys(form for form in plain if form and form != word))


def _bare(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word.translate(_LETTERS))
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed))


# Names within a piece without blanks, by the kinds of its characters

_PIECES: Final = re.compile(rf"[^\s{UNSPACED_RANGES}]+")
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u2060\u20e3\ufe00-\ufe0f\ufeff]")
_SILENT: Final = "♩♪♫♬\ufffd"  # what captions mark music with, and letters that are lost


class _Kinds(dict[int, str]):
    """The kinds of characters, one ASCII character each, computed on first use."""

    def __missing__(self, code: int) -> str:
        character, category = chr(code), unicodedata.category(chr(code))
        if category in ("Lu", "Lt"):
            kind = "A"
        elif character.isdecimal():
            kind = "0"
        elif category[0] in "LMN":
            kind = "a"
        else:
            is_sign = category in ("So", "Sc") and character not in _SILENT
            kind = "$" if is_sign else " "
        self[code] = kind
        return kind


_GIVEN: Final = {"-": "-‐‑−", "'": "'’‘ʼ", "#": "#♯", "$": "§¶"}
_KINDS: Final = _Kinds(
    {ord(mark): kind for kind, marks in _GIVEN.items() for mark in marks}
    | {ord(mark): mark for mark in "_.&/+@:,*"}
)
_NAME: Final = re.compile(
    r"""
    (?P<lead> (?<![aA0_'.&/#@-]) [.\#@] (?=[aA]) | (?<![aA0_)'.-]) - (?=0) )?
    (?P<name> _* [aA0]+ (?: (?: [-/&.] | _+ | (?<=0)[:,](?=0) ) [aA0]+ )* _* )
    (?P<trail> (?: \+\+? | \# | (?<=A) (?<![aA0_*]A) \* ) (?![aA0_*]) )?
    | \$
    """,
    re.VERBOSE,
)
_PART: Final = re.compile("[aA0]+")
_HUMPS: Final = re.compile("A?a+|A+(?!a)|0+")
_GROUPED: Final = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_FORMULA: Final = re.compile("[a0](?:[-/][a0])+")  # “n-1”, “1/x” and “3-4” are no words
_CAPITALS: Final = re.compile("A{2,5}|A(?:[.]A){1,4}")


def _names_in(piece: str) -> Iterator[WrittenName]:
    for (start, end), written, is_single in _written_in(piece):
        yield _name(written, is_single)._replace(start=start, end=end)


def _written_in(piece: str) -> Iterator[tuple[tuple[int, int], str, bool]]:
    """Yield where a name is written, how, and whether it is not beside an apostrophe."""
    plain = piece
    if not piece.isascii():
        plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", piece))
    kinds = plain.translate(_KINDS)
    for match in _NAME.finditer(kinds):
        start, end = match.span()
        span = match.span() if len(plain) == len(piece) else (0, len(piece))
        yield span, plain[start:end], "'" not in kinds[start - 1 : start] + kinds[end : end + 1]


@lru_cache(maxsize=1 << 14)
def _name(written: str, is_single: bool) -> WrittenName:
    kinds = written.translate(_KINDS)
    match = _NAME.fullmatch(kinds)
    assert match is not None
    if match["name"] is None:
        return WrittenName(0, len(written), (written,), is_single=True)
    first, last = match.span("name")
    spans = [(first + a, first + b) for a, b in (m.span() for m in _PART.finditer(match["name"]))]
    words = tuple(_lower(written[a:b]) for a, b in spans)
    is_formula = _FORMULA.fullmatch(match["name"]) is not None
    joined = ""
    if len(words) > 1 and not is_formula:
        joined = _joined(written[first:last], kinds[first:last])
    parts = [written[a + c : a + d] for a, b in spans for c, d in _humps(kinds[a:b])]
    is_underscored = "_" in match["name"]
    if is_underscored:
        parts += [word for word in words if len(word) > 1]
    lead, trail = match["lead"] or "", match["trail"] or ""
    is_name = not trail or any(kind in "aA" for kind in match["name"]) or trail[0] == "+"
    is_capital = _CAPITALS.fullmatch(match["name"]) is not None
    return WrittenName(
        0,
        len(written),
        words,
        joined=joined,
        signed=f"{lead}{joined or words[0]}{trail}" if (lead or trail) and is_name else "",
        capitals=written[first:last].replace(".", "") if is_capital else "",
        underscored=_lower(written[first:last]) if is_underscored else "",
        parts=tuple(_lower(part) for part in parts),
        is_single=is_single,
    )


@lru_cache(maxsize=1 << 15)
def _forms_of_name(written: str, is_single: bool) -> tuple[str, ...]:
    return tuple(_name(written, is_single).forms)


def _lower(part: str) -> str:
    return part.lower() if part.isascii() else "".join(_words(part))


def _humps(kinds: str) -> list[tuple[int, int]]:
    """Return the spans of the parts of “loadUserProfile” and “covid19” that have three letters."""
    spans = [hump.span() for hump in _HUMPS.finditer(kinds)]
    return [(a, b) for a, b in spans if b - a > 2] if len(spans) > 1 else []


def _joined(name: str, kinds: str) -> str:
    """Join the words of a name, but for the points of “4.2.1” and “v2.0”; a decimal comma is one.

    Points and commas that group thousands are none.
    """
    marks = ".:," if _GROUPED.fullmatch(name) is None else ""
    kept = [
        "." if mark == "," else mark
        for place, mark in enumerate(name)
        if kinds[place] in "aA0"
        or (mark in marks and kinds[place - 1] == kinds[place + 1 : place + 2] == "0")
    ]
    joined = "".join(_lower(part) or part for part in re.split("([.:])", "".join(kept)))
    return joined if len(joined) <= MAX_JOINED else ""


# Names across blanks

# The first character is looked for alone, which is fast, then what is before it.
_NUMBER: Final = r"(?=[^\W\d_]{0,3}\d) \w{1,20} (?!\w)"
_GROUPS: Final = re.compile(  # “1 2 3” is a series
    rf"(?<![\w.,-]) {_NUMBER} (?: [\ \u00a0] (?=\w\w) {_NUMBER} )+", re.VERBOSE
)
# Unlike other short words, most units have no vowel.
_UNIT: Final = r"(?: [^\W\d_]{3,5} | [^\W\d_aeiouyàâäåéèêíóôöúüаеиоуыэюя]{1,2} | eV | oz )"
_DIGITS: Final = r"\d{0,19} (?: [.,]\d{1,20} )*"
_MEASURED: Final = re.compile(  # “7 kg”, “64 bit”
    rf"\d (?<![\w.,-].) {_DIGITS} [\ \u00a0] {_UNIT} (?!\w)", re.VERBOSE | re.IGNORECASE
)
_NUMBERED: Final = re.compile(  # “RFC 2616”, “Python 3”
    rf"(?<=[^\W\d_][\ \u00a0]) \d {_DIGITS} (?= [\s.,;:!?()\]}}\"”] | \Z)", re.VERBOSE
)
_WORD_BEFORE: Final = re.compile(
    r"(?<![\w.,'’-]) (?: [^\W\d_]{3,20} | (?![AI]\W)[A-Z][^\W\d_]? ) \W \Z", re.VERBOSE
)
_CUT: Final = re.compile(r"(?<!\w) [^\W\d_]{2,30} [-‐\u00ad] \s{1,9} [^\W\d_]{2,30}", re.VERBOSE)
# What they have, which is looked for faster
_ACROSS: Final = re.compile(r"(?:\d[^\W\d_]{0,3}|[^\W\d_][‐\u00ad-])\s|\s\d")  # any of them
_TWO_NUMBERS: Final = re.compile(r"\d\w{0,19}[ \u00a0][^\W\d_]{0,3}\d")
_HYPHEN: Final = re.compile(r"[-‐\u00ad]\s")


def _across_blanks(text: str) -> Iterator[WrittenName]:
    """Yield numbers in groups, numbers with the word beside them, and words cut at the end of a
    line.
    """
    if not _ACROSS.search(text):
        return
    groups = _GROUPS.finditer(text) if _TWO_NUMBERS.search(text) else ()
    spans = [match.span() for match in chain(groups, _MEASURED.finditer(text))]
    for match in _NUMBERED.finditer(text):
        if before := _WORD_BEFORE.search(text, max(0, match.start() - 22), match.start()):
            spans.append((before.start(), match.end()))
    for start, end in spans:
        written = text[start:end].replace(",", ".")
        joined = "".join(mark for mark in written if mark.isalnum() or mark == ".")
        yield WrittenName(start, end, _words(text[start:end]), joined=_lower(joined))
    if _HYPHEN.search(text):
        for match in _CUT.finditer(text):
            if match[0].split()[-1].islower():  # not “north- South”
                words = _words(match[0])
                yield WrittenName(*match.span(), words, joined="".join(words))


def _words(text: str) -> tuple[str, ...]:
    return tuple(tokenize(text, shortest=1))


# Queries


@lru_cache(maxsize=256)
def query_words(query: str) -> tuple[QueryWord, ...]:
    """Return the first ``MAX_QUERY_WORDS`` words of a query, its names among them, with the forms
    in which a text has them.
    """
    tokens = tokenize(query)[:MAX_QUERY_WORDS]
    counts, own = Counter(tokens), names(query)[:MAX_QUERY_WORDS]
    others = defaultdict[str, dict[str, None]](dict)
    for name in own:
        if name.joined:
            for word in _long(name, counts):
                others[word] |= {name.joined: None, OTHER + name.joined: None}
    for pair in pairwise(tokens if len(tokens) <= MAX_PAIRED else ()):
        if not any(map(is_unspaced, pair)):
            for word in pair:
                others[word]["".join(pair)] = None
    words = [QueryWord(word, counts[word], _worth(word, others[word])) for word in counts]
    if len(tokens) > MAX_BRIEF:  # “who violated a contract”
        own = [name for name in own if not _is_ordinary(query[name.start : name.end], len(tokens))]
    precise = {word.text: word for name in own for word in _precise(name, counts)}
    return (*words, *[*precise.values()][: MAX_QUERY_WORDS - len(tokens)])


def _is_ordinary(written: str, words: int) -> bool:
    """Tell whether a single letter is a word like others in a query of so many."""
    is_small = len(written) == 1 and written.islower()
    return is_small or (words > MAX_PAIRED and written in ("A", "I"))


def _long(name: WrittenName, counts: Counter[str]) -> list[str]:
    """Return the words of a name that ``tokenize`` gives."""
    return [word for word in (*name.words, name.underscored) if word in counts]


def _precise(name: WrittenName, counts: Counter[str]) -> Iterator[QueryWord]:
    """Yield what a name says beyond its words: a sign, capitals, or what is too short for one."""
    base = max(_long(name, counts), key=len, default="")
    precise = [name.signed, name.capitals]
    if name.joined and any(len(word) == 1 for word in name.words):
        # Of its own weight: what tells “k-means” from means
        yield QueryWord(name.joined, 1, ((name.joined, 1.0), (OTHER + name.joined, 1.0)), "")
    elif name.is_single and not name.signed and len(name.words[0]) == 1:
        precise.append(name.words[0])
    yield from (QueryWord(form, 1, ((form, 1.0),), base) for form in precise if form)


def _worth(word: str, others: Iterable[str]) -> tuple[tuple[str, float], ...]:
    """Return what each form of a word counts: the word itself counts 1 in all."""
    plain = folded(word)
    worth = dict.fromkeys((*others, OTHER + (plain or (word,))[0], *plain), WORTH)
    return tuple((worth | {word: 1 - WORTH if plain else 1.0}).items())
