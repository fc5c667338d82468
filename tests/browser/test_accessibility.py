"""What the check of every page would find."""

import pytest
from playwright.sync_api import Browser

from tests.browser.accessibility import check_accessibility

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><html lang="en"><head><title>A page</title><style>
    :root { color-scheme: light dark; background: #fff; color: #222 }
    body { background: #fff }
    .faint { color: #777; font-weight: 700; font-size: 30px }
    @media (prefers-color-scheme: dark) {
        :root, body { background: #111; color: #eee }
        %s
    }
</style></head><body><main><h1>A page</h1>%s</main></body></html>"""
PARAGRAPHS = "<p>All alike.</p>" * 20


@pytest.mark.parametrize(
    ("dark", "body"),
    [
        ("p:last-child { color: #333 }", PARAGRAPHS),
        ("p:last-child { background: #ddd }", PARAGRAPHS),
        ("p { color: #333 }", PARAGRAPHS),
        ("section { background: #ddd }", f"{PARAGRAPHS}<section><p>Elsewhere.</p></section>"),
        (".faint { color: #444 }", f"{PARAGRAPHS}<p>Said <span class='faint'>faintly</span>.</p>"),
        ("input { background: #777; color: #666 }", "<label>Name <input value='Ada'></label>"),
    ],
)
def test_words_that_are_faint_in_the_dark_alone_are_found(
    browser: Browser, dark: str, body: str
) -> None:
    page = browser.new_page()
    page.set_content(PAGE % ("", body))
    check_accessibility(page)
    page.set_content(PAGE % (dark, body))
    with pytest.raises(AssertionError, match="color-contrast"):
        check_accessibility(page)
    page.close()
