"""Spoken text without markup and unsafe characters. Everything here takes linear time."""

import html
import re
from html.entities import html5
from typing import Final

from transcripts.core.errors import CaptionsTooLarge

MAX_LABEL: Final = 300  # characters of an id or a title
MAX_LINES: Final = 1_500_000

# PostgreSQL stores neither NUL nor lone surrogates; bidi overrides change how a text reads.
_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_INVISIBLE: Final = " \u200b\u200c\u200d\u200e\u200f\u2060\u00ad"

# Only known tags are markup: captions contain "List<String>", "a < b > c" and "the <s> token".
_BREAK: Final = re.compile(r"<br[ \t]*/?>|\[br\]", re.IGNORECASE)
_TAG: Final = re.compile(
    r"</?(?:b|i|u|c|v|rt|em|lang|ruby|font|span|strong|script|style|iframe|object|embed|img|svg"
    r"|link|meta)(?:[.\s/][^<>]*)?>"
    r"|<a\s[^<>]*>|</a>|<(?:[0-9]{1,4}:)?[0-9]{2}:[0-9]{2}\.[0-9]{2,3}>",
    re.IGNORECASE,
)
_OVERRIDE: Final = re.compile(
    r"\{\\(?:an?[0-9]|[ibus][01]|pos\(|move\(|fad\(|fs[0-9]|fn|[1-4]?c&)[^{}]*\}"
)
_ENTITY: Final = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")


def clean(text: str) -> str:
    """Drop unsafe characters and collapse white space; "" if nothing visible is left."""
    # As most texts are; no white space but the blank is printable.
    is_tidy = text.isprintable() and "  " not in text
    text = text.strip() if is_tidy else " ".join(without_unsafe(text).split())
    return text if text.isascii() or text.strip(_INVISIBLE) else ""


def without_unsafe(text: str) -> str:
    """Drop control characters except white space, lone surrogates, bidi overrides and marks."""
    return _UNSAFE.sub("", text)


def lines(text: str) -> list[str]:
    """Split at line breaks only. str.splitlines would also split at U+2028 and the like.

    Raises ``CaptionsTooLarge`` above ``MAX_LINES``, before the lines fill the memory.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.count("\n") > MAX_LINES:
        raise CaptionsTooLarge(f"It has more than {MAX_LINES:,} lines.", hint="Split the file.")
    return text.split("\n")


def plain(marked: str) -> str:
    """Return the text of a marked-up line: drop tags and styles, decode references once, clean."""
    if "<" in marked or "[" in marked:
        marked = _TAG.sub("", _BREAK.sub(" ", marked))
    if "{" in marked:
        marked = _OVERRIDE.sub("", marked)
    if "&" in marked:
        marked = _ENTITY.sub(character_of, marked)
    return clean(marked)


def protected(text: str) -> str:
    """Escape only what ``plain`` would change; players can still read the rest."""
    text = _TAG.sub(_reference, _ENTITY.sub(r"&amp;\1;", text))
    return _without_styles(text).replace("-->", "--&gt;")


def escaped(text: str) -> str:
    """Escape ``&``, ``<``, ``>`` and whatever else ``plain`` would change."""
    return _without_styles(html.escape(text, quote=False))


def label(value: object) -> str:
    """Return a title or id as one clean line of at most ``MAX_LABEL`` characters, or ""."""
    return clean(value[: 4 * MAX_LABEL])[:MAX_LABEL].strip() if isinstance(value, str) else ""


def language_tag(value: object) -> str:
    """Return the language if it looks like a BCP 47 tag, else ""."""
    return value if isinstance(value, str) and _LANGUAGE.fullmatch(value) else ""


def pieces(text: str, limit: int) -> list[str]:
    """Split a clean text into parts of at most ``limit`` characters, at blanks if there are any."""
    parts = []
    position = 0
    while len(text) - position > limit:
        cut = text.rfind(" ", position + 1, position + limit + 1)
        stop = cut if cut > 0 else position + limit
        parts.append(text[position:stop])
        position = stop + (cut > 0)
    parts.append(text[position:])
    return [part for part in parts if part]


def character_of(match: re.Match[str]) -> str:
    """Return the character of a reference in HTML, such as ``&#233;``, without “&” and “;”."""
    name = match[1]
    if not name.startswith("#"):
        return html5.get(f"{name};", match[0])
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if code <= 0x10FFFF else ""


def _without_styles(text: str) -> str:
    return _OVERRIDE.sub(_reference, _BREAK.sub(_reference, text))


def _reference(match: re.Match[str]) -> str:
    return f"&#{ord(match[0][0])};{match[0][1:]}"
