"""What a sentence is worth by itself: whether it states something, how well it is understood
without its neighbours, and whether it asks, commands, announces or sets a task instead. Pure.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from citations.text import sentences
from citations.text.sentences import Span, asks, ends_with_stop, is_listing, is_punctuated
from citations.text.speakers import LABEL
from citations.text.words import FILLERS, FunctionWords, Words, currency, words_of

DEPENDENT: Final = 0.2  # rating of a sentence that cannot be understood alone
POINTING: Final = 0.15  # what each pronoun costs that points at something said elsewhere
PERSONAL: Final = 0.6  # factor on the rating of a sentence in which the speaker says “I”
SELF: Final = 0.4  # factor if it begins so
HESITATING: Final = 3.0  # how much of the rating each share of fillers and repetitions costs
LEADING: Final = 3  # words of a sentence's beginning in which a pronoun points back
MIN_LENGTH: Final = 40  # characters of a sentence that tells something
SAMPLE: Final = 50  # passages by which a text is judged

MAX_SHOWN: Final = 260  # characters; longer sentences are cut by ``sentences.split``
MIN_SHOWN: Final = 10
TASK: Final = 4  # sentences after one that a task begins with, of which one says what to do
TASK_WORD: Final = 40  # characters of a sentence in which its first word stands
LETTERS: Final = 0.8  # of a sentence's characters; formulas, code and tables have fewer

_BULLETS: Final = " \n\r\t-–—…•>"
_LATER_SPEAKER: Final = re.compile(rf"(?!^)(?:{LABEL.pattern}|>>)")
_TOKEN: Final = re.compile(r"\w+(?:['’]\w+)*")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LETTER: Final = re.compile(r"[^\W\d_]|\s")
# Formulas, code, addresses, tokenized text (“don 't ,”), text over several paragraphs, and numbered
# items, which in a textbook are tasks.
_MARKUP: Final = re.compile(
    r"[$\\|{}<>=_*#`@~^•→⟨∑∫√]|https?:|www\.|\w\(\w|\s[,.]|\n\s*\n|^\d+(?:[.)]\s|\s+[A-Z])"
)
# What captions write of sounds and speakers: “(upbeat music) - [Instructor] In this video, …”.
_SOUND: Final = re.compile(r"\s*(?:[(\[][^()\[\]]{2,40}[)\]]\s*[-–]?\s*)+")
_EXERCISE: Final = re.compile(
    r"""\W*(?: (?:exercises?|problems?|checkpoint|homework|quiz|aufgabe|übung|exercice|ejercicio)
    \s*[\d.]*\d\w?\b | (?:exercises?|aufgabe|übung|exercice|ejercicio)\s*[.:](?!\S)
    | (?:for|in)\s+the\s+following\s+(?:exercises|problems) )""",
    re.VERBOSE | re.IGNORECASE,
)
_POINTER: Final = re.compile(
    r"""\W*(?:(?:please|also|now|to\s+learn\s+more,?)\s+)?
    (?: watch|see|view|visit|click|go\s+to|refer\s+to|look\s+at|access|open
    | siehe|vgl\.?|voir|véase ) \s+ (?:[\w’'-]+\s+){0,3}?
    (?: animations?|videos?|figures?|tables?|links?|(?:web)?sites?|pages?|sections?|chapters?
    | applets?|simulations?|appendix|abb(?:ildung|\.)|tabelle|kapitel|abschnitt|seite|chapitre
    | tabla|página )\b""",
    re.VERBOSE | re.IGNORECASE,
)


# How well a sentence stands alone


def standing(sentence: str, function_words: FunctionWords) -> float:
    """Rate how well a whole sentence stands alone, 0 to 1; an aside does not."""
    words = _tokens(sentence)
    if is_aside(sentence) or not words or words[0] in function_words.starting:
        return DEPENDENT
    if points_back(sentence, function_words):
        return DEPENDENT
    repeated = sum(word == other for word, other in pairwise(words))
    hesitation = (repeated + sum(word in FILLERS for word in words)) / len(words)
    rating: float = 1 - HESITATING * hesitation
    rating -= POINTING * sum(_pointing(words, function_words))
    if function_words.own.intersection(words):
        rating *= SELF if words[0] in function_words.own else PERSONAL
    return max(DEPENDENT, rating)


def points_back(sentence: str, function_words: FunctionWords) -> bool:
    """Tell whether the beginning of a sentence points back at the one before it."""
    words = _tokens(sentence)
    beginning = list(_pointing(words, function_words))[:LEADING]
    return words[:1] != [] and (words[0] in function_words.linking or any(beginning))


def is_aside(sentence: str) -> bool:
    """Tell whether a sentence asks, announces, describes a sound, or has several speakers."""
    is_sound = sentence.startswith(("(", "[", "♪")) or len(sentence) < MIN_LENGTH
    is_open = asks(sentence) or sentence.endswith((":", "…", "...", "--", "—"))
    return is_sound or is_open or _LATER_SPEAKER.search(sentence) is not None


def is_exercise(text: str) -> bool:
    """Tell whether a text, or what stands under a heading, asks its reader to work."""
    return _EXERCISE.match(text) is not None


def is_pointer(sentence: str) -> bool:
    """Tell whether a sentence only sends its reader elsewhere: “See figure 3.”"""
    return _POINTER.match(sentence) is not None


def introduces(sentence: str, function_words: FunctionWords) -> bool:
    """Tell whether a sentence speaks of the text that it stands in, or names a subject."""
    return not (function_words.itself | function_words.about).isdisjoint(_tokens(sentence))


def speaks_of_itself(sentence: str, function_words: FunctionWords) -> bool:
    """Tell whether a sentence speaks of the text that it stands in: “in this lecture”, “today”."""
    return not function_words.itself.isdisjoint(_tokens(sentence))


def _tokens(sentence: str) -> list[str]:
    return [token.casefold().replace("’", "'") for token in _TOKEN.findall(sentence)]


def _pointing(words: Sequence[str], function_words: FunctionWords) -> Iterator[bool]:
    """Yield for each word whether it points at something said elsewhere."""
    for word, after in zip(words, [*words[1:], ""], strict=False):
        yield word in function_words.pointing and after not in function_words.itself


# Where a sentence begins and ends


def without_lead(sentence: str, leading: frozenset[str]) -> str:
    """Cut off who says a sentence, and words such as “Well, so” at its beginning."""
    sentence = LABEL.sub("", sentence, count=1) if LABEL.match(sentence) else sentence
    sentence = sentence.lstrip(_BULLETS)
    while (word := _TOKEN.match(sentence)) and word[0].casefold() in leading:
        sentence = sentence[word.end() :].lstrip("," + _BULLETS)
    return sentence


def is_whole(sentence: str) -> bool:
    """Tell whether a sentence has its beginning and its end."""
    return ends_with_stop(sentence) and not sentence[:1].islower()


def clauses(text: str, opening: frozenset[str]) -> list[Span]:
    """Return what stands between the ``opening`` words of a text without full stops, where clauses
    may begin.

    What comes before the first of them and after the last one is left out, as it may be broken.
    """
    openers = [match.span() for match in _TOKEN.finditer(text) if match[0].casefold() in opening]
    return [
        (first, last) for (_, first), (last, _) in pairwise(openers) if text[first:last].strip()
    ]


def has_stops(texts: Sequence[str], split: Callable[[str], list[Span]]) -> bool:
    """Tell whether texts have full stops, by the first ones."""
    return is_punctuated(text[slice(*span)] for text in texts[:SAMPLE] for span in split(text))


# The statements of a source


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

    def states(self, least: float) -> bool:
        """Tell whether it tells something and stands alone, by at least a rating above
        ``DEPENDENT``: a question does not.
        """
        return self.standing >= least and not self.commands

    def salience(self, counts: Counter[str]) -> float:
        """Rate it by how often its words occur in the source, of which ``counts`` are."""
        return self.standing * currency(self.words, counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSentences:
    """A source's text in whole sentences."""

    text: str
    statements: tuple[Statement, ...]
    counts: Counter[str]  # of content words, in the whole text


def read(text: str, *, stops: frozenset[str], function_words: FunctionWords) -> SourceSentences:
    """Split a text into the sentences that can be shown: whole and plain ones. Takes linear
    time.
    """
    spans = sentences.split(text)
    whole = _whole(text, spans) if is_punctuated(text[slice(*span)] for span in spans) else ()
    verbs = _verbs(text, function_words)
    tasks = [first for first, last in spans if _is_task(text[first:last], verbs)]
    starts = [first for first, _ in spans]
    statements: list[Statement] = []
    for first, last in whole:
        sound = _SOUND.match(text, first, last)
        said = text[sound.end() if sound else first : last].strip()
        said = without_lead(said, function_words.leading)
        start = text.find(said, first, last) if said else -1
        if start < 0 or not _is_plain(said, function_words):
            continue
        words = [part.split()[0].casefold() for part in said.split(",") if part.strip()]
        commands = not (verbs.isdisjoint(words[:1]) and (verbs - stops).isdisjoint(words[1:]))
        place = bisect_left(starts, start + len(said))
        later = starts[place : place + TASK]
        statement = Statement(
            text=said,
            first=start,
            last=start + len(said),
            standing=standing(said, function_words),
            words=words_of(said, stops),
            commands=commands,
            is_given=bool(later) and bisect_left(tasks, later[0]) < bisect_right(tasks, later[-1]),
        )
        statements.append(statement)
    return SourceSentences(text=text, statements=tuple(statements), counts=words_of(text, stops))


def _whole(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the sentences that end with a stop, and follow one or a line break."""
    is_open = False
    for first, last in spans:
        sentence = text[first:last]
        is_closed = ends_with_stop(sentence)
        if is_closed and not is_open:
            yield first, last
        is_open = not is_closed and "\n" not in sentence[-2:]


def _is_task(sentence: str, verbs: Set[str]) -> bool:
    """Tell whether a sentence asks, or begins with what its reader is to do."""
    words = _WORD.findall(sentence[:TASK_WORD])
    return asks(sentence) or (bool(words) and words[0].casefold() in verbs)


def _verbs(text: str, function_words: FunctionWords) -> set[str]:
    """Return the words that stand where verbs do more often than where nouns do."""
    words = [word.casefold() for word in _WORD.findall(text)]
    places: Counter[str] = Counter()
    subjects = function_words.verbal - function_words.pointing  # “it” has a verb that ends in “s”
    for before, word in pairwise(words):
        places[word] += (before in subjects) - (before in function_words.nominal)
    others = function_words.nominal.union(
        function_words.verbal, function_words.linking, function_words.starting
    )
    return {word for word, balance in places.items() if balance > 0 and word not in others}


def _is_plain(said: str, function_words: FunctionWords) -> bool:
    """Tell running text from formulas, code, tables, turns of several speakers, and fragments."""
    last = said.rstrip(" .?!…").rsplit(maxsplit=1)[-1:]
    return (
        MIN_SHOWN <= len(said) <= MAX_SHOWN
        and not _MARKUP.search(said)
        and not function_words.nominal.intersection(word.casefold() for word in last)
        and not is_listing(said)
        and not LABEL.search(said)
        and len(_LETTER.findall(said)) >= LETTERS * len(said)
    )
