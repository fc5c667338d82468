"""The sentences of a source that can be shown by themselves: whole and plain ones. Pure."""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from citations.text import sentences
from citations.text.function_words import FunctionWords
from citations.text.key_sentences import FILLERS, Words, words_of
from citations.text.sentences import Span, asks, ends_with_stop
from citations.text.speakers import LABEL
from citations.text.standalone import standing, without_lead

MAX_LENGTH: Final = 260  # characters; longer sentences are cut by ``sentences.split``
SHORTEST: Final = 10
TASK: Final = 4  # sentences after one that a task begins with, of which one says what to do
TASK_WORD: Final = 40  # characters of a sentence in which its first word stands
LETTERS: Final = 0.8  # of a sentence's characters; formulas, code and tables have fewer
FEW_WORDS: Final = 6  # content words; sentences with fewer rate lower

# Formulas, code, addresses, tokenized text (“don 't ,”), text over several paragraphs, and numbered
# items, which in a textbook are tasks.
_MARKUP: Final = re.compile(
    r"[$\\|{}<>=_*#`@~^•→⟨∑∫√]|https?:|www\.|\w\(\w|\s[,.]|\n\s*\n|^\d+(?:[.)]\s|\s+[A-Z])"
)
# What captions write of sounds and speakers: “(upbeat music) - [Instructor] In this video, …”.
_SOUND: Final = re.compile(r"\s*(?:[(\[][^()\[\]]{2,40}[)\]]\s*[-–]?\s*)+")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LETTER: Final = re.compile(r"[^\W\d_]|\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence at characters [first, last) of its source, and how well it stands alone, 0–1."""

    text: str
    first: int
    last: int
    standing: float
    words: Words
    commands: bool = False  # tells its reader what to do: “Click …”, “In the menu, choose …”
    is_given: bool = False  # a sentence soon after it commands or asks: it is given for a task

    @property
    def span(self) -> Span:
        return self.first, self.last

    @property
    def flat(self) -> str:
        """The text on one line."""
        return " ".join(self.text.split())

    @property
    def asks(self) -> bool:
        return asks(self.text)

    @property
    def is_begun(self) -> bool:
        """Whether it continues the sentence before: its “so” or “and” was cut off."""
        return self.text[:1].islower()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSentences:
    """A source's text in whole sentences."""

    text: str
    statements: tuple[Statement, ...]
    counts: Counter[str]  # of content words, in the whole text


def read(text: str, *, stops: frozenset[str], function_words: FunctionWords) -> SourceSentences:
    """Split a text into the sentences that can be shown. Takes linear time."""
    spans = sentences.split(text)
    has_stops = sentences.is_punctuated(text[first:last] for first, last in spans)
    whole = _whole(text, spans) if has_stops else ()
    verbs = _verbs(text, function_words)
    tasks = [first for first, last in spans if _is_task(text[first:last], verbs)]
    starts = [first for first, _ in spans]
    statements: list[Statement] = []
    for first, last in whole:
        sound = _SOUND.match(text, first, last)
        said = text[sound.end() if sound else first : last].strip()
        said = without_lead(said, function_words.leading)
        start = text.find(said, first, last) if said else -1
        if start >= 0 and _is_plain(said, function_words):
            statements.append(
                Statement(
                    text=said,
                    first=start,
                    last=start + len(said),
                    standing=standing(said, function_words=function_words, fillers=FILLERS),
                    words=words_of(said, stops),
                    commands=_commands(said, verbs, stops),
                    is_given=_is_given(start + len(said), starts, tasks),
                )
            )
    return SourceSentences(text=text, statements=tuple(statements), counts=words_of(text, stops))


def salience(statement: Statement, counts: Counter[str]) -> float:
    """Rate a sentence by how often its words occur in the source."""
    often: float = sum(counts[word] for word in statement.words)
    return statement.standing * often / math.sqrt(max(FEW_WORDS, statement.words.total()))


def _whole(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the sentences that end with a stop, and follow one or a line break."""
    is_open = False
    for first, last in spans:
        sentence = text[first:last]
        is_closed = ends_with_stop(sentence)
        if is_closed and not is_open:
            yield first, last
        is_open = not is_closed and "\n" not in sentence[-2:]


def _is_given(last: int, starts: Sequence[int], tasks: Sequence[int]) -> bool:
    """Tell whether one of the ``TASK`` sentences after a character is a task."""
    place = bisect_left(starts, last)
    later = starts[place : place + TASK]
    return bool(later) and bisect_left(tasks, later[0]) < bisect_right(tasks, later[-1])


def _is_task(sentence: str, verbs: Set[str]) -> bool:
    """Tell whether a sentence asks, or begins with what its reader is to do."""
    words = _WORD.findall(sentence[:TASK_WORD])
    return asks(sentence) or (bool(words) and words[0].casefold() in verbs)


def _commands(said: str, verbs: Set[str], stops: frozenset[str]) -> bool:
    words = [part.split()[0].casefold() for part in said.split(",") if part.strip()]
    return not verbs.isdisjoint(words[:1]) or not (verbs - stops).isdisjoint(words[1:])


def _verbs(text: str, function_words: FunctionWords) -> set[str]:
    """Return the words that stand where verbs do more often than where nouns do."""
    words = [word.casefold() for word in _WORD.findall(text)]
    places: Counter[str] = Counter()
    subjects = function_words.verbal - function_words.pointing  # “it” has a verb that ends in “s”
    for before, word in pairwise(words):
        places[word] += (before in subjects) - (before in function_words.nominal)
    others = function_words.nominal | function_words.verbal | function_words.linking
    return {word for word, balance in places.items() if balance > 0 and word not in others}


def _is_plain(said: str, function_words: FunctionWords) -> bool:
    """Tell running text from formulas, code, tables, turns of several speakers, and fragments."""
    last = said.rstrip(" .?!…").rsplit(maxsplit=1)[-1:]
    return (
        SHORTEST <= len(said) <= MAX_LENGTH
        and not _MARKUP.search(said)
        and not function_words.nominal.intersection(word.casefold() for word in last)
        and not sentences.is_listing(said)
        and not LABEL.search(said)
        and len(_LETTER.findall(said)) >= LETTERS * len(said)
    )
