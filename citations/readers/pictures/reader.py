"""Pictures, such as photographs of pages: a child process makes PDF files of them."""

from pathlib import Path
from typing import Final

from citations.errors import DocumentBroken, DocumentTooLarge
from citations.readers.sandbox import ChildExited, ChildProcess

SECONDS: Final = 300.0  # a thousand pages of a scan take one hundred

_LARGE_NOTES: Final = {
    "pixels": "The picture has more than 120,000,000 pixels.",
    "pages": "The file has more pages than a document may have.",
    "bytes": "The pictures of the file are too large together.",
}
_MAKER: Final = ChildProcess(Path(__file__).with_name("worker.py"))


def to_pdf(path: Path, pdf: Path, *, most_pages: int) -> None:
    """Write a picture as PDF. Raises ``DocumentBroken`` and ``DocumentTooLarge``."""
    request = {"path": str(path), "to": str(pdf), "most": most_pages}
    try:
        answer = _MAKER.ask(request, seconds=SECONDS).head
    except ChildExited as error:
        raise DocumentBroken(
            "The picture cannot be read: the program that reads it failed."
        ) from error
    if note := _LARGE_NOTES.get(str(answer.get("refused"))):
        raise DocumentTooLarge(note, hint="Save it smaller or in parts, and add that.")
    if answer.get("refused"):
        raise DocumentBroken("The picture cannot be read: it is damaged.")
