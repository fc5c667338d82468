"""The text of a recording as sentences and paragraphs, each with its time, who says what, and the
sentences that have the words of a search. Pure.

Offsets count characters of the cues' texts joined by blanks, as in the source's text; times are
milliseconds.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final, NamedTuple

from citations.text import occurrences, sentences
from citations.text.blocks import share_of_cue
from citations.text.occurrences import SearchTerm
from citations.text.speakers import Turns
from transcripts.text.cues import Cue
from transcripts.text.reading import full_text

Span = tuple[int, int]  # characters [first, last)

PARAGRAPH: Final = 420  # characters after which the next sentence begins a paragraph
MAX_PARAGRAPH: Final = 4 * PARAGRAPH  # where no sentence ends
MAX_SPEAKERS: Final = 12  # to choose from
PAUSE: Final = 2_000  # ms of silence that begin a paragraph
DASHES: Final = ("- ", "– ")  # how captions begin another speaker's words


class SpokenSentence(NamedTuple):
    """A sentence or, in captions without stops, the speech between two pauses."""

    first: int
    last: int
    start: int  # ms
    end: int  # ms


@dataclass(frozen=True)
class SpokenText:
    """The cues of a transcript, in time order, as running text.

    ``words`` are the first characters of words with known times, and those times, in order.
    """

    cues: Sequence[Cue]
    words: Sequence[tuple[int, int]] = ()

    @cached_property
    def text(self) -> str:
        return full_text(self.cues)

    @cached_property
    def offsets(self) -> list[int]:
        """The first character of each cue."""
        offsets, position = [], 0
        for cue in self.cues:
            offsets.append(position)
            position += len(cue.text) + 1
        return offsets

    @cached_property
    def turns(self) -> Turns:
        return Turns(self.text, self.offsets)

    @cached_property
    def sentences(self) -> list[SpokenSentence]:
        """All sentences; together they are the text. Where others begin to speak, one ends."""
        silences = (after.start - before.end for before, after in pairwise(self.cues))
        pauses = dict(zip(self.offsets[1:], silences, strict=True))
        turns = self.turns.starts
        spans: list[Span] = []
        for first, last in sentences.split(
            self.text, {offset: silence for offset, silence in pauses.items() if silence > 0}
        ):
            within = turns[bisect_right(turns, first) : bisect_left(turns, last)]
            spans += pairwise([first, *within, last])
        starts = [self.time_at(first) for first, _ in spans]
        spoken = []
        for (first, last), start, end in zip(
            spans, starts, [*starts[1:], self.duration], strict=False
        ):
            cue = self.cues[max(0, bisect_left(self.offsets, last) - 1)]
            spoken.append(SpokenSentence(first, last, start, min(max(start, end), cue.end)))
        return spoken

    @property
    def duration(self) -> int:
        """When the last words end, in ms."""
        return max((cue.end for cue in self.cues[-50:]), default=0)

    def time_at(self, offset: int) -> int:
        """Return when a character is said: its word's time, or a share of the cue's duration."""
        if not self.cues:
            return 0
        number = max(0, bisect_right(self.offsets, offset) - 1)
        word = bisect_right(self.words, offset, key=itemgetter(0)) - 1
        if word >= 0 and self.words[word][0] >= self.offsets[number]:
            return self.words[word][1]
        cue = self.cues[number]
        # Captions that roll are shown until after the next ones begin.
        following = self.cues[number + 1].start if number + 1 < len(self.cues) else cue.end
        end = min(cue.end, following)
        return share_of_cue(cue.start, end, offset - self.offsets[number], len(cue.text))

    def sentence_at(self, offset: int) -> int:
        """Return the number of the sentence of a character."""
        return max(0, bisect_right(self.sentences, offset, key=lambda sentence: sentence.first) - 1)

    def span_between(self, start: int, end: int) -> Span | None:
        """Return the characters of the sentences whose middle is between two times, if any."""
        sentences = [
            sentence
            for sentence in self.sentences
            if start <= (sentence.start + sentence.end) / 2 < end
        ]
        return (sentences[0].first, sentences[-1].last) if sentences else None

    def sentence_at_time(self, ms: int) -> int:
        """Return the number of the sentence that is said at a time."""
        return max(0, bisect_right(self.sentences, ms, key=lambda sentence: sentence.start) - 1)

    def paragraphs(
        self, first: int, last: int, *, breaks: Sequence[int]
    ) -> list[list[SpokenSentence]]:
        """Group the sentences that begin at the characters [first, last).

        A paragraph begins after ``PAUSE``, with another speaker, at a time of ``breaks`` (ms, in
        order), or with the first sentence beyond ``PARAGRAPH`` characters. Neither length nor a
        pause ends it within a sentence that was cut as it is long, up to ``MAX_PARAGRAPH``.
        """
        begin = bisect_left(self.sentences, first, key=lambda sentence: sentence.first)
        stop = bisect_left(self.sentences, last, key=lambda sentence: sentence.first)
        grouped: list[list[SpokenSentence]] = []
        for sentence in self.sentences[begin:stop]:
            if not grouped or self._begins(grouped[-1], sentence, breaks):
                grouped.append([])
            grouped[-1].append(sentence)
        return grouped

    def _begins(
        self, before: list[SpokenSentence], sentence: SpokenSentence, breaks: Sequence[int]
    ) -> bool:
        previous = before[-1]
        length = sentence.first - before[0].first
        is_rest = length >= PARAGRAPH or sentence.start - previous.end >= PAUSE
        # Without stops, each piece counts as a whole sentence.
        has_ended = not self._is_punctuated or sentences.ends_with_stop(self._words(previous))
        return (
            (is_rest and (length >= MAX_PARAGRAPH or has_ended))
            or self.text.startswith(DASHES, sentence.first)
            or sentence.first in self.turns.labels
            or bisect_right(breaks, sentence.start) > bisect_right(breaks, previous.start)
        )

    @cached_property
    def _is_punctuated(self) -> bool:
        return sentences.is_punctuated(map(self._words, self.sentences))

    def _words(self, sentence: SpokenSentence) -> str:
        return self.text[sentence.first : sentence.last]


@dataclass(frozen=True, slots=True)
class Speech:
    """What somebody says until another speaker begins."""

    name: str
    sentences: tuple[SpokenSentence, ...]


@dataclass(frozen=True, slots=True)
class Speaker:
    """Somebody who speaks, and how many times."""

    name: str
    count: int


def speeches(text: SpokenText) -> list[Speech]:
    """Return what named speakers say, in order; what others say belongs to none."""
    turns = groupby(text.sentences, key=lambda sentence: text.turns.turn_at(sentence.first))
    return [Speech(turn.name, tuple(sentences)) for turn, sentences in turns if turn.name]


def speakers(every: Sequence[Speech]) -> list[Speaker]:
    """Return who speaks most, in order of their first turn."""
    counts = Counter(speech.name for speech in every)
    frequent = dict(counts.most_common(MAX_SPEAKERS))
    return [Speaker(name, count) for name, count in counts.items() if name in frequent]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceMatches:
    """The numbers, in order, of the sentences with the most ``terms``: they have ``words`` of them.

    ``is_phrase``: the words stand side by side somewhere, and only that counts. ``has_forms``: more
    are found in other forms than as they are typed, which count then.
    """

    numbers: tuple[int, ...] = ()
    words: int = 0
    terms: tuple[SearchTerm, ...] = ()
    is_phrase: bool = False
    has_forms: bool = False

    @property
    def of(self) -> int:
        return len(self.terms)


def find_matches(
    text: str,
    starts: Sequence[int],
    terms: tuple[SearchTerm, ...],
    *,
    phrase: SearchTerm | None = None,
    inflect: Callable[[tuple[SearchTerm, ...]], tuple[SearchTerm, ...]],
) -> SentenceMatches:
    """Find the sentences, which begin at ``starts``, with the ``phrase`` that a search is; if there
    are none, those with the most of its terms; ``inflect`` adds other forms to these.
    """
    if phrase and (numbers := _sentences(text, starts, phrase)):
        return SentenceMatches(
            numbers=tuple(sorted(numbers)), words=1, terms=(phrase,), is_phrase=True
        )
    sentences = {term: _sentences(text, starts, term) for term in terms}
    typed = _matches(terms, sentences)
    if typed.words == len(terms):
        return typed
    inflected = inflect(terms)
    for term in inflected:
        if term not in sentences:
            sentences[term] = _sentences(text, starts, term)
    other = replace(_matches(inflected, sentences), has_forms=True)
    return other if other.words > typed.words else typed


def _sentences(text: str, starts: Sequence[int], term: SearchTerm) -> set[int]:
    places = (first for first, _ in occurrences.find(text, [term]))
    return {max(0, bisect_right(starts, place) - 1) for place in places}


def _matches(
    terms: tuple[SearchTerm, ...], sentences: Mapping[SearchTerm, set[int]]
) -> SentenceMatches:
    counts = Counter(number for term in terms for number in sentences[term])
    most = max(counts.values(), default=0)
    numbers = tuple(sorted(number for number, count in counts.items() if count == most))
    return SentenceMatches(numbers=numbers, words=most, terms=terms)
