"""The other sources of a collection: what several begin with, and which words are common there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db import connection

from citations.models import Source
from citations.text import boilerplate

MOST: Final = 40  # sources, those added last
FIRST: Final = 3  # chunks of each that hold its beginning
SAMPLE: Final = 8  # other chunks of each, spread evenly

_CHUNKS = """
    SELECT c.source_id, c.ordinal, c.text
    FROM citations_chunk c JOIN (
        SELECT id, chunk_count FROM citations_source
        WHERE collection_id = %(collection)s AND language = %(language)s AND id <> %(source)s
            AND deletion IS NULL
        ORDER BY id DESC LIMIT %(most)s
    ) AS other ON other.id = c.source_id
    WHERE c.ordinal < %(first)s OR c.ordinal %% greatest(1, other.chunk_count / %(sample)s) = 0
    ORDER BY c.source_id, c.ordinal
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """The beginnings of other sources, and passages of them."""

    openings: Sequence[str] = ()
    passages: Sequence[str] = ()

    def formula_end(self, text: str) -> int:
        """Return how many characters of a text belong to a formula that several begin with."""
        return boilerplate.formula_end(text, self.openings)


def of(source: Source) -> Background:
    """Return the background of a source: others in its collection and language."""
    parameters: dict[str, int | str] = {
        "collection": source.collection_id,
        "language": source.language,
        "source": source.pk,
        "most": MOST,
        "first": FIRST,
        "sample": SAMPLE,
    }
    openings: dict[int, str] = {}
    passages: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute(_CHUNKS, parameters)
        for other, ordinal, text in cursor.fetchall():
            if ordinal < FIRST:
                openings[other] = f"{openings.get(other, '')} {text}".lstrip()
            else:
                passages.append(text)
    return Background(openings=tuple(openings.values()), passages=tuple(passages))
