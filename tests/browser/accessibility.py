"""What axe finds on a page, in light and in dark."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

AXE = Axe()
LOADED_AXE = Axe("undefined")  # its script, of half a megabyte, is in the page already
# What is right need not be listed, and of all rules only those about the media of a page wait for
# something to load.
VIOLATIONS = {"resultTypes": ["violations"], "preload": {"assets": ["media"]}}
COLOURS = {**VIOLATIONS, "runOnly": ["color-contrast"]}  # nothing else changes with the scheme


def check_accessibility(page: Page) -> None:
    """Check that axe finds nothing in either scheme. The page is dark afterwards."""
    expect(page.locator("main h1")).to_be_attached()
    page.wait_for_load_state()
    page.emulate_media(color_scheme="light")
    light = AXE.run(page, options=VIOLATIONS)
    assert light.response["testEngine"]["name"] == "axe-core"
    assert light.violations_count == 0, light.generate_report()
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "before => getComputedStyle(document.body).backgroundColor !== before", arg=before
    )
    dark = LOADED_AXE.run(page, options=COLOURS)
    assert any(
        rule["id"] == "color-contrast"
        for rule in [*dark.response["passes"], *dark.response["inapplicable"]]
    )
    assert dark.violations_count == 0, dark.generate_report()
