"""A question becomes the parts that are looked up, and how broad each is: a fact or an overview.

Rules split it, or a language model.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias, get_args

from citations.answers.answer import Breadth, QuestionPart, Route
from citations.answers.question.wording import MAX_PARTS, any_of, content_words, separated, split
from citations.text.sentences import QUESTION_MARKS
from citations.text.thoughts import without_thoughts
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.sanitize import clean
from transcripts.text.queries import require_words
from transcripts.text.tokenizer import tokenize

MAX_CHARACTERS: Final = 10_000  # of a question; the rest is ignored
_SCANNED: Final = 1_000  # characters of a question that decide its breadth

_OVERVIEW: Final = re.compile(rf"(?<!\w){any_of('overviews')}(?!\w)", re.IGNORECASE)
_OPEN: Final = re.compile(rf"(?:{any_of('question_words', 'orders')}|discuss)(?!\w)", re.IGNORECASE)
_GENERAL: Final = re.compile(any_of("general"), re.IGNORECASE)


def route(question: str) -> Route:
    """Split a question into at most ``MAX_PARTS`` parts, and find out how broad each is.

    Raises ``EmptyQuery`` for a question without a letter or digit.
    """
    parts = []
    for text in dict.fromkeys(split(checked(question))):
        is_broad = is_overview(separated(text)[0])
        parts.append(question_part(text, Breadth.BROAD if is_broad else Breadth.SPECIFIC))
    return Route(parts=tuple(parts))


def checked(question: str) -> str:
    """Return a question as it is read; raise ``EmptyQuery`` without a letter or digit."""
    return require_words(clean(question, MAX_CHARACTERS))


def question_part(text: str, breadth: Breadth) -> QuestionPart:
    """Return a part that names what it is of, if it is an overview."""
    about = subject(text) if breadth == Breadth.BROAD else ""
    own, context = separated(text)
    return QuestionPart(text=text, own=own if context else "", breadth=breadth, about=about)


# Breadth


def is_overview(question: str) -> bool:
    """Tell whether a question asks for an overview: by such a word, or of no subject.

    A heading asks for the place where its subject is explained, and most questions for a fact.
    """
    text = " ".join(question[:_SCANNED].split())
    is_open = _OPEN.match(text) and content_words(text) and not subject(text)
    return bool(_OVERVIEW.search(text) or is_open)


def asks_for_the_whole(question: str) -> bool:
    """Tell whether a question asks for an overview of its sources, and of no subject in them."""
    return is_overview(question) and not subject(question)


def subject(question: str) -> str:
    """Return the words that name what an overview is of; empty where it is of the sources.

    “Give me an overview of how computers keep time” becomes “computers keep time”: the other words
    are near any text that sums something up.
    """
    words = question[:_SCANNED].split()
    own = [word for word in words if not all(map(_GENERAL.fullmatch, content_words(word)))]
    return " ".join(own).strip(f" {QUESTION_MARKS}!.,;:")


SourceFact: TypeAlias = Literal["author", "date", "length", "chapters", "sections"]
_IT: Final = rf"(?:it|{any_of('articles')}\s+(?:\w+\s+)?{any_of('kinds')})"
_FACTS: Final[dict[SourceFact, re.Pattern[str]]] = {
    fact: re.compile(any_of(f"asks_{fact}").replace("IT", _IT), re.IGNORECASE)
    for fact in get_args(SourceFact)
}


def asked_fact(question: str) -> SourceFact | None:
    """Return what a question asks about “it”, or “the talk”, whose name is taken out already."""
    text = question.strip(" ?？.!")
    return next((fact for fact, form in _FACTS.items() if form.fullmatch(text)), None)


MAX_REPLY: Final = 10_000  # characters of a language model's reply that are read
MAX_QUESTION: Final = 2_000  # characters; a longer question is split by rules
_SHARED: Final = 0.5  # of a part's words must be the question's, and the other way round
_LINE: Final = re.compile(
    r"[\W\d_]{0,8}(?P<breadth>SPECIFIC|BROAD)\W{0,4}:\W{0,4}(?P<text>\S.{0,498})", re.IGNORECASE
)


def route_by_model(question: str, *, ask: Callable[[str], str], model: str) -> Route:
    """Split a question as the language model ``model`` does, or else by rules.

    ``ask`` returns its reply, which counts only if it asks what the question asks, in the
    question's own words. Raises ``EmptyQuery`` for a question without a letter or digit.
    """
    text = checked(question)
    parts = _parts(text, ask)
    return Route(parts=parts, by=model) if parts else route(text)


def _parts(question: str, ask: Callable[[str], str]) -> tuple[QuestionPart, ...]:
    """Return the parts that a language model names; none if it fails or asks something else."""
    if len(question) > MAX_QUESTION:
        return ()
    try:
        reply = ask(question)
    except KnowledgeBaseError:
        return ()
    lines = clean(without_thoughts(reply), MAX_REPLY).splitlines()
    matches = [match for line in lines if (match := _LINE.fullmatch(line.strip()))]
    named = (
        question_part(
            " ".join(match["text"].strip("*_` ").split()), Breadth(match["breadth"].casefold())
        )
        for match in matches
    )
    parts = tuple(dict.fromkeys(named))
    return parts if 0 < len(parts) <= MAX_PARTS and _is_same(question, parts) else ()


def _is_same(question: str, parts: Sequence[QuestionPart]) -> bool:
    """Tell whether parts are made of the question's words, and have most of them together."""
    whole, *stems = (
        frozenset(word[:5] for word in content_words(text) or tokenize(text))
        for text in (question, *(part.text for part in parts))
    )
    if not whole or not all(stems):
        return False
    is_own = all(len(own & whole) >= _SHARED * len(own) for own in stems)
    return is_own and len(whole & frozenset().union(*stems)) >= _SHARED * len(whole)
