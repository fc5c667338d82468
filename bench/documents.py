"""Long and large documents: how long reading them takes, and in how much memory; or, where folders
are named, how much of their PDF files is read, and in which order.

``python bench/documents.py [FOLDER …]`` compares with a command that prints the text of a file.
Words are compared in their compatibility forms and without soft hyphens, and letters of Chinese and
Japanese one by one, as no spaces part their words. Headers and footers count: they are kept behind
a page's paragraphs, and found by its search. What a file draws twice at the same place is read
once; a command that prints it twice lowers the shares.
"""

import re
import subprocess
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Final

from harness.environment import arguments, boot, command, machine

boot(database=False)

from harness.report import publish, share, spread, table

from citations.readers import recognition
from citations.readers.pagination import open_document
from citations.readers.pdf.reader import read
from tests.citations.readers.pdf.bombs import heavy
from tests.citations.readers.pdf.papers import book
from tests.footprint import footprint
from transcripts.core.errors import KnowledgeBaseError

FILES: Final[dict[str, Callable[[Path], object]]] = {
    "2,000 pages.pdf": lambda path: book(path, 2_000),
    "200 MB.pdf": lambda path: path.write_bytes(heavy(2_000, 99_000)),
    "14 MB.md": lambda path: path.write_text("# Head\n\n" + "Words that say something. " * 550_000),
}
EAST_ASIAN: Final = "\u3040-\u312f\u3190-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


def main() -> None:
    options = arguments(__doc__, folders=[""], reference="pdftotext {} -")
    if paths := [
        path for folder in options.folders if folder for path in Path(folder).rglob("*.pdf")
    ]:
        words, pairs = zip(*compared(paths, options.reference), strict=True)
        publish(
            "Words of PDF files",
            f"{command()}: common words {spread(words, 3)}, pairs of neighbours {spread(pairs, 3)}"
            f" (median / 95th percentile); {share([ratio >= 0.9 for ratio in words])} of"
            f" {len(words)} files have .9 of the words. {machine()}.",
        )
        return
    publish(
        "Long and large documents",
        f"{command()}: seconds until the last page is read, and the peak of the resident memory of"
        " the reading process and of its largest child, by psutil. A child may take 1.5 GB of"
        f" address space for PDF and 2 GB for HTML and Markdown, whatever the file. {machine()}.",
        table(("file", "bytes", "pages", "s", "MB, own", "MB, largest child"), rows()),
    )


def compared(paths: Sequence[Path], reference: str) -> Iterator[tuple[float, float]]:
    """Yield the share of words and of pairs in common, of files with eight words or more."""
    for path in paths:
        call = [part.format(path) for part in reference.split()]
        printed = subprocess.run(call, capture_output=True, check=False).stdout.decode()
        with suppress(KnowledgeBaseError):  # anything else is a fault, and ends the measurement
            said = " ".join(page.text for page in read(path, most_pages=5_000))
            own, theirs = words_of(said), words_of(printed)
            pairs = (Counter(pairwise(own)) & Counter(pairwise(theirs))).total()
            if (count := len(theirs)) >= 8:
                yield (Counter(own) & Counter(theirs)).total() / count, pairs / (count - 1)


def words_of(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u00ad", "")
    return re.findall(rf"[{EAST_ASIAN}]|[^\W{EAST_ASIAN}]+", plain)


def rows() -> Iterator[Sequence[object]]:
    """Make, read and delete each file."""
    with tempfile.TemporaryDirectory() as folder:
        for name, make in FILES.items():
            make(path := Path(folder) / name)
            with path.open("rb") as stream:
                format = recognition.recognise(recognition.read_head(stream), name)
            began = perf_counter()
            with footprint() as measured:
                pages = sum(1 for _ in open_document(path, format, most_pages=5_000).pages)
            seconds = perf_counter() - began
            megabytes = (f"{count / 2**20:.0f}" for count in (measured.own, measured.child))
            yield name, path.stat().st_size, pages, f"{seconds:.1f}", *megabytes
            path.unlink()


if __name__ == "__main__":
    main()
