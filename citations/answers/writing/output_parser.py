"""Parses what a language model answers, as it comes: claims with the quotes they stand on.

Every character of it may be hostile.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Final, TypeAlias

from citations.text import sentences
from citations.text.sentences import FULL_STOPS, STOPS
from citations.text.thoughts import MAX_CHARACTERS as MAX_ANSWER
from citations.text.thoughts import (
    is_about_task,
    is_planned,
    thinks_aloud,
    visible_lines,
    without_thoughts,
)
from transcripts.core.sanitize import clean

MAX_LINE: Final = 12_000  # characters
MAX_CHARACTERS: Final = 60_000  # of an answer without thoughts
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
    """An unchecked claim, and the quotes, or else the passages, that it stands on."""

    text: str
    cited: tuple[CitedQuote, ...] = ()
    passages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredPart:
    """What the passages do not answer, in the language model's words."""

    text: str


Draft: TypeAlias = ClaimDraft | UnansweredPart

_DIGITS: Final = re.compile(r"\d{1,4}")
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
    r"[|\s>*_#`•–-]{0,16}(?:quote|quotation|citation|passage)s?[*_\s]{0,6}[\[(#|:]"
    r"|\s{0,8}```\s?\w{0,20}\s{0,8}$",
    re.IGNORECASE,
)
_FORM: Final = re.compile(rf"{_LEAD}CLAIM\s*(?:\d{{1,3}})?{_COLON}")
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
_NUMBERS: Final = r"\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,8}"
_KIND: Final = r"(?:passages?|sources?|ref(?:erence)?s?|doc(?:ument)?s?|citations?|#)[.:]?"
_REFERENCE: Final = re.compile(
    rf"\s{{0,8}}(?:\\?[\[【〔［⟦]{{1,2}}\s?\^?(?:{_KIND})?\s?{_NUMBERS}(?:†[^\]】\n]{{0,40}})?"
    rf"\s?\\?[\]】〕］⟧]{{1,2}}|[({{<⟨（]\s?{_KIND}\s?\[?{_NUMBERS}\]?\s?[)}}>⟩）]"
    rf"|[({{<⟨（]{_NUMBERS}[)}}>⟩）](?=[\s.,;!?。]{{0,4}}$))",
    re.IGNORECASE,
)
_NUMBER_LINK: Final = re.compile(r"\[\[?(\d{1,4})\]?\]\([^)\n]{0,500}\)")
_BEHIND_STOP: Final = re.compile(
    rf"([{STOPS}{FULL_STOPS}]+[\"”’]?)((?:{_REFERENCE.pattern})+)", re.IGNORECASE
)
_NAMED: Final = re.compile(rf"\bpassages?\s?\[?({_NUMBERS})", re.IGNORECASE)
_ITEM: Final = re.compile(r"^\s{0,8}(?:[-–*•]|\d{1,3}[.)])\s")
_FOOTNOTE: Final = re.compile(r"\s{0,8}\[\^(?P<label>\d{1,3})\]:(?P<text>.*)")
_FOOTNOTE_QUOTE: Final = re.compile(r"[\"“„«](?P<text>[^\"“”„«»]{12,1000})[\"”“»]")
_MARK: Final = re.compile(r"</?(?:text|piece|question|passage|quote)(?:-[0-9a-f]{12})?>")
_LINK: Final = re.compile(r"!?\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)")
_ADDRESS: Final = re.compile(r"\b(?:https?|ftp|file|data|javascript):\S+|\bwww\.\S+", re.IGNORECASE)
_MARKUP: Final = re.compile(r"(\*\*|__|`)(?=\S)([^\n]{1,400}?)(?<=\S)\1")
_PAIRS: Final = {'"': '"', "“": "”", "„": "“", "«": "»", "‘": "’", "'": "'", "`": "`"}


def parse_drafts(pieces: Iterable[str]) -> Iterator[Draft]:
    """Yield the claims of an answer; raises what ``pieces`` raises.

    Besides the lines that are asked for, reads what small models write instead: sentences with the
    numbers of passages, footnotes, Markdown and JSON. An answer that begins with ``CLAIM:`` is read
    as it comes, any other at its end, as only there it is known to be no thought.
    """
    return islice(_drafts_of(_lines(pieces)), MAX_CLAIMS)


def _drafts_of(lines: Iterator[str]) -> Iterator[Draft]:
    start: list[str] = []
    text, is_form = "", False
    for line in lines:
        start.append(line)
        if _FORM.match(line) and _FORM.match(without_thoughts("\n".join(start)).lstrip()):
            is_form = True
            break
    text = without_thoughts("\n".join(start))
    is_aloud = not is_form and thinks_aloud(text)
    visible = _bounded(chain(text.split("\n"), visible_lines(lines)))
    for draft in _drafts(clean(line, MAX_LINE) for line in visible):
        is_claim = isinstance(draft, ClaimDraft)
        if not (is_aloud and is_claim and (is_about_task(draft.text) or is_planned(draft.text))):
            yield draft


def _drafts(lines: Iterator[str]) -> Iterator[Draft]:
    claim = _ClaimParser()
    for line in lines:
        if not claim.has_form and begins_json(line):
            yield from claim.end()
            yield from _json_drafts("\n".join((line, *lines)))
            return
        yield from claim.read(line)
    yield from claim.end()
    yield from claim.with_footnotes()


# Lines


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """Yield complete lines."""
    waiting: list[str] = []
    length = 0
    for piece in pieces:
        *ends, rest = piece.split("\n")
        for end in ends:
            yield "".join((*waiting, end))
            waiting.clear()
        waiting.append(rest)
        length += len(piece)
        if length > MAX_ANSWER:
            break
    yield "".join(waiting)


def _bounded(lines: Iterable[str]) -> Iterator[str]:
    room = MAX_CHARACTERS
    for line in lines:
        yield line[:room]
        room -= len(line) + 1
        if room <= 0:
            return


# Claims


class _ClaimParser:
    """The claim that is being read, and those that wait for their footnotes."""

    def __init__(self) -> None:
        self.has_form = False  # one of the lines that are asked for was read
        self._text: list[str] = []
        self._cited: list[CitedQuote] = []
        self._is_paused = False  # an empty line follows the text
        self._waiting: list[ClaimDraft] = []
        self._footnotes: dict[int, CitedQuote] = {}

    def read(self, line: str) -> Iterator[Draft]:
        """Read a line, and yield what it completes."""
        if missing := _MISSING.fullmatch(line):
            yield from self.end()
            yield UnansweredPart(text=_plain(missing["text"]))
        elif note := _FOOTNOTE.fullmatch(line):
            yield from self.end()
            self._footnotes[int(note["label"])] = _footnote(note["text"])
        elif quote := _QUOTE.fullmatch(line) or _BARE.fullmatch(line):
            self._cite(quote["text"], int(quote["number"] or 0))
            self.has_form = True
        elif claim := _CLAIM.fullmatch(line):
            yield from self.end()
            self._text, self.has_form = [claim["text"]], True
        elif not _UNREADABLE.match(line):  # an unreadable quote is no claim either
            yield from self._read_prose(line)

    def _read_prose(self, line: str) -> Iterator[Draft]:
        if not line.strip():
            yield from self.end() if self._cited else ()
            self._is_paused = bool(self._text)
        elif line.lstrip().startswith(">") and self._text:
            self._cite(line.lstrip(" >"), 0)
        else:
            if self._cited or self._is_paused or _ITEM.match(line):
                yield from self.end()
            self._text.append(line)

    def end(self) -> Iterator[Draft]:
        """Yield the claim read so far, if any, and begin again."""
        lines, cited = self._text, self._cited
        self._text, self._cited, self._is_paused = [], [], False
        text = " ".join(lines)[: 2 * MAX_CLAIM]
        if cited and (claim := _plain(text)):
            yield ClaimDraft(text=claim, cited=tuple((cited + _inline(text))[:MAX_QUOTES]))
        for line in lines if not cited else ():
            if "[^" in line:
                self._waiting += _sentences(line)
            else:
                yield from _sentences(line)

    def with_footnotes(self) -> Iterator[Draft]:
        """Yield the claims with footnotes, each with what these cite."""
        for draft in self._waiting:
            notes = [self._footnotes.get(number) for number in draft.passages]
            cited = [note for note in notes if note and note.quote]
            named = [note.passage for note in notes if note and note.passage]
            passages = tuple(named) or draft.passages
            yield replace(draft, cited=draft.cited + tuple(cited[:MAX_QUOTES]), passages=passages)

    def _cite(self, text: str, number: int) -> None:
        trailing = _TRAILING.search(text)
        if trailing:
            text, number = text[: trailing.start()], number or int(trailing["number"])
        quote = _unquoted(text)
        if quote and len(self._cited) < MAX_QUOTES:
            self._cited.append(CitedQuote(quote=quote[:MAX_QUOTE], passage=number))


def _sentences(text: str) -> Iterator[ClaimDraft]:
    """Yield the sentences of a text, each with the quotes in it, or the passages that it names."""
    text = _NUMBER_LINK.sub(r"[\1]", text[:MAX_LINE])
    text = _BEHIND_STOP.sub(r"\2\1", text)
    for first, last in sentences.split(text):
        sentence = text[first:last]
        cited = tuple(_inline(sentence)[:MAX_QUOTES])
        references = [match.group() for match in _REFERENCE.finditer(sentence)]
        named = [] if cited else references + _NAMED.findall(sentence)
        numbers = (
            int(number) for part in named for number in _DIGITS.findall(part.partition("†")[0])
        )
        if claim := _plain(sentence):
            passages = tuple(dict.fromkeys(numbers))[:MAX_QUOTES]
            yield ClaimDraft(text=claim, cited=cited, passages=passages)


def _inline(text: str) -> list[CitedQuote]:
    return [
        CitedQuote(quote=match["text"].strip(), passage=int(match["number"]))
        for match in _INLINE.finditer(text)
    ]


def _json_drafts(text: str) -> Iterator[Draft]:
    for claim in read_claims(text):
        if claim.missing:
            yield UnansweredPart(text=_plain(claim.missing))
        elif not claim.quotes:
            for draft in _sentences(claim.text):
                passages = draft.passages or tuple(claim.passages)
                yield replace(draft, passages=passages)
        elif plain := _plain(claim.text):
            numbers = claim.passages * (len(claim.quotes) if len(claim.passages) == 1 else 1)
            numbers += [0] * len(claim.quotes)
            cited = (
                CitedQuote(quote=_unquoted(quote)[:MAX_QUOTE], passage=number)
                for quote, number in zip(claim.quotes[:MAX_QUOTES], numbers, strict=False)
            )
            yield ClaimDraft(text=plain, cited=tuple(quote for quote in cited if quote.quote))


def _footnote(text: str) -> CitedQuote:
    quote, numbers = _FOOTNOTE_QUOTE.search(text), _NAMED.findall(text)
    trailing = _TRAILING.search(text)
    number = _DIGITS.findall(numbers[0])[0] if numbers else trailing["number"] if trailing else 0
    return CitedQuote(quote=quote["text"].strip() if quote else "", passage=int(number))


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
    plain = _ITEM.sub("", " ".join(text.split()), count=1).lstrip("*#>•- ").strip()
    return plain[:MAX_CLAIM] if any(mark.isalnum() for mark in plain) else ""


_START: Final = re.compile(r"\s*(?:```\s*json\b|\[\s*$|\[?\s*\{\s*(?:[\"']|$))", re.IGNORECASE)
_TOKEN: Final = re.compile(
    r'"(?P<string>(?>(?:[^"\\]|\\.)*))"\s*(?P<colon>:)?|(?P<number>\b\d{1,4}\b)|(?P<brace>[{}])',
    re.DOTALL,
)
_CLAIMS: Final = frozenset({"claim", "text", "statement", "sentence", "answer", "content", "fact"})
_QUOTES: Final = frozenset({"quote", "quotes", "quotation", "evidence", "excerpt", "support"})
_UNANSWERED: Final = frozenset({"notfound", "missing", "unanswered"})
_PASSAGES: Final = frozenset(
    {"passage", "passages", "source", "sources", "number", "id", "reference", "references"}
    | {"citation", "citations", "passagenumber", "passageid"}
)


@dataclass(slots=True)
class JsonClaim:
    """The values of an object: a claim, its quotes, its passages, or what is missing."""

    text: str = ""
    quotes: list[str] = field(default_factory=list)
    passages: list[int] = field(default_factory=list)
    missing: str = ""


def begins_json(line: str) -> bool:
    """Tell whether an answer goes on as JSON from a line; "[2] …" is prose."""
    return _START.match(line) is not None


def read_claims(text: str) -> Iterator[JsonClaim]:
    """Yield the objects that have a claim, or say what is missing, in their order, from JSON as
    small models write it: fenced, cut off, with stray commas.

    Strings and numbers are taken in their order, by the key before them; the rest is ignored. So
    broken JSON is read as far as it goes, and any nesting is harmless. Linear time.
    """
    claim, key, depth, own_depth = JsonClaim(), "", 0, 0
    for token in _TOKEN.finditer(text):
        if token["brace"]:
            depth += 1 if token["brace"] == "{" else -1
            is_end = depth < own_depth and bool(claim.text)
        elif token["colon"]:
            key = re.sub(r"\W|_", "", token["string"].lower())
            continue
        else:
            is_end = bool(claim.text) and key in _CLAIMS
        if is_end:
            yield claim
            claim, own_depth = JsonClaim(), 0
        if not token["brace"]:
            _add(claim, key, token["number"] or _unescaped(token["string"]))
            own_depth = own_depth or (depth if claim.text else 0)
        if claim.missing:
            yield JsonClaim(missing=claim.missing)
            claim.missing = ""
    if claim.text:
        yield claim


def _add(claim: JsonClaim, key: str, value: str) -> None:
    if key in _CLAIMS:
        claim.text = value
    elif key in _UNANSWERED:
        claim.missing = value
    elif key in _PASSAGES:
        claim.passages += map(int, _DIGITS.findall(value)[:8])
    elif key in _QUOTES and not value.isdecimal():
        claim.quotes.append(value)


def _unescaped(string: str) -> str:
    try:
        return str(json.loads(f'"{string}"', strict=False))
    except ValueError:
        return string
