"""A question of several parts: where one ends and the next begins, and what the next leans on."""

import re
from typing import Final, NamedTuple

from citations.routing.wording import IS, NAME, TELL, WHO, content
from transcripts.words import tokenize

MAX_PARTS: Final = 4  # what a question says beyond stays with the last of them
MAX_ABOUT: Final = 200  # characters of an earlier part that a later one is told

_OF: Final = r"(?:it|they|he|she|we|i|you|there|this|that|these|those|the|an?)"
_ASKING: Final = rf"(?:(?:{WHO}|was|{TELL}|{NAME})\b|{IS}\b)"
# After “and” only what cannot go on with the question before it: “which were born in 1900 and were …” is one.
_ANOTHER: Final = rf"(?:(?:{WHO})\s+\w|was\s+(?:ist|sind|war|macht|bedeutet)\b|{TELL}\s|{NAME}\s+(?:the|all|some|its|their|every)\b|{IS}\s+{_OF}\b)"
_BORDERS: Final = re.compile(
    rf"""
    (?<=[?？！])\ ?                                            # one question after another
    | \n | \ ?;\ ?
    | (?<=[.!])\  (?= {_ASKING} )                              # Explain this. Why is it so?
    | (?P<and> ,?\ (?:and|also|und|sowie|et|y|e)(?:\ (?:then|also|auch|aussi))?,?\  ) (?= {_ANOTHER} )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BOTH: Final = re.compile(
    r"\b(?:compare|contrast|difference|between|both|either|relate[ds]?|unterschied|vergleiche?|zwischen|différence|entre|diferencia)\b", re.IGNORECASE
)
_QUOTED: Final = re.compile(r'"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|`[^`]*`')
_ITEM: Final = re.compile(r"(?:[-*•–]|\(?\d{1,2}[.)])\s+")
_ASKS: Final = re.compile(rf"(?:also,?\s+)?{_ASKING}", re.IGNORECASE)
_NOUN: Final = r"(?:(?:the|an?)\s+)?[\w'’-]+(?:\s+[\w'’-]+){0,3}?"
_SUBJECT: Final = re.compile(rf"(?:what|who)(?:\s+(?:is|are|was|were)|['’]s)\s+(?P<that>{_NOUN}(?:\s+(?:of|in|for)\s+{_NOUN})?)\s*[?,]?", re.IGNORECASE)
_NO_NOUN: Final = re.compile(r"(?:ed|for|about|like|to|in|of|doing|it|this|that)$", re.IGNORECASE)
_BACK: Final = re.compile(r"\b(?:it|they|them|this|that|these|those|its|their|he|she|him|his|her)\b(?!\s+(?:is|was)\s+(?:that|to)\b)", re.IGNORECASE)
_OWNING: Final = frozenset(("its", "their", "his"))


def split(question: str) -> list[str]:
    """Split a question into several, at most ``MAX_PARTS``, where it asks several; one that leans on those before it is told what they were about.

    Nothing is lost: what asks nothing by itself stays with what it stands beside.
    """
    lines = (" ".join(_ITEM.sub("", line.strip(), count=1).split()) for line in question.splitlines())
    text = "\n".join(line for line in lines if line)
    parts: list[str] = []
    about = _About()
    for start, end in _places(text):
        piece = " ".join(text[start:end].strip(" ;,").split())
        part = _by_itself(piece, about)
        about = _subject(piece) if part == piece else about
        parts.append(part)
    return parts


def _places(text: str) -> list[tuple[int, int]]:
    """Return where questions begin and end: at borders behind which something is asked, if something was asked before."""
    borders = _borders(text)
    ends = [*(start for start, _ in borders[1:]), len(text)]
    begins, closes = [0], []
    asked = _is_question(text[: borders[0][0]] if borders else text)
    for (start, end), until in zip(borders, ends, strict=False):
        asks = _is_question(text[end:until])
        if asked and asks and len(begins) < MAX_PARTS:
            begins.append(end)
            closes.append(start)
        asked = asked or asks
    return list(zip(begins, [*closes, len(text)], strict=True))


def _borders(text: str) -> list[tuple[int, int]]:
    """Return where a question may end and another begin: outside quotation marks, and at “and” only where the two are not asked about together."""
    masked = _QUOTED.sub(lambda found: "x" * len(found[0]), text)
    found: list[tuple[int, int]] = []
    since = 0
    for border in _BORDERS.finditer(masked):
        if not (border["and"] and _BOTH.search(masked, since, border.start())):
            found.append(border.span())
            since = border.end()
    return found


def _is_question(piece: str) -> bool:
    piece = piece.strip()
    return bool(_ASKS.match(piece) or piece.endswith(("?", "？"))) and len(tokenize(piece)) > 1


class _About(NamedTuple):
    """What a question is about, and whether that can stand where a pronoun stands."""

    text: str = ""
    is_noun: bool = False


def _by_itself(part: str, about: _About) -> str:
    """Return a part so that it can be understood without those before it, which were ``about`` something."""
    back = _BACK.search(part)
    if not about.text or (not back and content(part)) or set(content(about.text)) <= set(content(part)):
        return part
    if back is None or not about.is_noun:
        return f"{part} ({about.text})"
    return f"{part[: back.start()]}{about.text}{'’s' if back[0].casefold() in _OWNING else ''}{part[back.end() :]}"


def _subject(part: str) -> _About:
    """Return what follows “what is”, else the words that say something."""
    asked = _SUBJECT.fullmatch(part)
    if asked and not _NO_NOUN.search(asked["that"]):
        return _About(asked["that"], is_noun=True)
    said = frozenset(content(part))
    words = [word.strip("?.,!;:") for word in part.split() if said.intersection(tokenize(word))]
    return _About(" ".join(words)[:MAX_ABOUT], is_noun=len(words) == 1)
