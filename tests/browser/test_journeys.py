"""What people do, from beginning to end, in a real browser against a real server and worker."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PHONE, Visits, notice_of
from tests.browser.site import Site
from tests.makers import caption_json, make_cues
from tests.youtube_standin import MANUAL

pytestmark = pytest.mark.browser

PLAYER = """<!doctype html><script>
addEventListener('message', event => {
    parent.postMessage(JSON.stringify({info: {currentTime: 31}}), '*')
    console.log('said ' + event.data)
})
</script>"""
FAILURE = """
from transcripts.core.errors import NoCaptions
from transcripts.models import Collection, Job
library = Collection.objects.default()
job = Job.objects.create(collection=library, kind="video", target="ccccccccccc")
job.fail(NoCaptions("Silent."))
"""
PASTE = """text => {
    const clipboardData = new DataTransfer()
    clipboardData.setData("text/plain", text)
    const paste = {bubbles: true, cancelable: true, clipboardData}
    return document.body.dispatchEvent(new ClipboardEvent("paste", paste))
}"""
# Where the focus is; returns whether the page leaves it alone.
PASTE_HERE = PASTE.replace("document.body", "document.activeElement")
LONG = "/videos/{long}/"
FERNS = "WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ada>Ferns unroll.\n\n00:03.000 --> 00:05.000\nSo."


def open_box(page: Page) -> None:
    """Open the add box from the header."""
    page.get_by_role("link", name="Add", exact=True).click()
    expect(page.locator("#what")).to_be_focused()


def uploads(page: Page, folder: Path, name: str, data: bytes) -> None:
    """Choose one file in the add box."""
    (folder / name).write_bytes(data)
    page.locator("#files").set_input_files(folder / name)


def test_signing_in_by_the_printed_link(visit: Visits, site: Site) -> None:
    page = visit("").page
    page.goto(site.sign_in_link())
    expect(page).to_have_url(f"{site.url}/library/")
    expect(page.get_by_role("heading", name="A long lecture on neural networks")).to_be_visible()


def test_a_file_is_uploaded_watched_and_read(visit: Visits, tmp_path: Path) -> None:
    page = visit().go("/library/")
    open_box(page)
    uploads(
        page,
        tmp_path,
        "rivers.json",
        caption_json(
            make_cues(12, sentences=("Rivers carve valleys.",)),
            id="rivers",
            title="How rivers work",
        ),
    )
    arrived = page.locator("#added").get_by_role("link", name="How rivers work")
    expect(arrived).to_be_visible(timeout=60_000)
    expect(page.locator("#added .state")).to_contain_text("1 file read")
    expect(page.locator("#results .card-link", has_text="How rivers work")).to_be_attached()
    expect(page.locator("#announcer")).to_contain_text("How rivers work: 1 file read")
    arrived.click()
    expect(page.locator(".cue").first).to_contain_text("Rivers carve valleys.")


def test_a_video_of_youtube_is_added_by_its_address_and_its_picture_comes_from_here(
    visit: Visits,
) -> None:
    visitor = visit()
    page = visitor.go("/search/")
    page.evaluate(PASTE, f"https://www.youtube.com/watch?v={MANUAL}&t=2s")
    expect(page.locator("#added .state")).to_contain_text("captions fetched", timeout=60_000)
    page.locator("#added h3 a").click()
    expect(page.locator(".cue").first).to_contain_text("Hello and welcome.")
    page.wait_for_function("() => document.querySelector('.facade img')?.naturalWidth > 0")
    assert (
        page.locator(".facade img").evaluate("one => new URL(one.src).origin") == visitor.site.url
    )
    assert visitor.foreign == []


def test_a_file_that_cannot_be_read_says_why_and_what_to_do(visit: Visits, tmp_path: Path) -> None:
    page = visit().go("/library/")
    open_box(page)
    uploads(page, tmp_path, "broken.json", b"{ this is not")
    expect(page.locator("#added .state")).to_contain_text("failed", timeout=60_000)
    expect(page.locator("#added .job")).to_contain_text("broken.json")


def test_of_a_folder_everything_that_can_be_read_is_added_with_the_folders_in_it(
    visit: Visits, tmp_path: Path
) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "broken.json").write_bytes(b"{ this is not")
    (tmp_path / "slides.htm").write_bytes(b"PK\x03\x04")
    (tmp_path / "photo.jpg").write_bytes(b"JFIF")
    page = visit().go("/library/")
    open_box(page)
    page.locator("#folder").set_input_files(tmp_path)
    expect(page.locator("#added .job")).to_have_count(1)
    expect(page.locator("#added")).to_contain_text("broken.json")
    expect(page.locator("#added")).to_contain_text("ZIP archive")
    expect(page.locator("#added")).not_to_contain_text("photo")


def test_files_are_dropped_anywhere_on_any_page(visit: Visits) -> None:
    page = visit().go("/collections/")
    page.evaluate("""() => {
        const transfer = new DataTransfer()
        transfer.items.add(new File(['WEBVTT'], 'one.vtt'))
        transfer.items.add(new File(['PK\\x03\\x04'], 'two.zip'))
        document.body.dispatchEvent(
            new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: transfer}))
    }""")
    added = page.get_by_role("dialog", name="Add to the library").locator("#added")
    expect(added).to_contain_text("one.vtt")
    expect(added.get_by_role("alert")).to_contain_text("ZIP archive")


def test_a_pasted_transcript_is_there_at_once(visit: Visits) -> None:
    page = visit().go("/library/")
    open_box(page)
    page.locator("#add summary").click()
    page.get_by_label("Title of a text").fill("Notes on moss")
    page.locator("#what").fill("0:00\nMoss drinks the rain.\n0:07\nIt has no roots.")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator("#added").get_by_role("link", name="Notes on moss").click()
    expect(page.locator(".cue").nth(1)).to_contain_text("0:07 It has no roots.")


def test_a_text_that_is_pasted_on_a_page_is_added_with_one_key_under_its_first_words(
    visit: Visits,
) -> None:
    page = visit().go("/search/")
    page.locator("main").focus()
    page.evaluate(PASTE_HERE, FERNS)
    expect(page.locator("#what")).to_be_focused()
    expect(page.locator("#what")).to_have_value(FERNS)
    expect(page.get_by_label("Title of a text")).to_have_value("Ferns unroll")
    page.keyboard.press("Enter")
    page.locator("#added").get_by_role("link", name="Ferns unroll").click()
    expect(page.locator(".cue").first).to_contain_text("0:01 Ada: Ferns unroll.")


def test_a_text_is_left_to_the_field_or_dialog_that_it_is_pasted_into(visit: Visits) -> None:
    page = visit().go("/search/")
    page.locator("#q").focus()
    assert page.evaluate(PASTE_HERE, FERNS)
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-q")).to_be_focused()
    assert page.evaluate(PASTE_HERE, FERNS)
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("?")
    assert page.evaluate(PASTE_HERE, FERNS)
    page.keyboard.press("Escape")
    assert page.evaluate(PASTE_HERE, "ferns")
    expect(page.locator("#add-dialog")).to_be_hidden()


def test_what_is_written_in_the_add_box_stays_when_a_text_is_pasted_beside_it(
    visit: Visits,
) -> None:
    page = visit().go("/library/")
    open_box(page)
    page.locator("#what").fill("https://youtu.be/")
    page.locator(".add-submit").focus()
    page.evaluate(PASTE_HERE, FERNS)
    expect(page.locator("#what")).to_be_focused()
    expect(page.locator("#what")).to_have_value("https://youtu.be/")


LINES = """cell => {
    const range = document.createRange()
    const text = cell.querySelector("a").firstChild
    range.setStart(text, "MIT ".length)
    range.setEnd(text, "MIT OpenCourseWare".length)
    return range.getClientRects().length
}"""


@pytest.fixture
def open_course(site: Site) -> Iterator[None]:
    """A talk of a channel that nobody follows."""
    about = 'Video.objects.filter(key="talk-29").update(channel={!r}, channel_id={!r})'
    start = "from transcripts.models import Video\n"
    site.python(start + about.format("MIT OpenCourseWare", f"UC{'o' * 22}"))
    yield
    site.python(start + about.format("", ""))


@pytest.mark.parametrize("width", [1100, 1280])
@pytest.mark.parametrize("place", ["library", "collections/{library}"])
def test_the_table_breaks_no_word_of_a_channel(
    visit: Visits, site: Site, width: int, place: str, open_course: None
) -> None:
    page = visit(viewport={"width": width, "height": 800}).go(
        f"/{place.format(**site.seeded)}/?q=talk+29&view=table"
    )
    assert page.locator("td.item-author").evaluate(LINES) == 1


@pytest.mark.parametrize("width", [1500, 1280, 1000, 360])
def test_rows_of_groups_are_as_wide_as_those_of_items(
    visit: Visits, width: int, open_course: None
) -> None:
    page = visit(viewport={"width": width, "height": 800}).go(
        "/library/?view=table&group=collection"
    )
    rows = page.locator(".items tbody tr").evaluate_all(
        "rows => rows.map((row) => Math.max(...[...row.cells].map("
        "(cell) => Math.round(cell.getBoundingClientRect().right))))"
    )
    assert len(set(rows)) == 1


def test_the_name_of_a_channel_leads_to_its_page_or_offers_to_add_it(
    visit: Visits, site: Site, open_course: None
) -> None:
    page = visit().go(LONG)
    page.locator(".facts").get_by_role("link", name="Lecture Hall").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Lecture Hall")
    expect(page.get_by_role("button", name="Fetch what is new")).to_be_visible()
    page.goto(f"{site.url}/library/?q=talk+29&view=cards")
    page.locator(".card").get_by_role("link", name="MIT OpenCourseWare").click()
    page.get_by_role("link", name="Add this channel").click()
    expect(page.locator("#what")).to_have_value(f"https://www.youtube.com/channel/UC{'o' * 22}")


def test_a_wrong_address_is_told_where_it_was_typed(visit: Visits) -> None:
    page = visit().go("/library/")
    open_box(page)
    page.locator("#what").fill("example.org/video")
    page.keyboard.press("Enter")
    expect(page.locator("#added [role=alert]")).to_contain_text("is not YouTube")


def test_adding_nothing_says_what_could_be_added(visit: Visits) -> None:
    page = visit().go("/add/")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#notices [role=alert]")).to_contain_text("Paste an address")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator("#notices [role=alert]")).to_have_count(0)


def test_the_library_is_filtered_while_typing_and_the_address_says_so(visit: Visits) -> None:
    page = visit().go("/library/")
    page.get_by_label("Filter by title").press_sequentially("neural", delay=20)
    expect(page.locator(".card")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"q=neural"))
    expect(page.locator(".count")).to_contain_text("1 item")
    page.keyboard.press("Escape")
    expect(page.locator(".card").nth(20)).to_be_attached()


def test_going_back_shows_the_page_and_not_a_fragment_of_it(visit: Visits) -> None:
    page = visit().go("/library/")
    page.get_by_label("Filter by title").fill("neural")
    expect(page.locator(".card")).to_have_count(1)
    page.locator("[data-item-link]").click()
    expect(page.locator("h1")).to_have_text("A long lecture on neural networks")
    page.go_back()
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    expect(page.get_by_label("Filter by title")).to_have_value("neural")
    expect(page.locator(".card")).to_have_count(1)


def test_how_many_were_found_is_announced_to_who_types(visit: Visits) -> None:
    page = visit().go("/library/")
    page.get_by_label("Filter by title").press_sequentially("neural")
    expect(page.get_by_role("status")).to_contain_text("1 item")


def test_single_keys_can_be_switched_off(visit: Visits) -> None:
    page = visit().go("/library/")
    page.keyboard.press("?")
    page.get_by_label("Keys without Ctrl or Alt work").uncheck()
    page.get_by_role("button", name="Close").click()
    page.reload()
    page.keyboard.press("/")
    expect(page.get_by_label("Filter by title")).not_to_be_focused()


@pytest.mark.parametrize("view", ["cards", "table"])
def test_the_library_goes_on_while_scrolling(visit: Visits, long_library: None, view: str) -> None:
    page = visit().go(f"/library/?view={view}")
    expect(page.locator("[data-item]")).to_have_count(48)
    page.mouse.wheel(0, 30_000)
    expect(page.locator("[data-item]").nth(80)).to_be_attached()


def test_a_list_of_several_pages_is_selected_as_a_whole(visit: Visits, long_library: None) -> None:
    page = visit().go("/library/")
    total = page.locator("#results .count").get_attribute("data-total")
    page.keyboard.press("Control+a")
    bar = page.locator("#selection")
    expect(bar).to_contain_text("48 items selected")
    bar.get_by_role("button", name=f"Select all {total}").click()
    expect(bar).to_contain_text(f"{total} items selected")
    expect(bar.locator("[data-select-all]")).to_be_hidden()


def test_a_box_in_the_head_of_the_table_selects_what_is_shown(visit: Visits) -> None:
    visited = visit()
    page = visited.go("/library/?view=table&q=Evening")
    whole, bar = page.get_by_label("Select all that are shown"), page.locator("#selection")
    whole.check()
    expect(bar).to_contain_text("30 items selected")
    page.locator("[data-choice]").first.uncheck()
    assert whole.evaluate("(box) => box.indeterminate && !box.checked")
    whole.check()
    whole.uncheck()
    expect(page.locator("[data-choice]:checked")).to_have_count(0)
    for column in ("item-author", "item-published"):  # no row has one
        expect(page.locator(f"th.{column}")).to_be_hidden()
    page.get_by_label("Filter by title").fill("lecture")
    page.wait_for_url("**/library/?q=lecture&*")
    assert "=&" not in page.url
    expect(page.locator("th.item-author")).to_be_visible()
    assert not visited.console


def test_the_view_changes_and_is_remembered(visit: Visits) -> None:
    page = visit().go("/library/?view=cards")
    page.get_by_text("Table", exact=True).click()
    expect(page.locator("table.items")).to_be_visible()
    page.locator("[data-choice]").first.check()
    bar = page.locator("#selection")
    bar.get_by_text("Tags", exact=True).click()
    bar.get_by_role("button", name="Remove tags").click()
    expect(page.get_by_placeholder("tag, another tag")).to_be_focused()
    expect(page.locator("#selection")).to_contain_text("1 item selected")
    page.get_by_placeholder("tag, another tag").fill("none of its tags")
    with page.expect_navigation():
        bar.get_by_role("button", name="Remove tags").click()
    expect(page.locator("table.items")).to_be_visible()
    expect(bar).to_contain_text("1 item selected")
    page.get_by_label("Groups").select_option("kind")
    expect(page.locator("tr.group-row").first).to_be_visible()
    page.goto(f"{page.url.split('/library')[0]}/library/")
    expect(page.locator("table.items")).to_be_visible()
    check_accessibility(page)


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_items_are_deleted_together_and_come_back(visit: Visits, scripts: bool) -> None:
    page = visit(java_script_enabled=scripts).go("/library/?q=evening&sort=title")
    if scripts:
        expect(page.locator("#selection")).to_be_hidden()
        page.locator("[data-item-link]").first.focus()
        page.keyboard.press("x")
        page.locator("[data-choice]").nth(2).click(modifiers=["Shift"])
        expect(page.locator("#selection")).to_contain_text("3 items selected")
        check_accessibility(page)
    else:
        for number in range(3):
            page.locator("[data-choice]").nth(number).check()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator(".count")).to_contain_text("27 items")
    text = "3 items were deleted. You can undo this for half a minute."
    expect(page.locator("#notices")).to_contain_text(text)
    notice_of(page, "deleted").get_by_role("button", name="Undo").click()
    expect(page.locator(".count")).to_contain_text("30 items")


def test_a_deletion_that_cannot_be_taken_back_any_more_is_not_offered(visit: Visits) -> None:
    page = visit().go("/library/?q=evening&sort=title")
    page.clock.install()
    page.locator("[data-choice]").first.check()
    page.get_by_role("button", name="Delete", exact=True).click()
    undo = notice_of(page, "deleted").get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    page.clock.fast_forward(31_000)
    expect(undo).to_be_hidden()
    page.reload()  # for the server, a moment has passed
    undo.click()
    expect(page.locator(".count")).to_contain_text("30 items")


def test_what_is_going_on_is_a_drawer_of_every_page(visit: Visits) -> None:
    page = visit().go("/search/")
    page.get_by_role("link", name=re.compile("^Activity")).click()
    drawer = page.get_by_role("dialog", name="Activity")
    expect(drawer.get_by_role("heading", name="Jobs")).to_be_visible()
    expect(drawer.locator(".job-failed").first).to_be_visible()
    check_accessibility(page)
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()


def test_the_navigation_has_at_most_five_entries(visit: Visits) -> None:
    page = visit().go("/library/")
    assert page.get_by_role("navigation", name="Main").get_by_role("link").count() <= 5


def test_the_transcript_goes_on_while_scrolling_and_back_on_request(visit: Visits) -> None:
    page = visit().go(f"{LONG}?chunk=3")
    expect(page.locator(".chunk")).to_have_count(1)
    page.locator("#chunk-3 .cue").last.scroll_into_view_if_needed()
    page.mouse.wheel(0, 3_000)
    expect(page.locator("#chunk-4")).to_be_attached()
    page.get_by_role("link", name="Earlier: part 3").click()
    expect(page.locator("#chunk-2 .cue").last).to_be_in_viewport()
    expect(page.locator("#chunk-2 .cue .time").last).to_be_focused()
    order = page.locator(".chunk").evaluate_all("all => all.map(one => Number(one.id.slice(6)))")
    assert order == sorted(order)


def test_find_marks_the_next_match_wherever_it_is(visit: Visits) -> None:
    page = visit().go(f"{LONG}?t=30:05")
    page.get_by_label("Find in this transcript").fill("gradient error")
    count = page.locator("#found .count")
    expect(count).to_contain_text("181 of 300")
    expect(page.locator("mark.quoted").first).to_be_in_viewport()
    hit = page.locator(".hit a").first
    hit.click()
    line = page.locator(".cue.at")
    expect(line).to_contain_text(hit.locator(".time").inner_text())
    expect(line).to_be_in_viewport()
    expect(page.locator(".hit a[aria-current]")).to_be_focused()
    page.keyboard.press("n")
    expect(count).to_contain_text("2 of 300")
    expect(page.get_by_role("link", name="Next match")).to_be_focused()
    expect(page).to_have_url(re.compile(r"q=gradient\+error&t=\d+s&n=2$"))
    expect(page.locator(".strip-matches")).to_have_attribute(
        "d", re.compile("M3 0v20 M5 0v20 M7 0v20")
    )


def test_enter_in_the_box_of_the_words_goes_from_match_to_match(visit: Visits) -> None:
    page = visit().go(LONG)
    box = page.get_by_label("Find in this transcript")
    box.fill("gradient error")
    count = page.locator("#found .count")
    expect(count).to_contain_text("1 of 300")
    for key, number in (("Enter", 2), ("Enter", 3), ("Shift+Enter", 2)):
        page.keyboard.press(key)
        expect(count).to_contain_text(f"{number} of 300")
    expect(box).to_be_focused()
    expect(page.locator(".cue.at")).to_be_in_viewport()
    expect(page).to_have_url(re.compile(r"n=2$"))


def test_a_link_to_a_moment_opens_there_and_can_be_copied(visit: Visits, site: Site) -> None:
    page = visit(permissions=["clipboard-read", "clipboard-write"]).go(f"{LONG}?t=30:05")
    expect(page.locator(".cue.at")).to_be_in_viewport()
    expect(page.locator(".cue.at .time")).to_have_text("30:05")
    page.locator(".cue .time", has_text="30:15").click()
    page.get_by_role("button", name="Copy link at 30:15").click()
    expect(page.locator("#announcer")).to_have_text("Copied")
    link = f"{site.url}/videos/{site.seeded['long']}/?t=1815s"
    assert page.evaluate("navigator.clipboard.readText()") == link


def test_a_place_at_the_end_of_a_part_stays_while_the_next_part_arrives_on_a_phone(
    visit: Visits,
) -> None:
    page = visit(viewport=PHONE).go(f"{LONG}?t=295s&q=gradient")
    expect(page.locator(".chunk")).to_have_count(2)
    page.wait_for_timeout(1_000)  # in which many parts would arrive
    expect(page.locator(".cue.at")).to_be_in_viewport()
    assert page.locator(".chunk").count() <= 3


def test_after_chapters_were_chosen_a_place_still_opens_at_its_words(visit: Visits) -> None:
    page = visit(viewport=PHONE).go(f"{LONG}?view=chapters&t=0s")
    page.goto(f"{page.url.split('?')[0]}?t=2000s&q=%22point+400%22&n=1")
    expect(page.locator("mark.quoted").first).to_be_in_viewport()
    page.goto(page.url.split("?")[0])
    chosen = page.locator("#views [aria-current]")
    expect(chosen).to_have_text("Chapters")
    page.locator("#strip").click()
    expect(page.locator("#announcer")).to_contain_text("At ")
    expect(page.locator(".chapter-list")).to_be_visible()
    page.get_by_label("Find in this transcript").fill("gradient error")
    expect(page.locator("mark.quoted").first).to_be_in_viewport()
    expect(chosen).to_have_text("Paragraphs")


def test_the_title_stays_in_sight_above_the_words_and_moves_nothing(visit: Visits) -> None:
    page = visit().go(LONG)
    title = page.locator(".reader-title")
    line = page.locator(".cue").nth(20)
    expect(title).to_be_hidden()
    page.mouse.move(900, 500)
    before = line.evaluate("line => line.getBoundingClientRect().top + scrollY")
    page.mouse.wheel(0, 600)
    expect(title).to_be_visible()
    expect(title).to_be_in_viewport()
    assert line.evaluate("line => line.getBoundingClientRect().top + scrollY") == before
    page.mouse.wheel(0, -2_000)
    expect(title).to_be_hidden()


def test_all_shortcuts_are_seen_at_once_on_a_usual_screen(visit: Visits) -> None:
    page = visit(viewport={"width": 1280, "height": 800}).go(LONG)
    page.keyboard.press("?")
    listed = page.locator(".shortcuts-list")
    expect(listed).to_be_visible()
    assert listed.evaluate("list => list.scrollHeight <= list.clientHeight")


def test_the_player_comes_only_when_it_is_asked_for(visit: Visits) -> None:
    visitor = visit()
    page = visitor.go(f"{LONG}?t=110")
    page.get_by_role("button", name="Forward 10 seconds").click()
    expect(page.locator(".cue.at .time")).to_have_text("2:00")
    assert visitor.foreign == []
    expect(page.locator("iframe")).to_have_count(0)
    promise = page.get_by_text("YouTube is not contacted until you press play or a time.")
    expect(promise).to_be_visible()
    page.get_by_role("link", name="Play from 2:00").click()
    expect(promise).to_be_hidden()
    frame = page.locator("#player iframe")
    expect(frame).to_have_attribute(
        "src", re.compile(r"^https://www\.youtube-nocookie\.com/embed/abcdefghijk\?.*start=120")
    )
    visitor.until(lambda: visitor.foreign)
    page.wait_for_timeout(300)  # whoever else would be asked
    assert {address.split("/")[2] for address in visitor.foreign} == {"www.youtube-nocookie.com"}


def test_a_stranger_plays_a_shared_clip_where_it_stands(visit: Visits) -> None:
    requests: list[Request] = []

    def stand_in(route: Route) -> None:
        requests.append(route.request)
        route.fulfill(content_type="text/html", body=PLAYER)

    visitor = visit("")
    visitor.context.route("https://www.youtube-nocookie.com/**", stand_in)
    page = visitor.go("/shared/{clip}/")
    expect(page.get_by_text("YouTube is not contacted until you press play.")).to_be_visible()
    assert visitor.foreign == []
    page.get_by_role("button", name="Play 0:00 to 0:20").press("Enter")
    frame = page.locator("main iframe")
    expect(frame).to_have_attribute(
        "src", re.compile(r"^https://www\.youtube-nocookie\.com/embed/abcdefghijk\?.*start=0")
    )
    expect(frame).to_be_focused()
    visitor.until(lambda: requests)
    assert requests[0].header_value("referer") == f"{visitor.site.url}/", "not the link, a key"
    assert visitor.console == []


@pytest.mark.parametrize("is_phone", [True, False], ids=["phone", "desktop"])
def test_a_time_starts_the_player_there_and_keeps_it_in_sight(
    visit: Visits, *, is_phone: bool
) -> None:
    about = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = visit(**(about if is_phone else {})).go(f"{LONG}?t=2000&q=network")
    line = page.locator(".cue").filter(has=page.locator(".time", has_text="33:25"))
    expect(line).to_be_in_viewport()
    if is_phone:
        expect(page.locator("#player")).not_to_be_in_viewport()
        line.locator(".time").tap()
    else:
        line.locator(".time").click()
    frame = page.locator("#player iframe")
    expect(frame).to_have_attribute("src", re.compile(r"/embed/abcdefghijk\?.*start=2005"))
    expect(frame).to_be_in_viewport(ratio=1)
    expect(line).to_be_in_viewport(ratio=1)
    expect(line).to_have_class(re.compile(r"\bat\b"))
    player, words = frame.bounding_box(), line.bounding_box()
    assert player is not None
    assert words is not None
    assert not is_phone or player["y"] + player["height"] <= words["y"]
    expect(frame).not_to_be_focused()  # j, k and the arrows are still the page's
    expect(page.locator(".player-note")).to_be_hidden()


def test_a_time_seeks_the_player_and_the_player_marks_the_line(visit: Visits) -> None:
    said: list[dict[str, Any]] = []

    def stand_in(route: Route) -> None:
        route.fulfill(content_type="text/html", body=PLAYER)

    visitor = visit()
    visitor.context.route("https://www.youtube-nocookie.com/**", stand_in)
    visitor.page.on(
        "console",
        lambda message: (
            said.append(json.loads(message.text[5:])) if message.text.startswith("said ") else None
        ),
    )
    page = visitor.go(LONG)
    page.locator("[data-play]").click()
    expect(page.locator(".cue.at .time")).to_have_text("0:30")
    page.locator(".cue .time", has_text="1:15").click()
    visitor.until(lambda: any(message.get("func") == "seekTo" for message in said))
    page.wait_for_timeout(300)  # whatever else would be said
    assert [message["args"] for message in said if message.get("func") == "seekTo"] == [[75, True]]


def test_everything_is_read_without_scripts(visit: Visits) -> None:
    visitor = visit(java_script_enabled=False)
    page = visitor.go("/library/")
    page.get_by_label("Filter by title").fill("evening talk 2")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".card")).to_have_count(12)
    visitor.go(LONG)
    page.get_by_label("Find in this transcript").fill("gradient")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".hit mark").first).to_be_visible()
    page.locator(".hit a").first.click()
    expect(page.locator(".cue.at")).to_be_visible()
    page.get_by_role("link", name=re.compile("Go on with part")).click()
    expect(page.locator(".chunk-title")).to_contain_text("part 2")
    page.get_by_role("link", name="Paragraphs").click()
    expect(page.locator(".paragraph").first).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("Play"))).to_have_attribute(
        "href", re.compile("^https://www.youtube.com/watch")
    )


def test_a_file_is_added_without_scripts(visit: Visits, tmp_path: Path) -> None:
    page = visit(java_script_enabled=False).go("/library/")
    page.get_by_role("link", name="Add", exact=True).click()
    uploads(
        page, tmp_path, "plain.json", caption_json(make_cues(2), id="plain", title="Plain talk")
    )
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("h1")).to_have_text("Activity")
    expect(page.locator(".notice-success")).to_contain_text("“plain.json” is queued")


def test_a_whole_visit_by_keyboard(visit: Visits) -> None:
    page = visit().go("/library/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("neural")
    expect(page.locator(".card")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("A long lecture on neural networks")
    page.wait_for_load_state()
    page.keyboard.press("/")
    page.keyboard.type("gradient")
    expect(page.locator(".hit").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    expect(page.locator(".hit a").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".cue.at")).to_be_in_viewport()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(".hit")).to_have_count(0)


def test_the_speed_follows_the_keyboard(visit: Visits) -> None:
    page = visit().go(LONG)
    page.keyboard.press(">")
    expect(page.locator("[data-speed]")).to_have_value("1.25")
    page.keyboard.press("<")
    page.keyboard.press("<")
    expect(page.locator("[data-speed]")).to_have_value("0.75")


def test_activity_moves_on_by_itself(visit: Visits, site: Site) -> None:
    page = visit().go("/activity/?state=failed")
    before = page.locator(".job-failed").count()
    site.python(FAILURE)
    expect(page.locator(".job-failed")).to_have_count(before + 1)


def test_a_collection_is_made_shared_and_deleted(visit: Visits) -> None:
    page = visit().go("/collections/")
    page.get_by_label("Name").fill("Field notes")
    page.get_by_role("button", name="Make collection").click()
    page.get_by_role("link", name="Add or change members").click()
    page.get_by_label("Name or e-mail").fill("vera")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_label("Role of vera")).to_have_value("viewer")
    page.get_by_role("link", name="Delete this collection").click()
    expect(page.locator("main")).to_contain_text("It is empty.")
    page.get_by_role("button", name="Delete").click()
    expect(page.locator(".notice-success")).to_contain_text("was deleted")


def test_a_token_is_made_copied_and_revoked(visit: Visits) -> None:
    page = visit(permissions=["clipboard-read", "clipboard-write"]).go("/tokens/")
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Make the token").click()
    expect(page.locator("#token-text")).to_be_visible()
    page.wait_for_load_state("load")  # the script that copies comes after the page
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator("#announcer")).to_have_text("Copied")
    assert (
        page.evaluate("navigator.clipboard.readText()") == page.locator("#token-text").inner_text()
    )
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Revoke Laptop").click()
    expect(page.get_by_role("button", name="Revoke Laptop")).to_be_visible()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke Laptop").click()
    expect(page.get_by_role("button", name="Revoke Laptop")).to_have_count(0)


def test_a_reader_sees_no_way_to_change_things(visit: Visits) -> None:
    visitor = visit("vera")
    page = visitor.go("/library/")
    expect(page.get_by_role("link", name="Add", exact=True)).to_have_count(0)
    expect(page.locator("#add-dialog")).to_have_count(0)
    visitor.go(LONG)
    expect(page.get_by_role("link", name="Delete")).to_have_count(0)
    expect(page.get_by_text("Fetch", exact=True)).to_have_count(0)


def test_a_server_that_is_gone_is_told(visit: Visits) -> None:
    visitor = visit()
    page = visitor.go("/library/")
    visitor.context.set_offline(True)
    page.get_by_label("Filter by title").fill("x")
    expect(page.locator("#notices [role=alert]")).to_contain_text("does not respond")


@pytest.mark.parametrize(
    ("status", "body", "advice"),
    [
        (503, "no upstream", "Wait a few seconds"),
        (429, "", "Wait a few seconds"),
        (500, "<html><body>Error</body></html>", "Reload the page"),
    ],
)
def test_what_a_proxy_refuses_is_a_notice_that_says_what_to_try(
    visit: Visits, status: int, body: str, advice: str
) -> None:
    page = visit().go("/library/")
    page.route("**/library/?q=*", lambda route: route.fulfill(status=status, body=body))
    page.locator("#q").fill("talk")
    notice = page.locator("#notices .notice-error[role=alert]")
    expect(notice).to_contain_text(advice)
    assert body not in notice.inner_text() or not body
    expect(page.locator("[data-item]").first).to_be_visible()  # what was there stays
