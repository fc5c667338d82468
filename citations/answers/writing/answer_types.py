"""What an answer to a question has in it: a number, a time, a name, or the words that define something. Pure.

The expected type of an answer is the oldest trick of question answering (Voorhees, "The TREC-8 Question Answering Track Report", 1999), here by wording alone.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

Expected: TypeAlias = Callable[[str], bool]
"""Whether a sentence has what an answer would have."""

MAX_TERM: Final = 60  # characters of what is to be defined

_NUMBER_ASKED: Final = re.compile(
    r"\b(?:how\s+(?:many|much|big|large|small|long|far|often|old|tall|high|fast|deep|heavy|wide|expensive)"
    r"|what\s+(?:\w+\s+)?(?:size|number|percentage|share|price|rate|age|cost|length|value|speed|distance)"
    r"|wie\s*(?:viele?|groß|lange|oft|hoch|alt|weit|schnell|teuer)|combien|cuánt[oa]s?)\b",
    re.IGNORECASE,
)
_TIME_ASKED: Final = re.compile(
    r"^\W*(?:since\s+)?(?:when|what\s+(?:year|date|day|month|time)|wann|quand|cuándo)\b",
    re.IGNORECASE,
)
_NAME_ASKED: Final = re.compile(
    r"^\W*(?:who|whose|whom|by\s+whom|wer|wen|wem|qui|quién(?:es)?)\b", re.IGNORECASE
)
_MEANING_ASKED: Final = re.compile(
    r"^\W*(?:what(?:\s+(?:is|are|was|were)|['’]s|\s+does)|was\s+(?:ist|sind)|qu['’]est-ce\s+qu(?:e|['’])|qué\s+(?:es|son)|define)\s+"
    r"(?:an?\s+|the\s+|ein(?:e|en)?\s+|der\s+|die\s+|das\s+|une?\s+|l[ea]s?\s+|l['’]|un[a]?\s+|el\s+|los\s+|las\s+)?"
    rf"(?P<term>[^?？.,;]{{2,{MAX_TERM}}}?)(?:\s+means?|\s+stand\s+for)?\s*[?？.]?\s*$",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"\d|[½¼¾%]|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?"
    r"|thousands?|millions?|billions?|trillions?|half|twice|double|dozen|once|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|hundert|tausend|millionen"
    r"|deux|trois|quatre|cinq|dix|cent|mille|dos|tres|cuatro|cinco|diez|cien|mil)\b",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|spring|summer|autumn|winter|today|yesterday|tomorrow|century|centuries|decades?|years?|months?|weeks?|days?|before|after|until|ago"
    r"|(?:eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ties|januar|februar|märz|mai|juni|juli|oktober|dezember|jahre?n?|woche|heute|gestern"
    r"|morgen|année|an|ans|siècle|año|años|siglo)\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[a-zà-ÿ,;] )[A-ZÀ-Þ][\w’'-]+|\bI\b")


def expected(question: str) -> Expected | None:
    """Return what tells whether a sentence has what an answer to a question would have; None where the question does not say what that is."""
    question = " ".join(question.split())
    if _NUMBER_ASKED.search(question):
        return lambda sentence: _NUMBER.search(sentence) is not None
    if _TIME_ASKED.match(question):
        return lambda sentence: _TIME.search(sentence) is not None
    if _NAME_ASKED.match(question):
        return lambda sentence: _NAME.search(sentence) is not None
    asked = _MEANING_ASKED.match(question)
    return _defines(asked["term"]) if asked else None


def _defines(term: str) -> Expected:
    words = r"\W+".join(re.escape(word) for word in term.split())
    verbs = r"(?:is|are|means?|refers?\s+to|stands?\s+for|denotes?|describes?|measures?|consists?\s+of|ist|sind|heißt|bedeutet|est|sont|es|son)"
    named = rf"\b(?:called|known\s+as|genannt|appelée?|llamad[oa])\s+(?:an?\s+|the\s+)?{words}\b"
    aside = r"(?:\s*\([^()]{1,60}\)|\s*[,–—][^,–—.!?]{1,60}[,–—]|\s+(?:\w+ly|then|also|just|now|here|itself|(?:in|of|for)\s+\w+(?:\s+\w+)?)){0,2}"
    said = re.compile(rf"\b{words}(?:s|es)?\b{aside}\s+{verbs}\b|{named}", re.IGNORECASE)
    return lambda sentence: said.search(sentence) is not None
