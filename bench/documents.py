"""Long and large documents: how long reading them takes, and in how much memory.

    python bench/documents.py

Prints a table. Each file is made for the measurement, in a temporary folder.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from environment import boot

boot(database=False)

from citations.readers import recognition
from citations.readers.pagination import open_document
from tests.citations.readers.pdf.bombs import heavy
from tests.citations.readers.pdf.papers import book
from tests.footprint import footprint
from transcripts.core.errors import KnowledgeBaseError

SENTENCE = "Words that say something about the whole of it. "
LIMIT = 200_000_000  # MAX_DOCUMENT_BYTES


def main() -> None:
    files: dict[str, Callable[[Path], object]] = {
        "2,000 pages.pdf": lambda path: book(path, 2_000),
        "200 MB.pdf": lambda path: path.write_bytes(heavy(2_000, LIMIT // 2_000 - 1_000)),
        "14 MB.md": lambda path: path.write_text("# Head\n\n" + SENTENCE * 290_000),
        "200 MB.md": lambda path: path.write_text(SENTENCE * (LIMIT // len(SENTENCE))),
        "200 MB.txt": lambda path: path.write_text(SENTENCE * (LIMIT // len(SENTENCE))),
        "200 MB.html": lambda path: path.write_text("<html>" + SENTENCE * (LIMIT // 50)),
    }
    print("| file | bytes | outcome | s | MB, own | MB, largest child |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, make in files.items():
            make(path := Path(folder) / name)
            print(_row(path))
            path.unlink()


def _row(path: Path) -> str:
    began = perf_counter()
    with footprint() as measured:
        outcome = _read(path)
    seconds = perf_counter() - began
    own, child = measured.own / 2**20, measured.child / 2**20
    size = path.stat().st_size
    return f"| {path.name} | {size:,} | {outcome} | {seconds:.1f} | {own:.0f} | {child:.0f} |"


def _read(path: Path) -> str:
    with path.open("rb") as stream:
        format = recognition.recognise(stream.read(recognition.HEAD), path.name)
    try:
        return f"{sum(1 for _ in open_document(path, format, most_pages=5_000).pages):,} pages"
    except KnowledgeBaseError as error:
        return f"refused: {error.message}"


if __name__ == "__main__":
    main()
