"""Excerpts of passages: their sentences, and as many around one as make it understood. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeAlias

from citations.answers.answer import Evidence
from citations.answers.writing.term_matching import stems
from citations.text.sentences import Span, asks, ends_with_stop, is_listing, split

Read: TypeAlias = Callable[[Evidence], tuple[int, str]]
"""The source's text around a passage as it stands now, verbatim: at which character it begins, and it."""

FEWEST_WORDS: Final = 4  # of a sentence that may be cited by itself
LONGEST: Final = 600  # characters of one
TOLD: Final = 400  # characters of an excerpt of several sentences
LEANT_ON: Final = 2  # sentences before one, at most, that are told with it
PUNCTUATED: Final = 0.4  # of a text's sentences that end with a stop: it is punctuated, and what has none is no sentence
ALIKE: Final = 0.6  # share of words in common from which on a sentence says nothing new

_BULLET: Final = re.compile(
    r"\s*(?:(?:[-–—•▪*·]|>>)\s+(?=\S))?"
)  # of a list, or of another speaker
_LEANS: Final = re.compile(  # what begins so cannot be understood without what stands before it
    r"""["“„«(]*(?: So|And|But|Or|Nor|Then|Thus|Hence|Therefore|However|Also|Still|Yet|Instead|Otherwise|Because|Which
    | This|That|These|Those|It|Its|They|Them|Their|He|His|She|Her|Both|Neither|Such|Each|Here|There
    | Und|Aber|Oder|Denn|Also|Dann|Deshalb|Daher|Doch|Dies\w*|Jene\w*|Er|Sie|Es|Ihre?|Seine?|Beide|Dort|So
    | Et|Mais|Ou|Donc|Alors|Ainsi|Il|Elle|Ils|Elles|Ce|Cela|Cette|Ces|Ça|Y|Pero|Entonces|Esto|Esta|Este|Eso )\b""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """An excerpt that answers: characters ``span`` of the source's text. ``words`` is the share of the question's words in it, ``meaning`` how near it is."""

    part: int
    evidence: Evidence
    text: str
    span: Span
    score: float = 0.0
    words: float = 0.0
    meaning: float | None = None


def sentences(part: int, passages: Sequence[Evidence]) -> list[Pick]:
    """Return the sentences of passages, each once; headings, tables of contents, and what is too long to be cited are none."""
    found: dict[tuple[int, int], Pick] = {}
    for one in passages:
        for span, text in _cut(one):
            found.setdefault(
                (one.source, span[1]), Pick(part=part, evidence=one, text=text, span=span)
            )
    return [one for one in found.values() if len(one.text) <= LONGEST]


def leans(text: str) -> bool:
    """Say whether a sentence leans on the one before it."""
    return _LEANS.match(text) is not None


def grown(
    picks: Sequence[Pick],
    *,
    before: Sequence[Pick] = (),
    told: Sequence[str] = (),
    read: Read | None = None,
) -> list[Pick]:
    """Tell with each pick the sentence that it leans on, and what follows on it: an answer stands behind the question's words as often as among them.

    Nothing that ``before`` has, and no sentence that was ``told``, is told again.
    """
    made: list[Pick] = []
    for one in picks:
        if not any(overlap(one, other) for other in made):
            made.append(_grown(one, [*before, *made], told, read))
    return made


def is_told(sentence: str, told: Iterable[str]) -> bool:
    """Say whether a sentence stands in what was told, or has it in it, wherever that was from; white space does not matter. A few words are nobody's."""
    return any(_is_within(*sorted((_flat(sentence), _flat(one)), key=len)) for one in told)


def overlap(one: Pick, other: Pick) -> bool:
    """Say whether two have characters of a source in common."""
    return (
        one.evidence.source == other.evidence.source
        and one.span[0] < other.span[1]
        and other.span[0] < one.span[1]
    )


def repeats(one: Pick, other: Pick) -> bool:
    """Say whether one has little that the other has not said."""
    if overlap(one, other):
        return True
    mine, theirs = set(stems(one.text)), set(stems(other.text))
    return bool(mine and theirs) and len(mine & theirs) >= ALIKE * min(len(mine), len(theirs))


def _is_within(shorter: str, longer: str) -> bool:
    return shorter in longer and len(shorter.split()) >= FEWEST_WORDS


@lru_cache(maxsize=1_000)
def _flat(text: str) -> str:
    return " ".join(text.split())


# Sentences


def _cut(one: Evidence) -> Iterator[tuple[Span, str]]:
    offset = 0
    for start, end in one.spans:
        text = one.text[offset : offset + end - start]
        for first, last in _whole(text):
            if not (one.locator.page and is_listing(text[first:last])):
                yield (start + first, start + last), text[first:last]
        offset += end - start + 1


def _whole(text: str) -> Iterator[Span]:
    """Return sentences without the blanks around them: of a text with full stops, those that were cut for their length are whole again, and headings and
    beginnings are left out.
    """
    spans = split(text)
    if sum(ends_with_stop(text[first:last]) for first, last in spans) >= PUNCTUATED * len(spans):
        spans = list(_with_stops(text, spans))
    yield from (_trimmed(text, span) for span in spans if text[slice(*span)].strip())


def _with_stops(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    begun: int | None = None
    for first, last in spans:
        begun = first if begun is None or last - begun > LONGEST else begun
        piece = text[first:last]
        if ends_with_stop(piece):
            yield begun, last
            begun = None
        elif piece.endswith(
            ("\n", "\r")
        ):  # a heading, or what is left of a sentence of the page before
            begun = None


def _trimmed(text: str, span: Span) -> Span:
    piece = text[slice(*span)]
    lead = _BULLET.match(piece)
    return span[0] + (lead.end() if lead else 0), span[0] + len(piece.rstrip())


# What stands around them


def _grown(one: Pick, known: Sequence[Pick], told: Sequence[str], read: Read | None) -> Pick:
    offset, text = read(one.evidence) if read else _own(one)
    first, last = one.span[0] - offset, one.span[1] - offset
    if text[first:last] != one.text:
        return one  # the source was changed a moment ago

    def is_new(span: Span) -> bool:
        is_known = any(
            overlap(replace(one, span=(offset + span[0], offset + span[1])), other)
            for other in known
        )
        return not is_known and not is_told(text[slice(*span)], told)

    around = list(_whole(text))
    for front in [span for span in reversed(around) if span[1] <= first][:LEANT_ON]:
        if (
            not leans(text[first:last])
            or not _is_beside(text, front[1], first)
            or last - front[0] > TOLD
            or not is_new(front)
        ):
            break
        first = front[0]
    end = last
    for span in (span for span in around if span[0] >= last):
        if span[1] - first > TOLD or not _is_beside(text, end, span[0]) or not is_new(span):
            break
        end = span[1]
        last = last if asks(text[slice(*span)]) else end  # a question is told with its answer
    return replace(one, span=(offset + first, offset + last), text=text[first:last])


def _own(one: Pick) -> tuple[int, str]:
    """Return the stretch of the passage that a sentence stands in."""
    offset = 0
    for start, end in one.evidence.spans:
        if start <= one.span[0] and one.span[1] <= end:
            return start, one.evidence.text[offset : offset + end - start]
        offset += end - start + 1
    raise ValueError("the sentence does not stand in its passage")


def _is_beside(text: str, last: int, first: int) -> bool:
    """Say whether there is nothing between two sentences, not even the end of a paragraph."""
    return text[last:first].isspace() and text.count("\n", last, first) < 2 or last == first
