"""What must be equal in a quote and its source: tokens, each with its place in the text. Pure, standard library only.

Ignored are case, white space, the kind of quote marks and dashes, punctuation between words, noise of captions, soft hyphens and zero-width characters.
What carries meaning is a token: words with the apostrophes inside them, whole numbers with their points, commas and colons, minus signs, per cent,
currency, operators, superscripts; of scripts that put no blanks between words, each character.
"""

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from transcripts.tokenizer import is_unspaced

FILLERS: Final = frozenset({"uh", "uhh", "uhm", "umm", "erm", "euh", "äh", "ähm", "öhm", "ehm"})


class Token(NamedTuple):
    """A token, folded, and its characters [start, end) in the text as it was given.

    ``is_glued``: no quote may begin with it, because what it touches changes its meaning: the 50 of "$50", the 2 of "10²". ``is_broken``: a hyphen at the
    end of a line follows, which may or may not belong to the word.
    """

    text: str
    start: int
    end: int
    is_glued: bool = False
    is_broken: bool = False

    @property
    def is_word(self) -> bool:
        """Whether it has letters or digits."""
        return self.text[0].isalnum()

    def is_filler(self, drops_um: bool) -> bool:
        """Say whether it is a filler of speech; "um" only where it is not a word."""
        return self.text in FILLERS or (drops_um and self.text == "um")

    def joined(self, other: "Token") -> "Token":
        """Return the word that this and the next token are without the hyphen between them."""
        return Token(self.text + other.text, self.start, other.end, self.is_glued, other.is_broken)


def tokenize(text: str) -> list[Token]:
    """Cut a text into tokens, in order; takes linear time, whatever the text."""
    text = _SOFT_AT_LINE_END.sub("-", text)
    kinds = text.translate(_KINDS)
    if _INVISIBLE not in kinds:
        return list(_glued(text, _silenced(text, kinds)))
    kept = array("Q", (index for index, kind in enumerate(kinds) if kind != _INVISIBLE))
    text = "".join([text[index] for index in kept])
    tokens = _glued(text, _silenced(text, kinds.replace(_INVISIBLE, "")))
    return [
        token._replace(start=kept[token.start], end=kept[token.end - 1] + 1) for token in tokens
    ]


def asides(text: str, edges: tuple[int, int] = (0, 0)) -> Counter[str]:
    """Count what a text says beside its words: ellipses inside it, marks of doubt such as "(?)" and pictures.

    Ellipses at its ends leave nothing out. ``edges``: so many characters at its beginning and end are looked at for pictures and doubts only.
    """
    inner = text[edges[0] : len(text) - edges[1]].strip(_EDGES)
    found = Counter(kind for kind in _ELLIPSIS.sub("…", inner) if kind == "…")
    if not text.isascii():
        found.update(
            mark
            for mark in text.strip(_EDGES)
            if mark not in _TUNES and unicodedata.category(mark) == "So"
        )
    return found + Counter(_DOUBT.findall(text))


_SOFT_AT_LINE_END = re.compile(r"\u00ad(?=[ \t\r]{0,9}\n)")
_ELLIPSIS = re.compile(r"…|\.(?:[ \u00a0]?\.){2,}")
_DOUBT = re.compile(r"[\[(][?!？！]{1,5}[\])]")
_TUNES = "♩♪♫♬🎵🎶"
_EDGES = " \t\r\n\u00a0.…[](){}\"'“”„‘’‚«»‹›,;:-–—>•▪■●○◦▸►➤"

# Kinds of characters: one letter for each, so that expressions over them need no Unicode

_BLANK, _LINE, _INVISIBLE, _LETTER, _MARK, _SIGN, _DIGIT, _NUMERAL = (
    " ",
    "\n",
    "z",
    "a",
    "m",
    "c",
    "d",
    "n",
)
(
    _UPPER,
    _LOWER,
    _POINT,
    _DASH,
    _MINUS,
    _SYMBOL,
    _APOSTROPHE,
    _PRIME,
    _STAR,
    _BRACKET,
    _BANG,
    _INNER,
    _OTHER,
) = "ulp-Ms'PxbB_o"
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
    """The kind of a character, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = kind = _kind(chr(code))
        return kind


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    form = unicodedata.decomposition(character).partition(" ")[0]
    if form in ("<super>", "<sub>") and category != "So":
        return _UPPER if form == "<super>" else _LOWER
    if category[0] in "LM" and is_unspaced(character):
        return _MARK if category[0] == "M" else _SIGN
    return _BY_CATEGORY.get(category) or _BY_CLASS.get(category[0], _OTHER)


_KINDS = _Kinds(
    {ord(character): kind for kind, characters in _GIVEN.items() for character in characters}
)

# Noise of captions: a closed list, as any other bracket may be part of what was said

_SOUNDS = (
    "music|applause|laughter|laughs?|laughing|cheering|cheers|cheers and applause|applause and cheering|music playing|silence|inaudible|noise|background noise"
    "|clapping|coughs?|coughing|sighs?|foreign|foreign language|blank_audio|chuckles?|chuckling|giggles?|giggling|clears throat|crosstalk|side conversation"
    "|squeaking|unintelligible|pause|sound|whispering"
    "|musik|applaus|beifall|gelächter|lachen|musique|applaudissements|rires|música|aplausos|risas|risos|musica|applausi|risate|музыка|аплодисменты|смех"
    "|音楽|拍手|笑い|音乐|掌声|笑声|음악|박수|웃음|موسيقى|تصفيق|ضحك"
)
_ASIDE = r"(?:(?:audience|crowd|students?|class|everyone|upbeat|gentle|soft|dramatic|light|intro|outro|theme) )?"  # who, or what kind of
_SPOKEN = "applause|laughter|cheering|laughs?|laughing|chuckles?|chuckling"  # in round brackets, which may be of a sentence: nothing that is spoken about
_NOISE = re.compile(
    rf"\[[ \u00a0]{{0,3}}{_ASIDE}(?:{_SOUNDS})[ \u00a0]{{0,3}}\]|\((?:{_ASIDE}(?:{_SPOKEN})|upbeat music)\)|(?<![>\w])>>{{1,2}}(?!>)",
    re.IGNORECASE,
)


def _silenced(text: str, kinds: str) -> str:
    """Make blanks of the noise among the kinds."""
    pieces, place = [], 0
    for match in _NOISE.finditer(text):
        pieces += [kinds[place : match.start()], _BLANK * len(match.group())]
        place = match.end()
    return "".join([*pieces, kinds[place:]]) if pieces else kinds


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
    | (?P<doubt>   -+ | [xbB] )
    """,
    re.VERBOSE,
)
_BREAK = re.compile(r"-[ \n]{1,40}(?=a)")
_NEARBY = 20  # characters in which the other side of an operator is looked for: all of them would take quadratic time
_MATH = frozenset("dnulsMPb-")


def _glued(text: str, kinds: str) -> Iterator[Token]:
    """Yield the tokens, and say of each whether it belongs to the one before it."""
    before, before_kind = -1, ""
    for folded, start, end, kind in _found(text, kinds):
        touches = start <= before and kind != "sign" and before_kind != "sign"
        # Brackets and stars were told from punctuation by what stands on either side; a quote may end there all the same.
        is_glued = (
            touches and not (kind == "word" == before_kind) and "bracket" not in (kind, before_kind)
        )
        yield Token(
            folded, start, end, is_glued, kind == "word" and _BREAK.match(kinds, end) is not None
        )
        before, before_kind = end, kind


def _found(text: str, kinds: str) -> Iterator[tuple[str, int, int, str]]:
    for match in _TOKENS.finditer(kinds):
        kind, (start, end) = match.lastgroup or "", match.span()
        if kind == "script":
            yield from _script(text[start:end], start, kinds[start] == _UPPER)
        elif kind == "prime":
            if (
                kinds[start] == _PRIME
                or kinds[start - 1] == _DIGIT
                or _is_derivative(kinds, start, end)
            ):
                yield _primes(text[start:end]), start, end, kind
        elif kind == "doubt":
            if _means(text, kinds, start):
                yield (
                    _SAME.get(kinds[start]) or text[start],
                    start,
                    end,
                    "bracket" if kinds[start] in "bx" else kind,
                )
        else:
            folded = _fold(text[start:end])
            yield (
                f"({folded})" if kind == "numeral" and folded.isdecimal() else folded,
                start,
                end,
                kind,
            )


_SAME: Final = {_DASH: "-", _STAR: "*", _BANG: "!"}


def _fold(raw: str) -> str:
    if raw.isascii():
        return raw.lower().replace("`", "'")
    folded = unicodedata.normalize(
        "NFKC", unicodedata.normalize("NFKC", raw.replace("´", "'")).casefold()
    )
    return folded.translate(_PLAIN)


_PLAIN: Final = str.maketrans(
    {"`": "'", "’": "'", "‘": "'", "ʼ": "'", "‛": "'", "−": "-", "➖": "-", "∕": "/", "⁄": "/"}
)


def _script(raw: str, start: int, is_upper: bool) -> Iterator[tuple[str, int, int, str]]:
    """Yield what is raised or lowered as it is written without: ² as ^ 2, ₁ as _ 1."""
    end = start + len(raw)
    yield "^" if is_upper else "_", start, end, "symbol"
    plain = unicodedata.normalize("NFKC", raw).replace("−", "-")
    for part in re.findall(r"\d+|\w+|[^\w\s()]", plain):
        yield part.casefold(), start, end, "script"


def _primes(raw: str) -> str:
    return "′" * sum({"″": 2, "‴": 3, "⁗": 4}.get(character, 1) for character in raw)


def _is_derivative(kinds: str, start: int, end: int) -> bool:
    """Say whether apostrophes after a letter are primes: those of f'(x), not those that end a quotation or a plural."""
    return (
        _is_single(kinds, start - 1)
        and kinds[start - 2 : start - 1] != _APOSTROPHE
        and end - start <= 3
    )


def _is_single(kinds: str, place: int) -> bool:
    """Say whether the letter at a place is a word by itself."""
    return (
        kinds[place] == _LETTER
        and kinds[place - 1 : place] not in (_LETTER, _MARK)
        and kinds[place + 1 : place + 2] not in (_LETTER, _MARK)
    )


def _means(text: str, kinds: str, place: int) -> bool:
    """Say whether a dash, star, bracket or exclamation mark is part of a formula and not punctuation."""
    before, after = _beside(kinds, place, -1), _beside(kinds, place, 1)
    if kinds[place] == _BANG:
        return place > 0 and (
            kinds[place - 1] == _DIGIT
            or (_is_single(kinds, place - 1) and text[place - 1] not in "aAI")
        )
    if kinds[place] == _DASH and (
        _is_digit(kinds, before) or _is_digit(kinds, after) or _is_negative(text, kinds, place)
    ):
        return True
    if kinds[place] == _BRACKET and text[place] in "([（":
        return (
            _is_math(kinds, after)
            and before >= 0
            and (_is_math(kinds, before) or kinds[before] in (_LETTER, _MARK))
        )
    return _is_math(kinds, before) and _is_math(kinds, after)


_OPERATORS = frozenset("=≠≈≡<≤≥+×÷√^")


def _is_negative(text: str, kinds: str, place: int) -> bool:
    """Say whether a dash is the sign of the letter behind it, as in "is -x" and "= -sin x"; "-I think" is how captions mark a speaker."""
    behind = place + 1
    before = _beside(kinds, place, -1)
    if before >= 0 and text[before] in _OPERATORS and kinds[behind : behind + 1] == _LETTER:
        return True
    is_sign = behind < len(kinds) and _is_single(kinds, behind) and text[behind] not in "aAiI"
    return is_sign and (not place or kinds[place - 1] in (_BLANK, _LINE, _BRACKET, _SYMBOL))


def _beside(kinds: str, place: int, step: int) -> int:
    """Return the next place in a direction that is neither blank nor of the same kind; -1 where there is none nearby."""
    passed = (_BLANK, _LINE, kinds[place])
    for beside in range(place + step, place + step * _NEARBY, step):
        if not 0 <= beside < len(kinds):
            return -1
        if kinds[beside] not in passed:
            return beside
    return -1


def _is_digit(kinds: str, place: int) -> bool:
    """Say whether a number begins or ends at a place, or an amount with its currency does."""
    return place >= 0 and (
        kinds[place] in "dn"
        or (kinds[place] in (_POINT, _SYMBOL) and kinds[place + 1 : place + 2] == _DIGIT)
    )


def _is_math(kinds: str, place: int) -> bool:
    return place >= 0 and (kinds[place] in _MATH or _is_single(kinds, place))
