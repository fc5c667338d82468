"""Every page in German: nothing is cut off, and no English text of ours is left."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import polib
import pytest

from kbsite.languages import LOCALE_PATHS
from tests.browser.conftest import Visit
from tests.browser.test_pages import ALL, go

pytestmark = pytest.mark.browser

NARROW: Final = {"width": 360, "height": 740}
CUT_OFF: Final = """() => {
    const controls = 'main :is(a, button, input, select, textarea)'
    const isCutOff = control => {
        const box = control.getBoundingClientRect()
        return box.width > 1 && (box.right > 360.5 || box.left < -0.5)
    }
    return [...document.querySelectorAll(controls)]
        .filter(control => control.checkVisibility() && !control.closest('.visually-hidden'))
        .filter(isCutOff)
        .map(control => control.outerHTML.slice(0, 120))
}"""
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


def english() -> set[str]:
    """Return sentences of two words and more that read differently in German."""
    catalogues = (Path(path) / "de" / "LC_MESSAGES" / "django.po" for path in LOCALE_PATHS)
    entries = [entry for path in catalogues for entry in polib.pofile(str(path))]
    return {
        entry.msgid
        for entry in entries
        if entry.msgstr != entry.msgid and re.search(r"[a-z] [a-z]", entry.msgid)
    }


@pytest.mark.parametrize("name", ALL)
def test_a_page_is_german_and_nothing_of_it_is_cut_off(
    visit: Callable[..., Visit], name: str
) -> None:
    page = go(visit, name, viewport=NARROW, locale="de-DE").page
    assert page.evaluate("document.documentElement.lang") == "de"
    page.evaluate(
        "for (const one of document.querySelectorAll('main details:not(.menu)')) one.open = true"
    )
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate(CUT_OFF) == []
    assert sorted(english() & set(page.evaluate(TEXTS))) == []


@pytest.mark.parametrize("width", [600, 720, 800, 960, 992, 993, 1024, 1280])
def test_the_head_of_a_german_page_fits(visit: Callable[..., Visit], width: int) -> None:
    found = go(visit, "library", viewport={"width": width, "height": 700}, locale="de-DE")
    assert found.page.evaluate("document.documentElement.scrollWidth") == width


def test_scripts_speak_german(visit: Callable[..., Visit]) -> None:
    page = go(visit, "library", locale="de-DE").page
    page.keyboard.press("x")
    page.keyboard.press("Control+a")
    expect_text = page.locator("[data-selected]").first
    assert re.search(r"\d+ Eintr(ag|äge) ausgewählt", expect_text.inner_text())
    theme = page.locator("[data-theme-toggle]")
    assert "Modus wechseln" in (theme.get_attribute("aria-label") or "")
