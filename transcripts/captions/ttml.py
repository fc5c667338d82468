"""TTML's timing: times on any element, relative to what contains it, and inherited.

https://www.w3.org/TR/ttml2/#timing. Many files write absolute times all the same: they are read so
where the standard would never show a passage.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from transcripts.captions.drafts import UNTIMED, CueDraft, words_at
from transcripts.captions.speech import clean
from transcripts.captions.time_marks import milliseconds
from transcripts.captions.voices import Voices, name_of
from transcripts.text.cues import Word

XML: Final = "{http://www.w3.org/XML/1998/namespace}"
_AGENT: Final = "{http://www.w3.org/ns/ttml#metadata}agent"
_OFFSET: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(h|ms|m|s|f|t)")
_IN_FRAMES: Final = re.compile(r"([0-9]+:[0-9]+:[0-9]+):([0-9]{1,4}(?:\.[0-9]{1,3})?)")
_UNITS: Final = {"h": 3_600_000.0, "m": 60_000.0, "s": 1000.0, "ms": 1.0}
_FRAMES: Final = 30.0  # per second, TTML's default


class _Interval(NamedTuple):
    """When an element is shown, in ms, and who speaks in it."""

    begin: float  # or ``UNTIMED``
    end: float | None
    agent: str
    is_timed: bool = True


class _TimesAreAbsolute(Exception):
    """By the standard, a passage would begin when what contains it has ended."""


def ttml_drafts(root: Element) -> list[CueDraft]:
    """Return the paragraphs, or the parts of them that have times, with who speaks."""
    try:
        return list(_Reader(root, is_relative=True).drafts())
    except _TimesAreAbsolute:
        return list(_Reader(root, is_relative=False).drafts())


class _Reader:
    def __init__(self, root: Element, *, is_relative: bool) -> None:
        self._root = root
        self._is_relative = is_relative
        self._frames = _rate(root, "frameRate") or _FRAMES
        multiplier = re.findall(r"[0-9]+", _parameter(root, "frameRateMultiplier"))
        if len(multiplier) == 2 and int(multiplier[1]):
            self._frames *= int(multiplier[0]) / int(multiplier[1])
        self._ticks = _rate(root, "tickRate") or _rate(root, "frameRate") or 1.0
        self._names = {
            agent.get(f"{XML}id", ""): name_of("".join(agent.itertext()))
            for agent in root.iter(_AGENT)
        }

    def drafts(self) -> Iterator[CueDraft]:
        voices = Voices()
        for paragraph, interval in self._paragraphs():
            pieces = list(self._pieces(paragraph, interval))
            is_whole = "begin" in paragraph.attrib or all(own is interval for own, _ in pieces)
            parts = (
                [(interval, pieces)]
                if is_whole
                else [(own, list(part)) for own, part in groupby(pieces, lambda piece: piece[0])]
            )
            for own, part in parts:
                name = self._names.get(own.agent or (part[0][0].agent if part else ""), "")
                text = voices.labelled(name, "".join(said for _, said in part))
                begin = round(own.begin) if own.is_timed else UNTIMED
                end = None if own.end is None else round(own.end)
                yield CueDraft(begin, end, text, _words(own, part))

    def _paragraphs(self) -> Iterator[tuple[Element, _Interval]]:
        """Yield the outermost paragraphs in document order, without recursion."""
        waiting = [(self._root, _Interval(0, None, "", is_timed=False))]
        while waiting:
            element, interval = waiting.pop()
            if name_of_element(element) == "p":
                yield element, interval
            else:
                waiting.extend(reversed(list(self._children(element, interval))))

    def _pieces(self, paragraph: Element, interval: _Interval) -> Iterator[tuple[_Interval, str]]:
        waiting: list[tuple[Element | str, _Interval]] = [(paragraph, interval)]
        while waiting:
            node, own = waiting.pop()
            if isinstance(node, str):
                yield own, node
                continue
            inside: list[tuple[Element | str, _Interval]] = [(node.text or "", own)]
            if name_of_element(node) == "br":
                inside.append((" ", own))
            for child, of_child in self._children(node, own):
                inside += [(child, of_child), (child.tail or "", own)]
            waiting.extend(reversed(inside))

    def _children(
        self, element: Element, interval: _Interval
    ) -> Iterator[tuple[Element, _Interval]]:
        """Yield the children with their times: at once, or one after another."""
        before = interval.begin
        for child in element:
            of_child = self._resolved(child, interval, before)
            yield child, of_child
            if element.get("timeContainer") == "seq":
                before = before if of_child.end is None else of_child.end

    def _resolved(self, element: Element, outer: _Interval, reference: float) -> _Interval:
        agent = element.get(_AGENT, outer.agent)
        written = [element.get(name) for name in ("begin", "end", "dur")]
        if not any(written):
            return outer if agent == outer.agent else outer._replace(agent=agent)
        begin, end, duration = map(self._moment, written)
        if (begin is None and written[0]) or outer.begin == UNTIMED:
            return _Interval(UNTIMED, None, agent)
        base = reference if self._is_relative else 0.0
        start = reference if begin is None else base + begin
        stops = [base + end] if end is not None else []
        stops += [start + duration] if duration is not None else []
        if self._is_relative and outer.end is not None:
            if start >= outer.end and begin:
                raise _TimesAreAbsolute
            stops.append(outer.end)
        elif not stops and outer.end is not None:
            stops.append(outer.end)
        return _Interval(start, min(stops, default=None), agent)

    def _moment(self, value: str | None) -> float | None:
        """Return ``hh:mm:ss.fraction``, ``hh:mm:ss:frames``, ``12.5s`` or ``12.5`` in ms."""
        value = (value or "").strip()
        if match := _OFFSET.fullmatch(value):
            unit = _UNITS.get(match[2]) or 1000 / (self._frames if match[2] == "f" else self._ticks)
            return float(match[1]) * unit
        if match := _IN_FRAMES.fullmatch(value):
            return (milliseconds(match[1]) or 0) + float(match[2]) * 1000 / self._frames
        return milliseconds(value)


def name_of_element(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _words(own: _Interval, part: list[tuple[_Interval, str]]) -> tuple[Word, ...]:
    """Return the words with their times, where parts of a passage have times of their own."""
    if all(interval.begin == own.begin for interval, _ in part):
        return ()
    words = (words_at(round(interval.begin), clean(said)) for interval, said in part)
    return tuple(word for said in words for word in said)


def _parameter(root: Element, name: str) -> str:
    return next((value for key, value in root.attrib.items() if key.rpartition("}")[2] == name), "")


def _rate(root: Element, name: str) -> float:
    written = _parameter(root, name).strip()
    return float(written) if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", written) else 0.0
