"""Every page in German: nothing is cut off, and no English text of ours is left."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import polib
import pytest

from kbsite.languages import LOCALE_PATHS
from tests.browser.conftest import PHONE, Visits
from tests.browser.test_pages import ALL, check_narrow, go

pytestmark = pytest.mark.browser

TEXTS: Final = """() => {
    const texts = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
        const { parentElement: parent, data } = walker.currentNode
        if (!parent.closest('script, style, [lang="en"], [dir="auto"], code')) texts.push(data)
    }
    for (const each of document.querySelectorAll('[aria-label], [title], [placeholder]')) {
        for (const name of ['aria-label', 'title', 'placeholder']) {
            texts.push(each.getAttribute(name) ?? '')
        }
    }
    return texts.map(text => text.replaceAll(/\\s+/g, ' ').trim())
}"""


@cache
def english() -> frozenset[str]:
    """Return sentences of two words and more that read differently in German."""
    catalogues = (Path(path) / "de" / "LC_MESSAGES" / "django.po" for path in LOCALE_PATHS)
    entries = [entry for path in catalogues for entry in polib.pofile(str(path))]
    return frozenset(
        entry.msgid
        for entry in entries
        if entry.msgstr != entry.msgid and re.search(r"[a-z] [a-z]", entry.msgid)
    )


@pytest.mark.parametrize("name", ALL)
def test_a_page_is_german_and_nothing_of_it_is_cut_off(tour: Visits, name: str) -> None:
    page = go(tour, name, viewport=PHONE, locale="de-DE").page
    assert page.evaluate("document.documentElement.lang") == "de"
    check_narrow(page)
    assert sorted(english() & set(page.evaluate(TEXTS))) == []


def test_scripts_speak_german(visit: Visits) -> None:
    page = go(visit, "library", locale="de-DE").page
    page.keyboard.press("x")
    page.keyboard.press("Control+a")
    expect_text = page.locator("[data-selected]").first
    assert re.search(r"\d+ Eintr(ag|äge) ausgewählt", expect_text.inner_text())
    theme = page.locator("[data-theme-toggle]")
    assert "Modus wechseln" in (theme.get_attribute("aria-label") or "")
