"""Take a picture of every page: phone, laptop and large screen, light and dark, on one sheet each.

Run ``python bench/gallery.py`` from the repository. It serves the sample library, uses it as a
reader would, and writes a WebP file per page for docs/tour.md; ``--only ask,video`` takes some of
them, ``--into`` writes them elsewhere.
"""

import argparse
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from environment import HOME, ROOT, boot

boot(database=False)

import requests
from doors import LINK, SERVE, started, wait_for
from pictures import QUESTION, sign_in
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from citations.models import Source, State
from tests.browser.conftest import CHROMIUM, FLAGS
from transcripts.models import Collection, Video

WIDTHS: Final = {360: 740, 1280: 800, 1920: 1080}  # of the window -> its height, pixels
SCHEMES: Final = ("light", "dark")
SCALE: Final = 0.4  # of a picture on its sheet
GAP: Final = 12  # pixels between two pictures
PAPER: Final = "#8a8f98"
QUALITY: Final = 45  # of WebP, of 100
SETTLED: Final = 1_500  # ms, until pictures of sources and what arrives by itself are there
FOLLOW_UP: Final = "How long should a program wait?"
KEPT: Final = "yellow", "blue", "pink"  # colours of highlights


def main() -> None:
    """Serve the sample library and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "docs" / "images" / "pages")
    parser.add_argument("--only", default="", help="Names of pages, with commas between them.")
    choice = parser.parse_args()
    choice.into.mkdir(parents=True, exist_ok=True)
    log = Path(HOME) / "serve.log"
    with log.open("w") as output, started(SERVE, output) as process:
        link = wait_for(lambda: LINK.findall(log.read_text()), process)[-1]
        wait_for(lambda: "Ctrl-C" in log.read_text(), process)
        wait_for(lambda: not Source.objects.exclude(state=State.READY).exists(), process)
        origin = link.partition("/sign-in/")[0]
        pages = used(origin)
        wanted = choice.only.split(",") if choice.only else list(pages)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            state = sign_in(browser, link)
            for name in wanted:
                own = None if pages[name].startswith(("/shared/", "/sign-in/")) else state
                save(choice.into / f"{name}.webp", shots(browser, origin + pages[name], own))
            browser.close()


def used(origin: str) -> dict[str, str]:
    """Read, ask, highlight and share; return the paths of the pages by their names."""
    call = Rest(f"{origin}/api/v1/")
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


class Rest:
    """Calls of REST with a token that may write."""

    def __init__(self, address: str) -> None:
        command = [sys.executable, "-m", "kbsite.cli", "token", "create", "gallery"]
        options = ["--write", "--json"]
        process = subprocess.run(
            [*command, *options], cwd=ROOT, capture_output=True, text=True, check=True
        )
        self._address = address
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {json.loads(process.stdout)['token']}"

    def __call__(self, path: str, **body: Any) -> Any:
        """Post a body, or get without one. Raises ``requests.HTTPError``."""
        method = "POST" if body else "GET"
        response = self._session.request(method, self._address + path, json=body or None)
        response.raise_for_status()
        return response.json()


def shots(browser: Browser, address: str, state: Any) -> list[list[Image.Image]]:
    """Return the pictures of a page: a row for each colour scheme, a column for each width."""
    return [
        [shot(browser, address, state, scheme, width) for width in WIDTHS] for scheme in SCHEMES
    ]


def shot(browser: Browser, address: str, state: Any, scheme: Any, width: int) -> Image.Image:
    visit = browser.new_context(
        storage_state=state,
        viewport={"width": width, "height": WIDTHS[width]},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page: Page = visit.new_page()
    page.goto(address, wait_until="load")
    page.wait_for_timeout(SETTLED)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    visit.close()
    size = (round(picture.width * SCALE), round(picture.height * SCALE))
    return picture.resize(size, Image.Resampling.LANCZOS)


def save(file: Path, rows: list[list[Image.Image]]) -> None:
    """Save the pictures on one sheet."""
    heights = [max(picture.height for picture in row) for row in rows]
    width = max(sum(picture.width + GAP for picture in row) for row in rows) + GAP
    sheet = Image.new("RGB", (width, sum(heights) + GAP * (len(rows) + 1)), PAPER)
    top = GAP
    for row, height in zip(rows, heights, strict=True):
        left = GAP
        for picture in row:
            sheet.paste(picture, (left, top))
            left += picture.width + GAP
        top += height + GAP
    sheet.save(file, quality=QUALITY, method=6)
    print(f"{file} {sheet.width} × {sheet.height}, {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
