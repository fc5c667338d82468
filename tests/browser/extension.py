"""Chromium with the browser extension, beside a stand-in for the site of the videos."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, Playwright, expect

from kbsite.extension import build
from tests.browser.conftest import FLAGS
from tests.browser.watch_standin import WatchStandIn
from tests.programs import find_program

# The shell of Chromium knows no extensions, and Chrome loads none from the command line.
NAMES = ("chromium", "chromium-browser")
CHROMIUM = find_program(*NAMES)


@contextmanager
def launched(
    driver: Playwright, folder: Path, site: str, watch: WatchStandIn
) -> Iterator[BrowserContext]:
    """Run Chromium with the extension of a site, which it keeps with its profile in a folder."""
    extension = folder / "extension"
    with zipfile.ZipFile(io.BytesIO(build(site, site=watch.url))) as archive:
        archive.extractall(extension)
    context = driver.chromium.launch_persistent_context(
        folder / "profile",
        executable_path=CHROMIUM,
        args=[*FLAGS, f"--disable-extensions-except={extension}", f"--load-extension={extension}"],
        ignore_default_args=["--disable-extensions"],
    )
    yield context
    context.close()


class Reader:
    """Chromium with the extension; ``panel`` opens the panel about the page of a video."""

    def __init__(self, context: BrowserContext, watch: WatchStandIn) -> None:
        self.context, self.watch = context, watch
        workers = context.service_workers or [context.wait_for_event("serviceworker")]
        self.origin = "/".join(workers[0].url.split("/")[:3])
        self.page: Page = context.new_page()

    def open(self, video: str) -> Page:
        """Open a video, and the panel about it; return the panel."""
        self.page.goto(f"{self.watch.url}/watch?v={video}")
        panel = self.context.new_page()
        panel.set_viewport_size({"width": 360, "height": 800})
        panel.goto(f"{self.origin}/panel.html")
        tab = panel.evaluate(
            "async url => (await chrome.tabs.query({})).find(tab => tab.url === url).id",
            self.page.url,
        )
        panel.goto(f"{self.origin}/panel.html?tab={tab}")
        return panel

    def connect(self, panel: Page, *, choice: str) -> None:
        """Connect the extension on the library's page."""
        with self.context.expect_page() as opened:
            panel.get_by_role("button", name="Connect").click()
        consent = opened.value
        consent.get_by_label(choice).check()
        with consent.expect_event("close"):
            consent.get_by_role("button", name="Connect", exact=True).click()
        expect(panel.get_by_role("button", name="Sign out")).to_be_visible()

    def kept(self, panel: Page) -> Any:
        """Return what the extension has stored."""
        return panel.evaluate("chrome.storage.local.get()")
