"""The terms of a source, and the sentences that may define them. Pure.

Whether such a sentence is the definition, answering decides: see ``citations.guide.builder``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from citations.answers.writing.answer_types import (
    ARTICLE,
    DEFINITE,
    INDEFINITE,
    definition_of,
    says_what,
    words_of_term,
)
from citations.answers.writing.sentence_ranking import stem
from citations.text.sentences import Span
from citations.text.statements import Statement
from citations.text.words import function_words
from transcripts.text.tokenizer import tokenize

CANDIDATES: Final = 60  # terms whose definition is looked for
MAX_WORDS: Final = 4  # words of a term
REPEATED: Final = 3  # times that a term occurs
UNDEFINED: Final = 5  # terms that are shown without a definition
SAYING: Final = 0.6  # cosine of a sentence and the question what its term is
OFTEN: Final = 5  # times that a term occurs that is shown without a definition
HEADED: Final = 3  # occurrences that a heading or a keyword counts for
SEVERAL: Final = 1.5  # what a term of several words is worth more
LEAD: Final = 30  # characters before a definition, such as “In practice,”
SHORTEST: Final = 20  # characters that say what a term means
STANDS: Final = 0.85  # how well a defining sentence must stand alone

_NUMBER: Final = re.compile(r"^(?:[\dIVX]+(?:\.\d+)*[.):]?\s+)|\s*[?:.]+$")
_BORDER: Final = re.compile(r"\s*(?:[,:;·–—()/]|\b(?:and|or|vs|und|oder|et|ou|y|o)\b\.?)\s*", re.I)
_LEAD: Final = re.compile(
    r"^(?:the|an?|what (?:is|are)|introduction to|about|why|how|der|die|das|l[ea]s?|el|los)\s+",
    re.IGNORECASE,
)
# “Integration by parts is …” says what another thing is than integration.
_ATTRIBUTE: Final = re.compile(r"(?:e?s)?\s+\S+\s+\S+\s")
_TITLE: Final = re.compile(r"\s+\w+\s+[A-Z]")  # “called Integration by Parts”
_WORD: Final = re.compile(r"[^\W\d_]+")
_NEXT: Final = re.compile(r"(?:\s+|(?=-))([\w-]+)")
_NOT_SAID: Final = re.compile(
    r"""(?:what(?:['’]s|\s+is|\s+are)|\b(?:not|so|why|it['’]s)
    |\b(?:something|etwas|quelque\s+chose|algo))\W*$""",  # “useful for something called X”
    re.VERBOSE | re.IGNORECASE,
)
_THE: Final = re.compile(rf"\W*{DEFINITE}\s", re.IGNORECASE)
_PLURAL: Final = re.compile(r"\b(?:are|sind|sont|son)$", re.IGNORECASE)
# Not bias, loss, physics.
_ENGLISH_PLURAL: Final = re.compile(r"(?<![aius])(?<!ic)s$", re.IGNORECASE)
_ASKED: Final = {
    "en": ("What is {}?", "What are {}?"),
    "de": ("Was ist {}?", "Was sind {}?"),
    "fr": ("Qu’est-ce que {} ?", "Qu’est-ce que {} ?"),
    "es": ("¿Qué es {}?", "¿Qué son {}?"),
}


class CandidateTerm(NamedTuple):
    """A term as it is usually written, and how often."""

    text: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A sentence that may define a term, and the question that it answers."""

    statement: Statement
    question: str


def candidates(
    text: str, *, headings: Iterable[str], phrases: Iterable[str], stops: frozenset[str]
) -> list[CandidateTerm]:
    """Return the parts of headings and the phrases that the text repeats; the most frequent first,
    those of several words before single ones.
    """
    lower = text.casefold()
    offered = Counter(phrase.casefold() for phrase in phrases)
    for heading in headings:
        for part in _BORDER.split(_NUMBER.sub("", heading)):
            offered[_LEAD.sub("", part).strip().casefold()] += HEADED
    rated = []
    for term, weight in offered.items():
        if is_term(term, stops) and (count := lower.count(term)) >= REPEATED:
            rated.append((count * (SEVERAL if " " in term else 1.0) + weight, term, count))
    rated.sort(key=lambda row: (-row[0], row[1]))
    terms = []
    for _, term, count in rated[:CANDIDATES]:
        written = re.findall(rf"(?<!\w){re.escape(term)}(?!\w)", text, re.IGNORECASE)
        forms = Counter(" ".join(form.split()) for form in written)
        terms.append(CandidateTerm(max(forms, key=forms.__getitem__, default=term), count))
    return terms


def definitions(
    term: str, statements: Sequence[Statement], *, language: str, stops: frozenset[str]
) -> list[Definition]:
    """Return the sentences of which the term is the subject, or which call something by it."""
    rule, folded = definition_of(term), " ".join(term.casefold().split())
    return [
        Definition(statement=statement, question=_question(term, match, language))
        for statement in statements
        if folded in statement.flat.casefold()
        and statement.standing >= STANDS
        and (match := rule.search(statement.flat))
        and _defines(match, is_word=" " not in term, language=language, stops=stops)
    ]


def statements_about(term: str, statements: Sequence[Statement]) -> list[Statement]:
    """Return the sentences that begin with a term and say something about it."""
    begins = re.compile(rf"(?:{ARTICLE}\s+)?{re.escape(term)}(?:e?s)?\s", re.IGNORECASE)
    return [
        statement
        for statement in statements
        if begins.match(statement.flat) and statement.states(STANDS)
    ]


def first_place(term: str, text: str) -> Span | None:
    """Return where a term of several words first occurs; None for one that occurs in brackets."""
    match = re.search(rf"(?<!\w){re.escape(term)}(?!\w)", text, re.IGNORECASE)
    if match is None or text[max(0, match.start() - 1) : match.start()] in ("[", "("):
        return None
    return match.span()


def is_term(term: str, stops: frozenset[str]) -> bool:
    """Tell whether a phrase has one to four words and the borders of a term."""
    words = term.split()
    if not 1 <= len(words) <= MAX_WORDS or len(term) <= 2:
        return False
    are_plain = (
        len(word) > 1 and word[0].isalpha() and not re.search(r"[_\\${}]", word) for word in words
    )
    return stops.isdisjoint((words[0], words[-1])) and all(are_plain)


def are_alike(term: str, other: str) -> bool:
    """Tell whether two terms differ only in endings, or one contains the other."""
    mine, its = (set(map(stem, tokenize(text))) for text in (term, other))
    return mine <= its or its <= mine


def _defines(match: re.Match[str], *, is_word: bool, language: str, stops: frozenset[str]) -> bool:
    before, after = match.string[: match.start()].rstrip(), match.string[match.end() :]
    if match["called"]:
        following = _NEXT.match(after)  # “called token type IDs” says nothing of tokens
        is_whole = following is None or following[1].casefold() in stops
        is_whole = is_whole and not (is_word and _TITLE.match(after))
        # “called the limits of integration” calls something by a longer name.
        grammar = function_words(language)
        join, *others = [*_WORD.findall(after.casefold()), ""][:2]
        is_whole = is_whole and not (join in grammar.joins and grammar.nominal.isdisjoint(others))
        return is_whole and len(before.split()) > 2 and not _NOT_SAID.search(before)
    if is_word and _THE.match(match[0]):  # “the output is a list” says what this one is
        return False
    if is_word and _ATTRIBUTE.match(match[0], match.end("term") - match.start()):
        return False
    is_subject = not before or before[-1] in ",:" or match[0][0] in ",:"
    return is_subject and len(before) <= LEAD and says_what(match) and len(after) >= SHORTEST


def _question(term: str, match: re.Match[str], language: str) -> str:
    """Ask what a term means, with the article that it has where it is defined."""
    words = words_of_term(term)
    own = re.search(
        rf"(?:\b(?P<article>{ARTICLE})\s+)?(?P<term>{words}(?:s|es)?)\b", match[0], re.I
    )
    if own is None or language not in _ASKED:
        return ""
    article = f"{own['article'].lower()} " if own["article"] else ""
    is_same = own["term"].casefold() == term.casefold()
    written = term if is_same and term[0].islower() else own["term"]
    is_indefinite = bool(re.fullmatch(INDEFINITE, article.strip()))  # “an alternating series”
    are_called = match["called"] and language == "en" and _ENGLISH_PLURAL.search(own["term"])
    is_plural = not is_indefinite and bool(_PLURAL.search(match[0]) or are_called)
    return _ASKED[language][is_plural].format(f"{article}{written}")
