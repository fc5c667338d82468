"""Decode bytes in the encodings that caption files come in."""

import codecs
from typing import Final

from transcripts.core.errors import BadEncoding

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


def decode(data: bytes) -> str:
    """Decode as Unicode or Windows-1252. Raises ``BadEncoding`` for bytes that neither defines."""
    text = decode_unicode(data)
    return _windows1252(data) if text is None else text


def decode_unicode(data: bytes) -> str | None:
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
        return _nearly_utf8(data)


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


def _nearly_utf8(data: bytes) -> str | None:
    """Return UTF-8 text with a few broken bytes as U+FFFD, or None if it is not mostly UTF-8."""
    lenient = data.decode(errors="replace")
    broken = lenient.count("\ufffd")
    beyond_ascii = len(lenient) - len(lenient.encode("ascii", "ignore"))
    return lenient if beyond_ascii - broken > broken else None


def _windows1252(data: bytes) -> str:
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise BadEncoding(
            f"Byte {error.start} (0x{data[error.start]:02x}) is not text in UTF-8, UTF-16 or"
            " Windows-1252.",
            hint="Save the file as UTF-8 and send it again.",
        ) from None
