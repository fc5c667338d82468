"""Captions in XML: TTML, and YouTube's srv3, srv2 and srv1."""

import re
from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

from defusedxml.ElementTree import ParseError, fromstring

from transcripts.captions.builder import Captions, settle
from transcripts.captions.drafts import UNTIMED, CueDraft, words_at
from transcripts.captions.speech import clean, language_tag, plain, without_unsafe
from transcripts.captions.ttml import XML, name_of_element, ttml_drafts
from transcripts.core.errors import BadXml
from transcripts.text.cues import Word

_NUMBER: Final = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")


def read_xml(text: str) -> Captions:
    """Read TTML or YouTube's timed text. Never follow entities or external references.

    Raises ``BadXml`` for XML that is broken, declares entities, or is not captions.
    """
    root = _root(text)
    match name_of_element(root):
        case "tt":
            language = language_tag(root.get(f"{XML}lang"))
            return settle(ttml_drafts(root), format="ttml", language=language)
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


def _text_drafts(
    root: Element, start_name: str, duration_name: str, unit: float
) -> Iterator[CueDraft]:
    """Return drafts. srv1 and srv2 escape their text twice, with tags under the outer escape."""
    for element in root.iterfind("text"):
        start, duration = _number(element.get(start_name)), _number(element.get(duration_name))
        yield _draft(start, duration, plain("".join(element.itertext())), unit=unit)


def _srv3_drafts(root: Element) -> Iterator[CueDraft]:
    for element in root.iterfind("body/p"):
        start, duration = _number(element.get("t")), _number(element.get("d"))
        words = _srv3_words(element, int(start or 0))
        yield _draft(start, duration, "".join(element.itertext()), words=words)


def _draft(
    start: float | None,
    duration: float | None,
    text: str,
    *,
    unit: float = 1.0,
    words: tuple[Word, ...] = (),
) -> CueDraft:
    if start is None:
        return CueDraft(UNTIMED, None, text)
    end = None if duration is None else round((start + duration) * unit)
    return CueDraft(round(start * unit), end, text, words)


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
