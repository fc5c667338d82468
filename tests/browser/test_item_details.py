"""Cards of the library: titles are edited by keyboard, and what is being indexed renews itself."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visits

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("view", ["cards", "table"])
def test_an_item_is_renamed_in_place(visit: Visits, view: str) -> None:
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


def test_a_card_and_the_counter_renew_themselves_while_something_is_indexed(visit: Visits) -> None:
    visited = visit()
    change = (
        "from citations.models import Source;"
        "Source.objects.filter(title='A book on networks').update(state='{}')"
    )
    visited.site.python(change.format("words"))
    page = visited.go("/library/?q=A+book+on+networks")
    card = page.locator(".card").filter(has_text="A book on networks")
    expect(card.get_by_text("being indexed")).to_be_visible()
    counter = page.locator("#indexing-state")
    expect(counter).to_contain_text("searched only by words so far")
    before = counter.inner_text()
    visited.site.python(change.format("ready"))
    expect(card.get_by_text("being indexed")).to_have_count(0)
    expect(counter).not_to_have_text(before)  # others may still be indexed
    assert not visited.console
