"""Web pages: the text of the body, with its headings, lists, tables and programs, without scripts, styles and navigation."""

import re
from pathlib import Path
from typing import Final

from citations.readers import plain_text
from citations.readers.markup.isolation import parse_markup
from citations.readers.pagination import PAGE, OpenDocument, paginate

VERSION: Final = "html 1"
MARKUP: Final = 4  # times as many characters as its text a page may have

_CHARSET: Final = re.compile(
    rb"<meta[^<>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
_HEAD: Final = 4_096  # bytes in which a page says how it is encoded


def read(path: Path, *, most_pages: int) -> OpenDocument:
    """Lay a web page out on pages of text. Raises ``DocumentTooLarge``; ``DocumentBroken`` for one that takes a parser too long."""
    with path.open("rb") as stream:
        declared = _CHARSET.search(stream.read(_HEAD))
    source = plain_text.load(
        path, most=MARKUP * most_pages * PAGE, declared=declared[1].decode() if declared else ""
    )
    facts, pieces = parse_markup(source, kind="html")
    return paginate(
        pieces,
        most_pages=most_pages,
        title=facts["title"],
        author=facts["author"],
        language=facts["language"],
    )
