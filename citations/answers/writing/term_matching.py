"""What a question asks about, and whether a sentence has its words in another form."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from transcripts.tokenizer import tokenize

MAX_SUBJECT: Final = 120  # characters

EMPTY: Final = frozenset(
    Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split()
)
_ENDINGS: Final = [
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
]
_ANCE: Final = re.compile(r"(?<=\w{3})([ae]n)ces?$")
_SHORTEST: Final = 3  # letters that an ending leaves
_LEAD: Final = re.compile(
    r"""^\s* (?:(?:please|so|and|then|also|but|now|ok(?:ay)?)\b[\s,]*)*
    (?: (?:can|could|would|will)\s+you\s+ (?:please\s+)? )?
    (?: (?:tell|show|give|remind)\s+(?:me|us)\s+(?:(?:some\s+)?more\s+)?(?:about\s+|of\s+)?
      | (?:explain|describe|define|list|name|find|summari[sz]e|compare)\s+ )?
    (?: (?:what|which|who|whom|whose|when|where|why|how)\b
        (?:\s+(?:much|many|long|far|often))? (?:'s|’s)? \s* )?
    (?: (?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had)\b \s* )?
    (?: (?:there|it\s+said|said)\s+about\s+ | about\s+ )?""",
    re.VERBOSE | re.IGNORECASE,
)
_DOING: Final = re.compile(
    r"""^(?: (?:(?:i|you|we|they|he|she|it|one)\s+)? (?!(?:the|an?)\b) [\w'’-]+\s+
      (?=(?:the|an|a)\s+\w) | (?:i|you|we|they|one)\s+ )""",
    re.VERBOSE | re.IGNORECASE,
)
_NOUN_ASKED: Final = re.compile(  # a question that asks by a noun, or no question
    r"""^ (?: (?:what|which|who|where) (?: \s+(?:is|are|was|were)\b | ['’]s\b )
    | (?:can|could|would|will)\s+you\b
    | (?! (?:what|which|who|whom|whose|when|where|why|how)\b ) [^?]* $ )""",
    re.VERBOSE | re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did)\b", re.IGNORECASE
)
_CONTEXT: Final = re.compile(r"(?P<own>.*\S) \((?P<context>[^()]+)\)")
_TAIL: Final = re.compile(r"\s+(?:mean|means|about|called)$", re.IGNORECASE)


def subject(question: str) -> str:
    """Return what a question asks about, to be named in a sentence.

    “What is the capital of France?” asks about “the capital of France”.
    """
    text = " ".join(question.split()).rstrip("?？.!¿¡ ").lstrip("¿¡ ")
    rest = _DOING.sub("", _TAIL.sub("", _LEAD.sub("", text, count=1)).strip(" ,:;"))
    named = rest if stems(rest) else text
    return named if len(named) <= MAX_SUBJECT else named[:MAX_SUBJECT].rsplit(" ", 1)[0] + "…"


def named(question: str) -> str:
    """Return a question's subject, or the quoted question if no noun names the subject.

    Of a question without content words, it is the subject of the one before it, in brackets.
    """
    text = " ".join(question.split())
    joined = _CONTEXT.fullmatch(text)
    text = joined["context"] if joined and not stems(joined["own"]) else text
    rest = subject(text)
    has_noun = _NOUN_ASKED.match(text) and not _ASKING.match(rest)
    return rest if len(text) > MAX_SUBJECT or has_noun else f"“{text}”"


def stems(text: str) -> list[str]:
    """Return the stems of a text's content words, in order."""
    return [stem(word) for word in tokenize(text) if word not in EMPTY]


def covered(wanted: Collection[str], words: Collection[str], weights: Mapping[str, float]) -> float:
    """Return the share of the wanted words that occur, 0 to 1, by weight (1 without a weight)."""
    total = sum(weights.get(word, 1.0) for word in wanted)
    return sum(weights.get(word, 1.0) for word in wanted if word in words) / total if total else 0.0


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Cut an English ending off. Both sides are cut alike, so that a light stemmer will do."""
    if not word.isascii() or not word.isalpha():
        return word
    word = _ANCE.sub(r"\1t", word)  # “idempotent” and “idempotence”
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word.removesuffix(ending)
            break
    if len(word) > _SHORTEST + 1 and word[-1] == word[-2]:
        word = word[:-1]
    return word.rstrip("eyi") if len(word.rstrip("eyi")) >= _SHORTEST else word
