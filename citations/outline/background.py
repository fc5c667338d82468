"""The other sources of a collection: what several begin with, and which words are common there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from django.db import connection

from citations.models import Source, visible_sources_sql
from citations.text import sentences
from transcripts.core.scope import Scope
from transcripts.text.tokenizer import tokenize

OPENING: Final = 1_500  # characters of a text's beginning that are compared
RUN: Final = 4  # words that follow each other, as the unit of comparison
ALIKE: Final = 0.6  # share of a sentence's runs that another opening has
FORMULA: Final = 0.6  # share of the characters up to its end that belong to the formula
WHOLE: Final = 0.8  # share of the opening that only a copy of the source has in common

Runs = frozenset[tuple[str, ...]]


def formula_end(text: str, openings: Iterable[str]) -> int:
    """Return how many characters of a text belong to a formula, such as a licence or a greeting,
    that other texts begin with.

    It is found by comparison alone, with ``openings``, the beginnings of these. Copies of the text
    itself do not count.
    """
    spans = sentences.split(text[:OPENING])
    own = [_runs(text[first:last]) for first, last in spans]
    every: Runs = frozenset().union(*own)
    alike = (every & _runs(opening[:OPENING]) for opening in openings)
    shared = frozenset().union(*(runs for runs in alike if len(runs) < WHOLE * len(every)))
    end = common = 0
    for (first, last), runs in zip(spans, own, strict=True):
        if runs and len(runs & shared) >= ALIKE * len(runs):
            common += last - first
            end = last if common >= FORMULA * last else end
    return end


def _runs(text: str) -> Runs:
    words = tokenize(text)
    return frozenset(zip(*(words[start:] for start in range(RUN)), strict=False))


MAX_SOURCES: Final = 40  # sources, those added last
FIRST: Final = 3  # chunks of each that hold its beginning
SAMPLE: Final = 8  # other chunks of each, spread evenly
MIN_SOURCES: Final = 4  # sources whose beginnings show which words are common
COMMON: Final = 1 / 3  # of the beginnings have a common word

_CHUNKS = """
    SELECT c.source_id, c.ordinal, c.text
    FROM citations_chunk c JOIN (
        SELECT id, chunk_count FROM citations_source
        WHERE id IN ({visible}) AND language = %(language)s AND id <> %(source)s
        ORDER BY id DESC LIMIT %(most)s
    ) AS other ON other.id = c.source_id
    WHERE c.ordinal < %(first)s OR c.ordinal %% greatest(1, other.chunk_count / %(sample)s) = 0
    ORDER BY c.source_id, c.ordinal
"""


@dataclass(frozen=True, kw_only=True)
class Background:
    """The beginnings of other sources, and passages of them."""

    openings: Sequence[str] = ()
    passages: Sequence[str] = ()

    def formula_end(self, text: str) -> int:
        """Return how many characters of a text belong to a formula that several begin with."""
        return formula_end(text, self.openings)

    def is_common(self, word: str) -> bool:
        """Tell whether a word sets no source apart, as “video” does in a course of videos."""
        count = sum(word.casefold() in words for words in self._words_of_openings)
        return len(self.openings) >= MIN_SOURCES and count >= COMMON * len(self.openings)

    @cached_property
    def _words_of_openings(self) -> list[frozenset[str]]:
        return [frozenset(tokenize(opening)) for opening in self.openings]


def of(source: Source) -> Background:
    """Return the background of a source: others in its collection and language."""
    visible, values = visible_sources_sql(Scope(readable=frozenset({source.collection_id})))
    parameters: dict[str, int | str] = {
        **values,
        "language": source.language,
        "source": source.pk,
        "most": MAX_SOURCES,
        "first": FIRST,
        "sample": SAMPLE,
    }
    openings: dict[int, str] = {}
    passages: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute(_CHUNKS.format(visible=visible), parameters)
        for other, ordinal, text in cursor.fetchall():
            if ordinal < FIRST:
                openings[other] = f"{openings.get(other, '')} {text}".lstrip()
            else:
                passages.append(text)
    return Background(openings=tuple(openings.values()), passages=tuple(passages))
