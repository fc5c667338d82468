"""Split running text, spoken or printed, into sentences, in any script. Pure.

No library: those that are maintained need a model or a language for each text, return no offsets,
and ignore pauses, which unpunctuated captions have instead of stops. A lost character makes every
later citation wrong, so sentences are spans that tile the text.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from configparser import ConfigParser
from pathlib import Path
from typing import Final

Span = tuple[int, int]

MAX_LENGTH = 240  # characters; longer sentences are cut
MIN_LENGTH = 40  # characters that a cut leaves on either side
USUAL = 100  # characters of a sentence as it is spoken
PUNCTUATED = 0.4  # of a text's characters, in sentences that end with a stop

STOPS = ".!?…"  # end a sentence if a blank follows, and not always then
FULL_STOPS = "。！？｡।॥۔؟։።፧။។᙮"  # always end one
CLOSERS = "\"'”’»)]}›」』】）〉》＂"  # may follow the stop
QUESTION_MARKS = "?？؟፧"
SENTENCE_END = re.compile(
    rf"[{re.escape(STOPS + FULL_STOPS)}]+[{re.escape(CLOSERS)}]*(?=\s|$)|[{FULL_STOPS}]"
)
"""Where a cut reads well; ``split`` looks closer."""

_MOST_MARKS = 32  # on one letter


def split(text: str, pauses: Mapping[int, int] | None = None) -> list[Span]:
    """Split text into sentences: spans (start, stop) without gaps; trailing blanks belong to the
    sentence.

    A sentence ends at its full stop, at an empty line, and before a list item or a change of
    speaker (">>"). Sentences longer than ``MAX_LENGTH`` characters, as in bare captions, are
    cut where words, pauses and commas suggest an end, near the ``USUAL`` length: ``pauses`` holds
    the silence (ms) before the character at an offset. Text without blanks is cut by its length,
    but never between a letter and its marks. Each cut depends only on the text around it, so an
    edit moves few of them. Takes linear time.
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
    """Tell whether a sentence ends with a stop or a colon, closing quotes and brackets aside."""
    return sentence.rstrip(CLOSERS + " \n\r\t").endswith((*STOPS, *FULL_STOPS, ":", "："))


def is_punctuated(pieces: Iterable[str]) -> bool:
    """Tell whether full stops end the sentences of a text, as they often do not in captions.

    Characters count, not sentences: speech without stops is cut into many short ones or few long
    ones.
    """
    lengths = [(len(piece), ends_with_stop(piece)) for piece in pieces]
    stopped = sum(length for length, has_stop in lengths if has_stop)
    return stopped >= PUNCTUATED * sum(length for length, _ in lengths)


def asks(sentence: str) -> bool:
    """Tell whether a sentence ends with a question mark, closing quotes and brackets aside."""
    return sentence.rstrip(CLOSERS + " \n\r\t").endswith(tuple(QUESTION_MARKS))


def is_listing(sentence: str) -> bool:
    """Tell whether printed text is a piece of a table: many numbers and no final stop."""
    words = sentence.split()
    numbers = len([word for word in words if any(map(str.isdigit, word))])
    # “1 Waiting, page 3 1.1 Waiting longer:” is cut within a heading.
    is_open = sentence.rstrip().endswith(":") and sentence[:1].isdigit()
    return numbers >= 3 and 8 * numbers >= len(words) and (is_open or not ends_with_stop(sentence))


def between_letters(text: str, position: int) -> int:
    """Move a position back until it stands before a letter, not before one of its marks."""
    for moved in range(position, position - _MOST_MARKS, -1):
        if text[moved - 1] != "\u200d" and not (
            text[moved] == "\u200d" or unicodedata.category(text[moved]).startswith("M")
        ):
            return moved
    return position


# Stops

_OPENERS = "\"'“‘„‚«([{‹「『【（〈《¿¡-–—*_#>"
_STOPS = re.compile(
    rf"""
    # ambiguous, needs a blank behind it:
    (?P<stop> [{STOPS}]+ [{STOPS}{re.escape(CLOSERS)}]* (?:[ \u00a0\u202f]»)? )
    | (?P<full> [{FULL_STOPS}]+ [{FULL_STOPS}{re.escape(CLOSERS)}]* )  # unambiguous
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
    """Tell whether an ambiguous stop ends the sentence from ``start``; ``after`` is the next."""
    stop = match["stop"]
    if after == len(text):
        return True
    if after == match.end():
        # Ideographs and kana need no blank before them.
        return "." not in stop and text[after] > "\u2e7f"
    rest = text[after : after + 32].lstrip(_OPENERS)
    if stop.startswith(".") and not stop.startswith(".."):
        return _is_full_stop(text, start, match.start(), rest)
    # “Well … perhaps.” “‘Really?’ he said.”
    may_continue = "…" in stop or ".." in stop or stop[-1] in CLOSERS
    return not (may_continue and rest[:1].islower())


# Full stops


_LISTS = ConfigParser(allow_no_value=True, delimiters="=")
_LISTS.read(Path(__file__).with_name("full_stops.ini"), encoding="utf-8")
_ABBREVIATIONS, _BEFORE_NUMBERS, _AFTER_ORDINALS, _FIRST_WORDS = (
    frozenset(" ".join(_LISTS[name]).split()) for name in _LISTS.sections()
)
# May end a sentence or stand inside one.
_AMBIGUOUS = re.compile(r"(?:\w\.)+\w|Ph\.D|al|[Ee]tc|Inc|Ltd|Corp|Co|Jr|Sr|usw")
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.)*[^\W\d_a-z]")
_LETTER = re.compile(r"[^\W\d_]\.(?=\s|$)")  # “z. B.”, “J. R. R. Tolkien”
_LOOK_BACK = 40  # characters in which the word before a stop is looked for


def _is_full_stop(text: str, start: int, position: int, rest: str) -> bool:
    """Tell whether the "." at ``position`` ends a sentence, or an abbreviation or number in it."""
    before = text[max(start, position - _LOOK_BACK) : position].lstrip()
    word = before.split()[-1].lstrip(_OPENERS) if before and not before[-1].isspace() else ""
    if not word:
        return True
    if _is_short(word, rest) or (word.isdigit() and len(word) <= 3 and before == word):
        return False
    if _INITIALS.fullmatch(word) and word != "I" and rest[:1].isupper():
        return _first_word(rest) in _FIRST_WORDS  # “J. Smith”, “U.S. President”, but “plan B. Then”
    # A text that starts this sentence in lower case may start the next one so, too. No unlisted
    # abbreviation is longer than three letters.
    starts_next = not rest[:1].islower() or text[start].islower()
    return starts_next or (len(word) > 3 and word.isalpha())


def _is_short(word: str, rest: str) -> bool:
    """Tell whether the word with its "." is an abbreviation within the sentence."""
    folded = re.split("['’]", word.casefold())[-1]  # “l’éq. 4”
    if folded in _ABBREVIATIONS:
        return True
    if folded in _BEFORE_NUMBERS:
        return rest[:1].isdigit()
    if word.isdigit():  # “am 3. Mai”
        return len(word) < 3 and _first_word(rest) in _AFTER_ORDINALS
    if len(word) == 1 and word.isalpha() and _LETTER.match(rest):
        return True
    return _AMBIGUOUS.fullmatch(word) is not None and (rest[:1].islower() or rest[:1].isdigit())


def _first_word(rest: str) -> str:
    return next(iter(rest.split(maxsplit=1)), "").rstrip(",.;:!?").casefold()


# Sentences that are too long

_GAPS = re.compile(r"\s+|[，、；：،؛]")
_CLAUSE_ENDS = ",;:–—，、；：،؛\n"
_CLAUSE_WORTH = 400  # ms of pause that the end of a clause counts as
_MAX_PAUSE = 3_000  # ms; a longer one says no more
_AWAY_COST = 2  # ms of pause per character away from the usual length
_ODDS_WORTH = 100  # ms of pause for each unit of log odds that a sentence ends


def _shortened(text: str, start: int, stop: int, pauses: Mapping[int, int]) -> Iterator[Span]:
    is_long = stop - start > MAX_LENGTH
    while is_long and stop - start >= 2 * MIN_LENGTH:
        cut = _cut(text, start, stop, pauses)
        if stop - start <= MAX_LENGTH and not is_likely_end(text, cut):
            break
        yield start, cut
        start = cut
    if stop > start:
        yield start, stop


def _cut(text: str, start: int, stop: int, pauses: Mapping[int, int]) -> int:
    """Choose where to cut text that is too long, ``MIN_LENGTH`` away from either end."""
    limit = min(start + MAX_LENGTH, stop - MIN_LENGTH)
    odds = log_odds_of_ends(text, start + MIN_LENGTH, limit + 1)

    def worth(position: int) -> float:
        clause = text[position - 1] in _CLAUSE_ENDS or text[position - 2] in _CLAUSE_ENDS
        pause = min(pauses.get(position, 0), _MAX_PAUSE)
        away = abs(position - start - USUAL)
        words = _ODDS_WORTH * odds.get(position, BIAS)
        return pause + _CLAUSE_WORTH * clause + words - _AWAY_COST * away

    positions = (match.end() for match in _GAPS.finditer(text, start + MIN_LENGTH, limit))
    return max(positions, key=worth, default=0) or between_letters(text, limit)


# Where no stop tells

# A logistic regression on patterns of the two words on either side of a gap, with L1
# regularisation, so that few patterns have a weight. ``bench/training/sentence_ends.py`` trains it
# on English transcripts. Speech in another language is recognised: few of its gaps have a weight.
WEIGHTS: Final = Path(__file__).with_name("sentence_ends_en.txt")
ANYWHERE: Final = "|"  # the pattern of all gaps: its weight is the bias
WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_KNOWN: Final = 0.7  # of the gaps in English, that have a weight: 0.97 do; in French, 0.14
_AROUND: Final = 80  # characters in which the words on either side of a gap are looked for


def log_odds_of_ends(text: str, start: int, stop: int) -> dict[int, float]:
    """Return the log odds that a sentence of speech ends before each word that begins in [start,
    stop); nothing for words of another language.
    """
    matches = list(WORD.finditer(text, max(0, start - _AROUND), stop + _AROUND))
    gaps = gap_patterns([match[0] for match in matches])
    odds = {
        match.start(): sum([END_WEIGHTS.get(pattern, 0.0) for pattern in around])
        for match, around in zip(matches[1:], gaps, strict=True)
        if start <= match.start() < stop
    }
    count = sum(value != BIAS for value in odds.values())
    return odds if count >= _KNOWN * len(odds) else {}


def is_likely_end(text: str, offset: int) -> bool:
    """Tell whether a sentence ends before the word at an offset rather than not."""
    return log_odds_of_ends(text, offset, offset + 1).get(offset, BIAS) >= 0


def gap_patterns(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the patterns of the gap before each word but the first: "|" stands for the gap, "_" for
    any word.
    """
    folded = ["", *(word.casefold().replace("’", "'") for word in words), ""]
    for a, b, c, d in zip(folded, folded[1:], folded[2:], folded[3:], strict=False):
        before = (f"{a} {b} |", f"{a} _ |") if a else ()
        after = (f"| {c} {d}", f"| _ {d}") if d else ()
        yield (ANYWHERE, f"{b} |", f"| {c}", f"{b} | {c}", *before, *after)


_LINES = (line.split("\t") for line in WEIGHTS.read_text(encoding="utf-8").splitlines())
END_WEIGHTS: Final = {pattern: float(weight) for pattern, weight in _LINES}
BIAS: Final = END_WEIGHTS[ANYWHERE]  # log odds between unknown words
