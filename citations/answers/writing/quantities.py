"""Questions for a number, a duration or a time, and the sentences that have one.

The expected answer type is the oldest trick of question answering: Voorhees, "The TREC-8 Question
Answering Track Report" (1999).
"""

import re
from typing import Final

_NUMBER_ASKED: Final = re.compile(
    r"""\b(?: how\s+(?:many|much|big|large|small|long|far|often|old|tall|high|fast|deep|heavy|wide
    |expensive) | what\s+(?:\w+\s+)?(?:size|number|percentage|share|price|rate|age|cost|length|value
    |speed|distance) | wie\s*(?:viele?|groß|lange|oft|hoch|alt|weit|schnell|teuer)
    | combien | cuánt[oa]s? )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_DURATION_ASKED: Final = re.compile(
    r"\b(?:how\s+long|wie\s*lange|combien\s+de\s+temps|cuánto\s+tiempo)\b", re.IGNORECASE
)
_TIME_ASKED: Final = re.compile(
    r"""^\W*(?: since\s+when | when(?!\s+(?:is|are|do|can|should)\b)
    | what\s+(?:year|date|day|month|time) | wann | quand | cuándo )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER_WORDS: Final = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    "|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|billions?|trillions?"
    "|half|twice|double|dozen|once|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|hundert|tausend"
    "|millionen|deux|trois|quatre|cinq|dix|cent|mille|dos|tres|cuatro|cinco|diez|cien|mil"
)
_NUMBER: Final = re.compile(rf"\d|[½¼¾%]|\b(?:{_NUMBER_WORDS})\b", re.IGNORECASE)
_TIME: Final = re.compile(
    r"""\d|\b(?: january|february|march|april|may|june|july|august|september|october|november
    |december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|autumn|winter
    |today|yesterday|tomorrow|century|centuries|decades?|years?|months?|weeks?|days?|before|after
    |until|ago|(?:eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ties|januar|februar|märz
    |mai|juni|juli|oktober|dezember|jahre?n?|woche|heute|gestern|morgen|année|an|ans|siècle|año|años
    |siglo )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_DURATION: Final = re.compile(
    rf"""(?: \d | (?:{_NUMBER_WORDS}|an?|few|several|couple\s+of)\b ) [\s\w.,–-]{{0,12}}?
    (?<![^\W\d_]) (?: (?:milli|micro|nano)?seconds? | minutes? | hours? | days? | weeks?
    | months? | years? | decades? | sekunden? | minuten? | stunden? | tagen? | wochen? | monaten?
    | jahren? | secondes? | heures? | jours? | mois | ans | horas? | días? | meses | años?
    | m?s | min | h )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_ANSWERS: Final = ((_DURATION_ASKED, _DURATION), (_NUMBER_ASKED, _NUMBER), (_TIME_ASKED, _TIME))


def quantity_asked(question: str) -> re.Pattern[str] | None:
    """Return what occurs in an answer that is a quantity; None where none is asked for."""
    return next((answer for asked_for, answer in _ANSWERS if asked_for.search(question)), None)
