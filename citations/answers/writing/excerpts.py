"""The sentences of passages, with as many others around one as make it understood."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import Final, TypeAlias

from citations.answers.answer import Evidence
from citations.text.blocks import TableRow, table_rows
from citations.text.sentences import Span, asks, ends_with_stop, is_listing, is_punctuated, split
from citations.text.speakers import begins_turn
from citations.text.statements import is_exercise, is_pointer, points_back
from citations.text.words import function_words

Read: TypeAlias = Callable[[Evidence], tuple[int, str]]
"""Return the source's current text around a passage, and at which character it begins."""
Rows: TypeAlias = Callable[[Evidence], Iterable[TableRow]]
"""Return the rows of tables that a passage has a part of, by the source's characters."""

MIN_WORDS: Final = 4  # of a sentence that may be cited by itself
MAX_SENTENCE: Final = 600  # characters of a sentence
MAX_EXCERPT: Final = 400  # characters of an excerpt of several sentences
MAX_ADDED: Final = 2  # sentences that are added to one, before it or after it

_BULLET: Final = re.compile(r"\s*(?:(?:[-–—•▪*·]|>>)\s+(?=\S))?")  # or another speaker
_PARAGRAPH: Final = re.compile(r"\S.*?(?=\n\n|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """An excerpt: characters ``span`` of the source's text.

    ``meaning`` is its cosine with the question. A row of a table has the table's ``header``.
    ``answer`` is the sentence that answers among several; empty: there is no other.
    """

    evidence: Evidence
    text: str
    span: Span
    score: float = 0.0
    meaning: float | None = None
    header: tuple[str, ...] = ()
    answer: str = ""

    @property
    def said(self) -> str:
        """The text, and what the header of a table adds to it."""
        return " ".join((self.text, *self.header))


def own_rows(passage: Evidence) -> Iterator[TableRow]:
    """Yield the rows in a passage's own text: one that begins within a table lacks its header."""
    for start, text in _stretches(passage):
        yield from table_rows(text, start)


def sentences(passages: Sequence[Evidence], rows: Rows = own_rows) -> list[Pick]:
    """Return the sentences of passages and the rows of their tables, each once.

    Headings, tables of contents, exercises and pointers (“see figure 3”) are left out.
    """
    picks: dict[tuple[int, int], Pick] = {}
    for passage in passages:
        for pick in _split(passage, list(rows(passage))):
            picks.setdefault((passage.source, pick.span[1]), pick)
    return [
        pick
        for pick in picks.values()
        if len(pick.text) <= MAX_SENTENCE
        and not is_pointer(pick.text)
        and (
            ends_with_stop(pick.text)
            or _flat(pick.text).strip("# ").casefold() not in pick.evidence.heading.casefold()
        )
    ]


def extended(
    picks: Sequence[Pick], *, earlier_quotes: Sequence[str] = (), read: Read | None = None
) -> list[Pick]:
    """Add to each pick the sentence that it needs, and what follows it.

    An answer follows the question's words as often as it contains them. Nothing of
    ``earlier_quotes`` is added.
    """
    extensions: list[Pick] = []
    for pick in picks:
        if not any(overlap(pick, other) for other in extensions):
            extensions.append(_extended(pick, extensions, earlier_quotes, read))
    return extensions


def is_repeated(sentence: str, earlier_quotes: Iterable[str]) -> bool:
    """Tell whether a sentence is part of an earlier quote, or has one as a part.

    White space does not matter, and matches of a few words do not count.
    """
    for quote in earlier_quotes:
        shorter, longer = sorted((_flat(sentence), _flat(quote)), key=len)
        if shorter in longer and len(shorter.split()) >= MIN_WORDS:
            return True
    return False


def overlap(pick: Pick, other: Pick) -> bool:
    """Tell whether two picks share characters of a source."""
    is_one_source = pick.evidence.source == other.evidence.source
    return is_one_source and pick.span[0] < other.span[1] and other.span[0] < pick.span[1]


@lru_cache(maxsize=1_000)
def _flat(text: str) -> str:
    return " ".join(text.split())


# Sentences


def _split(passage: Evidence, rows: Sequence[TableRow]) -> Iterator[Pick]:
    for start, text in _stretches(passage):
        own = [row for row in rows if row.span[0] < start + len(text) and start < row.span[1]]
        picks = list[Pick]()
        prose = _PARAGRAPH.sub(lambda it: "\n" * len(it[0]) if is_exercise(it[0]) else it[0], text)
        for row in own:  # blanked out, so that sentences keep their places
            begin, end = max(row.span[0] - start, 0), min(row.span[1] - start, len(text))
            prose = prose[:begin] + "\n" * (end - begin) + prose[end:]
            if row.header:
                pick = Pick(evidence=passage, text=row.text, span=row.span, header=row.header)
                picks.append(pick)
        for first, last in _sentences(prose):
            if not (passage.locator.page and is_listing(text[first:last])):
                span = (start + first, start + last)
                picks.append(Pick(evidence=passage, text=text[first:last], span=span))
        yield from sorted(picks, key=attrgetter("span"))


def _stretches(passage: Evidence) -> Iterator[tuple[int, str]]:
    """Yield the texts of a passage that stand together in the source, and where they begin."""
    offset = 0
    for start, end in passage.spans:
        yield start, passage.text[offset : offset + end - start]
        offset += end - start + 1


def _sentences(text: str) -> Iterator[Span]:
    """Yield sentences without surrounding white space.

    In a text with full stops, sentences that were cut for their length are joined again, and
    headings and beginnings are left out.
    """
    spans = split(text)
    if is_punctuated(text[first:last] for first, last in spans):
        spans = list(_joined(text, spans))
    for first, last in spans:
        piece = text[first:last]
        if piece.strip():
            lead = _BULLET.match(piece)
            yield first + (lead.end() if lead else 0), first + len(piece.rstrip())


def _joined(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    run: list[Span] = []
    for number, span in enumerate(spans, start=1):
        run.append(span)
        piece = text[slice(*span)]
        # Behind a line break comes a heading, or the rest of the last page's sentence.
        if ends_with_stop(piece) or piece.endswith(("\n", "\r")) or number == len(spans):
            if span[1] - run[0][0] > MAX_SENTENCE:  # speech without stops
                yield from run
            elif ends_with_stop(piece):
                yield run[0][0], span[1]
            run = []


# What stands around them


def _extended(
    pick: Pick, picks: Sequence[Pick], earlier_quotes: Sequence[str], read: Read | None
) -> Pick:
    if pick.header:
        return pick
    offset, text = read(pick.evidence) if read else _stretch(pick)
    first, last = pick.span[0] - offset, pick.span[1] - offset
    if text[first:last] != pick.text:  # the text has changed since
        return pick

    def is_new(span: Span) -> bool:
        added = replace(pick, span=(offset + span[0], offset + span[1]))
        is_known = any(overlap(added, other) for other in picks)
        return not is_known and not is_repeated(text[slice(*span)], earlier_quotes)

    around, grammar = list(_sentences(text)), function_words(pick.evidence.origin.language)
    added = 0
    for span in [span for span in reversed(around) if span[1] <= first][:MAX_ADDED]:
        if (
            not points_back(text[first:last], grammar)
            or not _is_beside(text, span[1], first)
            or last - span[0] > MAX_EXCERPT
            or not is_new(span)
        ):
            break
        first, added = span[0], added + 1
    is_spoken = pick.evidence.locator.start is not None
    end, before = last, text[first:last]
    announces = before.endswith(":")  # a list, which is not cut
    for span in (span for span in around if span[0] >= last):
        following = text[slice(*span)]
        added += not asks(following)
        most = MAX_SENTENCE if end > last else MAX_EXCERPT  # after a question, its answer
        if (
            (added > MAX_ADDED and not announces)
            or span[1] - first > most
            or not _is_beside(text, end, span[0])
            or not is_new(span)
            # Somebody else goes on.
            or (is_spoken and begins_turn(following, text) and not asks(before))
        ):
            break
        end, before = span[1], following
        last = last if asks(following) else end  # a question comes with its answer
    whole = text[first:last]
    answer = pick.text if pick.text != whole else ""
    return replace(pick, span=(offset + first, offset + last), text=whole, answer=answer)


def _stretch(pick: Pick) -> tuple[int, str]:
    """Return the stretch of the passage that a sentence stands in, and where it begins."""
    return next(
        (start, text)
        for start, text in _stretches(pick.evidence)
        if start <= pick.span[0] and pick.span[1] <= start + len(text)
    )


def _is_beside(text: str, last: int, first: int) -> bool:
    """Tell whether two sentences stand side by side in a paragraph, or the second one in a list
    that the first one announces.
    """
    is_near = text.count("\n", last, first) < 2 or text[:last].rstrip().endswith(":")
    return text[last:first].isspace() and is_near or last == first
