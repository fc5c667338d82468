"""Highlights in the browser: kept beside the text, marked in it, listed, changed and deleted."""

import re
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from selectolax.lexbor import LexborHTMLParser

from citations.ingest import selection
from citations.models import Deletion, Document, Highlight, Source
from tests.html import assert_shows, text_of
from tests.makers import make_cues, make_paper, make_source, make_video
from transcripts.models import Collection

HTMX = {"HTTP_HX_REQUEST": "true"}
SAID = "Error 404 means that the page is missing. Point 4."


@pytest.fixture
def talk(collection: Collection) -> Source:
    return make_source(make_video(collection))


@pytest.fixture
def book(collection: Collection) -> Source:
    return make_paper(collection, ["The <b>error</b> runs backwards.", "Each weight follows."])


@async_to_sync
async def read(response: Any) -> bytes:
    """Read a stream to its end."""
    return b"".join([part async for part in response.streaming_content])


def keep(browser: Client, source: Source, quote: str, **values: str) -> Highlight:
    sent = {"source": str(source.uuid), "quote": quote, **values}
    assert browser.post("/highlights/add/", sent, **HTMX).status_code == 200
    return Highlight.objects.get(quote=quote)


def test_the_filters_are_folded_behind_one_button(page: Client, talk: Source) -> None:
    keep(page, talk, SAID)
    tree = LexborHTMLParser(text_of(page.get("/highlights/")))
    assert tree.css_first("form > details:not([open]) [name=color]")
    assert tree.css_first("form > .search-box [name=q]")
    assert tree.css_first("form > button.no-js")
    assert not tree.css_first('#results a[href="/highlights/"]')
    filtered = LexborHTMLParser(text_of(page.get("/highlights/?color=yellow")))
    assert filtered.css_first('#results a[href="/highlights/"]').text() == "Show all"


def test_a_filter_that_changes_renews_the_list_and_what_is_exported(
    page: Client, talk: Source, book: Source
) -> None:
    keep(page, talk, SAID)
    keep(page, book, "error", color="blue")
    response = page.get("/highlights/?q=&source=&color=blue&since=", **HTMX)
    html = LexborHTMLParser(text_of(response))
    assert response["HX-Replace-Url"] == "/highlights/?color=blue"
    assert not html.css_first("h1")
    assert [quote.text(strip=True) for quote in html.css("blockquote")] == ["error"]
    assert html.css_first(".count").text(strip=True).startswith("1 highlight matches")
    export = html.css_first("#highlights-export[hx-swap-oob]")
    assert export.css_first('a[href="/highlights/export/anki/?color=blue"]')
    none = LexborHTMLParser(text_of(page.get("/highlights/?color=pink", **HTMX)))
    assert none.css_first("[data-announce]").attributes["data-announce"] == ("No highlight matches")
    assert none.css_first("#highlights-export").text(strip=True) == ""
    plain = page.get("/highlights/?q=&source=&color=blue&since=")
    assert plain["Location"] == "/highlights/?color=blue"


def test_highlights_stand_below_their_source_in_the_order_of_its_text(
    page: Client, talk: Source, book: Source
) -> None:
    for quote in ("follows", "weight", "error"):
        keep(page, book, quote)
    keep(page, talk, SAID)
    html = LexborHTMLParser(text_of(page.get("/highlights/")))
    assert [
        (
            group.css_first("h2 a").attributes["href"],
            [quote.text(strip=True) for quote in group.css("blockquote")],
        )
        for group in html.css(".highlight-group")
    ] == [
        (f"/videos/{talk.video_id}/?lang=en", [SAID]),
        (f"/sources/{book.uuid}/", ["error", "weight", "follows"]),
    ]
    assert [place.text(strip=True) for place in html.css("h3.highlight-place")] == [
        "0:20–0:25",
        "Page 1",
        "Page 2",
        "Page 2",
    ]


def test_a_source_that_goes_on_says_so_on_both_pages(page: Client, book: Source) -> None:
    row = keep(page, book, "Each weight follows.")
    Highlight.objects.bulk_create(
        Highlight(
            **{
                name: getattr(row, name)
                for name in ("source", "author", "span_start", "span_end", "quote", "digest")
            }
        )
        for _ in range(31)
    )
    first = text_of(page.get("/highlights/"))
    assert "2 more highlights of this source are on the next pages." in first
    assert 'rel="next" href="?offset=30"' in first
    second = text_of(page.get("/highlights/?offset=30"))
    assert "Goes on: 30 highlights of this source are on the pages before." in second
    assert "more highlight" not in second.casefold()
    assert page.get("/highlights/?offset=60&color=yellow")["Location"] == (
        "/highlights/?color=yellow"
    )
    last = Highlight.objects.latest("pk")
    kept = page.post(f"/highlights/{last.uuid}/", {"color": "green"})
    assert kept["Location"] == (f"/highlights/?source={book.uuid}&offset=30#highlight-{last.uuid}")


def test_a_passage_is_highlighted_by_a_plain_form_and_marked_in_the_text(
    page: Client, talk: Source
) -> None:
    here = f"/videos/{talk.video_id}/?t=20s&until=25s"
    form = page.get(here).content.decode()
    [marked] = re.findall(r'<textarea name="quote"[^>]*>([^<]*)<', form)
    assert marked == SAID
    sent = {"source": str(talk.uuid), "quote": marked, "start": "20000", "next": here}
    response = page.post("/highlights/add/", {**sent, "color": "green", "note": "A <i>number</i>"})
    assert response["Location"] == here
    html = page.get(here).content.decode()
    button = '<button type="button" class="visually-hidden">Highlighted in green: </button>'
    mark = f'highlight highlight-green highlight-{Highlight.objects.get().uuid}">{button}'
    assert mark in html
    assert "A &lt;i&gt;number&lt;/i&gt;" in html
    part = page.get(f"/videos/{talk.video_id}/chunks/0/?view=paragraphs", **HTMX).content.decode()
    assert mark in part


def test_a_highlight_says_once_whose_words_it_has(page: Client, collection: Collection) -> None:
    said = ("Ann: It is a limit.", "Bob: Thank you.")
    talk = make_source(make_video(collection, cues=make_cues(4, sentences=said)))
    row = keep(page, talk, "Ann: It is a limit. Point 0.")
    for address in ("/highlights/", f"/highlights/{row.uuid}/"):
        html = LexborHTMLParser(text_of(page.get(address)))
        assert html.css_first(".quotation-speaker").text(strip=True) == "Speaker:Ann"
        assert html.css_first("blockquote").text(strip=True) == "It is a limit. Point 0."
    beside = text_of(page.get(f"/highlights/{row.uuid}/", **HTMX))
    assert "Speaker:</span> Ann" in beside
    assert 'data-quote="Ann: It is' in beside, "what is copied is as it stands in the text"
    (out,) = page.get("/api/v1/highlights").json()["highlights"]
    assert (out["speaker"], out["quote"]) == ("Ann", "Ann: It is a limit. Point 0.")


def test_words_of_two_people_are_signed_by_nobody(page: Client, collection: Collection) -> None:
    said = ("Ann: It is a limit.", "Bob: Thank you.")
    talk = make_source(make_video(collection, cues=make_cues(4, sentences=said)))
    assert keep(page, talk, "a limit. Point 0. Bob: Thank you.").speaker == ""


def test_a_page_of_a_document_shows_its_highlights_alone(page: Client, book: Source) -> None:
    keep(page, book, "error", page="1", color="pink")
    assert "highlight-pink" in page.get(f"/sources/{book.uuid}/pages/1/").content.decode()
    second = page.get(f"/sources/{book.uuid}/pages/2/").content.decode()
    assert 'class="highlight highlight-pink"' not in second.partition("beside-highlights")[0]
    assert "edge-pink" not in second  # nor beside the text
    assert "None of 1 is near the words that are shown" in second


def test_highlights_of_a_web_page_are_marked_in_its_markup(page: Client, book: Source) -> None:
    first = book.document.pages.get(number=1)
    first.html, first.text = "<p>The <em>error</em> runs.</p>", "The error runs."
    first.blocks = [[0, len(first.text), "", False]]
    first.save()
    marked = f"highlight highlight-yellow highlight-{keep(page, book, 'error runs').uuid}"
    html = page.get(f"/sources/{book.uuid}/pages/1/").content.decode()
    label = '<button type="button" class="visually-hidden">Highlighted in yellow: </button>'
    assert f'<em><mark class="{marked}">{label}error</mark></em>' in html


def test_scripts_get_what_the_toolbar_of_a_highlight_shows(page: Client, book: Source) -> None:
    highlight = keep(page, book, "error", page="1", note="**Why?**", tags="exam")
    response = page.get(f"/highlights/{highlight.uuid}/", **HTMX)
    assert response["Cache-Control"] == "private, no-store"
    [details] = LexborHTMLParser(text_of(response)).css(".selection-details")
    assert details.attributes["data-note"] == "**Why?**"
    assert details.attributes["data-quote"] == "error"
    assert "#exam" in details.text()


def test_scripts_get_the_list_beside_the_text(page: Client, book: Source) -> None:
    sent = {"source": str(book.uuid), "quote": "Each weight", "page": "2", "note": "Why?"}
    response = page.post("/highlights/add/", sent, **HTMX)
    assert_shows(response, "Each weight", "Why?")
    assert "<html" not in response.content.decode()


def test_words_that_are_not_there_are_refused_and_what_was_typed_stays(
    page: Client, book: Source
) -> None:
    sent = {"source": str(book.uuid), "quote": "Something else", "page": "2"}
    assert page.post("/highlights/add/", sent).status_code == 404
    response = page.post("/highlights/add/", {**sent, "quote": "x" * 5_001, "note": "My thought"})
    assert response.status_code == 422
    assert "My thought" in text_of(response)
    assert f'name="source" value="{book.uuid}"' in response.content.decode()
    assert page.post("/highlights/add/", {"quote": "x"}).status_code == 422


def test_the_page_lists_filters_and_shows_empty_states(page: Client, book: Source) -> None:
    assert "No highlight yet" in text_of(page.get("/highlights/"))
    keep(page, book, "Each weight", page="2", color="blue", tags="exam, week 3")
    response = page.get("/highlights/?color=blue&tag=exam&q=weight")
    assert_shows(response, "Page 2", "#week 3")
    assert "No highlight matches" in text_of(page.get("/highlights/?color=green"))
    assert page.get("/highlights/?color=red&since=soon&source=x&offset=-1").status_code == 200
    assert page.get(f"/highlights/?source={uuid4()}").status_code == 404


def test_a_highlight_is_changed_and_deleted_after_a_question(page: Client, book: Source) -> None:
    row = keep(page, book, "Each weight", page="2")
    address = f"/highlights/{row.uuid}/"
    sent = {"color": "pink", "note": "New", "tags": "a, b", "card": "1", "shared": "1"}
    assert page.post(address, sent).status_code == 302
    row.refresh_from_db()
    assert (row.color, row.note, row.tags, row.is_card, row.is_shared) == (
        *("pink", "New", ["a", "b"]),
        *(True, True),
    )
    assert page.post(address, {"color": "red"}).status_code == 422
    assert "Delete this highlight?" in text_of(page.get(f"{address}delete/"))
    html = text_of(page.post(f"{address}delete/", follow=True))
    assert page.get(address).status_code == 404
    assert "Each weight" not in text_of(page.get("/highlights/"))
    deletion = Deletion.objects.get()
    assert f'action="/library/undo/{deletion.uuid}/"' in html


def test_who_deletes_in_the_list_returns_to_the_list(page: Client, book: Source) -> None:
    row = keep(page, book, "Each weight", page="2")
    address = f"/highlights/{row.uuid}/delete/"
    assert f'href="{address}?next=/highlights/%3Fq%3Dweight"' in text_of(
        page.get("/highlights/?q=weight")
    )
    question = text_of(page.get(f"{address}?next=/highlights/%3Fq%3Dweight"))
    assert 'name="next" value="/highlights/?q=weight"' in question
    assert "example.org" not in text_of(page.get(f"{address}?next=https://example.org/"))
    gone = page.post(address, {"next": "/highlights/?q=weight"})
    assert gone["Location"] == "/highlights/?q=weight"


def test_a_deleted_highlight_is_taken_back_within_ten_seconds_or_gone(
    page: Client, viewer: Client, book: Source
) -> None:
    row = keep(page, book, "Each weight", page="2")
    for is_taken_back in (True, False):
        page.post(f"/highlights/{row.uuid}/delete/")
        deletion = Deletion.objects.get()
        address = f"/library/undo/{deletion.uuid}/"
        assert viewer.post(address).status_code == 404
        if is_taken_back:
            page.post(address)
            assert page.get(f"/highlights/{row.uuid}/").status_code == 200
    sent = {"source": str(book.uuid), "quote": "Each weight", "page": "2"}
    page.post("/highlights/add/", sent, **HTMX)  # while the first is going
    Deletion.objects.update(run_after=timezone.now() - timedelta(seconds=1))
    selection.carry_out(deletion)
    assert Highlight.objects.get().pk != row.pk


def test_who_changes_a_highlight_beside_the_text_comes_back_to_its_words(
    page: Client, book: Source
) -> None:
    row = keep(page, book, "Each weight", page="2")
    reader = text_of(page.get(f"/sources/{book.uuid}/pages/2/"))
    (address,) = re.findall(rf'/highlights/{row.uuid}/\?next=[^"]*', reader)
    (place,) = re.findall('name="next" value="(.*?)"', text_of(page.get(unescape(address))))
    place = unescape(place)
    assert place.startswith(f"/sources/{book.uuid}/pages/2/?from=")
    assert page.post(address, {"color": "pink", "next": place})["Location"] == place


def test_another_colour_for_the_same_words_leaves_note_tags_and_card(
    page: Client, book: Source
) -> None:
    keep(page, book, "Each weight", color="green", note="Why?", tags="exam", card="1", shared="1")
    row = keep(page, book, "Each weight", color="blue", note="")
    assert (row.color, row.note, row.tags) == ("blue", "Why?", ["exam"])
    assert row.is_card
    assert row.is_shared
    row = keep(page, book, "Each weight", card="1")
    assert row.color == "blue"
    assert keep(page, book, "Each weight", note="Since then.").note == "Since then."


def test_a_shared_highlight_is_shown_to_a_viewer_who_cannot_change_it(
    page: Client, viewer: Client, book: Source, owner: User
) -> None:
    row = keep(page, book, "Each weight", page="2", shared="1", note="For all")
    assert "For all" in text_of(viewer.get("/highlights/"))
    assert f"Shared by {owner.username}" in text_of(viewer.get(f"/highlights/{row.uuid}/"))
    assert viewer.post(f"/highlights/{row.uuid}/", {"color": "pink"}).status_code == 403
    assert viewer.post(f"/highlights/{row.uuid}/delete/").status_code == 403


def test_words_that_are_gone_are_told(page: Client, book: Source) -> None:
    keep(page, book, "Each weight", page="2")
    book.document.pages.filter(number=2).update(text="Nothing of it.", blocks=[[0, 14, "", False]])
    book.document.__class__.objects.filter(pk=book.document.pk).update(read_by="other")
    html = text_of(page.get("/highlights/"))
    assert "no longer in the source" in html
    assert "Their last place was page 2." in html
    beside = page.get(f"/sources/{book.uuid}/pages/2/")
    assert "Not in the text any more" in text_of(beside)


def test_highlights_are_exported_as_filtered_and_imported_with_a_report(
    page: Client, book: Source
) -> None:
    keep(page, book, "Each weight", page="2", color="blue")
    keep(page, book, "error", page="1")
    response = page.get("/highlights/export/jsonld/?color=blue")
    assert response["Content-Disposition"] == 'attachment; filename="highlights.jsonld"'
    data = read(response)
    assert b"Each weight" in data
    assert b'"error"' not in data
    assert page.get("/highlights/export/exe/").status_code == 404
    Highlight.objects.all().delete()
    report = page.post("/highlights/import/", {"file": SimpleUploadedFile("a.jsonld", data)})
    assert "1 new highlight" in text_of(report)
    Document.objects.filter(source=book).update(read_by="")
    report = page.post("/highlights/import/", {"file": SimpleUploadedFile("a.jsonld", data)})
    assert_shows(report, "1 waits for its source", without=("no place",))
    book.delete()
    report = page.post("/highlights/import/", {"file": SimpleUploadedFile("a.jsonld", data)})
    assert_shows(report, "1 found no place", "not in your library")
    refused = page.post("/highlights/import/", {"file": SimpleUploadedFile("a.jsonld", b"{")})
    assert (refused.status_code, "not JSON" in text_of(refused)) == (422, True)
    assert page.post("/highlights/import/").status_code == 422


def test_anki_gets_all_highlights_or_only_the_cards_where_that_is_chosen(
    page: Client, book: Source
) -> None:
    keep(page, book, "Each weight")
    assert "only cards" not in text_of(page.get("/highlights/"))
    keep(page, book, "error", card="on", color="blue")
    listed = LexborHTMLParser(text_of(page.get("/highlights/")))
    addresses = [link.attributes["href"] for link in listed.css('a[href*="/export/anki/"]')]
    assert addresses == ["/highlights/export/anki/", "/highlights/export/anki/?cards=1"]
    assert "1 of 2" in listed.css_first('a[href$="anki/?cards=1"]').text()
    assert "only cards" not in text_of(page.get("/highlights/?color=blue")), "all are cards"


def test_a_card_says_which_words_it_hides_and_its_reader_chooses_others(
    page: Client, viewer: Client, book: Source
) -> None:
    row = keep(page, book, "Each weight follows.", card="1", shared="1")
    address = f"/highlights/{row.uuid}/"
    listed = LexborHTMLParser(text_of(page.get("/highlights/?cards=1")))
    (link,) = listed.css(f'a[href^="{address}"][href$="#hidden-words"]')
    assert link.text() == "card that hides “follows”"
    field = LexborHTMLParser(text_of(page.get(address))).css_first("input[name=hidden]")
    assert field.attributes["value"] == "follows"
    assert page.post(address, {"card": "1", "shared": "1", "hidden": "weight"}).status_code == 302
    changed = LexborHTMLParser(text_of(page.get(address)))
    assert changed.css_first("#card-sentence .gap").text() == "weight"
    assert_shows(viewer.get("/highlights/"), "card that hides “weight”", without=("#hidden-words",))


def test_words_that_the_card_does_not_have_are_refused_and_all_that_was_typed_stays(
    page: Client, book: Source
) -> None:
    row = keep(page, book, "Each weight", page="2", color="green")
    sent = {"color": "pink", "note": "My <thought>", "tags": "a, b", "card": "1", "hidden": "error"}
    response = page.post(f"/highlights/{row.uuid}/", sent)
    assert response.status_code == 422
    html = LexborHTMLParser(text_of(response))
    (notice,) = html.css("[role=alert]")
    assert "does not have the words “error”" in notice.text()
    assert "leave the field empty" in notice.text()
    assert html.css_first("input[name=hidden]").attributes["value"] == "error"
    assert html.css_first("textarea[name=note]").text() == "My <thought>"
    assert html.css_first("input[name=tags]").attributes["value"] == "a, b"
    assert html.css_first("input[name=color][checked]").attributes["value"] == "pink"
    assert html.css_first("input[name=card][checked]")
    row.refresh_from_db()
    assert (row.color, row.is_card) == ("green", False)


def test_who_makes_a_card_in_the_text_is_told_what_it_hides_and_where_to_change_it(
    page: Client, book: Source
) -> None:
    sent = {"source": str(book.uuid), "quote": "Each weight follows.", "card": "1"}
    made = LexborHTMLParser(text_of(page.post("/highlights/add/", sent, **HTMX)))
    notice = made.css_first("template[data-card-made]").html or ""
    row = Highlight.objects.get()
    assert "It hides “follows”" in notice
    assert f'href="/highlights/{row.uuid}/?next=/sources/{book.uuid}' in notice
    plain = text_of(page.post("/highlights/add/", {**sent, "quote": "error", "card": ""}, **HTMX))
    assert "data-card-made" not in plain
