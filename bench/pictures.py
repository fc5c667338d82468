"""Make the pictures of docs/images from the pages, as they are now, with the sample library.

Run ``python bench/pictures.py`` from the repository, after a change that a picture shows.
"""

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from environment import HOME, ROOT, boot

boot(database=False)

from doors import LINK, SERVE, started, wait_for
from oauth2_provider.models import Application
from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from citations.models import Source, State
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.extension import Reader, launched
from tests.browser.watch_standin import WatchStandIn
from transcripts.models import Video

IMAGES: Final = ROOT / "docs" / "images"
COLORS: Final = 128  # more make the files large, fewer make bands
LAPTOP: Final = {"width": 1280, "height": 800}
# What stays in place while the page scrolls would stand in the middle of a long picture.
UNSTUCK: Final = ".top { position: static !important; }"
QUESTION: Final = "Why is the pause made random, and what is inverse document frequency?"
REPLAYED: Final = 12_000  # ms, at ten times the speed of the talk
TITLE: Final = "Patience for programs: retries and back-off"
SPOKEN: Final = (
    "when a service says no, a program may try again",
    "but not at once, and not all of them together",
    "so each waits a little longer than before: exponential back-off",
    "and every wait is changed a little by chance",
)
CONSENT: Final = (
    "/oauth/authorize/?response_type=code&client_id=claude&scope=read+write"
    "&redirect_uri=http://127.0.0.1:8123/callback&code_challenge_method=S256"
    f"&code_challenge={'x' * 43}"
)


def main() -> None:
    """Serve the sample library and take the pictures."""
    log = Path(HOME) / "serve.log"
    with log.open("w") as output, started(SERVE, output) as process:
        link = wait_for(lambda: LINK.findall(log.read_text()), process)[-1]
        wait_for(lambda: "Ctrl-C" in log.read_text(), process)
        wait_for(lambda: not Source.objects.exclude(state=State.READY).exists(), process)
        talk = Video.objects.get(title="Why captions have times")
        Application.objects.create(
            name="Claude",
            client_id="claude",
            client_type="public",
            authorization_grant_type="authorization-code",
            redirect_uris="http://127.0.0.1:8123/callback",
        )
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            origin, state = link.partition("/sign-in/")[0], sign_in(browser, link)
            take_all(browser, origin, state, talk.pk)
            browser.close()
            take_panel(playwright, origin, state)


def sign_in(browser: Browser, link: str) -> Any:
    """Return the session that a sign-in link begins."""
    context = browser.new_context(reduced_motion="reduce")
    context.new_page().goto(link)
    return context.storage_state()


def take_all(browser: Browser, origin: str, state: Any, talk: int) -> None:
    """Take the pictures of the pages, signed in except the sign-in page."""

    def take(
        name: str,
        path: str,
        *,
        size: Any = LAPTOP,
        act: Callable[[Page], None] = lambda page: None,
        is_stranger: bool = False,
        clip: Callable[[Page], Any] = lambda page: None,
    ) -> None:
        own = None if is_stranger else state
        visit = browser.new_context(
            storage_state=own, viewport=size, reduced_motion="reduce", bypass_csp=True
        )
        page = visit.new_page()
        page.goto(origin + path, wait_until="load")
        act(page)
        page.wait_for_timeout(1_000)  # pictures of sources, and what arrives by itself
        area = clip(page)
        save(name, page.screenshot(clip=area, full_page=area is not None))
        visit.close()

    take("library", "/library/")
    take("video", f"/videos/{talk}/?q=words", act=highlight)
    take("ask", "/ask/", act=ask)
    take("lecture", "/lectures/", act=replay)
    take("sign-in", "/sign-in/", size={"width": 540, "height": 540}, is_stranger=True)
    take("consent", CONSENT, size={"width": 500, "height": 660})
    take("tokens", "/tokens/", size={"width": 840, "height": 900}, act=unfold, clip=from_clients)


def take_panel(playwright: Playwright, origin: str, state: Any) -> None:
    """Take the panel of the browser extension, beside a stand-in for the site of the videos."""
    with (
        tempfile.TemporaryDirectory() as home,
        WatchStandIn(TITLE, SPOKEN) as watch,
        launched(playwright, Path(home), origin, watch) as context,
    ):
        context.add_cookies(state["cookies"])
        reader = Reader(context, watch)
        panel = reader.open("patience001")
        panel.set_viewport_size({"width": 400, "height": 842})
        reader.page.get_by_role("button", name="Subtitles").click()
        reader.connect(panel, choice="add, change")
        panel.get_by_role("button", name="Add to the library").click()
        panel.get_by_role("heading", name="The library’s search").wait_for(timeout=120_000)
        panel.get_by_role("searchbox", name="Find in this video").fill("try again")
        panel.bring_to_front()
        panel.wait_for_timeout(3_000)  # what the library finds
        save("extension", panel.screenshot())


def highlight(page: Page) -> None:
    """Highlight a line of the transcript by keyboard, and go back to the first match."""
    page.wait_for_timeout(1_000)
    page.evaluate(
        """() => {
          const line = [...document.querySelectorAll("[data-passage] *")].findLast(
            (each) => each.textContent.includes("and you know how fast somebody speaks"));
          getSelection().selectAllChildren(line);
        }"""
    )
    page.keyboard.press("h")
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(2, 2)


def ask(page: Page) -> None:
    """Ask a question of two parts, and wait for the answer."""
    page.locator("#question").fill(QUESTION)
    page.keyboard.press("Enter")
    page.locator(".part-confidence").nth(1).wait_for(timeout=60_000)
    page.evaluate("document.activeElement.blur()")


def replay(page: Page) -> None:
    """Replay the sample lecture until some pages of its textbook stand beside it."""
    page.get_by_role("link", name="Sample lecture").click()
    page.locator("[data-speed]").select_option("10")
    page.get_by_role("button", name="Replay").click()
    page.wait_for_timeout(REPLAYED)


def unfold(page: Page) -> None:
    page.add_style_tag(content=UNSTUCK)
    page.get_by_text("How to load it").click()


def from_clients(page: Page) -> Any:
    """Return the part of the page from the list of clients on."""
    top, height = page.evaluate(
        """[document.querySelector("#mcp-clients").getBoundingClientRect().top + scrollY - 16,
            document.documentElement.scrollHeight]"""
    )
    return {"x": 0, "y": top, "width": 840, "height": height - top}


def save(name: str, picture: bytes) -> None:
    """Save a picture with few colours, as small as it gets."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    few = image.quantize(COLORS, dither=Image.Dither.NONE)
    few.save(IMAGES / f"{name}.png", optimize=True)
    print(f"{name}.png {image.width} × {image.height}")


if __name__ == "__main__":
    main()
