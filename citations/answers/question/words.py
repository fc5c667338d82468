"""The words of a question: those that ask, and those that say what it is about."""

import re
from typing import Final

from transcripts.tokenizer import tokenize

MAX_RULED: Final = 1_000  # characters of a part whose wording is looked at

WHO: Final = (
    r"what|how|why|when|where|who|whom|whose|which"
    r"|wie|warum|wieso|weshalb|wann|wo|wer|wen|wem|wessen|welche[rsmn]?|worin|wodurch|woran|womit"
    r"|wozu|wofür|wovon|woher|wohin"  # German, which shares “was” with English
    r"|quel(?:le)?s?|comment|pourquoi|quand|où|qui|qu['’]est-ce|combien"  # French
    r"|qué|cómo|por qué|cuándo|dónde|quién(?:es)?|cuál(?:es)?|cuánt[oa]s?"  # Spanish
)
IS: Final = r"(?:is|are|was|were|does|do|did|can|could|should|would|will|has|have)"
TELL: Final = r"(?:explain|describe|summari[sz]e|tell\s+me|show\s+me|give\s+me|erkläre?|beschreibe?|expliquez?|décris|explica)"
NAME: Final = r"(?:compare|list|name|define|outline|nenne)"


def asks(text: str) -> bool:
    """Say whether a text asks or orders anything: a heading, or a few words that name a subject, do not."""
    return "?" in text or "？" in text or bool(_ASKS.search(text) or _ORDERS.match(text))


def content(text: str) -> list[str]:
    """Return the words that say what a text is about."""
    return [word for word in tokenize(text) if word not in _EMPTY]


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_EMPTY: Final = _words(
    "an and or the of to in on at by for from with about as is are was were be been do does did done can could should would will has have had it its they them",
    "their this that these those he she him his her we our you your me my mine what which who whom whose how why when where there here then than so also",
    "too not no yes if but any some tell show give explain describe please say said says mean means used use work works happen happens",
    "und oder der die das den dem ein eine einen ist sind war wie was wer wo wann warum es sie er wird werden",
    "et ou le la les un une des du de est sont que qui quoi comment pourquoi il elle",
    "el los las una es son qué cómo por para",
)

_ASKS: Final = re.compile(
    rf"(?<!\w)(?:{WHO}|{TELL}|me|i\s+(?:want|need|would|am|have)|i['’]d)(?!\w)", re.IGNORECASE
)
_ORDERS: Final = re.compile(
    rf"\W*(?:please\s+|now\s+|also\s+)*(?:{NAME}|{IS}|was|am|discuss|review|analy[sz]e|elaborate|illustrate|sketch|present|talk|teach|help|find|look|bring|walk"
    r"|go|catch|state|prove|show|tell|give|write|say|remind|contrast|identify|evaluate|trace|recount|narrate|discute[rz]?|compare[rz]|donne[rz]?"
    r"|gib|zeige?|sage?|vergleiche?|dame|dime|compara)\b",
    re.IGNORECASE,
)
