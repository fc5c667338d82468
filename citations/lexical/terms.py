"""The terms of the lexicon: what is stored of a word, by the language of its source. Pure.

A word that its source's language has a stemmer for is stored as its stem with that language,
"network/en"; any other word as it is. So a chunk has a word of a query exactly if the stemmer of
its language makes the same of both, one chunk has a word as one term only, and what a stemmer does
to the words of one language cannot match those of another.
"""

from functools import lru_cache
from hashlib import sha256

from transcripts.stemming import ALGORITHMS, stem_by

MAX_TERM = 128  # characters; PostgreSQL indexes values of at most about 2,700 bytes


def term_of(word: str, code: str) -> str:
    """Return the term of a word in a source of the language of a stemmer ("": of none)."""
    stem = stem_by(code, word)
    return _short(f"{stem}/{code}" if stem else word)  # no word contains "/" or "…"


@lru_cache(maxsize=1 << 14)
def terms_of(word: str) -> tuple[str, ...]:
    """Return every term of a word, whatever the language of its source."""
    return tuple(dict.fromkeys(term_of(word, code) for code in ("", *ALGORITHMS)))


def _short(term: str) -> str:
    """Return a term, or a prefix and a digest where it is very long."""
    if len(term) <= MAX_TERM:
        return term
    return f"{term[: MAX_TERM // 2]}…{sha256(term.encode()).hexdigest()}"
