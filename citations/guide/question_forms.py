"""The questions that sentences answer by their form: how, why, what if. Pure.

Words keep the order of their sentence, so that no tagger is needed: “To list files, run …” answers
“How do you list files?”. Only auxiliaries change places with their subjects.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from citations.guide import questions
from citations.guide.questions import QuestionCandidate
from citations.text.content_words import words_of
from citations.text.function_words import FunctionWords
from citations.text.statements import Statement

MAX_SUBJECT: Final = 6  # words before the auxiliary that changes places with them
STANDS: Final = 0.5  # how well a sentence must stand alone
REST: Final = r"[^?]{20,}"  # what answers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """What a sentence looks like, and the question that it answers.

    The group ``part`` of the sentence goes into the question, behind its auxiliary if it has any.
    """

    sentence: re.Pattern[str]
    question: str
    auxiliaries: frozenset[str] = frozenset()
    has_verb_first: bool = False
    has_zu: bool = False  # the part ends with a German infinitive, which loses its “zu”


def _form(
    sentence: str,
    question: str,
    auxiliaries: str = "",
    *,
    has_verb_first: bool = False,
    has_zu: bool = False,
) -> _Form:
    return _Form(
        sentence=re.compile(sentence, re.IGNORECASE),
        question=question,
        auxiliaries=frozenset(auxiliaries.split()),
        has_verb_first=has_verb_first,
        has_zu=has_zu,
    )


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
            _form(
                rf"(?:in\s+order\s+)?to\s+{_PART},\s+{REST}", "How do you {}?", has_verb_first=True
            ),
            _form(
                rf"if\s+(?:you|we|one)\s+(?:want|wants|need|needs|wish|would\s+like)\s+to\s+{_PART}"
                rf",\s+{REST}",
                "How do you {}?",
                has_verb_first=True,
            ),
        ),
        "why": (_form(rf"{_FACT},?\s+because\s+(?!of\b){REST}", "Why {}?", _EN_AUX),),
        "if": (
            _form(rf"if\s+{_PART},\s+{REST}", "What if {}?"),
            _form(rf"when(?:ever)?\s+{_PART},\s+{REST}", "What happens when {}?"),
        ),
    },
    "de": {
        "how": (
            _form(rf"um\s+{_PART},\s+{REST}", "Wie kann man {}?", has_zu=True),
            _form(
                rf"(?:wenn|falls)\s+(?:sie|man|wir|du|ihr)\s+{_PART}"
                rf"\s+(?:wollen|möchten|will|möchte|willst|möchtest|wollt),\s+{REST}",
                "Wie kann man {}?",
            ),
        ),
        "why": (_form(rf"{_FACT},\s+(?:weil|da|denn)\s+{REST}", "Warum {}?", _DE_AUX),),
        "if": (
            _form(rf"(?P<joint>wenn|falls|sobald)\s+{_PART},\s+{REST}", "Was gilt, {joint} {}?"),
        ),
    },
    "fr": {
        "how": (
            _form(rf"(?:pour|afin\s+de)\s+{_INFINITIVE},\s+{REST}", "Comment {} ?"),
            _form(
                rf"si\s+(?:vous|nous|on|tu)\s+(?:voul|souhait|veu)\w+\s+{_INFINITIVE},\s+{REST}",
                "Comment {} ?",
            ),
        ),
        "why": (_form(rf"{_FACT},?\s+(?:car\b|parce\s+qu(?:e\b|['’]))\s*{REST}", "Pourquoi {} ?"),),
        "if": (
            _form(
                rf"(?P<joint>si|lorsque|quand)\s+{_PART},\s+{REST}",
                "Que se passe-t-il {joint} {} ?",
            ),
        ),
    },
    "es": {
        "how": (_form(rf"para\s+{_INFINITIVO},\s+{REST}", "¿Cómo {}?"),),
        "why": (_form(rf"{_FACT},?\s+(?:porque|ya\s+que)\s+{REST}", "¿Por qué {}?"),),
        "if": (_form(rf"(?P<joint>si|cuando)\s+{_PART},\s+{REST}", "¿Qué pasa {joint} {}?"),),
    },
}
# “zu” before or within the last word of a German infinitive.
_ZU: Final = re.compile(r"\bzu\s+(\w+n)(?=$|\s+und\b)|(?<=\w\w)zu(\w+n)$")
_WORD: Final = re.compile(r"[\w'’]+")


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
            text = _question(forms, statement, writing)
            words = words_of(text, stops)
            if questions.is_clear(text, words, counts, function_words):
                candidate = QuestionCandidate(text=text, within=statement.span)
                clear.append((questions.frequency(words, counts), candidate))
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


def _question(forms: Sequence[_Form], statement: Statement, writing: _Writing) -> str:
    """Return the question that the first fitting form tells; empty if none fits."""
    return next(filter(None, (_filled(form, statement, writing) for form in forms)), "")


def _filled(form: _Form, statement: Statement, writing: _Writing) -> str:
    match = form.sentence.match(statement.flat)
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
        words = part.split()
        place = next((at for at, word in enumerate(words) if word in form.auxiliaries), 0)
        if not 0 < place <= MAX_SUBJECT:
            return ""
        part = " ".join([words[place], *words[:place], *words[place + 1 :]])
    joint = match.groupdict().get("joint", "")  # “wenn”, which the question repeats
    return form.question.format(part, joint=joint.casefold())
