"""Which passages of a search are listed as likely, on every door."""

from collections.abc import Sequence
from dataclasses import replace

from citations.models import Source, State
from citations.passages import Passage
from citations.search import sentence


def mark(passages: Sequence[Passage], words: str) -> list[Passage]:
    """Count as likely what ranks above a likely passage, and what counts for its words.

    ``passages`` are those of one search, best first; ``words`` are the query's.
    """
    likely = [index for index, passage in enumerate(passages) if passage.is_likely]
    first = likely[0] if likely else 0
    by_words = _likely_by_words(passages, words)
    return [
        replace(passage, is_likely=True) if index < first or passage.chunk in by_words else passage
        for index, passage in enumerate(passages)
    ]


def _likely_by_words(passages: Sequence[Passage], words: str) -> set[int]:
    """Return the chunks that have all words of the query, of sources that are searched by words
    alone so far: how near they are in meaning is not known.
    """
    with_words = [
        passage
        for passage in passages
        if not passage.is_likely
        and sentence.has_all_words(passage.text, words, passage.origin.language)
    ]
    if not with_words:
        return set()
    ids = {passage.origin.id for passage in with_words}
    waiting = Source.objects.filter(uuid__in=ids, state=State.WORDS)
    by_words = set(waiting.values_list("uuid", flat=True))
    return {passage.chunk for passage in with_words if passage.origin.id in by_words}
