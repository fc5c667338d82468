"""Documents in a real browser: dropped onto the page, uploaded with progress, read, found."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser

DROP = """() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(["# Walruses\\n\\nThey rest on the ice.\\n"], "walruses.md"))
    transfer.items.add(new File(["PK\\x03\\x04"], "slides.pptx"))
    document.querySelector("h1").dispatchEvent(
        new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}))
}"""


def test_documents_dropped_onto_a_page_are_read_and_shown(visit: Callable[..., Visit]) -> None:
    page = visit(viewport={"width": 360, "height": 800}).go("/library/")
    page.evaluate(DROP)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    added = page.locator("#added")
    expect(added.get_by_role("alert")).to_contain_text("ZIP archive")
    expect(added.locator(".state-done")).to_be_visible(timeout=60_000)
    added.get_by_role("link", name="Walruses").click()
    expect(page.locator(".prose h2")).to_have_text("Walruses")
    expect(page.locator(".prose p")).to_have_text("They rest on the ice.")
