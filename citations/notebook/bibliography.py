"""Bibliographies as CSL-JSON and BibTeX. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A cited source. ``places`` are formatted positions ("pages 3–4"), ``quotes`` their texts."""

    id: str  # any text
    type: str  # of CSL
    title: str
    author: str = ""  # a person, or a channel
    url: str = ""
    language: str = ""
    published: date | None = None
    accessed: date | None = None
    places: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()


def csl(works: Iterable[Work]) -> list[dict[str, Any]]:
    """Return CSL-JSON 1.0.2 (https://github.com/citation-style-language/schema)."""
    works = list(works)
    return [_item(work, key) for work, key in zip(works, keys(works), strict=True)]


def bibtex(works: Iterable[Work]) -> str:
    """Return BibTeX entries (UTF-8), all ``@misc``: it knows neither recordings nor pages."""
    works = list(works)
    return "\n".join(_entry(work, key) for work, key in zip(works, keys(works), strict=True))


def keys(works: Sequence[Work]) -> list[str]:
    """Return distinct citation keys: author, year and first long title word, in ASCII."""
    counts: dict[str, int] = {}
    distinct = []
    for work in works:
        words, author = _ascii(work.title), next(iter(_ascii(work.author)), "")
        title = next((word for word in words if len(word) > 3), words[0] if words else "")
        year = work.published.year if work.published else ""
        distinct.append(_distinct(f"{author}{year}{title}" or "source", counts))
    return distinct


def _item(work: Work, key: str) -> dict[str, Any]:
    item = {
        "id": key,
        "type": work.type,
        "title": _line(work.title),
        "author": [{"literal": _line(work.author)}] if work.author else None,
        "issued": _date(work.published),
        "accessed": _date(work.accessed),
        "URL": work.url,
        "language": work.language,
        "note": _note(work),
    }
    return {name: value for name, value in item.items() if value}


def _date(day: date | None) -> dict[str, Any] | None:
    return {"date-parts": [[day.year, day.month, day.day]]} if day else None


def _note(work: Work) -> str:
    return "; ".join(
        f"{place}: “{_line(quote)}”" if place else f"“{_line(quote)}”"
        for place, quote in zip(work.places, work.quotes, strict=True)
    )


def _entry(work: Work, key: str) -> str:
    fields = {
        "title": f"{{{_escaped(work.title)}}}",  # extra braces keep its capitals
        # And a channel's name in one part.
        "author": f"{{{_escaped(work.author)}}}" if work.author else "",
        "year": f"{work.published:%Y}" if work.published else "",
        "month": str(work.published.month) if work.published else "",
        # What would end the field is percent-encoded.
        "url": re.sub(r"[{}\\\"\x00- ]", lambda mark: f"%{ord(mark[0]):02X}", work.url),
        "urldate": work.accessed.isoformat() if work.accessed else "",
        "language": _escaped(work.language),
        "note": _escaped(_note(work)),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"]) + "\n"


_ESCAPES: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",  # not \{: parsers of BibTeX count escaped braces, too
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{mark: f"\\{mark}" for mark in "&%$#_"},
    }
)


def _escaped(text: str) -> str:
    """Escape text for LaTeX and join it to one line."""
    return _line(text).translate(_ESCAPES)


def _ascii(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return [word.lower()[:30] for word in re.findall(r"[A-Za-z0-9]+", plain)]


def _distinct(stem: str, counts: dict[str, int]) -> str:
    while True:
        count = counts.get(stem, 0)
        counts[stem] = count + 1
        if not count:
            return stem
        key = stem + "".join(_letters(count))
        if key not in counts:
            counts[key] = 1
            return key


def _letters(number: int) -> Iterator[str]:
    """Count a, b, …, z, aa from 1."""
    if number > 26:
        yield from _letters((number - 1) // 26)
    yield chr(ord("a") + (number - 1) % 26)


def _line(text: str) -> str:
    return " ".join(text.split())
