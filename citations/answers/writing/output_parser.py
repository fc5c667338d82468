"""Parses what a language model answers, as it comes: claims with the quotes they stand on.

Every character of it may be hostile.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

from transcripts.sanitize import clean

MAX_LINE: Final = 4_000  # characters
MAX_CHARACTERS: Final = 60_000  # of an answer
MAX_CLAIM: Final = 1_000  # characters
MAX_QUOTE: Final = 1_000
MAX_CLAIMS: Final = 40
MAX_QUOTES: Final = 8  # of one claim


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedQuote:
    """A quote as a language model gave it, and the number of its passage; 0 without one."""

    quote: str
    passage: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimDraft:
    """An unchecked claim, and the quotes that it stands on."""

    text: str
    cited: tuple[CitedQuote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredPart:
    """What the passages do not answer, in the language model's words."""

    text: str


Draft: TypeAlias = ClaimDraft | UnansweredPart

_NUMBER: Final = r"[\[(#]?\s*(?P<number>\d{1,4})\s*[\])]?"
_LEAD: Final = r"[\s>*_#`•–-]{0,12}(?:\d{1,3}[.)]\s{1,4})?[\s>*_`]{0,8}"
_COLON: Final = r"[*_]{0,4}\s{0,8}:[*_]{0,4}\s{0,8}"
_CLAIM: Final = re.compile(
    rf"{_LEAD}(?:claim|statement|answer)\s*(?:\d{{1,3}}|[\[(]\d{{1,3}}[\])])?{_COLON}(?P<text>.*)",
    re.IGNORECASE,
)
_QUOTE: Final = re.compile(
    rf"{_LEAD}(?:quote|quotation|evidence|source|passage)\s*(?:{_NUMBER})?{_COLON}(?P<text>.*)",
    re.IGNORECASE,
)
_UNREADABLE: Final = re.compile(
    r"[|\s>*_#`•–-]{0,16}(?:quote|quotation|citation|passage)s?[*_\s]{0,6}[\[(#|:]", re.IGNORECASE
)
_BARE: Final = re.compile(
    rf"{_LEAD}[\[(]\s*(?P<number>\d{{1,4}})\s*[\])]\s*:?\s*(?P<text>[\"“„«‘'].*)"
)
_MISSING: Final = re.compile(
    rf"{_LEAD}not[ _-]?found[*_]{{0,4}}\s{{0,8}}:?[*_]{{0,4}}\s{{0,8}}(?P<text>.*)", re.IGNORECASE
)
_TRAILING: Final = re.compile(
    r"[\s—–-]{0,8}[\[(]\s*(?:passage\s*)?(?P<number>\d{1,4})\s*[\])][\s.]{0,8}$", re.IGNORECASE
)
_INLINE: Final = re.compile(
    r"[\"“„«](?P<text>[^\"“”„«»]{12,1000})[\"”“»][\s,.]{0,3}"
    r"[\[(]\s*(?:passage\s*)?(?P<number>\d{1,4})\s*[\])]",
    re.IGNORECASE,
)
_REFERENCE: Final = re.compile(r"\s{0,8}[\[【]\s*\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*[\]】]")
_REASONING_TAG: Final = re.compile(r"<(think|thinking|reasoning)>", re.IGNORECASE)
_MARK: Final = re.compile(r"</?(?:text|piece|question|passage|quote)(?:-[0-9a-f]{12})?>")
_LINK: Final = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)")
_ADDRESS: Final = re.compile(r"\b(?:https?|ftp|file|data|javascript):\S+|\bwww\.\S+", re.IGNORECASE)
_MARKUP: Final = re.compile(r"(\*\*|__|`)(?=\S)([^\n]{1,400}?)(?<=\S)\1")
_PAIRS: Final = {'"': '"', "“": "”", "„": "“", "«": "»", "‘": "’", "'": "'", "`": "`"}


def parse_drafts(pieces: Iterable[str]) -> Iterator[Draft]:
    """Yield each claim as soon as it is complete; raises what ``pieces`` raises."""
    claim = _ClaimParser()
    count = 0
    for line in _lines(pieces):
        for draft in claim.read(line):
            yield draft
            count += 1
        if count >= MAX_CLAIMS:
            return
    yield from claim.end()


# Lines


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """Yield complete lines, without the model's thoughts."""
    waiting: list[str] = []
    thought = ""
    for piece in chain(_bounded(pieces), ("\n",)):
        *ends, rest = piece.split("\n")
        for end in ends:
            line, thought = _visible("".join((*waiting, end)), thought)
            waiting.clear()
            yield clean(line, MAX_LINE)
        waiting.append(rest)


def _bounded(pieces: Iterable[str]) -> Iterator[str]:
    length = 0
    for piece in pieces:
        yield piece[: MAX_CHARACTERS - length]
        length += len(piece)
        if length >= MAX_CHARACTERS:
            return


def _visible(line: str, thought: str) -> tuple[str, str]:
    """Return a line without thoughts, and the tag of the open one, given that at its start."""
    visible: list[str] = []
    while True:
        if thought:
            end = line.lower().find(f"</{thought}>")
            if end < 0:
                break
            line, thought = line[end + len(thought) + 3 :], ""
        begin = _REASONING_TAG.search(line)
        visible.append(line[: begin.start()] if begin else line)
        if not begin:
            break
        line, thought = line[begin.end() :], begin[1].lower()
    return "".join(visible), thought


# Claims


class _ClaimParser:
    """The claim that is being read."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._cited: list[CitedQuote] = []

    def read(self, line: str) -> Iterator[Draft]:
        """Read a line, and yield what it completes."""
        if missing := _MISSING.fullmatch(line):
            yield from self.end()
            yield UnansweredPart(text=_plain(missing["text"]))
        elif quote := _QUOTE.fullmatch(line) or _BARE.fullmatch(line):
            self._cite(quote["text"], int(quote["number"] or 0))
        elif claim := _CLAIM.fullmatch(line):
            yield from self.end()
            self._text = [claim["text"]]
        elif _UNREADABLE.match(line):
            return  # an unreadable quote is no claim either
        else:
            yield from self.end() if self._cited else ()
            if line.strip():
                self._text.append(line)

    def end(self) -> Iterator[Draft]:
        """Yield the claim read so far, if any, and begin anew."""
        text = " ".join(self._text)[: 2 * MAX_CLAIM]
        inline = [
            CitedQuote(quote=match["text"].strip(), passage=int(match["number"]))
            for match in _INLINE.finditer(text)
        ]
        if claim := _plain(text):
            yield ClaimDraft(text=claim, cited=tuple((self._cited + inline)[:MAX_QUOTES]))
        self._text, self._cited = [], []

    def _cite(self, text: str, number: int) -> None:
        trailing = _TRAILING.search(text)
        if trailing:
            text, number = text[: trailing.start()], number or int(trailing["number"])
        quote = _unquoted(text)
        if quote and len(self._cited) < MAX_QUOTES:
            self._cited.append(CitedQuote(quote=quote[:MAX_QUOTE], passage=number))


def _unquoted(text: str) -> str:
    text = " ".join(text.split()).strip("*_` ")
    if len(text) > 1 and text[0] in _PAIRS:
        end = text.rfind(_PAIRS[text[0]], 1)
        end = end if end > 0 else text.rfind(text[0], 1)
        if end >= len(text) - 2:
            text = text[1:end]
    return text.strip()


def _plain(text: str) -> str:
    """Return a claim without markup, addresses, and bracketed numbers, which would look checked."""
    text = _LINK.sub(r"\1", _MARK.sub(" ", text))
    text = _ADDRESS.sub(" ", text)
    text = _MARKUP.sub(r"\2", _REFERENCE.sub("", text))
    plain = " ".join(text.split()).lstrip("*#>•- ").strip()
    return plain[:MAX_CLAIM] if any(mark.isalnum() for mark in plain) else ""
