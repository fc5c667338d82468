"""The gap of a card: the sentence that a highlight stands in, and which of its words are hidden."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from citations.errors import HiddenWordsNotFound
from citations.lexical import index as lexical_index
from citations.library.filters import Filter, resolve
from citations.models import Highlight, Source
from citations.notebook import cloze
from citations.notebook.cloze import Span
from citations.passages import Locator
from citations.providers.languages import stop_words
from citations.quotes import source_texts
from citations.text.function_words import function_words
from citations.text.key_sentences import FILLERS
from transcripts.sanitize import clean
from transcripts.scope import Scope
from transcripts.stemming import primary_language
from transcripts.tokenizer import tokenize

FEW: Final = 100  # chunks of a collection that tell little about how common a word is
MAX_HIDDEN: Final = 200  # characters that a reader hides


@dataclass(frozen=True, slots=True, kw_only=True)
class CardGap:
    """A card's sentence, the words that it asks for, and where these and their forms stand."""

    sentence: str
    words: str
    places: tuple[Span, ...]

    @property
    def parts(self) -> Iterator[tuple[str, bool]]:
        """The sentence piece by piece, each with whether it is hidden."""
        end = 0
        for first, last in self.places:
            yield self.sentence[end:first], False
            yield self.sentence[first:last], True
            end = last
        yield self.sentence[end:], False


def of(row: Highlight, locator: Locator | None) -> CardGap:
    """Return the gap of a highlight at its place, or of a lost one in the stored text around it:
    the words that its reader chose, where the sentence has them, else the most telling ones.
    """
    sentence, inside, text = _sentence(row, locator)
    gap = cloze.find(sentence, row.hidden_words) or _telling(row.source, text, sentence, inside)
    return CardGap(
        sentence=sentence,
        words=" ".join(sentence[slice(*gap)].split()),
        places=tuple(cloze.places(sentence, gap, row.source.language)),
    )


def checked(row: Highlight, locator: Locator | None, words: str) -> str:
    """Return the words to hide as they are stored: empty where they are hidden anyway.

    Raises ``HiddenWordsNotFound`` where the sentence of the highlight does not have them.
    """
    wanted = " ".join(clean(words, MAX_HIDDEN).split())
    if not wanted:
        return ""
    sentence, inside, text = _sentence(row, locator)
    gap = cloze.find(sentence, wanted)
    if gap is None:
        raise HiddenWordsNotFound(f"The sentence of this card does not have the words “{wanted}”.")
    written, usual = (
        " ".join(sentence[slice(*span)].split())
        for span in (gap, _telling(row.source, text, sentence, inside))
    )
    return "" if written == usual else written


def _sentence(row: Highlight, locator: Locator | None) -> tuple[str, Span, str]:
    """Return the sentence of a highlight, the passage in it, and the text that it is of."""
    if locator is None:
        text = row.prefix + row.quote + row.suffix
        passage = (len(row.prefix), len(row.prefix) + len(row.quote))
    else:
        text, passage = source_texts.of(row.source).text, locator.span
    first, last = cloze.sentence_around(text, passage)
    inside = (max(0, passage[0] - first), min(last, passage[1]) - first)
    return text[first:last], inside, text


def _telling(source: Source, text: str, sentence: str, inside: Span) -> Span:
    """Return what a card hides unless its reader chose other words."""
    distinctions = _distinctions(source, text, cloze.words_of(sentence))
    return cloze.hidden(sentence, inside, _general(source.language), distinctions)


@lru_cache(maxsize=16)
def _general(language: str) -> frozenset[str]:
    """Return the words of a language that no card asks for."""
    grammar = function_words(primary_language(language) or "en")
    return stop_words(language) | grammar.general | FILLERS


def _distinctions(source: Source, text: str, words: list[str]) -> dict[str, float]:
    """Return how much each word distinguishes a text from the collection of its source; nothing
    where that is small.
    """
    every = resolve(Scope(readable=frozenset({source.collection_id})), Filter())
    if every.chunks < FEW:
        return {}
    times = _word_counts(text)
    shares = lexical_index.shares(words, resolved=every)
    return cloze.distinctions({word: times[word] for word in words}, shares)


@lru_cache(maxsize=16)
def _word_counts(text: str) -> Counter[str]:
    """Count the words of a source once: a list of cards is mostly of few."""
    return Counter(tokenize(text))
