"""The Ask page in a real browser: four kinds of questions, and a model that lies at times."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visits
from tests.browser.site import Site
from tests.model_standin import ModelStandIn

pytestmark = pytest.mark.browser

SLOW = 60_000  # ms; machines are noisy, and the first question loads models
TRUE = 'CLAIM: There are three observations.\nQUOTE [1]: "BM25 rests on three observations."\n\n'
LIE = (
    "CLAIM: It was found on the moon.\n"
    'QUOTE [1]: "BM25 was found on the moon by three astronomers."\n\n'
)
ALTERED = 'CLAIM: It rests on four of them.\nQUOTE [1]: "BM25 rests on four observations."\n\n'
SAID = 'CLAIM: The count is bounded.\nQUOTE [1]: "So BM25 lets the count saturate."\n\n'
MISSING = "NOT FOUND: the capital of Mongolia\n"


CONVERSATION = """
from django.contrib.auth.models import User
from citations.models import Conversation
from transcripts.models import Collection
ada = User.objects.get(username="ada")
shelf = Collection.objects.default()
print(json.dumps(str(Conversation.objects.create(owner=ada, collection=shelf, title="A").uuid)))
"""


def written(question: str) -> str:
    """Write what the language model says: some of it is true."""
    if "Mongolia" in question:
        return MISSING
    return TRUE + SAID + LIE if "bound the count" in question else LIE + TRUE + ALTERED


@pytest.fixture
def textbook(sample: dict[str, str], language_model: ModelStandIn) -> Iterator[str]:
    """The title of the sample textbook; the language model answers questions about it."""
    before, language_model.answer = language_model.answer, written
    yield sample["textbook"]
    language_model.answer = before


def ask(page: Page, question: str) -> Locator:
    """Type a question, and wait for its whole answer."""
    count = page.locator(".answer-foot").count()
    page.get_by_label(re.compile("Your question|Ask the next question")).fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".answer-foot")).to_have_count(count + 1, timeout=SLOW)
    return page.locator(".answer").last


def check_share(page: Page, answer: Locator) -> None:
    """The form to share a citation is whole within the panel, which grows with it."""
    answer.locator(".cref").first.click()
    details = page.locator("#details")
    details.get_by_text("Share this passage").click()
    share = details.locator("[data-share] button")
    expect(share).to_be_in_viewport(ratio=1)
    form = details.locator("[data-share]").bounding_box()
    panel = details.bounding_box()
    assert form is not None
    assert panel is not None
    assert panel["x"] <= form["x"]
    assert form["x"] + form["width"] <= panel["x"] + panel["width"]
    details.get_by_text("Share this passage").click()


def test_four_kinds_of_questions_are_asked_and_each_citation_opens_at_its_place(
    visit: Visits, textbook: str
) -> None:
    ada = visit("ada", viewport={"width": 1280, "height": 900})
    page = ada.go("/")
    page.get_by_role("link", name="Ask", exact=True).click()
    check_accessibility(page)
    tops = page.evaluate(
        "[...document.querySelectorAll('.ask-side, .ask-main, .ask-details')]"
        ".map(panel => Math.round(panel.getBoundingClientRect().top / 8))"
    )
    assert (len(tops), len(set(tops))) == (3, 1), (
        "the three panels stand side by side on a usual laptop"
    )

    # A fact: what the model made up is not shown, and how the answer was made says so.
    answer = ask(page, "What does BM25 rest on?")
    expect(answer).to_contain_text("There are three observations.")
    expect(page).to_have_url(re.compile(r"/ask/[0-9a-f-]{36}/$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("What does BM25 rest on?")
    expect(page.locator("[data-log]")).to_contain_text("The answer is complete: 3 citations.")
    assert page.evaluate(
        "document.querySelector('h1').getBoundingClientRect().top"
        " >= document.querySelector('.top').getBoundingClientRect().bottom"
    ), "the title of the conversation is not below the header"
    assert "moon" not in answer.locator(".answer-text").inner_text()
    assert "four" not in answer.locator(".answer-text").inner_text()
    answer.get_by_text("How this answer was made").click()
    answer.get_by_text("In numbers").click()
    expect(
        answer.get_by_role("row", name=re.compile("found on the moon.*not shown"))
    ).to_be_visible()
    check_accessibility(page)

    check_card(page, answer, textbook)
    check_details(page, answer)
    check_share(page, answer)

    # An overview, several things at once, and what nobody said
    ask(page, "Give me an overview of BM25.")
    answer = ask(page, "What does BM25 rest on, and how does it bound the count?")
    expect(answer.locator(".claim:visible")).to_have_count(2)
    answer.locator(".claim:visible .cref").nth(1).click()
    expect(page.locator("#details")).to_contain_text("So BM25 lets the count saturate.")
    page.locator("#details").get_by_role("link", name=re.compile("Open at")).click()
    expect(page).to_have_url(re.compile(r"/videos/\d+/\?t="))
    expect(page.locator(".cue.at")).to_be_in_viewport()
    page.go_back()
    answer = ask(page, "What is the capital of Mongolia?")
    expect(answer.locator(".refusal-note")).to_contain_text("I cannot find information about")
    expect(answer.get_by_text("What comes nearest")).to_be_visible()

    # What is kept of it
    answer = page.locator(".answer").first
    answer.get_by_role("button", name="Helpful", exact=True).click()
    expect(answer.get_by_role("button", name="Helpful", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    answer.get_by_text("Save as note").click()
    answer.get_by_role("button", name="Save", exact=True).click()
    answer.get_by_role("link", name="Saved as a note").click()
    expect(page.locator(".note-card").first).to_contain_text("There are three observations.")
    check_accessibility(page)
    assert (ada.console, ada.foreign) == ([], [])


def check_card(page: Page, answer: Locator, title: str) -> None:
    """Check the card of a number: under the pointer, on the card itself, with focus, and Escape."""
    ref, card = answer.locator(".cref").first, page.locator("[data-card-box]")
    ref.hover()
    expect(card).to_contain_text("BM25 rests on three observations.")
    expect(card).to_contain_text(title)
    card.hover()
    page.wait_for_timeout(400)
    expect(card).to_be_visible()
    page.mouse.move(2, 2)
    expect(card).to_be_hidden()
    page.get_by_label("Ask the next question").focus()
    page.keyboard.press("Escape")
    answer.locator("summary", has_text="More from the sources").focus()
    page.keyboard.press("Shift+Tab")
    expect(ref).to_be_focused()
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


def check_details(page: Page, answer: Locator) -> None:
    """Open a citation by keyboard in the panel and in the dialog; Escape returns to the number."""
    ref, panel = answer.locator(".cref").first, page.get_by_role("complementary", name="Citation")
    ref.focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("heading")).to_be_focused()
    expect(panel.locator(".sheet-quote").first).to_be_attached()
    check_accessibility(page)
    panel.get_by_role("link", name="Open at page").click()
    expect(page.locator("#page-dialog .sheet-quote").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#page-dialog")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(panel).to_contain_text("Choose a number")
    expect(ref).to_be_focused()


def test_on_a_narrow_screen_the_sources_are_folded_and_a_citation_comes_from_below(
    visit: Visits, textbook: str
) -> None:
    ada = visit("vera", viewport={"width": 360, "height": 740})
    page = ada.go("/ask/")
    expect(page.get_by_role("checkbox").first).to_be_hidden()
    page.get_by_text("Sources", exact=True).last.click()
    page.locator(".choice-list li", has_text=textbook).get_by_role("checkbox").check()
    expect(page.locator("[data-chosen]")).to_have_text(re.compile(r"^1 of \d+$"))
    answer = ask(page, "What does BM25 rest on?")
    answer.locator(".cref").first.click()
    panel = page.locator("#details")
    expect(panel).to_be_in_viewport()
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    panel.get_by_role("button", name="Close the citation").click()
    expect(panel).to_be_hidden()
    page.reload()
    page.get_by_text("Sources", exact=True).last.click()
    expect(
        page.locator(".choice-list li", has_text=textbook).get_by_role("checkbox")
    ).to_be_checked()
    assert (ada.console, ada.foreign) == ([], [])


def test_the_palette_asks_the_source_that_is_read(visit: Visits, textbook: str) -> None:
    ada = visit("vera")
    page = ada.go("/library/")
    page.get_by_role("link", name=textbook).first.click()
    page.wait_for_load_state()
    page.keyboard.press("Control+k")
    page.keyboard.type("What does BM25 rest on?")
    page.locator("#palette [data-ask-at-once]").click()
    expect(page.locator(".answer-foot")).to_have_count(1, timeout=SLOW)
    expect(page.locator(".question")).to_have_text("What does BM25 rest on?")
    chosen = page.locator("[data-choice] :checked")
    expect(chosen).to_have_count(1)
    expect(page.locator(".choice-list li:has(:checked)")).to_contain_text(textbook)
    page.goto(f"{ada.site.url}/ask/")
    scope = page.locator("[data-asked]")
    expect(scope).to_have_text(re.compile(r"^Ask \d+ sources\.$"))
    page.get_by_role("checkbox").first.check()
    expect(scope).to_have_text("Ask the source that is chosen.")


def test_what_changes_a_conversation_stays_within_its_menu(visit: Visits, site: Site) -> None:
    page = visit().go(f"/ask/{site.json(CONVERSATION)}/")
    page.get_by_text("Change", exact=True).click()
    share = page.get_by_role("button", name="Share with readers of")
    button, menu = share.bounding_box(), page.locator(".menu[open] .menu-body").bounding_box()
    assert button
    assert menu
    assert menu["x"] < button["x"]
    assert button["x"] + button["width"] < menu["x"] + menu["width"]


def test_what_is_folded_beside_a_question_takes_no_place_before_the_script_runs(
    visit: Visits, textbook: str
) -> None:
    ada = visit("ada", viewport={"width": 360, "height": 700})
    ada.go("/ask/")
    box = ada.page.get_by_label("Your question")
    place = box.bounding_box()
    ada.page.route("**/ask.js", lambda route: route.abort())
    ada.page.goto(ada.page.url)
    assert box.bounding_box() == place


NO_CLIPBOARD = """
Object.defineProperty(navigator, "clipboard", { value: undefined });
document.execCommand = () => false;
"""


def test_escape_leaves_the_question_to_the_keys_of_the_page(visit: Visits) -> None:
    page = visit().go("/ask/")
    box = page.locator("[data-question]")
    expect(box).to_be_focused()
    page.keyboard.type("What is a")
    page.keyboard.press("Escape")
    expect(box).not_to_be_focused()
    expect(box).to_have_value("What is a")
    page.keyboard.press("/")
    expect(box).to_be_focused()
    expect(box).to_have_value("What is a")


@pytest.mark.usefixtures("textbook")
@pytest.mark.parametrize(("script", "outcome"), [("", "Copied"), (NO_CLIPBOARD, "Not copied")])
def test_copy_says_to_eyes_and_ears_what_became_of_it(
    visit: Visits, script: str, outcome: str
) -> None:
    ada = visit("ada", permissions=["clipboard-read", "clipboard-write"])
    ada.context.add_init_script(script)
    page = ada.go("/ask/")
    answer = ask(page, "What does BM25 rest on?")
    button = answer.get_by_role("button", name="Copy")
    extent = "button => [button.offsetLeft, button.offsetWidth, button.offsetHeight]"
    before = button.evaluate(extent)  # the page may still glide to the answer
    button.click()
    expect(button).to_have_attribute("data-outcome", outcome)
    shown = button.evaluate("button => getComputedStyle(button, '::after').content")
    assert shown.startswith(f'"{outcome}"')
    assert button.evaluate(extent) == before, "nothing beside it moves"
    expect(page.locator("#announcer")).to_have_text(outcome)
    expect(button).not_to_have_attribute("data-outcome", outcome)
    if not script:
        text = page.evaluate("navigator.clipboard.readText()")
        assert text.startswith("There are three observations.")
    assert not ada.console


def test_the_box_of_a_question_is_one_line_on_a_phone_until_it_is_written_in(
    visit: Visits, site: Site
) -> None:
    page = visit(viewport={"width": 360, "height": 740}, locale="de-DE").go(
        f"/ask/{site.json(CONVERSATION)}/"
    )
    form, box = page.locator("#ask-form"), page.locator("#question")
    height = "form => form.getBoundingClientRect().height"
    small = form.evaluate(height)
    assert small < 740 / 10
    box.fill("Was steht in diesen Quellen darüber, und wer sagt es wann und wo? " * 3)
    assert form.evaluate(height) > 2 * small
    before = form.get_by_role("button").bounding_box()
    box.blur()
    assert form.evaluate(height) == small
    assert form.get_by_role("button").bounding_box() == before, "what is pressed stays in its place"
    box.focus()
    assert form.evaluate(height) > 2 * small


def test_the_way_to_a_new_conversation_fits_its_column(visit: Visits) -> None:
    for locale in ("en", "de-DE"):
        page = visit(viewport={"width": 1280, "height": 800}, locale=locale).go("/ask/")
        page.locator("#ask-side").evaluate("side => { side.style.width = '13rem' }")  # scroll bars
        button = page.locator("#ask-history > .button")
        assert button.evaluate("button => button.scrollWidth <= button.clientWidth")
