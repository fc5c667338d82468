"""What language models think aloud before or while they answer, in the notations they use. Pure.

A thought stands between marks, such as ``<think>``, ``[THINK]``, ``<|channel|>analysis`` and
``◁think▷``. Where the opening one is part of the prompt, only the closing one is in the answer. Or
it is a part of its own before the answer: a block of any name, in brackets, a field of an object.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

MAX_CHARACTERS: Final = 400_000  # of an answer with its thoughts
_THOUGHTS: Final = (
    r"(?:(?:chain[ _-]of|inner|internal|model|self|my)[ _-])?"
    r"(?:think\w{0,4}|thoughts?|reason(?:ing|s)?|scratch[ _-]?pad|monologue)(?:[ _-]process)?"
)
_ANSWERS: Final = r"(?:final[ _-]?)?(?:answer|response|solution|output|reply)|final"
_MARK: Final = re.compile(
    r"(?P<line>(?<![^\n>]))?(?:<|&lt;)[|｜]?\s?(?P<end>/?)\s?(?:\w{1,20}:)?"
    r"(?P<begin>(?:(?:begin|start|end)[ _▁-](?:of[ _▁-])?)?)"
    rf"(?:(?P<name>{_THOUGHTS})|(?P<answer>{_ANSWERS}))"
    r"(?:\s[^<>\n]{0,200})?\s?[|｜]?(?P<empty>/?)(?:>|&gt;)"
    r"|(?:\[\[?|[【◁⟨{])(?P<end_other>/?)(?P<other>think|thinking|thoughts?|reasoning|思考)"
    r"(?:\]\]?|[】▷⟩}])"
    r"|<\|?channel\|?>\s{0,3}(?P<channel>\w{1,20})[^<\n]{0,80}(?:<\|constrain\|>\w{0,20})?"
    r"(?:<\|message\|>|\n|(?=<channel\|>))"
    r"|(?P<end_channel><channel\|>)"
    r"|<\|inner_(?P<inner>prefix|suffix)\|>|<unused9(?P<unused>[45])>(?:thought\b)?"
    r"|<(?P<end_details>/?)(?P<details>details)(?=[^<>\n]{0,200}reasoning|>)[^<>\n]{0,300}>",
    re.IGNORECASE,
)
_CONTROL: Final = re.compile(
    r"<[|｜][\w▁]{2,30}[|｜]>(?:assistant\b)?|</s>|<eos>|<(?:start|end)_of_turn>(?:model\b)?"
)
_LABEL: Final = r"^[\s#*_=]{0,6}(?:%s)\s?[*_=]{0,3}\s?(?:[:：.…]{1,3}[*_]{0,3}|$)"
_LABELLED: Final = re.compile(  # “Thought: … Final answer:”, at the beginning of lines
    r"\A\s*"
    + _LABEL % r"(?:here(?:'s| is) )?(?:my |the )?(?:thoughts?|thinking|reasoning)(?: process)?"
    + r".*?(?:"
    + _LABEL % r"(?:here(?:'s| is) )?(?:my |the )?(?:final )?(?:answer|response)"
    + r"|^[ .…]{0,4}done thinking[.…]{0,3})",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_FENCED: Final = re.compile(
    rf"^\s{{0,8}}(```|~~~)\s?{_THOUGHTS}\s*$.*?(?:^\s{{0,8}}\1\s*$|\Z)"
    rf"|<!--\s?{_THOUGHTS}.*?(?:-->|\Z)"
    rf"|\A\s*>\s?[*_]{{0,2}}{_THOUGHTS}[*_]{{0,2}}\s?(?:[:：][^\n]*)?(?:\n>[^\n]*)*$",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_BARE_CHANNEL: Final = re.compile(  # channels whose marks were dropped
    r"\A\s*(?:analysis|commentary)(?:\b|(?=[A-Z])).{1,400000}?assistant\s?final(?=\W|[A-Z])"
    r"|\A\s*(?:analysis|commentary)(?=[A-Z]).*",
    re.DOTALL,
)
_FIRST_BLOCK: Final = re.compile(  # between marks of any other name
    r"\A\s*<(?!(?:p|b|i|em|ul|ol|li|div|span|code|pre|q|cite|h\d)\b)"
    r"(?!(?:claim|quote|passage|piece|question|text)\b)"
    rf"(?!{_ANSWERS})(\w[\w-]{{1,30}})>.*?</\1>(?=\s*\S)",
    re.IGNORECASE | re.DOTALL,
)
_ASIDE: Final = re.compile(rf"\s*([(\[{{（*_])\s?(?:{_THOUGHTS}|思考)\s?[:：](?!\*)", re.IGNORECASE)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}", "（": "）"}
_FIELD: Final = re.compile(rf"{_THOUGHTS}|analysis|plan|rationale|reflection|cot", re.IGNORECASE)
_JSON_FENCE: Final = re.compile(r"\A```\w{0,9}\s|```\Z")
_ALOUD: Final = re.compile(
    r"\W{0,4}(?:(?:okay|ok|alright|hmm+|hm|wait|so|first|well|now)\b[,.:…]{0,3}\s+){0,4}"
    r"(?:the (?:user|asker|question)\b|let(?:['’]s| me| us)\b"
    r"|(?:i|we) (?:need to|have to|should|must|will|am|are)\b|(?:i['’]ll|i['’]m|we['’]re)\b"
    r"|looking at (?:the|these) passages)",
    re.IGNORECASE,
)
_TASK: Final = re.compile(
    r"\b(?:the|this) (?:user|asker)(?:['’]s)? (?:is |has |only |just |probably |really )?"
    r"(?:asks?|asked|asking|wants?|question|query|request|prompt)\b"
    r"|\b(?:the|this|that|each|no|these|which|both|other) (?:\w+ )?(?:passages?|question)\b"
    r"|\b(?:passages?|abschnitt|textstelle) \[?\d|\b(?:der|die) (?:nutzer|benutzer)(?:in)? fragt\b"
    r"|\b(?:the|my) answer (?:should|must|is to)\b|\bthe instructions (?:say|state|require)\b",
    re.IGNORECASE,
)
_NAMING: Final = re.compile(
    r"\W{0,4}(?:(?:according to|as (?:stated|described|mentioned) in|in|per|from|laut|gemäß|nach)"
    r" )?(?:the |der |die )?(?:passage|abschnitt|textstelle)s? [\[(]?\d"
    r"(?!.*\b(?:not|no|nicht|kein))",
    re.IGNORECASE | re.DOTALL,
)
_PLANNED: Final = re.compile(
    r"\b(?:i|we) (?:should|need|have|must|will|can|could) (?:to )?(?:\w+ )?(?:answer|cite|respond"
    r"|reply|check|look|find|write|mention|use|include|quote|output|say|summari[sz]e)\b"
    r"|\blet(?:['’]s| me| us) (?:\w+ )?(?:look|see|check|think|go|find|analy[sz]e|read|answer|write"
    r"|break|consider|examine|parse|recall|start|scan)\b",
    re.IGNORECASE,
)


class _Marks:
    """Follows the marks of thoughts through an answer."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self._has_answer = False  # a mark before the answer was read

    def visible(self, text: str) -> str:
        """Return the next part of an answer without thoughts."""
        shown: list[str] = []
        place = 0
        for mark in filter(self._is_one, _MARK.finditer(text)):
            if not self.open:
                shown.append(text[place : mark.start()])
            if self._follow(mark):
                shown.clear()
            place = mark.end()
        if not self.open:
            shown.append(text[place:])
        return _CONTROL.sub("", "".join(shown))

    def _is_one(self, mark: re.Match[str]) -> bool:
        """Tell a mark from a word of the answer: “the <output> element”."""
        is_end = self._has_answer and _meaning(mark)[1]
        return not mark["answer"] or mark["line"] is not None or is_end

    def _follow(self, mark: re.Match[str]) -> bool:
        """Open or close a thought, and tell whether all before was thought."""
        name, is_end, is_answer = _meaning(mark)
        if is_answer:
            self.open.clear()
            self._has_answer = True
            return not is_end
        if not is_end:
            self.open += [] if name in self.open or mark["empty"] else [name]
            return False
        is_first = not self.open
        del self.open[self.open.index(name) if name in self.open else 0 :]
        return is_first


def without_thoughts(text: str) -> str:
    """Return an answer without the model's thoughts, "" where it only thinks. Linear time."""
    text = _BARE_CHANNEL.sub("", text[:MAX_CHARACTERS], count=1)
    text = _FENCED.sub("", _LABELLED.sub("", text, count=1))
    text = _FIRST_BLOCK.sub("", _without_aside(_without_fields(text)), count=1)
    return _Marks().visible(text)


def _without_aside(text: str) -> str:
    """Leave out “(thinking: …)” at the beginning."""
    aside = _ASIDE.match(text)
    if aside is None:
        return text
    first = aside[1]
    last, depth = _CLOSING.get(first, first), 1
    for mark in re.finditer(f"{re.escape(last)}|{re.escape(first)}", text[aside.end() :]):
        depth += -1 if mark[0] == last else 1
        if not depth:
            return text[aside.end() + mark.end() :]
    return "" if first in _CLOSING else text


def _without_fields(text: str) -> str:
    """Return the answer of an object with thoughts and an answer, or what follows thoughts alone;
    other objects are answers.
    """
    body = _JSON_FENCE.sub("", text.strip()).lstrip()
    if not body.startswith("{"):
        return text
    try:
        fields, end = json.JSONDecoder(strict=False).raw_decode(body)
    except (ValueError, RecursionError):
        return text
    own = {name: field for name, field in fields.items() if not _FIELD.fullmatch(name)}
    if len(own) == len(fields):
        return text
    said = [field for field in own.values() if isinstance(field, str)]
    is_plain = len(said) == 1 and not any(isinstance(field, list | dict) for field in own.values())
    return said[0] if is_plain else json.dumps(own) if own else body[end:]


def is_thinking(text: str) -> bool:
    """Tell whether the beginning of an answer may be thoughts that go on."""
    text = text.lstrip()
    is_mark = text.startswith(("<", "[", "◁", "⟨", "&lt;")) and len(text) < 30 and "\n" not in text
    return (is_mark and not _MARK.match(text)) or not without_thoughts(text).strip()


def visible_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines without the thoughts between marks in them, as they come."""
    return map(_Marks().visible, lines)


def thinks_aloud(text: str) -> bool:
    """Tell whether an answer begins as a thought does: “Okay, the user wants …”."""
    return _ALOUD.match(text) is not None


def is_about_task(sentence: str) -> bool:
    """Tell whether a sentence speaks of the user, the passages or the question: no source does."""
    return _TASK.search(sentence) is not None


def names_passage(sentence: str) -> bool:
    """Tell whether a sentence begins with the passage that says the rest: “Passage 2 says …”."""
    return _NAMING.match(sentence) is not None


def is_planned(sentence: str) -> bool:
    """Tell whether a sentence says what its author is going to do: “Let me check …”."""
    return _PLANNED.search(sentence) is not None


def _meaning(mark: re.Match[str]) -> tuple[str, bool, bool]:
    """Return the name of a mark, whether it closes, and whether it belongs to the answer."""
    parts = mark.groupdict()
    if channel := parts["channel"]:
        return "channel", False, channel.lower() == "final"
    ends = ("end", "end_other", "end_channel", "end_details")
    is_end = any(parts[key] for key in ends) or (parts["begin"] or "").lower().startswith("end")
    is_end = is_end or (parts["inner"] or "").lower() == "suffix" or parts["unused"] == "5"
    names = ("name", "answer", "other", "details")
    name = next(filter(None, (parts[key] for key in names)), "channel")
    return name.lower(), is_end, bool(parts["answer"])
