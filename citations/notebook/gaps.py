"""The gap of a card: the sentence that a highlight stands in, and which of its words are hidden."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from citations.errors import HiddenWordsNotFound
from citations.lexical import index as lexical_index
from citations.models import Highlight
from citations.notebook import cloze
from citations.passages import Locator
from citations.providers.languages import stop_words
from citations.quotes import source_texts
from citations.text.sentences import Span
from citations.text.words import FILLERS, function_words
from transcripts.core.sanitize import clean
from transcripts.text.tokenizer import tokenize

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


@dataclass(frozen=True, kw_only=True)
class _CardSentence:
    """The sentence of a highlight, the passage in it, and the text that it is of."""

    row: Highlight
    sentence: str
    inside: Span
    text: str

    @cached_property
    def chosen_span(self) -> Span | None:
        """The words that the reader chose, where the sentence has them."""
        return cloze.find(self.sentence, self.row.hidden_words)

    def words(self, span: Span) -> str:
        return " ".join(self.sentence[slice(*span)].split())


def gap_of(row: Highlight, locator: Locator | None) -> CardGap:
    """Return the gap of a highlight at its place, or of a lost one in the stored text around it:
    the words that its reader chose, where the sentence has them, else the most telling ones.
    """
    return gaps_of([(row, locator)])[0]


def gaps_of(places: Iterable[tuple[Highlight, Locator | None]]) -> list[CardGap]:
    """Return the gaps of highlights at their places, by a constant number of queries."""
    cards = _sentences(places)
    defaults = iter(_default_spans([card for card in cards if card.chosen_span is None]))
    gaps = []
    for card in cards:
        gap = card.chosen_span or next(defaults)
        spans = cloze.places(card.sentence, gap, card.row.source.language)
        gaps.append(CardGap(sentence=card.sentence, words=card.words(gap), places=tuple(spans)))
    return gaps


def stored_words(row: Highlight, locator: Locator | None, words: str) -> str:
    """Return the words to hide as they are stored: empty if the card hides them by default.

    Raises ``HiddenWordsNotFound`` where the sentence of the highlight does not have them.
    """
    hidden = " ".join(clean(words, MAX_HIDDEN).split())
    if not hidden:
        return ""
    (card,) = _sentences([(row, locator)])
    gap = cloze.find(card.sentence, hidden)
    if gap is None:
        raise HiddenWordsNotFound(f"The sentence of this card does not have the words “{hidden}”.")
    (default,) = _default_spans([card])
    written = card.words(gap)  # as the sentence has them
    return "" if written == card.words(default) else written


def _sentences(places: Iterable[tuple[Highlight, Locator | None]]) -> list[_CardSentence]:
    placed = [*places]
    readings = source_texts.of_each(row.source for row, locator in placed if locator is not None)
    cards = []
    for row, locator in placed:
        if locator is None:
            text = row.prefix + row.quote + row.suffix
            passage = (len(row.prefix), len(row.prefix) + len(row.quote))
        else:
            text, passage = readings[row.source_id].text, locator.span
        first, last = cloze.sentence_around(text, passage)
        inside = (max(0, passage[0] - first), min(last, passage[1]) - first)
        cards.append(_CardSentence(row=row, sentence=text[first:last], inside=inside, text=text))
    return cards


def _default_spans(cards: Sequence[_CardSentence]) -> list[Span]:
    """Return what each card hides unless its reader chose words: those that distinguish its
    source most from the collection, unless that is small.
    """
    words: dict[int, set[str]] = {}
    for card in cards:
        own = words.setdefault(card.row.source.collection_id, set())
        own.update(cloze.words_of(card.sentence))
    shares = lexical_index.shares(words, least=FEW)
    spans = []
    for card in cards:
        source, worth = card.row.source, dict[str, float]()
        if (own_shares := shares.get(source.collection_id)) is not None:
            times = _word_counts(card.text)
            own_times = {word: times[word] for word in cloze.words_of(card.sentence)}
            worth = cloze.distinctions(own_times, own_shares)
        general = _general(source.language)
        spans.append(cloze.hidden(card.sentence, card.inside, general, worth))
    return spans


@lru_cache(maxsize=16)
def _general(language: str) -> frozenset[str]:
    """Return the words of a language that no card asks for."""
    grammar = function_words(language)
    return stop_words(language) | grammar.general | FILLERS


@lru_cache(maxsize=16)
def _word_counts(text: str) -> Counter[str]:
    """Count the words of a source once: a list of cards is mostly of few."""
    return Counter(tokenize(text))
