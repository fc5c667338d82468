"""The bar of the selected items: its menus are in sight, and an action keeps the selection."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import LAPTOP, PHONE, Visits, notice_of
from tests.browser.site import Site

pytestmark = pytest.mark.browser

REMOVE = """
from transcripts.models import Collection, Video
Video.objects.filter(collection__name="Evenings").update(collection=Collection.objects.default())
Collection.objects.filter(name="Evenings").delete()
"""


TITLES = """
from transcripts.models import Video
print(json.dumps(list(Video.objects.values_list("pk", "title"))))
"""
RENAME = """
from transcripts.models import Video
def rename(titles):
    for pk, title in titles:
        Video.objects.filter(pk=pk).update(title=title, edited=[])
"""


@pytest.fixture
def evenings(site: Site) -> Iterator[None]:
    """Whatever is moved to a collection of this name comes back."""
    yield
    site.python(REMOVE)


SUGGESTED = "field => [...field.list.options].filter((choice) => !choice.disabled)"


def menu(page: Page, name: str) -> Locator:
    """Open a menu of the bar."""
    page.locator("#selection summary", has_text=name).click()
    return page.locator("#selection .menu[open] .menu-body")


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["wide", "narrow"])
def test_the_bar_and_its_menus_are_wholly_in_sight(visit: Visits, size: ViewportSize) -> None:
    page = visit(viewport=size).go("/library/?q=evening")
    page.locator("[data-choice]").first.check()
    bar = page.locator("#selection")
    for button in bar.locator(".button:visible").all():
        expect(button).to_be_in_viewport(ratio=1)
    shape = bar.bounding_box()
    assert shape is not None
    assert shape["height"] < size["height"] / 5
    for name in ("Tags", "Move", "More"):
        expect(menu(page, name)).to_be_in_viewport(ratio=1)
        check_accessibility(page)
        page.keyboard.press("Escape")
    expect(bar).to_contain_text("1 item selected")


def test_a_move_is_offered_to_other_collections_and_to_a_new_one(
    visit: Visits, evenings: None
) -> None:
    page = visit().go("/library/?q=evening&sort=title")
    page.locator("[data-choice]").first.check()
    body = menu(page, "Move")
    expect(body.get_by_label("Move to the collection")).to_have_value("empty-shelf")
    expect(body.locator("option:not([disabled])")).to_have_text(
        ["Choose a collection", "Empty shelf"]
    )
    name = body.get_by_label("Move to a new collection")
    name.fill("Evenings")
    name.press("Enter")
    expect(page.locator("#notices")).to_contain_text("1 item moved to “Evenings”.")
    expect(page.locator("#selection")).to_be_hidden()
    page.locator("[data-choice]").nth(1).check()
    place = menu(page, "Move").get_by_label("Move to the collection")
    expect(place).to_have_value("")


def test_what_is_tagged_stays_selected_beyond_the_first_page_and_is_told_above_the_bar(
    visit: Visits, long_library: None
) -> None:
    page = visit().go("/library/?q=copy&sort=title")
    page.keyboard.press("Control+a")
    page.locator("#selection [data-select-all]").click()
    bar = page.locator("#selection")
    total = page.locator("#results .count").get_attribute("data-total")
    expect(bar).to_contain_text(f"{total} items selected")
    menu(page, "Tags").get_by_label("Tags").fill("kept")
    page.keyboard.press("Enter")
    notice = notice_of(page, f"{total} items tagged.")
    expect(notice).to_be_visible()
    expect(bar).to_contain_text(f"{total} items selected")
    above, below = notice.bounding_box(), bar.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]
    page.get_by_label("Filter by title").fill("copy 1")
    expect(notice).to_have_count(0)


def tag_first(page: Page, tag: str) -> None:
    page.locator("[data-choice]").first.check()
    menu(page, "Tags").get_by_label("Tags").fill(tag)
    page.keyboard.press("Enter")


def test_each_of_several_tags_in_one_field_is_suggested(visit: Visits, evenings: None) -> None:
    page = visit().go("/library/?q=evening&sort=title")
    page.locator("[data-choice]").first.check()
    field = menu(page, "Tags").get_by_label("Tags")
    known = f"{SUGGESTED}.map((choice) => choice.value)"
    tags = field.evaluate(known)
    assert len(tags) > 1
    first, second = tags[:2]
    field.press_sequentially(f"{first.upper()},  {second[:2]}")
    others = [tag for tag in tags if tag != first]
    assert field.evaluate(known) == [f"{first.upper()},  {tag}" for tag in others]
    assert field.evaluate(f"{SUGGESTED}.map((choice) => choice.label)") == others
    field.fill(first)
    assert field.evaluate(known) == tags


def test_a_message_leaves_after_ten_seconds_but_not_while_somebody_is_at_it(visit: Visits) -> None:
    page = visit().go("/library/?q=evening&sort=title")
    page.clock.install()
    tag_first(page, "told")
    notice = notice_of(page, "1 item tagged.")
    expect(notice).to_be_visible()
    page.clock.fast_forward(9_000)
    notice.hover()
    page.clock.fast_forward(2_000)
    expect(notice).to_be_visible()
    page.mouse.move(5, 5)
    page.clock.fast_forward(2_000)
    expect(notice).to_have_count(0)
    expect(page.locator("#selection")).to_contain_text("1 item selected")


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["wide", "narrow"])
@pytest.mark.parametrize("query", ["evening", "talk+17"], ids=["a long list", "one item"])
def test_a_message_never_covers_the_bar(visit: Visits, size: ViewportSize, query: str) -> None:
    page = visit(viewport=size).go(f"/library/?q={query}&sort=title")
    tag_first(page, f"uncovered at {size['width']}")  # a new tag: its undo replaces another
    notice = notice_of(page, "1 item tagged.")
    notice.hover()  # then it stays
    for place in ("0", "document.body.scrollHeight"):
        page.evaluate(f"scrollTo(0, {place})")
        expect(notice).to_be_in_viewport(ratio=1)
        covered = """() => {
          const [told, bar] = ["#notices", "#selection"].map((name) =>
            document.querySelector(name).getBoundingClientRect());
          return told.top < bar.bottom && bar.top < told.bottom
            && told.left < bar.right && bar.left < told.right;
        }"""
        page.wait_for_function(f"() => !({covered})()")


def test_a_deletion_and_its_undoing_keep_the_place_in_a_list_of_several_pages(
    visit: Visits, long_library: None
) -> None:
    page = visit().go("/library/?q=copy&sort=title")
    choices = page.locator("[data-choice]")
    expect(choices).to_have_count(48)
    choices.last.scroll_into_view_if_needed()
    expect(choices).not_to_have_count(48)
    card = page.locator("[data-item]").nth(60)
    card.scroll_into_view_if_needed()
    card.locator("[data-choice]").check()
    place = page.evaluate("scrollY")
    assert place > 2_000
    before = page.locator("#results .count").inner_text()
    page.get_by_role("button", name="Delete", exact=True).click()
    undo = notice_of(page, "deleted").get_by_role("button", name="Undo")
    expect(undo).to_be_in_viewport(ratio=1)
    page.wait_for_function("place => Math.abs(scrollY - place) < 2", arg=place)
    undo.click()
    expect(page.locator("#results .count")).to_have_text(before)
    page.wait_for_function("place => Math.abs(scrollY - place) < 2", arg=place)


@pytest.fixture
def titles(site: Site) -> Iterator[None]:
    """Whatever is renamed gets its title back."""
    stored = site.json(TITLES)
    yield
    site.python(f"{RENAME}rename({stored!r})")


@pytest.mark.usefixtures("titles")
def test_what_was_done_with_items_is_not_told_on_the_page_of_others(
    visit: Visits, site: Site
) -> None:
    page = visit().go("/library/?q=evening&sort=title")
    for number in range(2):
        page.locator("[data-choice]").nth(number).check()
    page.locator("#selection").get_by_role("button", name="Rename").click()
    expect(page.locator("[name^=title-]")).to_have_count(2)
    for title in page.locator("[name^=title-]").all():
        title.fill(f"{title.input_value()} again")
    page.get_by_role("button", name="Save").click()
    notice = notice_of(page, "2 items renamed.")
    expect(notice).to_be_visible()
    expect(page.locator("[data-choice]:checked")).to_have_count(0)
    for path in ("collections/", f"collections/{site.seeded['shelf']}/", "library/?view=table"):
        page.goto(f"{site.url}/{path}")
        expect(page.locator("main h1")).to_be_visible()
        expect(notice).to_have_count(0)


def test_a_range_is_selected_by_keyboard_and_taken_back(visit: Visits) -> None:
    page = visit().go("/library/?q=evening&sort=title&view=table")
    chosen = page.locator("[data-choice]:checked")
    titles = page.locator("[data-item-link]")
    page.keyboard.press("j")
    expect(titles.nth(0)).to_be_focused()
    for key in ("Shift+J", "Shift+ArrowDown", "Shift+J"):
        page.keyboard.press(key)
    expect(chosen).to_have_count(4)
    expect(titles.nth(3)).to_be_focused()
    for key in ("Shift+K", "Shift+ArrowUp"):
        page.keyboard.press(key)
    expect(chosen).to_have_count(2)
    page.keyboard.press("Shift+K")
    page.keyboard.press("Shift+K")  # at the first item, which stays
    expect(chosen).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Shift+J")  # a range of its own, beside the first
    expect(chosen).to_have_count(3)
    expect(page.locator("#announcer")).to_have_text("3 items selected")


def test_delete_deletes_what_is_selected_and_it_can_be_taken_back(visit: Visits) -> None:
    page = visit().go("/library/?q=evening&sort=title")
    total = page.locator("#results .count").get_attribute("data-total")
    page.keyboard.press("Delete")  # nothing is selected
    page.keyboard.press("j")
    page.keyboard.press("Shift+J")
    page.get_by_label("Filter by title").press("Delete")  # of a letter
    expect(page.locator("[data-choice]:checked")).to_have_count(2)
    page.locator("[data-item-link]").first.focus()
    page.keyboard.press("Delete")
    expect(page.locator("#results .count")).to_have_text(f"{int(total or 0) - 2} items")
    expect(notice_of(page, "deleted").get_by_role("button", name="Undo")).to_be_visible()
    expect(page.locator("[data-item-link]").first).to_be_focused()  # of those that follow
    page.keyboard.press("Control+z")
    expect(page.locator("#results .count")).to_have_text(f"{total} items")
    expect(page.locator("[data-item-link]").first).to_be_focused()


def test_a_link_that_sorts_or_removes_a_filter_keeps_the_focus(visit: Visits) -> None:
    page = visit().go("/library/?q=evening&view=table")
    page.locator(".items th a").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("sort="))
    expect(page.locator(".items th a").first).to_be_focused()
    page.locator(".filter-chips a").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".filter-chips a")).to_have_count(0)
    expect(page.locator("#filter [type=search]")).to_be_focused()


def test_the_keys_of_the_selection_are_listed(visit: Visits) -> None:
    page = visit().go("/library/")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts").locator("dl").first
    expect(keys).to_contain_text("Shift+j k ↓ ↑Extend the selection")
    expect(keys).to_contain_text("DeleteDelete what is selected")
