"""Decode bytes in the encodings that caption files come in."""

import codecs
from typing import Final

from transcripts.errors import BadEncoding

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
    """Decode by the byte order mark, else as UTF-16 (by its zero bytes), UTF-8 or Windows-1252.

    A few broken bytes in UTF-8 or UTF-16 become U+FFFD. Raises ``BadEncoding`` for bytes that
    Windows-1252 does not define.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    if (unmarked := unmarked_utf16(data)) is not None:
        return data.decode(unmarked, errors="replace")
    try:
        return _INCREMENTAL_UTF8().decode(data)  # leaves out a last character that was cut off
    except UnicodeDecodeError:
        return nearly_utf8(data) or _windows1252(data)


def unmarked_utf16(data: bytes) -> str | None:
    """Return the codec of UTF-16 without a mark, by the positions of its zero bytes, or None."""
    sample = data[:_SAMPLE]
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd * 5 >= half > 0 and even * 20 <= half:
        return "utf-16-le"
    if even * 5 >= half > 0 and odd * 20 <= half:
        return "utf-16-be"
    return None


def nearly_utf8(data: bytes) -> str | None:
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
