"""Name the sections of a text by their noun phrases, without a tagger. Pure.

A phrase is a run of content words, as in RAKE (Rose et al., 2010). It names a section well if its
words are frequent there and rare elsewhere, in its source and in others, if it returns, and if it
stands by itself, early, and where nouns stand: behind an article rather than behind a pronoun. With
an embedding model, it is also to mean what its section means, as in KeyBERT (Grootendorst, 2020).
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat, zip_longest
from os.path import commonprefix
from typing import Final, NamedTuple, TypeAlias

from citations.text.speakers import LABEL
from citations.text.words import FILLERS, FunctionWords, rarity
from transcripts.text.stemming import stem

MAX_WORDS: Final = 4  # content words of a phrase
EARLY: Final = 2.0  # a phrase is worth exp(-EARLY * its relative position)
NOUN: Final = 1.0  # exponent of the share of a word's places where nouns stand
MODIFIER: Final = 0.5  # the same of a phrase's first word
UNSEEN: Final = 0.3  # of such places of a word that has none
REPEATED: Final = 0.5  # exponent of the number of times that a phrase stands by itself
LENGTH: Final = 0.3  # exponent of the number of words by which the sum of their worths is divided
SINGLE: Final = 0.5  # factor on a single word's worth
ANNOUNCED: Final = 0.5  # bonus for a phrase that the speaker is “about”
KNOWN: Final = 0.5  # factor on the worth of a phrase that names an earlier sibling
PHRASES: Final = 2  # of a name, at most
NEARNESS: Final = 5.0  # a phrase is worth exp(NEARNESS * its cosine with its section)
COMPARED: Final = 15  # phrases of a section whose cosines are asked for
COMMON: Final = 0.5  # exponent of a word's rarity in other sources
FEW: Final = 30  # passages of other sources, with which rarity is not known
SECOND: Final = 0.7  # of the best phrase's worth, that a second one needs
FREE: Final = 0.35  # how often a phrase that stands only within longer ones stands by itself
ENDING: Final = 2  # letters in which forms of a word differ
MIN_LETTERS: Final = 3  # letters of a content word that is not in capitals
MAX_LETTERS: Final = 24  # letters; of scripts without blanks, whole clauses look like words

_TOKEN: Final = re.compile(r"\w+(?:[-‐]\w+)*(?:['’]s\b)?|[^\w\s]")
_PLAIN: Final = re.compile(r"[^\W\d_A-Z]+(?:\W|$)")  # begins with a word in lower case
_REMARK: Final = re.compile(r"\[[^\[\]\n]{1,40}\]")  # “[INAUDIBLE]”: nobody says it
_GENITIVE: Final = re.compile(r"['’]s$")


Cosines: TypeAlias = Callable[[Sequence[str]], Sequence[float]]  # of phrases with their section


class _Token(NamedTuple):
    word: str  # folded
    start: int
    stop: int
    is_content: bool


@dataclass(slots=True)
class _Phrase:
    """Where a phrase of a section stands; ``free``: by itself, not within a longer one."""

    words: tuple[str, ...]
    first: float  # from 0 to 1
    forms: Counter[str] = field(default_factory=Counter)
    free: int = 0
    announced: int = 0

    @property
    def form(self) -> str:
        """As it is written most often."""
        return self.forms.most_common(1)[0][0]


class Wording:
    """The words of a source, piece by piece, from which its sections are named."""

    def __init__(
        self,
        texts: Sequence[str],
        *,
        stops: frozenset[str],
        function_words: FunctionWords,
        language: str = "",
        others: Sequence[str] = (),
    ) -> None:
        """``others`` are passages of other sources; words frequent there name little here. A name
        in other forms of its words, by the stemmer of the language, is the same name.
        """
        self._language = language
        self._texts = texts
        self._grammar = function_words
        self._empty = stops | function_words.general
        self._known: dict[str, tuple[str, bool]] = {}  # folded words by their forms
        self._nominal: Counter[str] = Counter()
        self._verbal: Counter[str] = Counter()
        self._spread = self._texts_with_words(texts)
        self._others, self._elsewhere = len(others), self._texts_with_words(others)
        for text in texts:
            self._count_places(list(self._tokens(text)))

    def _texts_with_words(self, texts: Iterable[str]) -> Counter[str]:
        """Count the texts that have each content word."""
        return Counter(
            word
            for text in texts
            for word in {token.word for token in self._tokens(text) if token.is_content}
        )

    def _rarity(self, word: str) -> float:
        """Return how rare a word is in other sources, above 0 to 1."""
        if self._others < FEW:
            return 1.0
        frequency = self._others / (1 + self._elsewhere[word])
        return float((math.log1p(frequency) / math.log1p(self._others)) ** COMMON)

    def _count_places(self, tokens: list[_Token]) -> None:
        """Count where words stand: a noun ends what an article begins, a verb follows a pronoun."""
        before = ""
        for token, after in zip_longest(tokens, tokens[1:]):
            if not token.is_content:
                before = token.word
                continue
            ends = after is None or not after.is_content
            self._nominal[token.word] += ends and before in self._grammar.nominal
            self._verbal[token.word] += before in self._grammar.verbal
            before = before if before in self._grammar.nominal else ""

    def names(
        self, ranges: Iterable[tuple[int, int]], cosines: Iterable[Cosines | None] = ()
    ) -> Iterator[str]:
        """Name sections, each a range of pieces, by a phrase or two; "" where there is none.

        ``cosines`` of a section compare phrases with it; none where nothing embeds.
        """
        earlier: set[tuple[str, ...]] = set()  # phrases of the names so far
        for (first, last), compare in zip(ranges, chain(cosines, repeat(None)), strict=False):
            rated = self._rated(" ".join(self._texts[first:last]), earlier, compare)
            best = self._best(rated, earlier)
            earlier.update(map(self._stems, best))
            name = ", ".join(phrase.form for phrase in best)
            yield name[:1].upper() + name[1:] if _PLAIN.match(name) else name

    def _best(
        self, rated: Sequence[tuple[float, _Phrase]], earlier: set[tuple[str, ...]]
    ) -> list[_Phrase]:
        """Choose a phrase, and a second one that is about as good or tells two sections apart."""
        chosen: list[_Phrase] = []
        for worth, phrase in rated:
            is_apart = not chosen or self._stems(chosen[0]) not in earlier
            if (is_apart and worth < SECOND * rated[0][0]) or len(chosen) == PHRASES:
                break
            if not any(_are_alike(phrase, other) for other in chosen):
                chosen.append(phrase)
        return chosen

    def _rated(
        self, text: str, earlier: set[tuple[str, ...]], compare: Cosines | None
    ) -> list[tuple[float, _Phrase]]:
        """Rate the phrases of a section, best first."""
        tokens = list(self._tokens(text))
        counts = Counter(token.word for token in tokens if token.is_content)
        weights = {
            word: self._rarity(word) * count * rarity(self._spread[word], len(self._texts))
            for word, count in counts.items()
        }
        phrases = list(self._phrases(text, tokens))
        repeated = [phrase for phrase in phrases if phrase.forms.total() > 1]
        rated: list[tuple[float, _Phrase]] = []
        for phrase in repeated or phrases:  # a phrase that is said once is hardly the subject
            worth = self._worth(phrase, weights)
            rated.append((worth * (KNOWN if self._stems(phrase) in earlier else 1), phrase))
        rated.sort(key=lambda pair: (-pair[0], pair[1].words))
        if compare and rated:  # also by how near their meaning is to that of their section
            rated = rated[:COMPARED]
            cosines = compare([phrase.form for _, phrase in rated])
            near = zip(rated, cosines, strict=True)
            rated = [(worth * math.exp(NEARNESS * cosine), own) for (worth, own), cosine in near]
            rated.sort(key=lambda pair: (-pair[0], pair[1].words))
        return rated

    def _worth(self, phrase: _Phrase, weights: Mapping[str, float]) -> float:
        content = [word for word in phrase.words if word in weights]
        worth: float = sum(weights[word] for word in content) / len(content) ** LENGTH
        worth *= (SINGLE if len(content) == 1 else 1.0) * self._nouniness(phrase.words[-1]) ** NOUN
        worth *= self._nouniness(phrase.words[0]) ** MODIFIER
        worth *= (FREE + math.log1p(phrase.free)) ** REPEATED * math.exp(-EARLY * phrase.first)
        return worth * (1 + ANNOUNCED * math.log1p(phrase.announced))

    def _stems(self, phrase: _Phrase) -> tuple[str, ...]:
        return tuple(stem(word, self._language) for word in phrase.words)

    def _nouniness(self, word: str) -> float:
        """Return how likely a word is a noun, 0 to 1, by what stands before it in the source."""
        nominal, verbal = self._nominal[word], self._verbal[word]
        return (nominal + UNSEEN) / (nominal + verbal + 1)

    def _phrases(self, text: str, tokens: list[_Token]) -> Iterable[_Phrase]:
        phrases: dict[tuple[str, ...], _Phrase] = {}
        for first, last in self._runs(tokens):
            words = tuple(token.word for token in tokens[first:last])
            phrase = phrases.setdefault(words, _Phrase(words=words, first=first / len(tokens)))
            written = text[tokens[first].start : tokens[last - 1].stop]
            phrase.forms[" ".join(written.split())] += 1
            follows = first > 0 and tokens[first - 1].is_content
            phrase.free += not follows and not (last < len(tokens) and tokens[last].is_content)
            before = [token.word for token in tokens[max(0, first - 2) : first]]
            if before and before[-1] in self._grammar.nominal - self._grammar.about:
                before.pop()
            phrase.announced += bool(before) and before[-1] in self._grammar.about
        return phrases.values()

    def _runs(self, tokens: list[_Token]) -> Iterator[tuple[int, int]]:
        """Yield runs of tokens that begin and end with a content word."""
        for first, token in enumerate(tokens):
            if not token.is_content:
                continue
            length = 0
            for last in range(first, len(tokens)):
                if tokens[last].is_content:
                    length += 1
                    if length > MAX_WORDS:
                        break
                    yield first, last + 1
                elif tokens[last].word not in self._grammar.joins:
                    break

    def _tokens(self, text: str) -> Iterator[_Token]:
        spoken = LABEL.sub(lambda match: ":".rjust(len(match[0])), text)
        spoken = _REMARK.sub(lambda match: ".".rjust(len(match[0])), spoken)
        for match in _TOKEN.finditer(spoken):
            form = match[0]
            if form not in self._known:  # an identifier such as “X_0” names little
                word = _GENITIVE.sub("", form.casefold())
                is_acronym = len(form) > 1 and form.isalpha() and form.isupper()
                is_content = (is_acronym or MIN_LETTERS <= len(word) <= MAX_LETTERS) and not (
                    word in self._empty or word in FILLERS or word[0].isdigit() or "_" in word
                )
                self._known[form] = word, is_content
            yield _Token(self._known[form][0], *match.span(), self._known[form][1])


def _are_alike(phrase: _Phrase, other: _Phrase) -> bool:
    """Tell whether two phrases share a word, endings aside."""
    return any(
        len(commonprefix((mine, its))) >= max(MIN_LETTERS, min(len(mine), len(its)) - ENDING)
        for mine in phrase.words
        for its in other.words
    )
