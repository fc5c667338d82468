"""Long and large documents: how long reading them takes, and in how much memory; or, where folders
are named, how much of their PDF files is read, and in which order.

``python bench/documents.py [FOLDER …]`` compares with commands that print the text of a file {},
named by ``--reference "first; second"``.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Final

from harness.environment import arguments, boot, command, machine

boot(database=False)

from harness.report import publish, table

from citations.readers import recognition
from citations.readers.pagination import open_document
from citations.readers.pdf.reader import read
from tests.citations.readers.pdf import common_words
from tests.citations.readers.pdf.bombs import heavy
from tests.citations.readers.pdf.papers import book
from tests.footprint import footprint
from transcripts.core.errors import KnowledgeBaseError

FILES: Final[dict[str, Callable[[Path], object]]] = {
    "2,000 pages.pdf": lambda path: book(path, 2_000),
    "200 MB.pdf": lambda path: path.write_bytes(heavy(2_000, 99_000)),
    "14 MB.md": lambda path: path.write_text("# Head\n\n" + "Words that say something. " * 550_000),
}


def main() -> None:
    options = arguments(__doc__, folders=[""], reference="pdftotext {} -")
    if paths := [
        path for folder in options.folders if folder for path in sorted(Path(folder).rglob("*.pdf"))
    ]:
        compare(paths, options.reference.split("; "))
        return
    publish(
        "Long and large documents",
        f"{command()}: seconds until the last page is read, and the peak of the resident memory of"
        " the reading process and of its largest child, by psutil. A child may take 1.5 GB of"
        f" address space for PDF and 2 GB for HTML and Markdown, whatever the file. {machine()}.",
        table(("file", "bytes", "pages", "s", "MB, own", "MB, largest child"), rows()),
    )


def compare(paths: Sequence[Path], references: Sequence[str]) -> None:
    """Publish how much of the files is read, by each reference and by the one that agrees best."""
    files: dict[Path, list[common_words.Shares]] = {}
    broken: set[Path] = set()
    for path in paths:
        with suppress(KnowledgeBaseError):  # anything else is a fault, and ends the measurement
            pages = [*read(path, most_pages=5_000)]
            text = " ".join(page.text for page in pages)
            files[path] = [common_words.compared(text, each, path) for each in references]
            broken |= {path} if any(page.needs_ocr for page in pages) else set()
    publish(
        "Words of PDF files",
        f"{command()}: of {len(paths):,} files, {len(paths) - len(files)} are refused with a"
        " reason, and none fails otherwise. Medians of the shares of a command's words, and of its"
        " pairs of neighbours, that are read, and of the longest sequence of its words that is read"
        " in the same order, of files in which it prints eight words or more. A damaged file, or"
        f" one without a table of characters, makes each print other words. {machine()}.",
        table(
            ("compared with", "files", "words", "files with .9 of them", "pairs", "in order"),
            common_words.medians(references, [*files.values()]),
        ),
        "Files of which less than .9 of the words is read by the best of the commands: the share"
        " and the number of the words of each. Of those marked, the reader says that the text layer"
        " is broken.",
        table(("file", *references, "said"), common_words.differing(files, broken)),
    )


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
