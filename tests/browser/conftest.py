"""Chromium, a running site, and pages that remember what went wrong on them."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    Playwright,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.browser.site import Site
from tests.model_standin import ModelStandIn
from tests.programs import find_program, require
from tests.youtube_standin import YouTubeStandIn

# The shell is the same engine without windows and menus, and takes half the time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("CHROMIUM") or find_program(*NAMES)
expect.set_options(timeout=30_000)  # machines are noisy
LAPTOP: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 360, "height": 740}
FLAGS = (
    # Nothing may leave this machine, whatever a page does. Routes of Playwright would do as well,
    # but with them a browser keeps no file that it has loaded and waits for each to be let through.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SAMPLES = """
from citations import samples
from citations.ingest import pipeline
from django.contrib.auth.models import User
from transcripts.models import Collection
loaded = samples.load(Collection.objects.default(), owner=User.objects.get(username="ada"))
pipeline.ingest(loaded.textbook.pk)
print(json.dumps({"lecture": str(loaded.lecture.uuid), "textbook": loaded.textbook.title}))
"""
REMOVE_SAMPLES = """
from citations.ingest import pipeline
from citations.lectures import sessions
from citations.models import Source
from kbsite.callers import everything
sessions.delete(sessions.find_session(everything(), "{lecture}"))
pipeline.remove(Source.objects.get(title="{textbook}"))
"""
COPIES = """
from tests.makers import multiply
from transcripts.models import Video
multiply(Video.objects.get(key="talk-3"), 100, key="'copy-' || n", title="'Copy ' || n")
"""
REMOVE_COPIES = """
from transcripts.models import Video
Video.objects.filter(key__startswith="copy-").delete()
"""


@pytest.fixture(scope="package")
def playwright_driver() -> Iterator[Playwright]:
    """Playwright's driver, for this folder: its event loop must not meet those of other tests.

    Without Chromium, tests are skipped; in CI they fail.
    """
    require("" if CHROMIUM else "Chromium is not here; install it, or name it in CHROMIUM")
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="package")
def browser(playwright_driver: Playwright) -> Iterator[Browser]:
    """One Chromium for all tests."""
    browser = playwright_driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def language_model() -> Iterator[ModelStandIn]:
    """The site's language model: it writes hypothetical answers at once, unless a test slows it."""
    with ModelStandIn() as standin:
        yield standin


@pytest.fixture(scope="session")
def site(language_model: ModelStandIn) -> Iterator[Site]:
    """A running site, seeded, with a worker; its YouTube and its language model are stand-ins."""
    home = Path(tempfile.mkdtemp(prefix="cuebase-browser-"))
    models = {
        "EMBEDDING_PROVIDER": "fake",
        "RERANKER": "none",
        "LLM_PROVIDER": "openai",
        "DISABLE_CONTEXTUAL_RETRIEVAL": "1",
    }
    with (
        YouTubeStandIn() as standin,
        Site(home, **standin.environment(), **models, **language_model.settings()) as site,
    ):
        site.seed()
        with site.worker(), site.server():
            yield site
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def sample(site: Site) -> Iterator[dict[str, str]]:
    """The sample lecture and the textbook that it cites; other files count what searches find."""
    made: dict[str, str] = site.json(SAMPLES)
    yield made
    site.python(REMOVE_SAMPLES.format(**made))


@pytest.fixture
def long_library(site: Site) -> Iterator[None]:
    """A hundred more recordings."""
    site.python(COPIES)
    yield
    site.python(REMOVE_COPIES)


class Visit:
    """A page with a record: what its console said, and which hosts it asked."""

    def __init__(self, context: BrowserContext, site: Site) -> None:
        self.context, self.site = context, site
        self.console: list[str] = []
        self.foreign: list[str] = []
        context.on("request", self._note_host)
        context.set_default_timeout(30_000)
        self.page: Page = context.new_page()
        self._size = self.page.viewport_size or LAPTOP
        self.page.on(
            "console",
            lambda message: (
                self.console.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        self.page.on("pageerror", lambda error: self.console.append(str(error)))

    def go(self, path: str) -> Page:
        """Open a path of the site; what it names in braces is of the seeded library."""
        self.page.goto(self.site.url + path.format(**self.site.seeded))
        return self.page

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until something holds that the page's events have told."""
        for _ in range(300):
            if condition():
                return
            self.page.wait_for_timeout(50)
        pytest.fail("waited 15 s for what a page should have told")

    def begin_again(self) -> None:
        """Leave the page, with an empty record, in the light and in the size of the beginning."""
        # Not for a page of nowhere: the browser would begin a process for each way back.
        self.page.goto(f"{self.site.url}/healthz")
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size(self._size)
        self.console.clear()
        self.foreign.clear()

    def _note_host(self, request: Request) -> None:
        if not request.url.startswith((self.site.url, "about:", "blob:", "data:")):
            self.foreign.append(request.url)


Visits = Callable[..., Visit]  # begins a visit: as whom, with the options of a context


def notice_of(page: Page, text: str) -> Locator:
    """A message at the bottom of the window; what another test did may be told beside it."""
    return page.locator("#notices .notice", has_text=text)


@pytest.fixture(scope="package")
def session_of(browser: Browser, site: Site) -> Callable[[str], Any]:
    """The stored session of a user, signed in by link, once."""
    known: dict[str, Any] = {}

    def state(name: str) -> Any:
        if name not in known:
            context = browser.new_context()
            page = context.new_page()
            page.goto(site.sign_in_link(name))
            known[name] = context.storage_state()
            context.close()
        return known[name]

    return state


@pytest.fixture
def visit(browser: Browser, site: Site, session_of: Callable[[str], Any]) -> Iterator[Visits]:
    """Visit as ``ada``, an owner, ``vera``, a viewer, or nobody; options are a context's."""
    with visits(browser, site, session_of) as start:
        yield start


@pytest.fixture(scope="module")
def tour(browser: Browser, site: Site, session_of: Callable[[str], Any]) -> Iterator[Visits]:
    """Visit pages that are only looked at, one after the other in the same tab, as people do: what
    the browser has loaded once it keeps. Options are a context's.
    """
    begun: dict[str, Visit] = {}
    with visits(browser, site, session_of) as start:

        def resume(name: str = "ada", **options: Any) -> Visit:
            key = f"{name} {options}"
            if key not in begun:
                begun[key] = start(name, **options)
            begun[key].begin_again()
            return begun[key]

        yield resume


@contextmanager
def visits(browser: Browser, site: Site, session_of: Callable[[str], Any]) -> Iterator[Visits]:
    """Visits that end with the block."""
    contexts: list[BrowserContext] = []

    def start(name: str = "ada", **options: Any) -> Visit:
        context = browser.new_context(
            storage_state=session_of(name) if name else None,
            **{"reduced_motion": "reduce", **options},
        )
        contexts.append(context)
        return Visit(context, site)

    yield start
    for context in contexts:
        context.close()
