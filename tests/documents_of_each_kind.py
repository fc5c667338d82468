"""A document of each kind that is no plain text, and how it is added in a browser."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Page

from citations.models import Chunk, Source, State
from tests.citations.readers.office import archives
from tests.citations.readers.pdf import papers
from tests.web_standin import Web
from transcripts.youtube.guard import LOOPBACK_VARIABLE

SECONDS: Final = 600  # until all are read
ADDRESS: Final = "bees.example/honey"
BEES: Final = "Honey from roofs is cleaner, since nobody sprays the parks of a town. "
ARTICLE: Final = (
    "<!doctype html><html lang='en'><title>Bees in the city</title><nav>Home, shop</nav><article>"
    f"<h1>Bees in the city</h1><p>{BEES * 3}</p><h2>A hive on a roof</h2><ul><li>A hive weighs"
    " sixty kilograms in August.</li><li>It needs water within two hundred metres.</li></ul>"
    "<table><tr><th>Month</th><th>Honey</th></tr><tr><td>June</td><td>9 kg</td></tr></table>"
    f"<p>{BEES * 2}</p></article></html>"
)
LAW: Final = (
    "<m:oMath><m:r><m:t>E=</m:t></m:r><m:f><m:num><m:r><m:t>m</m:t></m:r><m:sSup><m:e><m:r><m:t>v"
    "</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:num><m:den><m:r><m:t>2"
    "</m:t></m:r></m:den></m:f></m:oMath>"
)
TITLED: Final = {  # the beginning of a file's name -> title, words to open it at
    "tides": ("The tides", "spring tides"),
    "paper": ("Gradient descent", "learning rate"),
    "scan": ("Sailing directions", "green buoy"),
    "energy": ("Energy", "kinetic energy"),
    "whale": ("The whale", "harpoon"),
    "honey": ("Bees in the city", "cleaner"),
}


def files(folder: Path) -> list[Path]:
    """Write a deck of slides, a paper of two columns, a scan, a DOCX and an EPUB."""
    shape, paragraph = archives.shape, archives.paragraph
    deck = [
        archives.slide(shape("The tides", kind="ctrTitle"), shape("A talk", kind="subTitle")),
        archives.slide(
            shape("Why there are two a day", kind="title"),
            shape("The moon pulls the near water most", "The earth turns below", kind=""),
        ),
        archives.slide(
            shape("Spring and neap", kind="title"),
            shape("At full moon there are spring tides", "At half moon neap tides", kind=""),
        ),
    ]
    law = f"<w:p>{archives.run('A moving body has the kinetic energy ')}{LAW}</w:p>"
    body = paragraph("Energy", "berschrift1") + law + paragraph("It grows with speed, squared.")
    chapters = {
        "one.xhtml": "<h1>Loomings</h1><p>Call me whatever you like: I went to sea.</p>",
        "two.xhtml": "<h1>The whale</h1><p>Nobody threw the harpoon as far as he did.</p>",
    }
    written = {
        "tides.pptx": archives.pptx(deck, notes={3: "Show the photograph of the harbour."}),
        "energy.docx": archives.docx(body, parts={"word/styles.xml": archives.STYLES}),
        "whale.epub": archives.epub({name: archives.xhtml(own) for name, own in chapters.items()}),
    }
    for name, data in written.items():
        (folder / name).write_bytes(data)
    said = "The green buoy marks the northern end of the fairway; keep it on your right. "
    typed = papers.paper(folder / "typed.pdf", [lambda canvas: papers.write(canvas, said * 4)])
    scan = papers.photographed(folder / "scan.pdf", typed, skew=0.7)
    return [papers.columns(folder / "paper.pdf"), scan, *(folder / name for name in written)]


@contextmanager
def web() -> Iterator[Web]:
    """Have sites that begin in this block ask a stand-in, whatever address of the web is added.

    Their rows can then be read beside Playwright, whose loop runs in the same thread.
    """
    with Web() as standin:
        standin.give(ADDRESS, ARTICLE.encode(), Content_Type="text/html")
        os.environ |= {LOOPBACK_VARIABLE: standin.url, "DJANGO_ALLOW_ASYNC_UNSAFE": "1"}
        yield standin


def add(page: Page, origin: str) -> Iterator[tuple[str, str]]:
    """Add all within ``web``, have the scan read by OCR; yield names, and the paths that open them
    at their words. Raises ``TimeoutError``.
    """

    def until(is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SECONDS
        while not is_so():
            if time.monotonic() > deadline:
                raise TimeoutError
            time.sleep(0.2)

    ready = Source.objects.filter(state=State.READY)
    all_ready = ready.count() + len(TITLED)
    page.goto(f"{origin}/add/")
    with TemporaryDirectory() as folder:
        page.locator("#files").set_input_files(files(Path(folder)))
        until(lambda: Source.objects.filter(document__name="whale.epub").exists())
    page.goto(f"{origin}/add/")  # the box is emptied after an upload
    page.locator("#what").fill(f"https://{ADDRESS}")
    page.get_by_role("button", name="Add", exact=True).click()
    until(lambda: ready.count() == all_ready - 1)
    scan = Source.objects.get(document__name="scan.pdf")
    page.goto(f"{origin}/sources/{scan.uuid}/passages/")
    page.get_by_role("button", name="Read it by OCR").click()
    until(lambda: ready.count() == all_ready)
    for name, (title, words) in TITLED.items():
        sources = Source.objects.filter(document__name__startswith=name)
        sources.update(title=title)
        hit = Chunk.objects.filter(source__in=sources, text__icontains=words)[0]
        yield f"document-{name}", f"/sources/{hit.source.uuid}/pages/{hit.page}/?q={words}"
