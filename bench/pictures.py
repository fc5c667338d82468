"""Take the pictures of the documentation from the pages, as they are now, with the sample library.

Run ``python bench/pictures.py`` from the repository, after a change that a picture shows. It uses
the library as a reader would. Into docs/images go the pages that the texts show; into
docs/images/pages, for docs/tour.md, a sheet of every page: phone, laptop and large screen, light
and dark. ``--only ask,tour-video,documents`` takes some of them; the last needs the extra ``ocr``.
"""

import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.environment import ROOT, arguments, boot

boot(database=False)

from harness.server import Rest, Server, new_token, serving, wait_for
from oauth2_provider.models import Application
from PIL import Image
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from citations.models import Source, State
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.extension import Reader, launched
from tests.browser.watch_standin import WatchStandIn
from tests.documents_of_each_kind import add, web
from transcripts.models import Collection, Video

IMAGES: Final = ROOT / "docs" / "images"
SHEETS: Final = IMAGES / "pages"
LAPTOP: Final = (1280, 800)
# What stays in place while the page scrolls would stand in the middle of a long picture.
UNSTUCK: Final = ".top { position: static !important; }"
QUESTION: Final = "Why is the pause made random, and what is inverse document frequency?"
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

WIDTHS: Final = {360: 740, 1280: 800, 1920: 1080}  # of the window -> its height, pixels
SCHEMES: Final = ("light", "dark")
SCALE: Final = 0.4  # of a picture on its sheet
GAP: Final = 12  # pixels between two pictures
FOLLOW_UP: Final = "How long should a program wait?"
KEPT: Final = "yellow", "blue", "pink"  # colours of highlights


def main() -> None:
    names = arguments(__doc__, only="").only
    wanted = names.split(",") if names else None
    with web(), serving("--sample") as server:
        wait_for(lambda: not Source.objects.exclude(state=State.READY).exists(), server.process)
        chosen, pages = pictures(), used(server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            first = browser.new_context(reduced_motion="reduce")
            first.new_page().goto(server.link)
            state = first.storage_state()
            for name, picture in chosen.items():
                if not wanted or name in wanted:
                    save(name, take(browser, server.origin, picture, state))
            for name, path in pages.items():
                if not wanted or f"tour-{name}" in wanted:
                    own = None if path.startswith(("/shared/", "/sign-in/")) else state
                    sheet(browser, SHEETS / f"{name}.webp", server.origin + path, own)
            if not wanted or "documents" in wanted:
                reader = browser.new_context(storage_state=state, reduced_motion="reduce")
                for name, path in add(reader.new_page(), server.origin):
                    sheet(browser, SHEETS / f"{name}.webp", server.origin + path, state)
            browser.close()
            if not wanted or "extension" in wanted:
                take_panel(playwright, server.origin, state)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A page, what is done on it before, and which part is shown."""

    path: str
    size: tuple[int, int] = LAPTOP
    act: Callable[[Page], None] = lambda page: None
    clip: Callable[[Page], Any] = lambda page: None
    is_stranger: bool = False


def pictures() -> dict[str, Picture]:
    talk = Video.objects.get(title="Why captions have times")
    Application.objects.create(
        name="Claude",
        client_id="claude",
        client_type="public",
        authorization_grant_type="authorization-code",
        redirect_uris="http://127.0.0.1:8123/callback",
    )
    return {
        "library": Picture(path="/library/"),
        "video": Picture(path=f"/videos/{talk.pk}/?q=words", act=highlight),
        "ask": Picture(path="/ask/", act=ask),
        "lecture": Picture(path="/lectures/", act=replay),
        "sign-in": Picture(path="/sign-in/", size=(540, 540), is_stranger=True),
        "consent": Picture(path=CONSENT, size=(500, 660)),
        "tokens": Picture(path="/tokens/", size=(840, 900), act=unfold, clip=from_clients),
    }


def take(browser: Browser, origin: str, picture: Picture, state: Any) -> bytes:
    width, height = picture.size
    visit = browser.new_context(
        storage_state=None if picture.is_stranger else state,
        viewport={"width": width, "height": height},
        reduced_motion="reduce",
        bypass_csp=True,
    )
    page = visit.new_page()
    page.goto(origin + picture.path, wait_until="load")
    picture.act(page)
    page.wait_for_timeout(1_000)  # pictures of sources, and what arrives by itself
    area = picture.clip(page)
    shot = page.screenshot(clip=area, full_page=area is not None)
    visit.close()
    return shot


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
    page.wait_for_timeout(12_000)  # at ten times the speed of the talk


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
    few = image.quantize(128, dither=Image.Dither.NONE)
    few.save(IMAGES / f"{name}.png", optimize=True)
    print(f"{name}.png {image.width} × {image.height}")


# The sheets of the tour


def used(server: Server) -> dict[str, str]:
    """Read, ask, highlight and share; return the paths of the pages by their names."""
    call = Rest(server, new_token("--manage"))
    book = Source.objects.get(kind="pdf")
    talk = Video.objects.get(title="Why captions have times")
    recording = Source.objects.filter(video=talk).earliest("pk")
    collection = recording.collection
    Collection.objects.filter(pk=collection.pk).update(allows_links=True)
    answer = call("ask?stream=false", question=QUESTION, keep=True)
    conversation = answer["conversation_id"]
    call("ask?stream=false", question=FOLLOW_UP, keep=True, conversation_id=conversation)
    chunks = recording.chunks.order_by("ordinal")
    for color, chunk in zip(KEPT, chunks, strict=False):
        quote = " ".join(chunk.text.split()[:12])
        call("highlights", source_id=str(recording.uuid), quote=quote, color=color)
    call("notes", title="For the course", text="Begin with captions, then back-off.")
    clip = call("shared-links", source_id=str(recording.uuid), start=5, end=20)
    about = {"collection": collection.slug, "video_id": talk.key}
    lecture = call("sessions", title="A lecture", **about)
    call(f"sessions/{lecture['id']}/replay", position=60)
    return {
        "library": "/library/",
        "library-table": "/library/?view=table&group=kind",
        "add": "/add/",
        "video": f"/videos/{talk.pk}/",
        "video-found": f"/videos/{talk.pk}/?q=words&view=paragraphs",
        "document": f"/sources/{book.uuid}/pages/10/",
        "guide": f"/sources/{book.uuid}/",
        "search": "/search/?q=exponential+back-off",
        "search-nothing": "/search/?q=the+price+of+potatoes+in+Lima",
        "ask": "/ask/",
        "conversation": f"/ask/{conversation}/",
        "highlights": "/highlights/",
        "notes": "/notes/",
        "collection": f"/collections/{collection.pk}/",
        "collection-settings": f"/collections/{collection.pk}/settings/",
        "lecture": f"/lectures/{lecture['id']}/",
        "activity": "/activity/",
        "tokens": "/tokens/",
        "shared-links": "/shared-links/",
        "shared-clip": clip["path"],
        "glossary": "/glossary/",
        "sign-in": "/sign-in/",
        "admin": "/admin/",
        "rest": "/api/v1/docs",
    }


def sheet(browser: Browser, file: Path, address: str, state: Any) -> None:
    """Save the pictures of a page: a row for each colour scheme, a column for each width."""
    rows = [
        [shot(browser, address, state, scheme, width) for width in WIDTHS] for scheme in SCHEMES
    ]
    heights = [max(picture.height for picture in row) for row in rows]
    width = max(sum(picture.width + GAP for picture in row) for row in rows) + GAP
    whole = Image.new("RGB", (width, sum(heights) + GAP * (len(rows) + 1)), "#8a8f98")
    top = GAP
    for row, height in zip(rows, heights, strict=True):
        left = GAP
        for picture in row:
            whole.paste(picture, (left, top))
            left += picture.width + GAP
        top += height + GAP
    whole.save(file, quality=45, method=6)
    print(f"{file} {whole.width} × {whole.height}, {file.stat().st_size // 1000} kB")


def shot(browser: Browser, address: str, state: Any, scheme: Any, width: int) -> Image.Image:
    visit = browser.new_context(
        storage_state=state,
        viewport={"width": width, "height": WIDTHS[width]},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page: Page = visit.new_page()
    page.goto(address, wait_until="load")
    page.wait_for_timeout(1_500)  # pictures of sources, and what arrives by itself
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    visit.close()
    size = (round(picture.width * SCALE), round(picture.height * SCALE))
    return picture.resize(size, Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
