"""The wording of a question: its content words, its parts, and what it refers to or asks about.

A file of ``words`` lists one language's words by their role. An entry is a regular expression; "_"
stands for white space.
"""

import re
from itertools import pairwise
from pathlib import Path
from typing import Final

from citations.text.sentences import QUESTION_MARKS
from transcripts.text.forms import names
from transcripts.text.tokenizer import tokenize

MAX_PARTS: Final = 4  # what a question asks beyond them stays with the last
MAX_CONTEXT: Final = 400  # characters of earlier questions
MAX_QUOTED: Final = 120  # characters of a question in a message
_MARKS: Final = tuple("?.,!;:")
_ANY: Final = re.compile(r"\W*(?:any|anything|some|something)\b", re.IGNORECASE)
_BRIEF: Final = 6  # words of a phrase that only names another thing: “RAID 6?”
_OWN, _OWN_OF_PART = 3, 2  # content words with which “And …” and “…, and …” stand by themselves


def _read(path: Path) -> dict[str, tuple[str, ...]]:
    sections = path.read_text(encoding="utf-8").split("\n[")[1:]
    pairs = (section.split("]\n", 1) for section in sections)
    return {role: tuple(entries.split()) for role, entries in pairs}


LISTS: Final = {
    path.stem: _read(path) for path in sorted(Path(__file__).with_name("words").glob("*.txt"))
}


def any_of(*roles: str) -> str:
    """Return a regular expression for the entries of some roles, in all languages."""
    entries = [entry for lists in LISTS.values() for role in roles for entry in lists.get(role, ())]
    longest_first = sorted(entries, key=len, reverse=True)
    return f"(?:{'|'.join(longest_first)})".replace("_", r"\s+")


_STOP_WORDS: Final = frozenset(word for lists in LISTS.values() for word in lists["empty"])
_QUESTION: Final = re.compile(
    rf"(?<!\w)(?:{any_of('question_words')}|me|i\s+(?:want|need|would|am|have)|i['’]d)(?!\w)",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    rf"\W*(?:(?:please|now|also)\s+)*{any_of('orders', 'verbs', 'requests')}(?!\w)", re.IGNORECASE
)
_CONTEXT: Final = re.compile(r"(?P<own>.*\S) \((?P<context>[^()]+)\)", re.DOTALL)
# “What is a scan key”, “who is Ada”: asks about a thing by its name. “What is the cost” does not.
_LETTERS_THAT_NAME: Final = frozenset("BCDEFGHJKLMNOPQRSTUVWXYZ")  # not “A” and “I”
_IS_ASKED: Final = r"(?:what|who)(?:\s+(?:is|are|was|were)|['’]s)|(?:was|wer)\s+(?:ist|war)"
_NAMING: Final = rf"(?i:{_IS_ASKED})\s+(?:(?i:an?|ein|eine)\s+\w|(?!I\b)[A-ZÀ-Þ])"
_MEASURED: Final = r"(?i:how\s+(?:many|much|often|long))"
# “What is gas?” asks for a thing by three words at most.
_THING: Final = re.compile(
    rf"\W*(?i:{_IS_ASKED})\s+(?:(?i:an?|eine?)\s+)?"
    r"(?P<thing>\w[\w'’-]*(?:\s+\w[\w'’-]*){0,2})\W*$"
)
# Questions end at their marks, at lines, and where “and” begins another one: see ``_is_end``.
_END: Final = re.compile(
    rf"[{QUESTION_MARKS}！]+|[\n;]|,?(?<!\s)(?=\s+(?i:{any_of('connectives')})\s+(?P<rest>[^\n;]+))"
)
_WHOLE_QUESTION: Final = re.compile(
    rf"{_MEASURED}\s+\w|(?i:{any_of('question_words')})(?:\W+\w+){{3}}|{_NAMING}"
)
_ITEM: Final = re.compile(r"(?:[-*•–]|\(?\d{1,2}[.)])\s+")
_QUOTED: Final = re.compile(r'"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|`[^`]*`')
_JOINT: Final = re.compile(rf"\W*{any_of('joints')}(?!\w)", re.IGNORECASE)
_NAMES: Final = re.compile(_NAMING)
_OF_THE_SAME: Final = re.compile(rf"\W*(?:(?i:{_IS_ASKED})|{_MEASURED})(?!\w)")  # “… the cost?”
_CONNECTIVE: Final = re.compile(rf"^\W*{any_of('connectives')}(?!\w)[\s,]*", re.IGNORECASE)
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
_SUBJECT: Final = re.compile(rf"\W*(?:{_IS_ASKED})\s+(?P<subject>\w[^?？.,;]{{1,60}}?)\W*$", re.I)
_PRONOUN: Final = re.compile(r"(?<![\w’'])(?:it|they|them|(?P<own>its|their))(?![\w’'])", re.I)
_MORE: Final = re.compile(
    rf"\W*(?:(?:please|and|but|so|ok(?:ay)?|can\s+you|could\s+you)\W+)*{any_of('more')}(?!\w)",
    re.IGNORECASE,
)
_GREETING: Final = re.compile(rf"\W*(?:{any_of('greetings')}(?!\w)\W*)+", re.IGNORECASE)


def content_words(text: str) -> list[str]:
    """Return the words that say what a text is about; of single letters only names: C++, R."""
    words = [word for word in tokenize(text, shortest=1) if word not in _STOP_WORDS]
    if all(len(word) > 1 for word in words):
        return words
    named = {
        name.words[0]
        for name in names(text)
        if name.signed or text[name.start : name.end] in _LETTERS_THAT_NAME
    }
    return [word for word in words if len(word) > 1 or word.isdigit() or word in named]


def is_question(text: str) -> bool:
    """Tell a question or an order from a heading or a few words that name a subject."""
    marked = any(mark in text for mark in QUESTION_MARKS)
    return marked or bool(_QUESTION.search(text) or _REQUEST.match(text))


def split(question: str) -> list[str]:
    """Split several questions that stand beside each other, at most ``MAX_PARTS``.

    No text is lost: a sentence that asks nothing stays with its neighbour. A part that refers to
    the first one gets the term that this asks about in the place of its pronouns (“What is jitter?
    Why does it help?”), or else the whole of it as its context.
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
    about = None if _REFERENCE.search(first) else _SUBJECT.match(first)
    named = [_with_subject(part, about["subject"]) if about else part for part in others]
    contexts = (whole if refers_back(part, is_part=True) else context for part in named)
    return [whole, *map(in_context, named, contexts)]


def _with_subject(question: str, subject: str) -> str:
    """Return a question with a subject in the place of “it”, “they”, “its” and “their”."""
    if not _REFERENCE.search(question):
        return question
    return _PRONOUN.sub(lambda word: f"{subject}’s" if word["own"] else subject, question)


def refers_back(question: str, *, is_part: bool = False) -> bool:
    """Tell whether a question needs the one before it: a pronoun, “And …?”, or no subject."""
    own = content_words(question)
    if not own or _REFERENCE.search(question) or asks_for_more(question):
        return True
    if joint := _JOINT.match(question):
        rest = question[joint.end() :].lstrip(" ,")
        fewest = _OWN_OF_PART if is_part and not _OF_THE_SAME.match(rest) else _OWN
        if len(content_words(rest)) < fewest and not _NAMES.match(rest):
            return True
    is_short = question.rstrip().endswith(tuple(QUESTION_MARKS)) and len(question.split()) <= _BRIEF
    is_short = is_short and not (_ANY.match(question) and len(own) >= _OWN)
    return is_short and not is_question(without_connective(question.rstrip(f"{QUESTION_MARKS} ")))


def is_greeting(message: str) -> bool:
    """Tell whether a message only greets, thanks or asks for help."""
    return _GREETING.fullmatch(message) is not None


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
    joined = _CONTEXT.fullmatch(question)  # “Explain RRF (reciprocal rank fusion)” has no context
    if joined and (is_question(joined["context"]) or refers_back(joined["own"])):
        return joined["own"], joined["context"]
    return question, ""


def asks_what_is(question: str) -> bool:
    """Tell whether a question asks what a thing is, by three words at most: “what is gas?”"""
    match = _THING.match(question)
    return match is not None and _STOP_WORDS.isdisjoint(tokenize(match["thing"], shortest=1))


def without_connective(question: str) -> str:
    """Cut off the “And” with which a question goes on; of a question that is no more, nothing."""
    rest = _CONNECTIVE.sub("", question, count=1)
    return rest if is_question(rest) else question


def without(question: str, name: tuple[int, int], pronoun: str) -> str:
    """Return a question with a pronoun, if any, in the place of the characters of a name."""
    before = " ".join(f"{question[: name[0]].rstrip(' ,')} {pronoun}".split())
    after = question[name[1] :].lstrip("\"”»’'").lstrip(" " if pronoun else " ,:;")
    joint = "" if after.startswith(_MARKS) or not before else " "
    text = " ".join(f"{before}{joint}{after}".split())
    return text[:1].upper() + text[1:]


def quoted(question: str) -> str:
    """Return a question in quotation marks, or the one before it where it names no subject."""
    own, context = separated(" ".join(question.split()))
    text = without_connective(context if context and not content_words(_MORE.sub("", own)) else own)
    if len(text) > MAX_QUOTED:
        text = text[:MAX_QUOTED].rsplit(" ", 1)[0] + "…"
    return f"“{text[:1].upper()}{text[1:]}”"


def _pieces(text: str) -> list[str]:
    """Cut a text where its questions end; drop bullets and numbers."""
    masked = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text)
    ends = [end.end() for end in _END.finditer(masked) if _is_end(masked, end)]
    pieces = (text[first:last] for first, last in pairwise([0, *ends, len(text)]))
    plain = (" ".join(_ITEM.sub("", piece.strip(" ,;\n"), count=1).split()) for piece in pieces)
    return [piece for piece in plain if piece]


def _is_end(text: str, end: re.Match[str]) -> bool:
    """Tell whether a question ends here: before “and” only if the next one is whole (“, and why do
    bees dance”, “, and what is jitter”), and without a comma only if both ask what a thing is.
    """
    before, rest = text[: end.start()], end["rest"]
    if rest is None:
        return True
    if end[0]:  # a second comma parts a list
        return "," not in before and bool(_WHOLE_QUESTION.match(rest) or asks_what_is(rest))
    return asks_what_is(before) and asks_what_is(rest)


def _is_question(piece: str) -> bool:
    return is_question(piece) and len(tokenize(piece)) > 1
