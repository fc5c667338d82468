"""Captions in XML: TTML, and YouTube's srv3, srv2 and srv1.

TTML has times on any element, relative to what contains it, and inherited
(https://www.w3.org/TR/ttml2/#timing). Many files write absolute times all the same: they are read
so where the standard would never show a passage.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import ParseError, fromstring

from transcripts.captions.builder import Captions, settle
from transcripts.captions.caption_errors import BadXml
from transcripts.captions.drafts import UNTIMED, CueDraft, milliseconds, words_at
from transcripts.captions.speech import Voices, clean, language_tag, name_of, plain, without_unsafe
from transcripts.text.cues import Word

_XML: Final = "{http://www.w3.org/XML/1998/namespace}"
_AGENT: Final = "{http://www.w3.org/ns/ttml#metadata}agent"
_NUMBER: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_OFFSET: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(h|ms|m|s|f|t)")
_IN_FRAMES: Final = re.compile(r"([0-9]+:[0-9]+:[0-9]+):([0-9]{1,4}(?:\.[0-9]{1,3})?)")
_UNITS: Final = {"h": 3_600_000.0, "m": 60_000.0, "s": 1000.0, "ms": 1.0}
_FRAMES: Final = 30.0  # per second, TTML's default


def read_xml(text: str) -> Captions:
    """Read TTML or YouTube's timed text. Never follow entities or external references.

    Raises ``BadXml`` for XML that is broken, declares entities, or is not captions.
    """
    try:
        root: Element = fromstring(without_unsafe(text))
    except (ParseError, ValueError) as error:  # defusedxml raises ValueError
        raise BadXml(
            f"This XML cannot be read: {str(error)[:100]}.",
            hint="Download the file again: it may be truncated.",
        ) from None
    match _name(root):
        case "tt":
            language = language_tag(root.get(f"{_XML}lang"))
            return settle(_ttml_drafts(root), format="ttml", language=language)
        case "timedtext" if root.find("body") is not None:
            return settle(_srv3_drafts(root), format="srv3")
        case "timedtext":
            return settle(_text_drafts(root, "t", "d", 1.0), format="srv3")
        case "transcript":
            return settle(_text_drafts(root, "start", "dur", 1000.0), format="srv3")
    raise BadXml(
        "This XML contains no captions.",
        hint="Captions are TTML or YouTube's srv1, srv2 and srv3."
        " Save a document as EPUB, HTML, DOCX or PDF.",
    )


def _name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


# YouTube's formats


def _text_drafts(root: Element, start: str, duration: str, unit: float) -> Iterator[CueDraft]:
    """Return drafts. srv1 and srv2 escape their text twice, with tags under the outer escape."""
    for element in root.iterfind("text"):
        text = plain("".join(element.itertext()))
        yield CueDraft(*_span(element, start, duration, unit), text)


def _srv3_drafts(root: Element) -> Iterator[CueDraft]:
    for element in root.iterfind("body/p"):
        start, end = _span(element, "t", "d")
        moment, segments = int(_number(element.get("t")) or 0), element.findall("s")
        words: list[Word] = []
        if any(segment.attrib.keys() & {"t", "ac"} for segment in segments):
            words = words_at(moment, clean(element.text or ""))
            for segment in segments:
                said_at = moment + int(_number(segment.get("t")) or 0)
                for text in ("".join(segment.itertext()), segment.tail or ""):
                    words += words_at(said_at, clean(text))
        timed = () if start == UNTIMED else tuple(words)
        yield CueDraft(start, end, "".join(element.itertext()), timed)


def _span(
    element: Element, start_name: str, duration_name: str, unit: float = 1.0
) -> tuple[int, int | None]:
    start, duration = (_number(element.get(name)) for name in (start_name, duration_name))
    if start is None:
        return UNTIMED, None
    return round(start * unit), None if duration is None else round((start + duration) * unit)


def _number(value: str | None) -> float | None:
    return float(value) if value is not None and _NUMBER.fullmatch(value.strip()) else None


# TTML


class _Interval(NamedTuple):
    """When an element is shown, in ms, and who speaks in it."""

    begin: float  # or ``UNTIMED``
    end: float | None
    agent: str
    is_timed: bool = True


def _ends(pieces: Iterable[tuple[_Interval, str]]) -> list[float]:
    """Return when the pieces with words end; [] if one has no end."""
    ends = [interval.end for interval, said in pieces if said.strip()]
    known = [end for end in ends if end is not None]
    return known if len(known) == len(ends) else []


class _TimesAreAbsolute(Exception):
    """By the standard, a passage would begin when what contains it has ended."""


def _ttml_drafts(root: Element) -> list[CueDraft]:
    """Return the paragraphs, or the parts of them that have times, with who speaks."""
    try:
        return list(_Ttml(root, is_relative=True).drafts())
    except _TimesAreAbsolute:
        return list(_Ttml(root, is_relative=False).drafts())


class _Ttml:
    def __init__(self, root: Element, *, is_relative: bool) -> None:
        parameters = {name.rpartition("}")[2]: value for name, value in root.attrib.items()}
        rates = {name: _number(parameters.get(name)) or 0.0 for name in ("frameRate", "tickRate")}
        multiplier = re.findall(r"[0-9]+", parameters.get("frameRateMultiplier", ""))
        self._root = root
        self._is_relative = is_relative
        self._ticks = rates["tickRate"] or rates["frameRate"] or 1.0
        self._frames = rates["frameRate"] or _FRAMES
        if len(multiplier) == 2 and int(multiplier[1]):
            self._frames *= int(multiplier[0]) / int(multiplier[1])
        self._names = {
            agent.get(f"{_XML}id", ""): name_of("".join(agent.itertext()))
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
                ends = [own.end] if own.end is not None else _ends(part)
                end = round(max(ends)) if ends else None
                words: list[Word] = []  # where parts of a passage have times of their own
                if any(inner.begin != own.begin for inner, _ in part):
                    for inner, said in part:
                        words += words_at(round(inner.begin), clean(said))
                yield CueDraft(begin, end, text, tuple(words))

    def _paragraphs(self) -> Iterator[tuple[Element, _Interval]]:
        """Yield the outermost paragraphs in document order, without recursion."""
        waiting = [(self._root, _Interval(0, None, "", is_timed=False))]
        while waiting:
            element, interval = waiting.pop()
            if _name(element) == "p":
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
            if _name(node) == "br":
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
        if outer.end is not None and (self._is_relative or not stops):
            if self._is_relative and start >= outer.end and begin:
                raise _TimesAreAbsolute
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
