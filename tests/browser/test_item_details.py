"""A title is edited in the library by keyboard: Escape leaves it, Enter saves it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("view", ["cards", "table"])
def test_an_item_is_renamed_in_place(visit: Callable[..., Visit], view: str) -> None:
    visited = visit()
    page = visited.go(f"/library/?view={view}")
    reference = "video-{long}".format(**visited.site.seeded)
    pen = page.locator(f"#edit-{reference}")
    title = page.locator(f"#{reference}")
    before = title.inner_text()
    for text, key, after in (("No", "Escape", before), ("Better", "Enter", "Better")):
        pen.focus()
        page.keyboard.press("Enter")
        field = page.locator(f"#form-{reference} [name=title]")
        expect(field).to_be_focused()
        check_accessibility(page)
        field.fill(text)
        page.keyboard.press(key)
        expect(title).to_have_text(after)
        expect(field).to_have_count(0)
        expect(pen).to_be_focused()
    expect(page.locator("#announcer")).to_have_text("Saved")
    pen.click()
    page.locator(f"#form-{reference} [name=title]").fill(before)
    page.keyboard.press("Enter")
    expect(title).to_have_text(before)
    assert not visited.console
