"""What an answer has in it: a number, a time, a name, or the words that define something.

The expected answer type is the oldest trick of question answering: Voorhees, "The TREC-8 Question
Answering Track Report" (1999). Here it is taken from the wording alone.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

Expected: TypeAlias = Callable[[str], bool]
"""Tell whether a sentence has what an answer has."""

MAX_TERM: Final = 60  # characters of a term that is to be defined

_NUMBER_ASKED: Final = re.compile(
    r"""\b(?: how\s+(?:many|much|big|large|small|long|far|often|old|tall|high|fast|deep|heavy|wide
    |expensive) | what\s+(?:\w+\s+)?(?:size|number|percentage|share|price|rate|age|cost|length|value
    |speed|distance) | wie\s*(?:viele?|groß|lange|oft|hoch|alt|weit|schnell|teuer)
    | combien | cuánt[oa]s? )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_TIME_ASKED: Final = re.compile(
    r"^\W*(?:since\s+)?(?:when|what\s+(?:year|date|day|month|time)|wann|quand|cuándo)\b",
    re.IGNORECASE,
)
_NAME_ASKED: Final = re.compile(
    r"^\W*(?:who|whose|whom|by\s+whom|wer|wen|wem|qui|quién(?:es)?)\b", re.IGNORECASE
)
_MEANING_ASKED: Final = re.compile(
    rf"""^\W*(?: what(?:\s+(?:is|are|was|were)|['’]s|\s+does) | was\s+(?:ist|sind)
    | qu['’]est-ce\s+qu(?:e|['’]) | qué\s+(?:es|son) | define )\s+
    (?: (?:an?|the|ein(?:e|en)?|der|die|das|une?|l[ea]s?|un[a]?|el|los|las)\s+ | l['’] )?
    (?P<term>[^?？.,;]{{2,{MAX_TERM}}}?) (?:\s+means?|\s+stand\s+for)? \s*[?？.]?\s*
    (?:\([^()]*\))?$""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER: Final = re.compile(
    r"""\d|[½¼¾%]|\b(?: zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen
    |twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?
    |trillions?|half|twice|double|dozen|once|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|hundert
    |tausend|millionen|deux|trois|quatre|cinq|dix|cent|mille|dos|tres|cuatro|cinco|diez|cien|mil
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"""\d|\b(?: january|february|march|april|may|june|july|august|september|october|november
    |december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|autumn|winter
    |today|yesterday|tomorrow|century|centuries|decades?|years?|months?|weeks?|days?|before|after
    |until|ago|(?:eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ties|januar|februar|märz
    |mai|juni|juli|oktober|dezember|jahre?n?|woche|heute|gestern|morgen|année|an|ans|siècle|año|años
    |siglo )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_NAME: Final = re.compile(r"(?<=[a-zà-ÿ,;] )[A-ZÀ-Þ][\w’'-]+|\bI\b")
_DEFINES: Final = (
    r"(?:is|are|means?|refers?\s+to|stands?\s+for|denotes?|describes?|measures?|consists?\s+of"
    r"|ist|sind|heißt|bedeutet|est|sont|es|son)"
)
_CALLED: Final = r"(?:called|known\s+as|genannt|appelée?|llamad[oa])\s+(?:an?\s+|the\s+)?"
_ASIDE: Final = (
    r"(?:\s*\([^()]{1,60}\)|\s*[,–—][^,–—.!?]{1,60}[,–—]"
    r"|\s+(?:\w+ly|then|also|just|now|here|itself|(?:in|of|for)\s+\w+(?:\s+\w+)?)){0,2}"
)


def expected(question: str) -> Expected | None:
    """Return a test for what an answer to a question has; None where the question does not tell."""
    question = " ".join(question.split())
    if _NUMBER_ASKED.search(question):
        return lambda sentence: _NUMBER.search(sentence) is not None
    if _TIME_ASKED.match(question):
        return lambda sentence: _TIME.search(sentence) is not None
    if _NAME_ASKED.match(question):
        return lambda sentence: _NAME.search(sentence) is not None
    meaning = _MEANING_ASKED.match(question)
    return _defines(meaning["term"]) if meaning else None


def _defines(term: str) -> Expected:
    words = r"\W+".join(re.escape(word) for word in term.split())
    definition = re.compile(
        rf"\b{words}(?:s|es)?\b{_ASIDE}\s+{_DEFINES}\b|\b{_CALLED}{words}\b", re.IGNORECASE
    )
    return lambda sentence: definition.search(sentence) is not None
