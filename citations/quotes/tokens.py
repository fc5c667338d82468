"""Tokenize quotes and texts for comparison, with offsets. Pure, standard library only.

Ignored: case, white space, the kind of quotation marks and dashes, punctuation between words,
caption noise, soft hyphens and zero-width characters, and differences of print, a closed list:

- compatibility forms (Unicode's NFKC), such as the ligature ﬁ: fonts draw them for the same letters
- œ and æ: keyboards have oe and ae
- letters of another script within a word, where they look the same: OCR and disguises write them
- signs that look the same, such as ∆ and Δ, or x between digits and ×: keyboards have one of them
- subscript numbers of letters: H₂O is typed H2O
- raised endings of numbers: 5ᵗʰ is typed 5th
- fractions in one sign: ½ is typed 1/2

Tokens carry meaning: words with inner apostrophes, whole numbers, minus signs, per cent, currency,
operators, superscripts, question marks; each character of unspaced scripts.
"""

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from transcripts.text.tokenizer import is_unspaced

QUESTION: Final = "?"  # the token of a question mark
FILLERS: Final = frozenset({"uh", "uhh", "uhm", "umm", "erm", "euh", "äh", "ähm", "öhm", "ehm"})


class Token(NamedTuple):
    """A folded token, and its characters [start, end) in the text.

    ``is_glued``: no quote may start here or end before it, since the neighbour changes the meaning
    (the 50 of "$50", the 2 of "10²", the mark of a question). ``is_broken``: a hyphen at a line
    end follows, which may belong to the word.
    """

    text: str
    start: int
    end: int
    is_glued: bool = False
    is_broken: bool = False

    @property
    def is_word(self) -> bool:
        return self.text[0].isalnum()

    def is_filler(self, drops_um: bool) -> bool:
        """Tell whether it is a filler; "um" is one only where it is not a word."""
        return self.text in FILLERS or (drops_um and self.text == "um")

    def joined(self, other: "Token") -> "Token":
        """Return the word of this and the next token, without the hyphen."""
        return Token(self.text + other.text, self.start, other.end, self.is_glued, other.is_broken)


def tokenize(text: str) -> list[Token]:
    """Split a text into tokens, in order, in linear time."""
    text = _SOFT_AT_LINE_END.sub("-", text).translate(_SAME_SIGNS)
    text = _TIMES.sub("×", _DEGREES.sub("°", text))
    kinds = text.translate(_KINDS)
    if _INVISIBLE not in kinds:
        return list(_glued(text, _silenced(text, kinds)))
    visible = array("Q", (index for index, kind in enumerate(kinds) if kind != _INVISIBLE))
    text = "".join([text[index] for index in visible])
    return [
        token._replace(start=visible[token.start], end=visible[token.end - 1] + 1)
        for token in _glued(text, _silenced(text, kinds.replace(_INVISIBLE, "")))
    ]


def asides(text: str, edges: tuple[int, int] = (0, 0)) -> Counter[str]:
    """Count marks beside the words: ellipses inside the text, doubts such as "(?)" and pictures.

    Ellipses at the ends omit nothing. ``edges``: that many characters at either end count for
    pictures and doubts only.
    """
    inner = text[edges[0] : len(text) - edges[1]].strip(_EDGES)
    marks = [mark for mark in _ELLIPSIS.sub("…", inner) if mark == "…"] + _DOUBT.findall(text)
    if not text.isascii():
        symbols = (mark for mark in text.strip(_EDGES) if unicodedata.category(mark) == "So")
        # Others are tokens.
        marks += [mark for mark in symbols if mark not in _TUNES and _KINDS[ord(mark)] == _OTHER]
    return Counter(marks)


_SOFT_AT_LINE_END = re.compile(r"\u00ad(?=[ \t\r]{0,9}\n)")
_SAME_SIGNS: Final = str.maketrans("∆∏∑⋅∙∣∼⩽⩾∊∶", "ΔΠΣ··|~≤≥∈:")
_DEGREES: Final = re.compile(r"º(?=[CF]\b)")
_TIMES: Final = re.compile(r"(?<=\d)x(?=\d)|(?<=\d )x(?= \d)")
_ELLIPSIS = re.compile(r"…|\.(?:[ \u00a0]?\.){2,}")
_DOUBT = re.compile(r"[\[(][?!？！]{1,5}[\])]")
_TUNES = "♩♪♫♬🎵🎶"
_EDGES = " \t\r\n\u00a0.…[](){}\"'“”„‘’‚«»‹›,;:-–—>•▪■●○◦▸►➤"

# Kinds of characters, one letter each, so that the expressions need no Unicode

_BLANK, _LINE, _INVISIBLE, _LETTER, _MARK, _SIGN, _DIGIT, _NUMERAL = " \nzamcdn"
_UPPER, _LOWER, _POINT, _DASH, _MINUS, _SYMBOL, _APOSTROPHE = "ulp-Ms'"
_PRIME, _STAR, _BRACKET, _BANG, _QUESTION, _INNER, _OTHER = "PxbBq_o"
_GIVEN: Final = {
    _LINE: "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029",
    _POINT: ".,:．，：",
    _DASH: "-‐‑‒–—―﹘﹣－",
    _MINUS: "−➖",
    _SYMBOL: "%‰‱％/\\^&@#·°℃℉∕／＃＆＠＾✓✔✗✘☐☑☒❌✅" + "".join(map(chr, range(0x2190, 0x2200))),
    _APOSTROPHE: "'’‘ʼ‛＇`´",
    _PRIME: "′″‴⁗",
    _STAR: "*＊",
    _BRACKET: "()[]{}（）",
    _BANG: "!！",
    _QUESTION: "?？؟",
    _INNER: "_",
    _INVISIBLE: "\u034f\ufe0e\ufe0f",
}
_BY_CATEGORY: Final = {
    "Nd": _DIGIT,
    "Nl": _NUMERAL,
    "No": _NUMERAL,
    "Sm": _SYMBOL,
    "Sc": _SYMBOL,
    "Cf": _INVISIBLE,
    "Cc": _BLANK,
}
_BY_CLASS: Final = {"L": _LETTER, "M": _MARK, "Z": _BLANK}


class _Kinds(dict[int, str]):
    """The kinds of characters, computed on first use."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        form = unicodedata.decomposition(character).partition(" ")[0]
        if form in ("<super>", "<sub>") and category != "So":
            kind = _UPPER if form == "<super>" else _LOWER
        elif category[0] in "LM" and is_unspaced(character):
            kind = _MARK if category[0] == "M" else _SIGN
        else:
            kind = _BY_CATEGORY.get(category) or _BY_CLASS.get(category[0], _OTHER)
        self[code] = kind
        return kind


_KINDS = _Kinds(
    {ord(character): kind for kind, characters in _GIVEN.items() for character in characters}
)

# Caption noise: a closed list, as other brackets may be part of the speech

_SOUNDS = "|".join(Path(__file__).with_name("sounds.txt").read_text("utf-8").split("\n")[:-1])
_WHOSE = (
    "audience|crowd|students?|class|everyone|upbeat|gentle|soft|dramatic|light|intro|outro|theme"
)
_ASIDE = rf"(?:(?:{_WHOSE}) )?"
# In round brackets, which may belong to a sentence, only what nobody talks about.
_SPOKEN = "applause|laughter|cheering|laughs?|laughing|chuckles?|chuckling"
_NOISE = re.compile(
    rf"\[[ \u00a0]{{0,3}}{_ASIDE}(?:{_SOUNDS})[ \u00a0]{{0,3}}\]"
    rf"|\((?:{_ASIDE}(?:{_SPOKEN})|upbeat music)\)|(?<![>\w])>>{{1,2}}(?!>)",
    re.IGNORECASE,
)


def _silenced(text: str, kinds: str) -> str:
    """Blank out the noise."""
    pieces, end = [], 0
    for match in _NOISE.finditer(text):
        pieces += [kinds[end : match.start()], _BLANK * len(match.group())]
        end = match.end()
    return "".join([*pieces, kinds[end:]]) if pieces else kinds


# Tokens

_TOKENS = re.compile(
    r"""
      (?P<word>    [am]+ (?: ['_] [am]+ )* )
    | (?P<number>  (?: (?<![adp]) p (?=d) )? d+ (?: p d+ )* )
    | (?P<sign>    c m* )
    | (?P<script>  u+ | l+ )
    | (?P<numeral> n )
    | (?P<symbol>  [sM] )
    | (?P<prime>   P+ | (?<= a ) '+ | (?<= d ) ' (?= d ) )
    | (?P<doubt>   -+ | [xbB] | (?<! b ) q+ | q++ (?! b ) )
    """,
    re.VERBOSE,
)
_BREAK = re.compile(r"-[ \n]{1,40}(?=a)")
_NEARBY = 20  # characters that are searched for the other operand; all would take quadratic time
_MATH = frozenset("dnulsMPb-")


def _glued(text: str, kinds: str) -> Iterator[Token]:
    """Yield the tokens, and whether each is glued to the previous one."""
    previous, previous_kind = -1, ""
    for folded, start, end, kind in _raw_tokens(text, kinds):
        touches = start <= previous and kind != "sign" and previous_kind != "sign"
        # A quote may end at a bracket or star of a formula.
        is_inner = not (kind == "word" == previous_kind) and "bracket" not in (kind, previous_kind)
        is_broken = kind == "word" and _BREAK.match(kinds, end) is not None
        is_glued = folded == QUESTION or (touches and is_inner)
        yield Token(folded, start, end, is_glued, is_broken)
        previous, previous_kind = end, kind


def _raw_tokens(text: str, kinds: str) -> Iterator[tuple[str, int, int, str]]:
    for match in _TOKENS.finditer(kinds):
        kind, (start, end) = match.lastgroup or "", match.span()
        if kind == "script":
            yield from _script(text[start:end], start, kinds[max(0, start - 1) : start + 1])
        elif kind == "prime":
            is_prime = kinds[start] == _PRIME or kinds[start - 1] == _DIGIT
            if is_prime or _is_derivative(kinds, start, end):
                strokes = ({"″": 2, "‴": 3, "⁗": 4}.get(mark, 1) for mark in text[start:end])
                yield "′" * sum(strokes), start, end, kind
        elif kind == "doubt":
            if _means(text, kinds, start):
                folded = _SAME.get(kinds[start]) or text[start]
                yield folded, start, end, "bracket" if kinds[start] in "bxq" else kind
        else:
            for part in _parts(_fold(text[start:end]), kind):
                yield part, start, end, kind


def _parts(folded: str, kind: str) -> list[str]:
    """Return what is written in one sign: ½ as 1 / 2, ℃ as ° c, ① as (1)."""
    if kind == "numeral" and folded.isdecimal():
        return [f"({folded})"]
    return _PARTS.findall(folded) if kind in ("numeral", "symbol") else [folded]


_SAME: Final = {_DASH: "-", _STAR: "*", _BANG: "!", _QUESTION: QUESTION}


def _fold(raw: str) -> str:
    if raw.isascii():
        return raw.lower().replace("`", "'")
    plain = unicodedata.normalize("NFKC", raw.replace("´", "'"))
    folded = _in_one_script(plain).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_PLAIN)


def _in_one_script(word: str) -> str:
    """Return a word of Latin and other letters in one script, if some only look like its own; in
    Latin letters, if all of it may be.
    """
    if not _OTHER_SCRIPT.search(word):
        return word
    if _LATIN.search(word) or _ALIKE.fullmatch(word):
        for script in (_TO_LATIN, _TO_CYRILLIC):
            same = word.translate(script)
            if not (_LATIN.search(same) and _OTHER_SCRIPT.search(same)):
                return same
    return word


_PLAIN: Final = str.maketrans(
    {"`": "'", "’": "'", "‘": "'", "ʼ": "'", "‛": "'", "−": "-", "➖": "-", "∕": "/", "⁄": "/"}
    | {"œ": "oe", "æ": "ae"}
)
_PARTS: Final = re.compile(r"\w+|\S")
_LATIN: Final = re.compile("[A-Za-z]")
_OTHER_SCRIPT: Final = re.compile("[\u0370-\u052f]")  # Greek and Cyrillic
_ALIKE: Final = re.compile("[аеорсухѕіјАЕОРСУХЅІЈ]+")  # Cyrillic letters alike in both cases
_CYRILLIC_ALIKE, _LATIN_ALIKE = "АВЕКМНОРСТУХЅІЈаеорсухѕіј", "ABEKMHOPCTYXSIJaeopcyxsij"
_GREEK_ALIKE, _GREEK_LATIN = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEZHIKMNOPTYXo"  # no variables: ν is no v
_TO_LATIN: Final = str.maketrans(_CYRILLIC_ALIKE + _GREEK_ALIKE, _LATIN_ALIKE + _GREEK_LATIN)
_TO_CYRILLIC: Final = str.maketrans(_LATIN_ALIKE, _CYRILLIC_ALIKE)
_ENDINGS: Final = frozenset(("st", "nd", "rd", "th", "er", "re", "e", "eme", "ème"))


def _script(raw: str, start: int, kinds: str) -> Iterator[tuple[str, int, int, str]]:
    """Yield superscripts and subscripts as they are written without: ² as ^ 2, the ₂ of log₂ as 2.

    ``kinds`` of the character before and of the first one.
    """
    end = start + len(raw)
    plain = unicodedata.normalize("NFKC", raw).replace("−", "-")
    is_typed = kinds == _LETTER + _LOWER and plain.isdecimal()
    if not (is_typed or (kinds == _DIGIT + _UPPER and (plain in _ENDINGS or raw in "ºª"))):
        yield "^" if kinds[-1] == _UPPER else "_", start, end, "symbol"
    for part in re.findall(r"\d+|\w+|[^\w\s()]", plain):
        yield part.casefold(), start, end, "script"


def _is_derivative(kinds: str, start: int, end: int) -> bool:
    """Tell whether apostrophes are primes, as in f'(x), not the end of a quotation or plural."""
    is_quoted = kinds[start - 2 : start - 1] == _APOSTROPHE
    return _is_single(kinds, start - 1) and not is_quoted and end - start <= 3


def _is_single(kinds: str, position: int) -> bool:
    """Tell whether the letter at a position is a word by itself."""
    neighbours = (kinds[position - 1 : position], kinds[position + 1 : position + 2])
    return kinds[position] == _LETTER and not {_LETTER, _MARK}.intersection(neighbours)


def _means(text: str, kinds: str, position: int) -> bool:
    """Tell whether a dash, star, bracket or exclamation mark belongs to a formula; a question mark
    always counts.
    """
    if kinds[position] == _QUESTION:
        return True
    before, after = _beside(kinds, position, -1), _beside(kinds, position, 1)
    if kinds[position] == _BANG:
        is_variable = (
            position > 0 and text[position - 1] not in "aAI" and _is_single(kinds, position - 1)
        )
        return is_variable or (position > 0 and kinds[position - 1] == _DIGIT)
    if kinds[position] == _DASH and (_is_digit(kinds, before) or _is_digit(kinds, after)):
        return True
    if kinds[position] == _DASH and _is_negative(text, kinds, position):
        return True
    if kinds[position] == _BRACKET and text[position] in "([（":
        is_argument = before >= 0 and kinds[before] in (_LETTER, _MARK)
        return _is_math(kinds, after) and (is_argument or _is_math(kinds, before))
    return _is_math(kinds, before) and _is_math(kinds, after)


_OPERATORS = frozenset("=≠≈≡<≤≥+×÷√^")


def _is_negative(text: str, kinds: str, position: int) -> bool:
    """Tell whether a dash is a letter's sign, as in "= -sin x"; "-I think" marks a speaker."""
    following = position + 1
    before = _beside(kinds, position, -1)
    if before >= 0 and text[before] in _OPERATORS and kinds[following : following + 1] == _LETTER:
        return True
    is_sign = (
        following < len(kinds) and _is_single(kinds, following) and text[following] not in "aAiI"
    )
    return is_sign and (not position or kinds[position - 1] in (_BLANK, _LINE, _BRACKET, _SYMBOL))


def _beside(kinds: str, position: int, step: int) -> int:
    """Return the next position that is neither blank nor of the same kind; -1 if none is nearby."""
    passed = (_BLANK, _LINE, kinds[position])
    for beside in range(position + step, position + step * _NEARBY, step):
        if not 0 <= beside < len(kinds):
            return -1
        if kinds[beside] not in passed:
            return beside
    return -1


def _is_digit(kinds: str, position: int) -> bool:
    """Tell whether a number, or an amount with its currency, starts or ends at a position."""
    is_leading = (
        kinds[position] in (_POINT, _SYMBOL) and kinds[position + 1 : position + 2] == _DIGIT
    )
    return position >= 0 and (kinds[position] in "dn" or is_leading)


def _is_math(kinds: str, position: int) -> bool:
    return position >= 0 and (kinds[position] in _MATH or _is_single(kinds, position))
