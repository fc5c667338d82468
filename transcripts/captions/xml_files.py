"""Captions in XML: TTML, and YouTube's srv3, srv2 and srv1."""

import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import ParseError, fromstring

from transcripts.captions.builder import Captions, CueDraft, settle, words_at
from transcripts.captions.speech import clean, language_tag, plain, without_unsafe
from transcripts.captions.voices import Voices, name_of
from transcripts.core.errors import BadXml
from transcripts.text.cues import Word

_XML: Final = "{http://www.w3.org/XML/1998/namespace}"
_LANGUAGE: Final = f"{_XML}lang"
_AGENT: Final = "{http://www.w3.org/ns/ttml#metadata}agent"
_NUMBER: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_CLOCK: Final = re.compile(
    r"(?:([0-9]{1,6}):)?([0-9]{1,3}):([0-9]{1,2}(?:[.,][0-9]{1,9})?)"
    r"(?::([0-9]{1,4}(?:\.[0-9]{1,3})?))?"
)
_OFFSET: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(h|ms|m|s|f|t)")
_UNITS: Final = {"h": 3_600_000.0, "m": 60_000.0, "s": 1000.0, "ms": 1.0}
_FRAMES: Final = 30.0  # per second, TTML's default


def read_xml(text: str) -> Captions:
    """Read TTML or YouTube's timed text. Never follow entities or external references.

    Raises ``BadXml`` for XML that is broken, declares entities, or is not captions.
    """
    root = _root(text)
    match _name(root):
        case "tt":
            language = language_tag(root.get(_LANGUAGE))
            return settle(_ttml_drafts(root), format="ttml", language=language)
        case "timedtext" if root.find("body") is not None:
            return settle(_srv3_drafts(root), format="srv3")
        case "timedtext":
            return settle(_text_drafts(root, "t", "d", 1.0), format="srv3")
        case "transcript":
            return settle(_text_drafts(root, "start", "dur", 1000.0), format="srv3")
    raise BadXml(
        "This XML contains no captions.",
        hint="Supported are TTML and YouTube's srv1, srv2 and srv3.",
    )


def _root(text: str) -> Element:
    try:
        root: Element = fromstring(without_unsafe(text))
    except (ParseError, ValueError) as error:  # defusedxml raises ValueError
        raise BadXml(
            f"This XML cannot be read: {str(error)[:100]}.",
            hint="Download the file again: it may be truncated.",
        ) from None
    return root


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _text_drafts(
    root: Element, start_name: str, duration_name: str, unit: float
) -> Iterator[CueDraft]:
    """Return drafts. srv1 and srv2 escape their text twice, with tags under the outer escape."""
    for element in root.iterfind("text"):
        start, duration = _number(element.get(start_name)), _number(element.get(duration_name))
        if start is not None:
            end = None if duration is None else round((start + duration) * unit)
            yield CueDraft(round(start * unit), end, plain("".join(element.itertext())))


def _srv3_drafts(root: Element) -> Iterator[CueDraft]:
    for element in root.iterfind("body/p"):
        start, duration = _number(element.get("t")), _number(element.get("d"))
        if start is not None:
            end = None if duration is None else int(start + duration)
            yield CueDraft(
                int(start), end, "".join(element.itertext()), _srv3_words(element, int(start))
            )


def _srv3_words(element: Element, start: int) -> tuple[Word, ...]:
    segments = element.findall("s")
    if not any(segment.attrib.keys() & {"t", "ac"} for segment in segments):
        return ()
    words = words_at(start, clean(element.text or ""))
    for segment in segments:
        moment = start + int(_number(segment.get("t")) or 0)
        for text in ("".join(segment.itertext()), segment.tail or ""):
            words += words_at(moment, clean(text))
    return tuple(words)


def _number(value: str | None) -> float | None:
    return float(value) if value is not None and _NUMBER.fullmatch(value.strip()) else None


def _ttml_drafts(root: Element) -> Iterator[CueDraft]:
    rates = _rate(root, "frameRate", _FRAMES), _rate(root, "tickRate", 1.0)
    names, voices = _agents(root), Voices()
    for paragraph in _outermost(root, "p"):
        timed = [paragraph] if "begin" in paragraph.attrib else _outermost(paragraph, "span")
        for element in timed:
            start = _moment(element.get("begin"), *rates)
            if start is not None:
                end, duration = (_moment(element.get(name), *rates) for name in ("end", "dur"))
                if end is None and duration is not None:
                    end = start + duration
                name = names.get(element.get(_AGENT, paragraph.get(_AGENT, "")), "")
                yield CueDraft(start, end, voices.labelled(name, _ttml_text(element)))


def _agents(root: Element) -> dict[str, str]:
    """Return the names of those who speak, by their ids in the file."""
    return {
        agent.get(f"{_XML}id", ""): name_of("".join(agent.itertext()))
        for agent in root.iter(_AGENT)
    }


def _outermost(root: Element, name: str) -> Iterator[Element]:
    """Yield the outermost elements of a name in document order, without recursion."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if _name(element) == name and element is not root:
            yield element
        else:
            waiting.extend(reversed(element))


def _ttml_text(element: Element) -> str:
    for child in element.iter():
        if _name(child) == "br":
            child.tail = f" {child.tail or ''}"
    return "".join(element.itertext())


def _rate(root: Element, name: str, default: float) -> float:
    written = (value for key, value in root.attrib.items() if key.rpartition("}")[2] == name)
    return _number(next(written, None)) or default


def _moment(value: str | None, frames: float, ticks: float) -> int | None:
    """Return a TTML time in ms: ``hh:mm:ss.fraction``, ``hh:mm:ss:frames`` or ``12.5s``."""
    if value is None:
        return None
    if match := _OFFSET.fullmatch(value.strip()):
        unit = _UNITS.get(match[2]) or 1000 / (frames if match[2] == "f" else ticks)
        return round(float(match[1]) * unit)
    if match := _CLOCK.fullmatch(value.strip()):
        hours, minutes, seconds, frame = match.groups(default="0")
        whole = int(hours) * 3600 + int(minutes) * 60 + float(seconds.replace(",", "."))
        return round(whole * 1000 + float(frame) * 1000 / frames)
    return None
