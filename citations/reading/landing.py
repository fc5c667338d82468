"""Where a hit is opened: at the sentence of the passage that has the query's words or, where it
has none, that is nearest to it in meaning.
"""

from bisect import bisect_left, bisect_right
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from citations import conf
from citations.models import Source
from citations.passages import Locator
from citations.quotes import source_texts
from citations.quotes.source_texts import SourceText
from citations.search.chunk_rows import sentence_with_words
from citations.text import sentences
from citations.vectors import space as vector_space
from transcripts.core.errors import KnowledgeBaseError

Span = tuple[int, int]  # characters [first, last)

MAX_SENTENCES = 24  # of a passage that are embedded


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """The sentence that is opened and marked, and the passage from it to its end."""

    sentence: Locator
    rest: Locator


def find(source: Source, span: Span, query: str) -> Landing | None:
    """Return the sentence of a passage (characters of the source's text) that a query is about.

    The whole passage where neither words nor a model on this machine can tell; None if the source
    has become shorter than that.
    """
    source_text = source_texts.of(source)
    text = source_text.text[slice(*span)]
    if not text.strip():
        return None
    sentence = sentence_with_words(text, query, source.language)
    if not sentence:
        with suppress(KnowledgeBaseError):  # without a model, the passage is marked
            sentence = _nearest_in_meaning(text, query)
    first, last = span
    start, stop = sentence or (0, len(text))
    return Landing(
        sentence=source_text.locate(_on_one_page(source_text, (first + start, first + stop))),
        rest=source_text.locate((first + start, last)),
    )


def _nearest_in_meaning(text: str, query: str) -> Span | None:
    space = vector_space.locked()
    if space is None or space.provider in conf.EMBEDDING_SERVICES:  # too slow for a mark
        return None
    spans = sentences.split(text)[:MAX_SENTENCES]
    embedder = vector_space.embedder_of(space)
    vectors = embedder.embed_documents([text[start:stop] for start, stop in spans])
    start, stop = spans[int(np.argmax(np.asarray(vectors) @ embedder.embed_query(query)))]
    return start, start + len(text[start:stop].rstrip())


def _on_one_page(source_text: SourceText, span: Span) -> Span:
    """Keep the part of a sentence on its first page: only one page is opened."""
    first, last = span
    block = max(0, bisect_right(source_text.offsets, first) - 1)
    pages = source_text.pages[block : bisect_left(source_text.offsets, last)]
    later = next((n for n, page in enumerate(pages) if page != pages[0]), None)
    return span if later is None else (first, source_text.offsets[block + later])
