"""Which hits of a search are listed as likely, on every door."""

from collections.abc import Sequence

from citations.models import Source, State
from citations.search import sentence
from citations.search.candidates import CandidateHit


def chunks(hits: Sequence[CandidateHit], words: str) -> set[int]:
    """Return the chunks of hits, best first, that are likely, that have all words of the query
    where these alone count, or that rank above such a one.
    """
    by_words = _likely_by_words([hit for hit in hits if not hit.is_likely], words)
    likely = [
        index for index, hit in enumerate(hits) if hit.is_likely or hit.candidate.chunk in by_words
    ]
    first = likely[0] if likely else 0
    return {hits[index].candidate.chunk for index in (*range(first), *likely)}


def _likely_by_words(hits: Sequence[CandidateHit], words: str) -> set[int]:
    """Return the chunks that have all words of the query, of sources that are searched by words
    alone so far: how near they are in meaning is not known.
    """
    ids = {hit.candidate.source for hit in hits}
    waiting = Source.objects.filter(pk__in=ids, state=State.WORDS)
    by_words = set(waiting.values_list("pk", flat=True))
    rows = (hit.candidate for hit in hits if hit.candidate.source in by_words)
    return {
        row.chunk for row in rows if sentence.has_all_words(row.text, words, row.origin.language)
    }
