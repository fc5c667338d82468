"""The JSON objects of a model server's answer: server-sent events, lines, or one whole object."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from pydantic_core import from_json

DONE: Final = b"[DONE]"
_FIELDS: Final = (b":", b"event:", b"id:", b"retry:")  # of events, besides their data; comments
_MAX_TEXT: Final = 2_000  # bytes of an answer without objects that are kept


def objects(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each object of an answer, which may have several lines, then ``DONE`` if it says so.

    Of an answer without any, yields its beginning: it may be a web page.
    """
    parts: list[bytes] = []  # of an object that is not complete
    text, has_object = b"", False
    for data in map(_data, chain(lines, (b"",))):
        if data == DONE:
            yield DONE
            return
        has_object = has_object or data.startswith(b"{")
        if parts or data.startswith(b"{"):
            parts.append(data)
            if not data or (len(parts) == 1 and _is_json(data)):
                yield b"\n".join(parts)
                parts = []
        elif len(text) < _MAX_TEXT and not data.startswith(_FIELDS):
            text += data + b"\n"
    if text.strip() and not has_object:
        yield text[:_MAX_TEXT].strip()


def _data(line: bytes) -> bytes:
    """Return the data of a line; of one that begins with “error:”, an object with the error."""
    text = line.strip().removeprefix(b"\xef\xbb\xbf")
    if text.startswith(b"error:"):
        return b'{"error":' + text.removeprefix(b"error:") + b"}"
    return text.removeprefix(b"data:").strip()


def _is_json(data: bytes) -> bool:
    try:
        from_json(data)
    except ValueError:
        return False
    return True
