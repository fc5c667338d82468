"""Files of office programs, and EPUB: a child process reads them (see ``worker``)."""

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

from citations.errors import DocumentBroken
from citations.readers.pagination import MarkupBlock, OpenDocument, paginate, paginate_slides
from citations.readers.parser_process import SECONDS, ParserEnded, run
from citations.readers.plain_text import clean

PROGRAM = Path(__file__).with_name("worker.py")


class ArchiveTooComplex(DocumentBroken):
    """The process ended early: the file is nested too deeply, too slow to read, or too large."""

    default_hint = "Split it, or save it as PDF, and add that."


def read(
    kind: str, path: Path, *, most_pages: int, first: int = 1, seconds: int = SECONDS
) -> OpenDocument:
    """Divide a file into pages: the slides of a presentation, or else by length.

    Raises ``DocumentBroken``, ``DocumentEncrypted`` and ``DocumentTooLarge``.
    """
    with path.open("rb") as file:
        try:
            head, lines = run(PROGRAM, file, kind, seconds=seconds)
        except ParserEnded:
            raise ArchiveTooComplex(
                "It cannot be read: it is too large or nested too deeply."
            ) from None
    with closing(lines):
        facts = {name: clean(str(value)) for name, value in head.items()}
        pieces = (
            MarkupBlock(clean(text), level, clean(html), *n) for level, text, html, *n in lines
        )
        if slides := facts.pop("pages", ""):
            count = int(slides)
            return paginate_slides(pieces, count=count, most_pages=most_pages, first=first, **facts)
        return paginate(pieces, most_pages=most_pages, first=first, **facts)


read_docx: Final = partial(read, "docx")
read_pptx: Final = partial(read, "pptx")
read_odt: Final = partial(read, "odt")
read_epub: Final = partial(read, "epub")
