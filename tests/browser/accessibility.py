"""What axe finds on a page, in light and in dark."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

AXE = Axe()
LOADED_AXE = Axe("undefined")  # its script, of half a megabyte, is in the page already
# What is right need not be listed, and of all rules only those about the media of a page wait for
# something to load.
VIOLATIONS = {"resultTypes": ["violations"], "preload": {"assets": ["media"]}}
COLOURS = {**VIOLATIONS, "runOnly": ["color-contrast"]}  # nothing else changes with the scheme
# Text of the same colour and size on the same grounds has the same contrast: a few of each are
# enough, once what lies upon what has been looked at everywhere in light. Several, as axe cannot
# judge each of them. Marks them and returns how many.
MARK_LOOKS = """() => {
    const grounds = new Map()
    const groundOf = element => {
        if (!element) return ""
        if (!grounds.has(element)) {
            const style = getComputedStyle(element)
            const own = [style.backgroundColor, style.backgroundImage, style.opacity, style.filter]
            const isClear = own.join() === "rgba(0, 0, 0, 0),none,1,none"
            grounds.set(element, groundOf(element.parentElement) + (isClear ? "" : own.join()))
        }
        return grounds.get(element)
    }
    const textOf = element => element.matches("input, select, textarea") ? element.tagName
        : [...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE)
            .map(node => node.data.trim()).join("")
    const isSeen = element => {
        const box = element.getBoundingClientRect()
        return box.width > 1 && box.height > 1 && element.checkVisibility()
    }
    const unused = ":disabled, [aria-disabled=true], label:has(:disabled)"
    const counts = {}
    for (const element of document.body.querySelectorAll("*")) {
        const text = textOf(element)
        if (!text || !isSeen(element)) continue
        const {color, fontSize, fontWeight, textShadow} = getComputedStyle(element)
        const kind = [text.length > 1, element.closest(unused) !== null]
        const look = [groundOf(element), color, fontSize, fontWeight, textShadow, ...kind].join()
        counts[look] = (counts[look] ?? 0) + 1
        if (counts[look] <= 5) element.dataset.look = ""
    }
    return document.querySelectorAll("[data-look]").length
}"""


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
    assert page.evaluate(MARK_LOOKS)
    dark = LOADED_AXE.run(page, context="[data-look]", options=COLOURS)
    assert any(
        rule["id"] == "color-contrast"
        for rule in [*dark.response["passes"], *dark.response["inapplicable"]]
    )
    assert dark.violations_count == 0, dark.generate_report()
