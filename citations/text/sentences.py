"""Where sentences end in running text, spoken or printed, in any script. Pure, standard library only.

Rules of our own rather than a library: those that are maintained split by model or need a language to be named, give sentences back without their
places in the text, and know nothing of pauses, which is all that captions without punctuation have. A boundary that is missed or invented costs
little here, a character that is lost makes every later citation wrong: so sentences are spans, and the spans tile the text.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping

Span = tuple[int, int]

LONGEST = 240  # characters: what goes on for longer is cut, punctuated or not
SHORTEST = 40  # characters that such a cut leaves on either side
USUAL = 100  # characters of a sentence as it is spoken

_MOST_MARKS = 32  # on one letter


def split(text: str, pauses: Mapping[int, int] | None = None) -> list[Span]:
    """Cut text into sentences: spans (start, stop) that follow one another without a gap; the blanks after a sentence belong to it.

    A sentence ends at its stop, at an empty line, and before a list item or a change of speaker (">>"). One of more than ``LONGEST`` characters, as
    are all captions without punctuation, is cut where the speaker pauses: ``pauses`` has how long (ms) the silence before the character at an
    offset is. Without pauses a comma, else a blank, near the ``USUAL`` length decides; without blanks, too, the length alone, never between a letter
    and its marks. Each cut depends only on the text around it, so that a change moves few of them. Takes linear time.
    """
    spans: list[Span] = []
    start = 0
    for stop in [*_ends(text), len(text)]:
        for span in _shortened(text, start, stop, pauses or {}):
            if spans and text[span[0] : span[1]].isspace():
                spans[-1] = (spans[-1][0], span[1])
            else:
                spans.append(span)
        start = stop
    return spans


def ends_with_stop(sentence: str) -> bool:
    """Say whether a sentence ends with a stop or a colon, whatever closes behind it."""
    return sentence.rstrip(_CLOSERS + " \n\r\t").endswith(
        (".", "!", "?", "…", ":", "。", "！", "？", "।")
    )


def asks(sentence: str) -> bool:
    """Say whether a sentence ends with a question mark, whatever closes behind it."""
    return sentence.rstrip(_CLOSERS + " \n\r\t").endswith(("?", "？", "؟"))


def is_listing(sentence: str) -> bool:
    """Say whether something printed is a piece of a table of contents, or of another table: many numbers, and no stop at its end."""
    words = sentence.split()
    numbers = sum(any(character.isdigit() for character in word) for word in words)
    is_open = (
        sentence.rstrip().endswith(":") and sentence[:1].isdigit()
    )  # “1 Waiting, page 3 1.1 Waiting longer:” was cut within a heading
    return numbers >= 3 and 8 * numbers >= len(words) and (is_open or not ends_with_stop(sentence))


def between_letters(text: str, place: int) -> int:
    """Move a place back until it is in front of a letter, not of one of its marks."""
    for moved in range(place, place - _MOST_MARKS, -1):
        if text[moved - 1] != "\u200d" and not (
            text[moved] == "\u200d" or unicodedata.category(text[moved]).startswith("M")
        ):
            return moved
    return place


# Stops

_CLOSERS = "\"'”’»)]}›」』】）〉》＂"
_OPENERS = "\"'“‘„‚«([{‹「『【（〈《¿¡-–—*_#>"
_STOPS = re.compile(
    rf"""
    (?P<stop> [.!?…]+ [.!?…{re.escape(_CLOSERS)}]* (?:[ \u00a0\u202f]»)? )    # may mean other things; needs a blank behind it
    | (?P<full> [。！？｡।॥۔؟։።፧။។᙮]+ [。！？｡।॥۔؟{re.escape(_CLOSERS)}]* )     # ends a sentence by itself
    | (?P<line> \n[^\S\n]*\n\s* | \n[^\S\n]*(?=(?:[-*+•◦▪‣–—]|\d{{1,3}}[.)])[^\S\n]) )
    | (?P<speaker> \s(?=>>) )
    """,
    re.VERBOSE,
)
_BLANKS = re.compile(r"\s*")


def _ends(text: str) -> Iterator[int]:
    """Yield where the next sentence begins, in order."""
    start = 0
    for match in _STOPS.finditer(text):
        blanks = _BLANKS.match(text, match.end())
        after = blanks.end() if blanks else match.end()
        if after > start and (not match["stop"] or _is_end(text, start, match, after)):
            yield after
            start = after


def _is_end(text: str, start: int, match: re.Match[str], after: int) -> bool:
    """Say whether a stop that may mean other things ends the sentence that began at ``start``; ``after`` is where text goes on."""
    stop = match["stop"]
    if after == len(text):
        return True
    if after == match.end():
        return (
            "." not in stop and text[after] > "\u2e7f"
        )  # no blank is needed before ideographs and kana
    rest = text[after : after + 32].lstrip(_OPENERS)
    if stop.startswith(".") and not stop.startswith(".."):
        return _is_full_stop(text, start, match.start(), rest)
    may_go_on = (
        "…" in stop or ".." in stop or stop[-1] in _CLOSERS
    )  # Well … perhaps. “Really?” he said.
    return not (may_go_on and rest[:1].islower())


# Full stops


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_ALWAYS_SHORT = _words(
    "e.g i.e cf vs viz approx resp esp incl excl dr mr mrs ms prof st mt gen col lt capt sgt hon rev gov sen rep dept univ figs eqs ca",  # English
    "z.b d.h u.a bzw ggf evtl hr fr dipl ing abb vgl sog inkl zzgl",  # German
    "m mme mlle mm p.ex env sr sra srta dra ud uds ej pág núm av sig dott sig.ra ecc dhr mevr bijv",  # French, Spanish, Italian, Dutch
    "т.е т.д т.п г-н им ул",  # Russian
)
_SHORT_BEFORE_NUMBERS = _words(
    "no nos nr fig eq p pp vol ch chap sec sect art abs s kap abschn tab thm def lem ex bd min max jan feb mar apr aug sept oct nov dec"
)
_MAYBE_SHORT = re.compile(
    r"(?:\w\.)+\w|Ph\.D|al|[Ee]tc|Inc|Ltd|Corp|Co|Jr|Sr|usw"
)  # may end a sentence, or stand inside one
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.)*[^\W\d_a-z]")
_FIRST_WORDS = _words(
    "a all also an and are as at but can do does for he how i if in is it its let next no not now of ok okay on one or our she so some that the then",
    "there these they this those thus to we what when where which who why with yes you",
    "aber also da das der die dann ein er es ich ist sie so und was wenn wie wir on ce c'est et il elle je la le les nous puis un une el la los las",
    "pero que se si y",
)
_LOOK_BACK = 40  # characters in which the word before a stop is looked for


def _is_full_stop(text: str, start: int, place: int, rest: str) -> bool:
    """Say whether the "." at ``place`` ends the sentence that began at ``start``, and not an abbreviation, an initial or the number of a list item."""
    before = text[max(start, place - _LOOK_BACK) : place]
    word = (
        before.split()[-1].lstrip(_OPENERS)
        if before.strip() == before.lstrip() and before.strip()
        else ""
    )
    if not word:
        return True
    if _is_short(word, rest) or (word.isdigit() and len(word) <= 3 and before.strip() == word):
        return False
    if _INITIALS.fullmatch(word) and word != "I" and rest[:1].isupper():
        return _first_word(rest) in _FIRST_WORDS  # “J. Smith”, “U.S. President”, but “plan B. Then”
    if (
        not rest[:1].islower() or text[start].islower()
    ):  # whoever began the sentence with a small letter does so with the next
        return True
    return len(word) > 3 and word.isalpha()  # longer than any abbreviation that is not known


def _is_short(word: str, rest: str) -> bool:
    """Say whether the word with its "." is an abbreviation that the sentence goes on after."""
    folded = word.casefold()
    if folded in _ALWAYS_SHORT:
        return True
    if folded in _SHORT_BEFORE_NUMBERS:
        return rest[:1].isdigit()
    return _MAYBE_SHORT.fullmatch(word) is not None and (rest[:1].islower() or rest[:1].isdigit())


def _first_word(rest: str) -> str:
    words = rest.casefold().split(maxsplit=1)
    return words[0].rstrip(",.;:!?") if words else ""


# Sentences that are too long

_GAPS = re.compile(r"\s+|[，、；：،؛]")
_CLAUSE_ENDS = ",;:–—，、；：،؛\n"
_CLAUSE_WORTH = 400  # ms of pause that the end of a clause counts as
_LONGEST_PAUSE = 3_000  # ms; a longer one says no more
_AWAY_COST = 2  # ms of pause a character away from the usual length


def _shortened(text: str, start: int, stop: int, pauses: Mapping[int, int]) -> Iterator[Span]:
    while stop - start > LONGEST:
        cut = _cut(text, start, stop, pauses)
        yield start, cut
        start = cut
    if stop > start:
        yield start, stop


def _cut(text: str, start: int, stop: int, pauses: Mapping[int, int]) -> int:
    """Choose where to cut what is longer than ``LONGEST``: the best place that leaves at least ``SHORTEST`` on either side."""
    limit = min(start + LONGEST, stop - SHORTEST)

    def worth(place: int) -> int:
        clause = (
            _CLAUSE_WORTH
            if text[place - 1] in _CLAUSE_ENDS or text[place - 2] in _CLAUSE_ENDS
            else 0
        )
        return (
            min(pauses.get(place, 0), _LONGEST_PAUSE)
            + clause
            - _AWAY_COST * abs(place - start - USUAL)
        )

    places = (match.end() for match in _GAPS.finditer(text, start + SHORTEST, limit))
    return max(places, key=worth, default=0) or between_letters(text, limit)
