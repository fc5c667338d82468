"""Long and large documents: how long reading them takes, and in how much memory."""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Final

from harness.environment import arguments, boot, command, machine

boot(database=False)

from harness.report import publish, table

from citations.readers import recognition
from citations.readers.pagination import open_document
from tests.citations.readers.pdf.bombs import heavy
from tests.citations.readers.pdf.papers import book
from tests.footprint import footprint

FILES: Final[dict[str, Callable[[Path], object]]] = {
    "2,000 pages.pdf": lambda path: book(path, 2_000),
    "200 MB.pdf": lambda path: path.write_bytes(heavy(2_000, 99_000)),
    "14 MB.md": lambda path: path.write_text("# Head\n\n" + "Words that say something. " * 550_000),
}


def main() -> None:
    arguments(__doc__)
    publish(
        "Long and large documents",
        f"{command()}: seconds until the last page is read, and the peak of the resident memory of"
        f" the reading process and of its largest child, by psutil. {machine()}.",
        table(("file", "bytes", "pages", "s", "MB, own", "MB, largest child"), rows()),
    )


def rows() -> Iterator[Sequence[object]]:
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
