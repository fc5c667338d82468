"""Compounds of which a word of a query is a part: “Datenbanksicherung” for “Sicherung”.

They are looked for in the library's own lexicon, in the languages that write them in one word.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from citations.caches import CACHE
from citations.lexical import snapshot
from citations.lexical.snapshot import Snapshot
from transcripts.text.bm25 import QueryWord
from transcripts.text.compounds import LANGUAGES, MIN_COMPOUND, MIN_PART, parts
from transcripts.text.forms import WORTH
from transcripts.text.terms import term_of

MAX_COMPOUNDS: Final = 200  # of a word, the shortest

_MERGED = """
    SELECT string_agg(term, E'\\n') FROM citations_lexblock
    WHERE pack = %s AND right(term, 3) = ANY(%s) AND char_length(term) >= %s
"""
_ENDINGS: Final = tuple(f"/{code}" for code in LANGUAGES)
_LEAST: Final = MIN_COMPOUND + len(_ENDINGS[0])


def find(words: Sequence[QueryWord], state: Snapshot) -> Mapping[str, Mapping[str, float]]:
    """Return the terms of compounds with words, and what an occurrence of one counts."""
    long = [word.text for word in words if word.beyond is None and len(word.text) >= MIN_PART]
    codes = state.codes.intersection(LANGUAGES)
    lexicon = [*_lexicon(state)] if long and codes else []
    within = {word: dict.fromkeys(_with(word, codes, lexicon), WORTH) for word in long}
    return {word: terms for word, terms in within.items() if terms}


def _with(word: str, codes: Iterable[str], lexicon: Sequence[str]) -> list[str]:
    compounds = {
        compound
        for code in codes
        for terms in lexicon
        for compound in parts(term_of(word, code), terms)
    }
    return sorted(compounds, key=lambda term: (len(term), term))[:MAX_COMPOUNDS]


def _lexicon(state: Snapshot) -> Iterator[str]:
    """Yield the long terms of each pack and each unmerged entry, one a line."""
    for pack in state.packs:
        key = ("compounds", pack.number, pack.version)
        terms = CACHE.get(key)
        if terms is None:
            parameters = [pack.number, [*_ENDINGS], _LEAST]
            terms = _lines((snapshot.fetch(_MERGED, parameters)[0][0] or "").split("\n"))
            CACHE.keep(key, terms, len(terms))
        yield terms
    for entry in state.tail:
        yield _lines(entry.words.terms)


def _lines(terms: Iterable[str]) -> str:
    long = [term for term in terms if len(term) >= _LEAST and term.endswith(_ENDINGS)]
    return "".join([f"\n{term}\n" for term in long])
