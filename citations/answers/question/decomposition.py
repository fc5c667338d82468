"""The parts of a question, and the earlier question that a part or a follow-up refers to."""

import re
from itertools import pairwise
from typing import Final

from citations.answers.question.words import any_of, content_words, is_question
from transcripts.tokenizer import tokenize

MAX_PARTS: Final = 4  # what a question asks beyond them stays with the last
MAX_CONTEXT: Final = 400  # characters of earlier questions
_SHORT: Final = 6  # words of a phrase that only names another thing: “RAID 6?”
_OWN: Final = 3  # content words with which “And …” stands by itself

_CONTEXT: Final = re.compile(r"(?P<own>.*\S) \((?P<context>[^()]+)\)", re.DOTALL)
_END: Final = re.compile(r"[?？！]+|[\n;]")
_ITEM: Final = re.compile(r"(?:[-*•–]|\(?\d{1,2}[.)])\s+")
_QUOTED: Final = re.compile(r'"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|`[^`]*`')
_JOINT: Final = re.compile(rf"\W*{any_of('joints')}(?!\w)", re.IGNORECASE)
_REFERENCE: Final = re.compile(
    rf"""(?<![\w’'])(?:
      (?!it\s+(?:is\s+|was\s+)?(?:\w+\s+)?(?:true|possible|\w+\s+(?:that|to))(?!\w))
      {any_of("references")}
    | {any_of("demonstratives")}(?=\W*$|\s+(?:{any_of("verbs")}|in|on|at|for|by|than|\w+ly)(?!\w))
    | {any_of("verbs")}\s+{any_of("demonstratives")}\s+\w+\W*$
    | {any_of("ellipses")}
    )(?![\w’'])""",
    re.VERBOSE | re.IGNORECASE,
)


_MORE: Final = re.compile(
    rf"\W*(?:(?:please|and|but|so|ok(?:ay)?|can\s+you|could\s+you)\W+)*{any_of('more')}(?!\w)",
    re.IGNORECASE,
)


def split(question: str) -> list[str]:
    """Split several questions that stand beside each other, at most ``MAX_PARTS``.

    No text is lost: a sentence that asks nothing stays with its neighbour. A part that refers to
    the one before it gets it as its context.
    """
    own, context = separated(question)
    parts: list[str] = []
    for piece in _pieces(own):
        has_question = bool(parts) and _is_question(parts[-1])
        if not parts or (has_question and _is_question(piece) and len(parts) < MAX_PARTS):
            parts.append(piece)
        else:
            parts[-1] = f"{parts[-1]} {piece}"
    first, *others = parts if len(parts) > 1 else [" ".join(own.split())]
    whole = in_context(first, context)
    return [whole, *(in_context(part, whole if refers_back(part) else context) for part in others)]


def refers_back(question: str) -> bool:
    """Tell whether a question needs the one before it: a pronoun, “And …?”, or no subject."""
    own = content_words(question)
    if not own or _REFERENCE.search(question) or asks_for_more(question):
        return True
    if _JOINT.match(question) and len(content_words(_JOINT.sub("", question, count=1))) < _OWN:
        return True
    return (
        question.rstrip().endswith("?") and len(question.split()) <= _SHORT and not _asks(question)
    )


def asks_for_more(question: str) -> bool:
    """Tell whether a question asks for more than it got: earlier quotes are no answer to it."""
    return _MORE.match(question) is not None


def in_context(question: str, earlier: str) -> str:
    """Return a question with the one that it refers to, and that one's own context, in brackets."""
    own, context = separated(earlier)
    text = context if context and asks_for_more(own) else f"{context} {own}"
    plain = text.replace("(", "").replace(")", "").strip()
    return f"{question} ({plain[:MAX_CONTEXT].strip()})" if plain else question


def separated(question: str) -> tuple[str, str]:
    """Return a question and its context, as ``in_context`` joined them."""
    joined = _CONTEXT.fullmatch(question)
    return (joined["own"], joined["context"]) if joined else (question, "")


def _pieces(text: str) -> list[str]:
    """Cut a text at line ends, question marks and semicolons; drop bullets and numbers."""
    masked = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text)
    ends = [end.end() for end in _END.finditer(masked)]
    pieces = (text[first:last] for first, last in pairwise([0, *ends, len(text)]))
    plain = (" ".join(_ITEM.sub("", piece.strip(" ;\n"), count=1).split()) for piece in pieces)
    return [piece for piece in plain if piece]


def _is_question(piece: str) -> bool:
    return is_question(piece) and len(tokenize(piece)) > 1


def _asks(question: str) -> bool:
    return is_question(question.rstrip("?？ "))
