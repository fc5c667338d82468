"""Questions that a source may answer: of its headings, its own, and about its terms. Pure.

Whether they are answered, answering decides: see ``citations.guide.builder``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final

from citations.answers.question.wording import any_of, refers_back
from citations.text import sentences
from citations.text.content_words import Words
from citations.text.function_words import FunctionWords
from citations.text.sentences import Span, asks
from citations.text.statements import Statement

MIN_LENGTH: Final = 18  # characters
MAX_LENGTH: Final = 140
# Characters after a question of the text, among which its answer begins.
ANSWER_WINDOW: Final = 1_500
MIN_WORDS: Final = 2  # content words that a question needs
MIN_REPEATS: Final = 4  # times that the text has at least one of them
MIN_ANSWER: Final = 40  # characters of a sentence that answers

_PERSONS: Final = r"(?:who|whom|whose|wer|wen|wem|qui|quién(?:es)?)\b"  # “Who has seen this?”
_EARLIER: Final = r".*\b(?:did|have|were)\s+(?:we|you)\b"  # “What did we learn last time?”
_NOT: Final = rf"(?!{_PERSONS}|{_EARLIER}|{any_of('joints')}(?!\w))"
_QUESTION: Final = re.compile(rf"{_NOT}{any_of('question_words')}(?!\w)", re.IGNORECASE)

# In quotation marks a term needs no article, and stays as its source writes it.
_ABOUT: Final = {
    "en": "What is said about “{}”?",
    "de": "Was wird über „{}“ gesagt?",
    "fr": "Que dit-on de « {} » ?",
    "es": "¿Qué se dice de «{}»?",
}
_WORD: Final = re.compile(r"[\w'’]+")
_QUOTES: Final = ' "“”„«»'  # around a question that is quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionCandidate:
    """A question, the characters among which its answer must begin, and its own, if it has any.

    ``about`` is a term that the answer must contain.
    """

    text: str
    within: Span
    own: Span | None = None
    about: str = ""


def of_headings(sections: Iterable[tuple[str, Span]]) -> Iterator[QuestionCandidate]:
    """Yield the questions among headings; each section is a heading and its characters."""
    for heading, span in sections:
        text = re.sub(r"^[\W\d]+", "", heading).strip()
        if asks(text) and MIN_LENGTH <= len(text) <= MAX_LENGTH and _QUESTION.match(text):
            yield QuestionCandidate(text=text, within=span)


def of_text(
    statements: Sequence[Statement], counts: Counter[str], function_words: FunctionWords
) -> list[QuestionCandidate]:
    """Return the questions that a text asks and that can be understood alone, those about its
    frequent words first.
    """
    rated = [
        (frequency(statement.words, counts), statement)
        for statement in statements
        if statement.asks
        and _QUESTION.match(statement.text)
        and is_clear(statement.flat, statement.words, counts, function_words)
        and not _has_tag(statement.flat, function_words.leading)
    ]
    rated.sort(key=lambda pair: -pair[0])
    return [
        QuestionCandidate(
            text=_capitalized(statement.flat.strip(_QUOTES)),
            within=(statement.first, statement.last + ANSWER_WINDOW),
            own=statement.span,
        )
        for _, statement in rated
    ]


def is_clear(
    question: str, words: Words, counts: Counter[str], function_words: FunctionWords
) -> bool:
    """Tell whether a question is understood alone, and about words that its text has often."""
    pointing = function_words.pointing | function_words.own | function_words.addressed
    return (
        MIN_LENGTH <= len(question) <= MAX_LENGTH
        and len(words) >= MIN_WORDS
        and max(counts[word] for word in words) >= MIN_REPEATS
        and pointing.isdisjoint(_WORD.findall(question.casefold()))
        and not refers_back(question)
    )


def frequency(words: Words, counts: Counter[str]) -> float:
    """Return how often a text has the words of a question, on average."""
    return sum(counts[word] for word in words) / len(words)


def _capitalized(question: str) -> str:
    """Write the first letter as a capital: an “And” before it may have been cut off."""
    return question[:1].upper() + question[1:]


def _has_tag(question: str, leading: Set[str]) -> bool:
    """Tell whether a question is a statement with a tag: “…, right?”."""
    _, comma, tag = question.casefold().rpartition(",")
    return bool(comma) and tag.strip(" ?") in leading


def of_terms(
    terms: Iterable[str],
    text: str,
    *,
    titles: Set[str],
    language: str,
    function_words: FunctionWords,
) -> Iterator[QuestionCandidate]:
    """Ask what is said about each term of several words, or that is a word of ``titles``, if it is
    a noun: a word such as an article stands before it somewhere, or it has a capital within.

    A single word must also end its phrase somewhere: “a push notification” makes no noun of “push”.
    """
    nominal, general = (
        "|".join(map(re.escape, words))
        for words in (function_words.nominal, function_words.general)
    )
    for term in terms:
        is_word = " " not in term
        if (is_word and term.casefold() not in titles) or language not in _ABOUT:
            continue
        end = rf"(?=\s*(?:[^\w\s'’-]|$)|\s+(?:{general})(?!\w))" if is_word else r"(?!\w)"
        noun = re.compile(rf"(?<!\w)(?:{nominal})\s+{re.escape(term)}{end}", re.IGNORECASE)
        if any(letter.isupper() for letter in term[1:]) or noun.search(text):
            yield _about(term, (0, len(text)), language)


def of_parts(
    parts: Iterable[tuple[str, Span]], text: str, *, language: str
) -> Iterator[QuestionCandidate]:
    """Ask what each part of a text says about the phrase that names it; each part is a name and
    its characters.
    """
    for name, span in parts:
        written = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text[slice(*span)], re.IGNORECASE)
        if written and language in _ABOUT:
            yield _about(written[0], span, language)


def _about(term: str, within: Span, language: str) -> QuestionCandidate:
    return QuestionCandidate(text=_ABOUT[language].format(term), within=within, about=term)


def is_answered(candidate: QuestionCandidate, quote: Span, text: str) -> bool:
    """Tell whether a quote lies where the question came from, and says something after it."""
    first, last = quote
    if first >= candidate.within[1] or last <= candidate.within[0]:
        return False
    if candidate.about.casefold() not in " ".join(text[first:last].split()).casefold():
        return False
    begin = max(first, candidate.own[1]) if candidate.own else first
    answer = text[begin:last]
    pieces = [answer[start:stop].strip() for start, stop in sentences.split(answer)]
    return any(len(piece) >= MIN_ANSWER and not asks(piece) for piece in pieces)


def in_turns(*kinds: Sequence[QuestionCandidate]) -> list[QuestionCandidate]:
    """Take the best of each kind before the second one of any."""
    return [
        candidate for candidate in chain.from_iterable(zip_longest(*kinds)) if candidate is not None
    ]
