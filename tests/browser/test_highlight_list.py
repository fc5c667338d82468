"""The list of highlights: its filters act when they are changed."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visit
from tests.browser.site import Site

pytestmark = pytest.mark.browser

KEEP = """
from django.contrib.auth.models import User
from citations.models import Source
from citations.notebook import highlights
from citations.notebook.highlights import HighlightNotes, SelectedText
from transcripts.models import Collection
from transcripts.core.scope import Scope
every = frozenset(Collection.objects.values_list("pk", flat=True))
scope, user = Scope(readable=every, writable=every), User.objects.get(username="ada")
source = Source.objects.get(uuid="{book}")
for quote, color in (("weight", "blue"), ("gradient", "pink")):
    text = SelectedText(exact=quote)
    highlights.keep(scope, user, source, text, HighlightNotes(color=color), page=2)
"""
FORGET = "from citations.models import Highlight; Highlight.objects.all().delete()"


@pytest.fixture(autouse=True)
def highlighted(site: Site) -> Iterator[None]:
    site.python(KEEP.format(**site.seeded))
    yield
    site.python(FORGET)


def test_the_list_follows_its_filters_at_once(visit: Callable[..., Visit]) -> None:
    visited = visit()
    page = visited.go("/highlights/")
    quotes = page.locator(".highlight-quote")
    expect(quotes).to_have_count(2)
    page.locator(".filter-menu > summary").click()
    page.get_by_label("Colour").select_option("blue")
    expect(quotes).to_have_count(1)
    expect(quotes).to_contain_text("weight")
    expect(page).to_have_url(f"{visited.site.url}/highlights/?color=blue")
    expect(page.locator("#highlights-export > details > summary")).to_contain_text("Export 1")
    check_accessibility(page)
    page.get_by_label("From").fill("2999-01-01")
    expect(page.get_by_role("heading", name="No highlight matches")).to_be_visible()
    page.keyboard.press("Escape")  # the menu is wide
    page.get_by_role("link", name="All highlights").click()
    expect(quotes).to_have_count(2)
    assert not visited.console


@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
def test_all_filters_are_in_sight_at_once(
    visit: Callable[..., Visit], size: tuple[int, int]
) -> None:
    page = visit(viewport={"width": size[0], "height": size[1]}).go("/highlights/")
    page.locator(".filter-menu > summary").click()
    panel = page.locator(".filter-menu > .menu-body")
    assert panel.evaluate("panel => panel.scrollHeight <= panel.clientHeight")
    for field in panel.locator("select, input").all():
        expect(field).to_be_in_viewport(ratio=1)
