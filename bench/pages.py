"""Measure the pages in Chromium: weight, layout shift, and how long an interaction takes to paint.

Run ``python bench/pages.py`` from the repository; ``--sources`` for another number than 10,000. The
library of `kb serve --sample` gets that many documents and a transcript of ten hours. Each page is
loaded with an empty cache; each interaction is done ``ROUNDS`` times, and its longest event counted
(Event Timing: from the input to the next paint).
"""

import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from harness.environment import arguments, boot, command, machine

boot(database=False)

from harness.report import publish, table
from harness.server import serving
from playwright.sync_api import Browser, CDPSession, Page, ViewportSize, sync_playwright

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
    count = arguments(__doc__, sources=10_000).sources
    with serving("--sample") as server:
        addresses = {name: server.origin + path for name, path in fill(count).items()}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            busy = os.getloadavg()[0]
            first = browser.new_context()
            first.new_page().goto(server.link)
            visits = Visits(browser, first.storage_state())
            publish(
                "Pages",
                f"{command()}, Chromium {browser.version}, {machine()}; weight without thumbnails"
                " and images of pages, with an empty cache; the larger layout shift of a laptop and"
                f" of a phone ({NARROW['width']} pixels wide, {SLOW} times slower); a library of"
                f" {count:,} documents. Load of the machine before: {busy:.1f}.",
                table(
                    ("page", "weight, kB", "layout shift", "blank for, ms", "goals"),
                    [visits.weigh(name, address) for name, address in addresses.items()],
                ),
                table(
                    ("interaction", "to the next paint, median / longest, ms", "goal"),
                    [visits.interact(addresses[each.page], each) for each in INTERACTIONS],
                ),
            )
            browser.close()


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


@dataclass(frozen=True, slots=True)
class Visits:
    """Visits of somebody who is signed in, each with an empty cache."""

    browser: Browser
    state: Any

    def weigh(self, name: str, address: str) -> Sequence[object]:
        """Return the figures of a page: kilobytes, layout shift, ms until something is painted."""
        self._load(address)  # once, so that nothing is loaded for the first time
        weight, shift, blank = self._load(address)
        goals = f"{GOALS['weight']}, {GOALS['shift']}"
        return name, f"{weight:.0f}", f"{shift:.3f}", f"{blank:.0f}", goals

    def interact(self, address: str, each: Interaction) -> Sequence[object]:
        """Return the milliseconds of the longest event when something is done on a fresh page."""
        times = []
        for _ in range(ROUNDS):
            with self._visit(address, 700) as page:
                page.evaluate("window.paint = []")
                each.act(page)
                page.wait_for_timeout(700)
                # What takes less is not reported.
                times.append(float(max(page.evaluate("window.paint") or [16])))
        spread = f"{statistics.median(times):.0f} / {max(times):.0f}"
        return each.name, spread, GOALS["paint"]

    def _load(self, address: str) -> tuple[float, float, float]:
        images: set[str] = set()
        sizes: dict[str, float] = {}

        def listen(session: CDPSession) -> None:
            session.send("Network.enable")
            session.on(
                "Network.responseReceived",
                lambda event: images.add(event["requestId"]) if event["type"] == "Image" else None,
            )
            session.on(
                "Network.loadingFinished",
                lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}),
            )

        with self._visit(address, 1_500, listen) as page:
            shift, blank = float(page.evaluate("window.shift")), float(page.evaluate(BLANK))

        def slow_down(session: CDPSession) -> None:
            session.send("Emulation.setCPUThrottlingRate", {"rate": SLOW})

        with self._visit(address, 1_500, slow_down, viewport=NARROW) as page:
            shift = max(shift, float(page.evaluate("window.shift")))
        weight = sum(size for key, size in sizes.items() if key not in images) / 1e3
        return weight, shift, blank

    @contextmanager
    def _visit(
        self,
        address: str,
        settle: float,
        prepare: Callable[[CDPSession], object] = lambda session: None,
        **options: Any,
    ) -> Iterator[Page]:
        """Load a page and wait until it has settled (ms)."""
        context = self.browser.new_context(storage_state=self.state, **options)
        context.add_init_script(WATCH)
        page = context.new_page()
        prepare(context.new_cdp_session(page))
        page.goto(address, wait_until="load")
        page.wait_for_timeout(settle)
        yield page
        context.close()


def type_filter(page: Page) -> None:
    page.fill("#q", "")
    page.type("#q", "document 77", delay=40)


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


INTERACTIONS: Final = (
    Interaction(page="library", name="library: filter by words", act=type_filter),
    Interaction(
        page="library",
        name="library: table in place of cards",
        act=lambda page: page.click("text=Table"),
    ),
    Interaction(page="library", name="palette: open and type", act=open_palette),
    Interaction(page="recording of ten hours", name="ten hours: find words", act=find_words),
    Interaction(page="recording of ten hours", name="ten hours: next match", act=next_match),
    Interaction(
        page="recording of ten hours",
        name="ten hours: to the end",
        act=lambda page: page.keyboard.press("End"),
    ),
)


if __name__ == "__main__":
    main()
