"""What kind of answer a question asks for, and the sentences that have it: the meaning of a term, a
number or a year.

The expected answer type is the oldest trick of question answering: Voorhees, "The TREC-8 Question
Answering Track Report" (1999).
"""

import re
from typing import Final

QUALITY: Final = 0.3  # of a definition's worth, for saying how a thing is rather than what it is

INDEFINITE: Final = r"(?:an?|eine?n?|une?|una?)"
DEFINITE: Final = r"(?:the|der|die|das|l[ea]s?|el|los|las)"
ARTICLE: Final = rf"(?:{INDEFINITE}|{DEFINITE})"
_MEANING_ASKED: Final = re.compile(
    rf"""^\W*(?: what(?:\s+(?:is|are|was|were)|['’]s|\s+does) | was\s+(?:ist|sind)
    | qu['’]est-ce\s+qu(?:e|['’]) | qué\s+(?:es|son) | define )\s+
    (?: {ARTICLE}\s+ | l['’] )?
    (?P<term>[^?？.,;]{{2,60}}?) (?:\s+means?|\s+says?|\s+states?|\s+stand\s+for)? \s*[?？.]?\s*
    (?:\([^()]*\))?$""",
    re.VERBOSE | re.IGNORECASE,
)
_IS: Final = r"is|are|ist|sind|est|sont|es|son"
_DEFINES: Final = (
    rf"(?:(?P<is>{_IS})|means?|refers?\s+to|stands?\s+for|denotes?|describes?|measures?"
    r"|consists?\s+of|says\s+that|states\s+that|heißt|bedeutet)"
)
# What a thing is said to be, rather than how it is: “a …”, “the …”, “when …”, “defined as …”; but
# not “one of the most important …”.
_KIND: Final = re.compile(
    rf"""\s+(?:(?:\w+ly|just|really|also|now|then|nothing\s+(?:but|more\s+than)|often|sort\s+of
    |ja|eben|einfach)\s+)* (?!(?:one|ein\w*|une?|un[ao])\s+(?:of|der|des|von|de)\b)
    (?:{ARTICLE}|one|any|how|when|where|what|that|to|defined|ein\w*|l['’]\w+)(?!\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_PREPOSITIONS: Final = (
    "of|in|for|to|at|on|from|by|with|over|into|under|between|than|like|about|von|im|zu|mit|bei"
    "|für|auf|aus|über|de|du|des|del|dans|en|à|pour|par|con|por|para|sobre"
)
_UNPREPOSED: Final = "".join(rf"(?<!\b{word}\s)" for word in _PREPOSITIONS.split("|"))
# Before a term that is no part of a longer one, and what its sentence or clause is about.
_ITSELF: Final = (
    r"(?:(?:^|[^\w\s-]\s*|\b(?:so|and|but|or|that|then|what|now|because|well|like|where|if|und"
    rf"|aber|et|mais|y|pero)\s+)(?:{ARTICLE}\s+)?|{_UNPREPOSED}\b{ARTICLE}\s+)"
)
_CALLED: Final = r"(?:called|known\s+as|genannt|appelée?|llamad[oa])\s+(?:an?\s+|the\s+)?"
_ASIDE: Final = (
    r"(?:\s*\([^()]{1,60}\)|\s*[,–—][^,–—.!?]{1,60}[,–—]"
    r"|\s+(?:\w+ly|then|also|just|now|here|itself"
    rf"|(?:{_PREPOSITIONS})(?:\s+[^\s,;]+){{1,6}}?)){{0,2}}"
)
_WHICH: Final = r"(?:,?\s+(?:which|that|der|die|das|qui|que))?"


def term(question: str) -> str:
    """Return the term whose meaning a question asks for; empty if it asks for something else."""
    meaning = _MEANING_ASKED.search(" ".join(question.split()))
    return meaning["term"] if meaning else ""


def definition_asked(question: str) -> re.Pattern[str] | None:
    """Return what occurs in a sentence that may define the term that a question asks for, or asks
    for it again; None if it asks for none.
    """
    if not (asked_term := term(question)):
        return None
    again = (
        rf"(?P<asks>\b(?:what|was|qué)\s+(?:{ARTICLE}\s+)?{words_of_term(asked_term)}{_ASIDE}"
        rf"\s+(?:{_IS}|means?)\b)"
    )
    return re.compile(f"{again}|{definition_of(asked_term).pattern}", re.IGNORECASE)


def definition_of(term: str) -> re.Pattern[str]:
    """Return what occurs in a sentence that may say what a term means."""
    words = words_of_term(term)
    return re.compile(
        rf"{_ITSELF}(?P<term>{words})(?:s|es)?\b{_ASIDE}{_WHICH}\s+{_DEFINES}\b(?=\W+\w)"
        rf"|\b(?P<called>{_CALLED}){words}\b",
        re.IGNORECASE,
    )


def words_of_term(term: str) -> str:
    """Return the pattern of a term, whatever stands between its words."""
    return r"\W+".join(map(re.escape, term.split()))


def fitness(definition: re.Pattern[str] | None, sentence: str) -> float:
    """Rate whether a sentence defines what is asked for, 0 to 1; -1 if it asks the same again.

    A sentence that says of the term how it is, not what it is, may define it, but rarely does.
    """
    matches = definition.finditer(sentence) if definition else ()
    return max(
        (-1.0 if match["asks"] else 1.0 if says_what(match) else QUALITY for match in matches),
        default=0.0,
    )


def says_what(definition: re.Match[str]) -> bool:
    """Tell whether what may be a definition says what its term is, rather than how it is."""
    is_kind = _KIND.match(definition.string, definition.end())
    return not definition["is"] or is_kind is not None


_QUANTITY_ASKED: Final = re.compile(
    r"""\b(?: how\s+(?:many|much|big|large|small|long|far|often|old|tall|high|fast|deep|heavy|wide
    |expensive) | what\s+(?:\w+\s+)?(?:size|number|percentage|share|price|rate|age|cost|length|value
    |speed|distance|year|date|day|month) | wie\s*(?:viele?|groß|lange|oft|hoch|alt|weit|schnell
    |teuer) | combien | cuánt[oa]s? | wann | quand | cuándo )\b
    | ^\W*(?:since\s+)?when(?!\s+(?:is|are|do|can|should)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_QUANTITY: Final = re.compile(
    r"""\d | [½¼¾%] | \b(?: zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve
    |fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?
    |billions?|trillions?|half|twice|double|dozen|once|zwei|drei|vier|fünf|sechs|sieben|acht|neun
    |zehn|hundert|tausend|millionen|deux|trois|quatre|cinq|dix|cent|mille|dos|tres|cuatro|cinco
    |diez|cien|mil )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def quantity_asked(question: str) -> re.Pattern[str] | None:
    """Return what occurs in an answer that is a quantity; None where none is asked for."""
    return _QUANTITY if _QUANTITY_ASKED.search(question) else None
