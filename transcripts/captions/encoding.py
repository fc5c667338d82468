"""Decode bytes in the encodings that text comes in: Unicode, what a file names, or a guess."""

import codecs
import re
from typing import Final, NamedTuple

import chardet
import webencodings
from chardet import EncodingEra

# UTF-32's little-endian mark begins with UTF-16's: it has to be tried first.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_INCREMENTAL_UTF8: Final = codecs.getincrementaldecoder("utf-8")
_SAMPLE: Final = 4096
_GUESSED: Final = 32_768  # bytes from which an encoding is guessed
_ERAS: Final = EncodingEra.MODERN_WEB | EncodingEra.LEGACY_ISO | EncodingEra.DOS
_TELLING_LINE: Final = re.compile(rb"[^\n]*[\x80-\xff][^\n]*\n?")  # times would only dilute words
_XML_LABEL: Final = re.compile(rb"<\?xml[^<>]{0,100}?\bencoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")
_CONTROL: Final = re.compile("[\x80-\x84\x86-\x9f]")  # in no text: the guess is wrong
_CASES: Final = re.compile("[а-яёα-ωà-öø-ÿ][А-ЯЁΑ-ΩÀ-ÖØ-Þ]")  # in no word: it is likely wrong
_ISO_2022: Final = (b"\x1b$B", b"\x1b$@", b"\x1b(J")  # Japanese in seven bits, which UTF-8 takes
_LATIN: Final = "Windows-1252"
_NO_EVIDENCE: Final = 0.1  # a confidence below says nothing
_SURE: Final = 0.2  # of 81 samples of a line or two, all guesses above were right
_NO_LABELS: Final = frozenset({"replacement", "x-user-defined", "utf-16le", "utf-16be"})


class DecodedText(NamedTuple):
    """A text, and how it was read: ``is_sure`` is False where the encoding is merely likely."""

    text: str
    encoding: str  # "" if no encoding defines all bytes: U+FFFD stands for the others
    is_sure: bool = True


def decode(data: bytes, *, declared: str = "") -> DecodedText:
    """Decode as Unicode, as ``declared`` or an XML declaration says (in what browsers understand
    by a label), or by a guess.
    """
    if not data.isascii() or not any(mark in data for mark in _ISO_2022):
        if (text := _decode_unicode(data)) is not None:
            return DecodedText(text, "utf-8")
        named = _XML_LABEL.match(data)
        label = webencodings.lookup(
            declared or (named[1].decode("ascii", "ignore") if named else "")
        )
        if label and label.name not in _NO_LABELS:
            return DecodedText(label.codec_info.decode(data, "replace")[0], label.name)
    return _guess(data)


def _decode_unicode(data: bytes) -> str | None:
    """Decode by the byte order mark, else as UTF-16 (by its zero bytes) or UTF-8; a few broken
    bytes become U+FFFD. Return None for text that is not in Unicode.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    if (unmarked := _unmarked_utf16(data)) is not None:
        return data.decode(unmarked, errors="replace")
    try:
        return _INCREMENTAL_UTF8().decode(data)  # leaves out a last character that was cut off
    except UnicodeDecodeError:
        lenient = data.decode(errors="replace")
        broken = lenient.count("\ufffd")
        beyond_ascii = len(lenient) - len(lenient.encode("ascii", "ignore"))
        return lenient if beyond_ascii - broken > broken else None


def is_marked_or_utf16(head: bytes) -> bool:
    """Tell whether bytes begin with a byte order mark, or look like UTF-16 without one."""
    return head.startswith(tuple(mark for mark, _ in _MARKS)) or _unmarked_utf16(head) is not None


def _unmarked_utf16(data: bytes) -> str | None:
    """Return the codec of UTF-16 without a mark, by the positions of its zero bytes, or None."""
    sample = data[:_SAMPLE]
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd * 5 >= half > 0 and even * 20 <= half:
        return "utf-16-le"
    if even * 5 >= half > 0 and odd * 20 <= half:
        return "utf-16-be"
    return None


def _guess(data: bytes) -> DecodedText:
    sample = b"".join(match[0] for match in _TELLING_LINE.finditer(data[: 8 * _GUESSED]))
    detection = chardet.detect((sample or data)[:_GUESSED], encoding_era=_ERAS)
    guess, confidence = detection["encoding"] or _LATIN, detection["confidence"]
    for encoding in (_LATIN, guess) if confidence < _NO_EVIDENCE else (guess, _LATIN):
        try:
            # Leaves out a last character that was cut off.
            text = codecs.getincrementaldecoder(encoding)().decode(data)
        except (UnicodeDecodeError, LookupError):
            continue
        if _CONTROL.search(text):
            continue
        least = _NO_EVIDENCE if guess == _LATIN else _SURE
        is_sure = encoding == guess and confidence >= least and not _CASES.search(text)
        return DecodedText(text, encoding, is_sure)
    return DecodedText(data.decode(_LATIN, errors="replace"), "", is_sure=False)
