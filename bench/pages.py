"""Measure the pages in Chromium: weight, layout shift, and how long an interaction takes to paint.

Run ``python bench/pages.py`` from the repository; ``--sources`` for another number than 10,000. The
library of `kb serve --sample` gets that many documents and a transcript of ten hours. Each page is
loaded with an empty cache; each interaction is done ``ROUNDS`` times, and its longest event counted
(Event Timing: from the input to the next paint).
"""

import argparse
import os
import platform
import shlex
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from environment import HOME, boot

boot(database=False)

from bm25 import write
from doors import LINK, SERVE, started, wait_for
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from citations.models import Source
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.makers import make_document, make_video, multiply
from transcripts.models import Collection, Video
from transcripts.text.cues import Cue

ROUNDS: Final = 7
GOALS: Final = {"weight": 200, "shift": 0.01, "paint": 100}  # kB, score, ms
NARROW: Final = ViewportSize(width=360, height=740)  # of a phone
SLOW: Final = 6  # times slower, as a phone is
HOURS: Final = 10
CUE: Final = 5_000  # ms
SAID: Final = (
    "The pause before a second attempt is twice as long as the one before.",
    "A rare word tells more about a text than one that is everywhere.",
    "What was captioned once is read a thousand times.",
    "Nobody remembers the number of the page, so write it down.",
)
WATCH: Final = """
    window.shift = 0;
    window.paint = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({type: "layout-shift", buffered: true});
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (entry.interactionId) window.paint.push(entry.duration);
    }).observe({type: "event", durationThreshold: 16, buffered: true});
"""

BLANK: Final = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """What a reader does on a page."""

    page: str
    name: str
    act: Callable[[Page], None]


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=int, default=10_000)
    count = parser.parse_args().sources
    log = Path(HOME) / "serve.log"
    with log.open("w") as output, started(SERVE, output) as process:
        link = wait_for(lambda: LINK.findall(log.read_text()), process)[-1]
        wait_for(lambda: "Ctrl-C" in log.read_text(), process)
        addresses = fill(count)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            report = "\n".join(section(browser, link, addresses))
            browser.close()
    print(report)
    write(report)


def fill(count: int) -> dict[str, str]:
    """Store documents and a transcript of ten hours; return the pages' paths by their names."""
    collection = Collection.objects.default()
    source = make_document(collection, ["A text."], title="Document")
    multiply(source, count, uuid="gen_random_uuid()", title="'Document ' || n")
    cues = [
        Cue(start=start, end=start + CUE, text=SAID[start // CUE % len(SAID)])
        for start in range(0, HOURS * 3_600_000, CUE)
    ]
    talk = make_video(collection, key="long", title="A talk of ten hours", cues=cues)
    book = Source.objects.get(kind="pdf")
    sample = Video.objects.exclude(pk=talk.pk).latest("pk")
    return {
        "library": "/library/",
        "search": "/search/?q=backoff",
        "ask": "/ask/",
        "highlights": "/highlights/",
        "recording": f"/videos/{sample.pk}/",
        "recording of ten hours": f"/videos/{talk.pk}/",
        "page of a book": f"/sources/{book.uuid}/pages/10/",
        "REST: all operations": "/api/v1/docs",
        "REST: a group of operations": "/api/v1/docs/ask",
        "REST: a list of resources": "/api/content/sources/",
        "admin": "/admin/",
        "admin: a list": "/admin/citations/source/",
    }


def section(browser: Browser, link: str, addresses: dict[str, str]) -> Iterator[str]:
    """Yield the section of the results."""
    before = os.getloadavg()[0]
    parts = urlsplit(link)
    origin = f"{parts.scheme}://{parts.netloc}"
    first = browser.new_context()
    first.new_page().goto(link)
    state = first.storage_state()
    yield "## Pages"
    yield ""
    yield f"`{shlex.join(['python', 'bench/pages.py', *sys.argv[1:]])}`, Chromium"
    yield f"{browser.version}, Python {platform.python_version()}; weight without thumbnails and"
    yield "images of pages, with an empty cache; the larger layout shift of a laptop and of a phone"
    yield f"({NARROW['width']} pixels wide, {SLOW} times slower); a library of 10,000 documents."
    yield f"Load of the machine before: {before:.1f}."
    yield ""
    yield "| page | weight, kB | layout shift | blank for, ms | goals |"
    yield "|---|---:|---:|---:|---|"
    for name, path in addresses.items():
        load(browser, state, origin + path)  # once, so that nothing is loaded for the first time
        weight, shift, blank = load(browser, state, origin + path)
        goals = f"{GOALS['weight']}, {GOALS['shift']}"
        yield f"| {name} | {weight:.0f} | {shift:.3f} | {blank:.0f} | {goals} |"
    yield ""
    yield "| interaction | to the next paint, median / longest, ms | goal |"
    yield "|---|---:|---:|"
    for interaction in INTERACTIONS:
        times = [interact(browser, state, origin, addresses, interaction) for _ in range(ROUNDS)]
        spread = f"{statistics.median(times):.0f} / {max(times):.0f}"
        yield f"| {interaction.name} | {spread} | {GOALS['paint']} |"
    yield ""


def load(browser: Browser, state: Any, address: str) -> tuple[float, float, float]:
    """Load a page with an empty cache; return kilobytes, layout shift, and the milliseconds until
    something is painted.
    """
    context = browser.new_context(storage_state=state)
    context.add_init_script(WATCH)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    images: set[str] = set()
    sizes: dict[str, float] = {}
    session.on(
        "Network.responseReceived",
        lambda event: images.add(event["requestId"]) if event["type"] == "Image" else None,
    )
    session.on(
        "Network.loadingFinished",
        lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}),
    )
    page.goto(address, wait_until="load")
    page.wait_for_timeout(1_500)
    shift = float(page.evaluate("window.shift"))
    blank = float(page.evaluate(BLANK))
    context.close()
    shift = max(shift, narrow_shift(browser, state, address))
    return sum(size for key, size in sizes.items() if key not in images) / 1e3, shift, blank


def narrow_shift(browser: Browser, state: Any, address: str) -> float:
    """Load a page as on a phone, which is narrow and slow; return its layout shift."""
    context = browser.new_context(storage_state=state, viewport=NARROW)
    context.add_init_script(WATCH)
    page = context.new_page()
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOW})
    page.goto(address, wait_until="load")
    page.wait_for_timeout(1_500)
    shift = float(page.evaluate("window.shift"))
    context.close()
    return shift


def interact(
    browser: Browser, state: Any, origin: str, addresses: dict[str, str], each: Interaction
) -> float:
    """Do something on a fresh page; return the milliseconds of its longest event."""
    context = browser.new_context(storage_state=state)
    context.add_init_script(WATCH)
    page = context.new_page()
    page.goto(origin + addresses[each.page], wait_until="load")
    page.wait_for_timeout(700)
    page.evaluate("window.paint = []")
    each.act(page)
    page.wait_for_timeout(700)
    longest = max(page.evaluate("window.paint") or [16])  # what takes less is not reported
    context.close()
    return float(longest)


def type_filter(page: Page) -> None:
    page.fill("#q", "")
    page.type("#q", "document 77", delay=40)


def choose_table(page: Page) -> None:
    page.click("text=Table")


def open_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("document 7", delay=40)


def find_words(page: Page) -> None:
    page.fill("#q", "rare")
    page.press("#q", "Enter")


def next_match(page: Page) -> None:
    find_words(page)
    page.wait_for_timeout(1_000)
    page.evaluate("window.paint = []")
    page.keyboard.press("Escape")
    page.click("[data-find=next]")


def scroll_by_page(page: Page) -> None:
    page.keyboard.press("End")


INTERACTIONS: Final = (
    Interaction(page="library", name="library: filter by words", act=type_filter),
    Interaction(page="library", name="library: table in place of cards", act=choose_table),
    Interaction(page="library", name="palette: open and type", act=open_palette),
    Interaction(page="recording of ten hours", name="ten hours: find words", act=find_words),
    Interaction(page="recording of ten hours", name="ten hours: next match", act=next_match),
    Interaction(page="recording of ten hours", name="ten hours: to the end", act=scroll_by_page),
)


if __name__ == "__main__":
    main()
