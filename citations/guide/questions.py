"""Questions that a source may answer: of its headings, its own, those that its sentences answer by
their form, and about its terms. Pure.

Whether they are answered, answering decides: see ``citations.guide.builder``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Final, NamedTuple

from citations.answers.question.wording import any_of, refers_back
from citations.text import sentences
from citations.text.sentences import Span, asks
from citations.text.statements import Statement
from citations.text.words import FunctionWords, Words, words_of

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
    candidates = []
    for _, statement in rated:
        question = statement.flat.strip(_QUOTES)
        text = question[:1].upper() + question[1:]  # an “And” before it may have been cut off
        within = statement.first, statement.last + ANSWER_WINDOW
        candidates.append(QuestionCandidate(text=text, within=within, own=statement.span))
    return candidates


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


MAX_SUBJECT: Final = 6  # words before the auxiliary that changes places with them
STANDS: Final = 0.5  # how well a sentence must stand alone
REST: Final = r"[^?]{20,}"  # what answers


class _Form(NamedTuple):
    """What a sentence looks like, as a regular expression, and the question that it answers.

    The group ``part`` of the sentence goes into the question, behind its auxiliary if it has any.
    """

    sentence: str
    question: str
    auxiliaries: str = ""
    has_verb_first: bool = False
    has_zu: bool = False  # the part ends with a German infinitive, which loses its “zu”


_PART: Final = r"(?P<part>[^,;:?]{8,90})"
_FACT: Final = r"(?P<part>[^,;:?]{12,90}?)"
_EN_AUX: Final = "is are was were can could will would should must may might has"
_DE_AUX: Final = (
    "ist sind war waren kann können konnte wird werden wurde wurden muss müssen soll sollte"
    " sollten darf dürfen hat haben"
)
_INFINITIVE: Final = r"(?P<part>(?:ne\s+pas\s+|s['’]|se\s+)?\w+(?:[ei]r|oir|re)\b[^,;:?]{4,90})"
_INFINITIVO: Final = r"(?P<part>\w+[aeií]r(?:l[aeo]s?|se)?\b[^,;:?]{4,90})"

# By language and kind, so that kinds can take turns.
_FORMS: Final[dict[str, dict[str, tuple[_Form, ...]]]] = {
    "en": {
        "how": (
            _Form(
                rf"(?:in\s+order\s+)?to\s+{_PART},\s+{REST}", "How do you {}?", has_verb_first=True
            ),
            _Form(
                rf"if\s+(?:you|we|one)\s+(?:want|wants|need|needs|wish|would\s+like)\s+to\s+{_PART}"
                rf",\s+{REST}",
                "How do you {}?",
                has_verb_first=True,
            ),
        ),
        "why": (_Form(rf"{_FACT},?\s+because\s+(?!of\b){REST}", "Why {}?", _EN_AUX),),
        "if": (
            _Form(rf"if\s+{_PART},\s+{REST}", "What if {}?"),
            _Form(rf"when(?:ever)?\s+{_PART},\s+{REST}", "What happens when {}?"),
        ),
    },
    "de": {
        "how": (
            _Form(rf"um\s+{_PART},\s+{REST}", "Wie kann man {}?", has_zu=True),
            _Form(
                rf"(?:wenn|falls)\s+(?:sie|man|wir|du|ihr)\s+{_PART}"
                rf"\s+(?:wollen|möchten|will|möchte|willst|möchtest|wollt),\s+{REST}",
                "Wie kann man {}?",
            ),
        ),
        "why": (_Form(rf"{_FACT},\s+(?:weil|da|denn)\s+{REST}", "Warum {}?", _DE_AUX),),
        "if": (
            _Form(rf"(?P<joint>wenn|falls|sobald)\s+{_PART},\s+{REST}", "Was gilt, {joint} {}?"),
        ),
    },
    "fr": {
        "how": (
            _Form(rf"(?:pour|afin\s+de)\s+{_INFINITIVE},\s+{REST}", "Comment {} ?"),
            _Form(
                rf"si\s+(?:vous|nous|on|tu)\s+(?:voul|souhait|veu)\w+\s+{_INFINITIVE},\s+{REST}",
                "Comment {} ?",
            ),
        ),
        "why": (_Form(rf"{_FACT},?\s+(?:car\b|parce\s+qu(?:e\b|['’]))\s*{REST}", "Pourquoi {} ?"),),
        "if": (
            _Form(
                rf"(?P<joint>si|lorsque|quand)\s+{_PART},\s+{REST}",
                "Que se passe-t-il {joint} {} ?",
            ),
        ),
    },
    "es": {
        "how": (_Form(rf"para\s+{_INFINITIVO},\s+{REST}", "¿Cómo {}?"),),
        "why": (_Form(rf"{_FACT},?\s+(?:porque|ya\s+que)\s+{REST}", "¿Por qué {}?"),),
        "if": (_Form(rf"(?P<joint>si|cuando)\s+{_PART},\s+{REST}", "¿Qué pasa {joint} {}?"),),
    },
}
# “zu” before or within the last word of a German infinitive.
_ZU: Final = re.compile(r"\bzu\s+(\w+n)(?=$|\s+und\b)|(?<=\w\w)zu(\w+n)$")


def of_sentences(
    statements: Sequence[Statement],
    counts: Counter[str],
    text: str,
    *,
    language: str,
    stops: frozenset[str],
    function_words: FunctionWords,
) -> list[list[QuestionCandidate]]:
    """Return the questions that sentences answer by their form, kind by kind; those about the
    frequent words of the text first.
    """
    writing = _Writing(text, stops | function_words.general, function_words.nominal)
    plain = [statement for statement in statements if statement.standing >= STANDS]
    kinds = []
    for forms in _FORMS.get(language, {}).values():
        clear = []
        for statement in plain:
            texts = (_question(form, statement.flat, writing) for form in forms)
            text = next(filter(None, texts), "")
            words = words_of(text, stops)
            if is_clear(text, words, counts, function_words):
                candidate = QuestionCandidate(text=text, within=statement.span)
                clear.append((frequency(words, counts), candidate))
        clear.sort(key=lambda rated: -rated[0])
        kinds.append([candidate for _, candidate in clear])
    return kinds


@dataclass(frozen=True, slots=True)
class _Writing:
    """How a text writes its words within sentences."""

    text: str
    small: frozenset[str]  # words that never have a capital there
    nominal: frozenset[str]

    def within(self, part: str) -> str:
        """Write the beginning of a sentence as it is written within one."""
        first = _WORD.match(part)
        if first is None:
            return part
        lower = first[0][:1].lower() + first[0][1:]
        within = rf"(?<![\w.?!]){re.escape(lower)}(?!\w)"
        is_small = lower in self.small or re.search(within, self.text)
        return lower + part[first.end() :] if is_small else part


def _question(form: _Form, sentence: str, writing: _Writing) -> str:
    """Return the question that a sentence answers by its form; empty if it has another."""
    match = re.match(form.sentence, sentence, re.IGNORECASE)
    if match is None:
        return ""
    part = match["part"].strip()
    if form.has_verb_first and part.split()[0].casefold() in writing.nominal:
        return ""  # “to any variable, …”
    if form.has_zu:
        part, changes = _ZU.subn(lambda zu: zu[1] or zu[2], part)
        if not changes:  # “um das Haus, …”
            return ""
    if match.start("part") == 0:  # the sentence begins with it
        part = writing.within(part)
    if form.auxiliaries:
        words, auxiliaries = part.split(), form.auxiliaries.split()
        place = next((at for at, word in enumerate(words) if word in auxiliaries), 0)
        if not 0 < place <= MAX_SUBJECT:
            return ""
        part = " ".join([words[place], *words[:place], *words[place + 1 :]])
    joint = match.groupdict().get("joint", "")  # “wenn”, which the question repeats
    return form.question.format(part, joint=joint.casefold())
