"""A question of several parts: where one ends and the next begins, and what the next leans on."""

import re
from typing import Final

from citations.answers.question.coreference import About, leans, put_in, subject
from citations.answers.question.words import IS, NAME, TELL, WHO, content
from transcripts.tokenizer import tokenize

MAX_PARTS: Final = 4  # what a question says beyond stays with the last of them

_OF: Final = r"(?:it|they|he|she|we|i|you|there|this|that|these|those|the|an?)"
_ASKING: Final = rf"(?:(?:{WHO}|was|{TELL}|{NAME})\b|{IS}\b)"
# After “and” only what cannot go on with the question before it: “which were born in 1900 and were …” is one.
_ANOTHER: Final = (
    rf"(?:(?:(?:at|in|on|by|for|with|from|to)\s+)?(?:{WHO})\s+\w|was\s+(?:ist|sind|war|wird|wurde|hat|haben|soll|kann|macht|bedeutet|passiert|kostet)\b|{TELL}\s"
    rf"|{NAME}\s+(?:the|all|some|its|their|every|it|them|this|that)\b|{IS}\s+{_OF}\b|(?:can|should|do|does|did)\s+(?!not\b)\w+\s+\w)"
)
# “… and why it matters” asks about the same, in one breath.
_SAME: Final = (
    r"(?:why|how|what|when|where|who)\s+"
    r"(?:(?:it|they|he|she|this|that|these|those)\b|(?:does|do|is|are)\s+(?:it|this|that|they|these)\s+(?:matter|important)\b)"
)
_BORDERS: Final = re.compile(
    rf"""
    (?<=[?？！])\ ?                                            # one question after another
    | \n | \ ?;\ ?
    | (?<=[.!]) (?<!\b\w\.) (?<!\b(?:dr|mr|ms|st|vs|no|al)\.) (?<!\b(?:mrs|etc)\.) (?<!\bprof\.) \  (?= {_ASKING} )  # Explain this. Why is it so?
    | (?P<comma> ,\  ) (?= (?:{WHO})\ {IS}\b )
    | (?P<and> ,?\ (?:and|also|und|sowie|et|y|e)(?:\ (?:then|also|auch|aussi))?,?\  ) (?= {_ANOTHER} ) (?! {_SAME} )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DIRECT: Final = re.compile(rf"\W*(?:{WHO})\s+(?:\w+\s+)?{IS}\b", re.IGNORECASE)
_ASKED_WITH: Final = re.compile(rf"(?<!\w)(?:{WHO})$", re.IGNORECASE)
_BOTH: Final = re.compile(
    r"\b(?:compare|contrast|difference|between|both|either|relate[ds]?|unterschied|vergleiche?|zwischen|différence|entre|diferencia)\b",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r'"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|`[^`]*`')
_ITEM: Final = re.compile(r"(?:[-*•–]|\(?\d{1,2}[.)])\s+")
_ASKS: Final = re.compile(rf"[¿¡]*(?:\(?\d{{1,2}}[.)]\s+)?(?:also,?\s+)?{_ASKING}", re.IGNORECASE)


def split(question: str) -> list[str]:
    """Split a question into several, at most ``MAX_PARTS``, where it asks several; one that leans on those before it is told what they were about.

    Nothing is lost: what asks nothing by itself stays with what it stands beside.
    """
    lines = (
        " ".join(_ITEM.sub("", line.strip(), count=1).split()) for line in question.splitlines()
    )
    text = "\n".join(line for line in lines if line)
    parts: list[str] = []
    about = About()
    for start, end in _places(text):
        piece = _ITEM.sub("", " ".join(text[start:end].strip(" ;,/").split()), count=1)
        part = _by_itself(piece, about)
        about = subject(piece) if part == piece else about
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
        if _parts(border, masked, since):
            found.append(border.span())
            since = border.end()
    return found


def _parts(border: re.Match[str], text: str, since: int) -> bool:
    """Say whether two questions meet at a border, the first of which begins at ``since``."""
    if border["comma"]:
        return bool(_DIRECT.match(text, since, border.start()))
    if border["and"]:
        return not (
            _BOTH.search(text, since, border.start())
            or _ASKED_WITH.search(text, max(since, border.start() - 10), border.start())
        )
    return True


def _is_question(piece: str) -> bool:
    piece = piece.strip()
    return bool(_ASKS.match(piece) or piece.endswith(("?", "？"))) and len(tokenize(piece)) > 1


def _by_itself(part: str, about: About) -> str:
    """Return a part so that it can be understood without those before it, which were ``about`` something."""
    if not about.text or not leans(part) or set(content(about.text)) <= set(content(part)):
        return part
    return put_in(part, about)
