"""Words of questions: what they ask about, and whether a sentence speaks of it in another form of the word."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final

from transcripts.tokenizer import tokenize

MAX_SUBJECT: Final = 120  # characters

EMPTY: Final = frozenset(
    " ".join(
        (
            "a about after all also am an and any are as at be because been before being but by can could did do does doing during each for from get gets",
            "give given had has have having he her him his how if in into is it its just let like may me mean means might more most much must my no not of",
            "off on or other our out over own please said same say says she should show so some speaker such talk tell than that the their them then there",
            "these they this those through to under up us use used using very was we were what when where which while who whom whose why will with would",
            "you your explain describe discuss discussed according lecture lecturer video textbook question answer",
            "aber als am an auch auf aus bei bin bis da das dass dem den der des die doch du durch ein eine einem einen einer er es für hat ich ihr im in ist",
            "ja kann man mit nach nicht nur oder sein sich sie sind so über um und uns vom von vor war was wer wie wird wir wo zu zum zur warum welche",
            "au aux avec ce ces comment dans de des du elle en est et il je la le les leur lui ma mais ne nous ou où par pas pour pourquoi qu que quel quelle",
            "qui sa sur un une vous como con cuál de del donde el ella en es la las lo los para pero por qué que se su un una",
        )
    ).split()
)
_ENDINGS: Final = (
    "ications",
    "ication",
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ions",
    "ion",
    "edly",
    "ies",
    "ers",
    "ed",
    "er",
    "ly",
    "es",
    "s",
)
_BEING: Final = re.compile(r"(?<=\w{3})([ae]n)ces?$")
_SHORTEST: Final = 3  # letters that an ending leaves
_LEADS: Final = re.compile(
    r"""^\s* (?:(?:please|so|and|then|also|but|now|ok(?:ay)?)\b[\s,]*)*
    (?: (?:can|could|would|will)\s+you\s+ (?:please\s+)? )?
    (?: (?:tell|show|give|remind)\s+(?:me|us)\s+(?:(?:some\s+)?more\s+)?(?:about\s+|of\s+)?
      | (?:explain|describe|define|list|name|find|summari[sz]e|compare)\s+ )?
    (?: (?:what|which|who|whom|whose|when|where|why|how)\b (?:\s+(?:much|many|long|far|often))? (?:'s|’s)? \s* )?
    (?: (?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had)\b \s* )?
    (?: (?:there|it\s+said|said)\s+about\s+ | about\s+ )?""",
    re.VERBOSE | re.IGNORECASE,
)
_DOING: Final = re.compile(
    r"^(?: (?:(?:i|you|we|they|he|she|it|one)\s+)? (?!(?:the|an?)\b) [\w'’-]+\s+ (?=(?:the|an|a)\s+\w) | (?:i|you|we|they|one)\s+ )",
    re.VERBOSE | re.IGNORECASE,
)
_ASKED: Final = re.compile(  # what asks by a noun, or is no question
    r"""^ (?: (?:what|which|who|where) (?: \s+(?:is|are|was|were)\b | ['’]s\b ) | (?:can|could|would|will)\s+you\b
    | (?! (?:what|which|who|whom|whose|when|where|why|how)\b ) [^?]* $ )""",
    re.VERBOSE | re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did)\b", re.IGNORECASE
)
_TAIL: Final = re.compile(r"\s+(?:mean|means|about|called)$", re.IGNORECASE)


def subject(question: str) -> str:
    """Return what a question asks about, to be named in a sentence: “What is the capital of France?” asks about “the capital of France”."""
    text = " ".join(question.split()).rstrip("?？.!¿¡ ").lstrip("¿¡ ")
    rest = _DOING.sub("", _TAIL.sub("", _LEADS.sub("", text, count=1)).strip(" ,:;"))
    found = rest if stems(rest) else text
    return found if len(found) <= MAX_SUBJECT else found[:MAX_SUBJECT].rsplit(" ", 1)[0] + "…"


def named(question: str) -> str:
    """Return what a question asks about, or where no noun says it the question itself, in quotation marks, for “information about …”."""
    text = " ".join(question.split())
    found = subject(text)
    return (
        found
        if len(text) > MAX_SUBJECT or (_ASKED.match(text) and not _ASKING.match(found))
        else f"“{text}”"
    )


def stems(text: str) -> list[str]:
    """Return the words of a text that say something, in order, without their endings."""
    return [stem(word) for word in tokenize(text) if word not in EMPTY]


def covered(wanted: Collection[str], said: Collection[str], weights: Mapping[str, float]) -> float:
    """Return which share of the wanted words is said, 0 to 1, each by its weight (1 where it has none); 0 where none is wanted."""
    total = sum(weights.get(word, 1.0) for word in wanted)
    return sum(weights.get(word, 1.0) for word in wanted if word in said) / total if total else 0.0


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Cut an English ending off. A light stemmer will do: both sides are cut alike, and what it misses costs a little order."""
    if not word.isascii() or not word.isalpha():
        return word
    word = _BEING.sub(r"\1t", word)  # what is idempotent has idempotence
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word.removesuffix(ending)
            break
    if len(word) > _SHORTEST + 1 and word[-1] == word[-2]:
        word = word[:-1]
    return word.rstrip("eyi") if len(word.rstrip("eyi")) >= _SHORTEST else word
