"""The page of a document as a browser gets it: the page, its picture, and the file."""

import asyncio
import re
from collections.abc import AsyncIterator
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations.documents import storage as document_storage
from citations.models import Document, Level, Node, Source
from citations.samples import TEXTBOOK
from citations.views.search_form import PageParameters
from tests.citations.documents.test_page_images import QUOTE, textbook
from tests.html import assert_shows, text_of
from tests.makers import make_paper, make_source, make_video, replace_chunks
from transcripts.models import Collection

pytestmark = pytest.mark.django_db

NASTY = "Watch <script>alert(1)</script> & learn. The guard opens."
HTMX = {"HX-Request": "true"}


@pytest.fixture
def paper(collection: Collection) -> Source:
    return make_paper(
        collection,
        [NASTY, "The second page says little."],
        title="Notes <b>on</b> guards",
        data=b"<html>Notes</html>",
        name="no tes.html",
    )


@pytest.fixture
def book(collection: Collection, settings: Any, tmp_path: Path) -> Source:
    settings.DATA_DIR = tmp_path
    return make_paper(
        collection, textbook(), data=TEXTBOOK.read_bytes(), name=TEXTBOOK.name, title="Textbook"
    )


def address_of(source: Source, number: int = 1) -> str:
    """Return the address of a page."""
    return f"/sources/{source.uuid}/pages/{number}/"


async def read(response: Any) -> bytes:
    """Read a stream to its end."""
    return b"".join([part async for part in cast(AsyncIterator[bytes], response.streaming_content)])


# The page


def test_a_page_of_text_is_shown_escaped_with_its_quote_and_words_marked(
    page: Client, paper: Source
) -> None:
    first = NASTY.index("The guard")
    html = text_of(
        page.get(address_of(paper), {"from": first, "to": len(NASTY), "q": "guard script"})
    )
    assert "<script>alert" not in html
    assert "Watch &lt;<mark" in html
    assert (
        '<mark class="quoted">The </mark><mark class="quoted looked-for">guard</mark>'
        '<mark class="quoted"> opens.</mark>' in html
    )
    assert "Notes &lt;b&gt;on&lt;/b&gt; guards" in html
    assert "source-page-image" not in html
    assert "3 places on 1 page" in " ".join(html.split())


def test_a_page_of_a_pdf_is_a_picture_with_boxes_and_its_text(page: Client, book: Source) -> None:
    stored = book.document.pages.get(text__contains=QUOTE)
    first = stored.start + stored.text.index(QUOTE)
    html = text_of(
        page.get(address_of(book, stored.number), {"from": first, "to": first + len(QUOTE)})
    )
    assert html.count('class="sheet-quote"') == 1
    assert f'src="{address_of(book, stored.number)}image/?width=800"' in html
    assert f'<mark class="quoted">{QUOTE}</mark>' in html
    assert "Page 12 of 20 · printed number 10 · 2.3 The circuit breaker" in html


def test_a_slide_is_called_slide(page: Client, paper: Source) -> None:
    Source.objects.filter(pk=paper.pk).update(has_slides=True)
    html = text_of(page.get(address_of(paper)))
    assert_shows(
        html,
        "guards, slide 1",
        "Slide 1 of 2",
        'aria-label="Slides"',
        'aria-label="Next slide"',
        "Go to slide",
        "Share the slide",
        without=('Next page"', "Go to page", "Share the page", "page 1"),
    )


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        ("0SVIQ MTWYQ HSPSV WMX EQIX GSRWIGXIXYV EHMTMWGMRK IPMX", "stored in other letters"),
        ("", "No text on page 3 of 20."),
        ("The guard opens.", ""),
    ],
)
def test_a_page_of_a_pdf_says_that_its_words_are_none(
    page: Client, book: Source, text: str, notice: str
) -> None:
    book.document.pages.filter(number=3).update(text=text, blocks=[])
    Document.objects.filter(source=book).update(note="No text on page 3 of 20.")
    html = text_of(page.get(address_of(book, 3)))
    notes = "stored in other letters", "No text on page 3 of 20."
    assert [note for note in notes if note in html] == [note for note in notes if note == notice]


def test_the_dialog_gets_the_page_alone_and_does_not_keep_it(page: Client, paper: Source) -> None:
    response = page.get(address_of(paper), headers=HTMX)
    assert_shows(response, "data-page-view", "Close", without=("<html",))
    assert response["Cache-Control"] == "private, no-store"


def test_every_way_to_another_page_keeps_quote_words_and_size(page: Client, paper: Source) -> None:
    shown = unescape(
        text_of(page.get(address_of(paper), {"from": 3, "to": 9, "q": "the", "zoom": 150}))
    )
    ways = {
        match[1]: match[0]
        for match in re.findall(r'href="([^"]*)" data-page-link data-page-key="(\w+)"', shown)
    }
    same = "?from=3&to=9&q=the&zoom="
    here, next_one = address_of(paper), address_of(paper, 2)
    assert ways == {
        "next": f"{next_one}{same}150",
        "smaller": f"{here}{same.removesuffix('&zoom=')}",
        "larger": f"{here}{same}200",
    }


def test_a_page_number_that_is_typed_keeps_quote_words_and_size(
    page: Client, paper: Source
) -> None:
    shown = {"from": 3, "to": 9, "q": "the", "zoom": 150}
    form = text_of(page.get(address_of(paper), shown)).partition('class="page-number')[2]
    assert '<input id="page-number" name="page" type="number" required min="1" max="2"' in form
    for name, value in shown.items():
        assert (
            f'<input type="hidden" name="{name}" value="{value}">' in form.partition("</form>")[0]
        )
    typed = {"page": "2", "q": "the", "zoom": "150"}
    response = page.get(f"/sources/{paper.uuid}/", typed)
    assert response.headers["Location"] == f"{address_of(paper, 2)}?q=the&zoom=150"
    beyond = page.get(f"/sources/{paper.uuid}/", {"page": "9"}, follow=True)
    assert "It has pages 1 to 2." in beyond.content.decode()


@pytest.mark.parametrize(
    "query",
    [
        "from=x&to=9",
        "from=9&to=3",
        "from=1",
        "to=99999999999999",
        "zoom=7",
        "zoom=x",
        "citation=x",
        "q=%ff",
        "q=" + "zz+" * 900,
    ],
)
def test_what_cannot_be_used_in_an_address_does_not_hide_the_page(
    page: Client, paper: Source, query: str
) -> None:
    assert "The guard opens." in text_of(page.get(f"{address_of(paper)}?{query}"))


def test_a_citation_that_is_gone_is_said_to_be(page: Client, paper: Source) -> None:
    html = text_of(page.get(f"{address_of(paper)}?citation={paper.uuid}"))
    assert "is no longer in this document" in html


def test_words_that_are_nowhere_lead_on_to_the_search_by_meaning(
    page: Client, paper: Source
) -> None:
    html = text_of(page.get(address_of(paper), {"q": "zebra"}))
    assert "“zebra” is on none of its pages" in html
    assert f"/search/?source={paper.uuid}&amp;q=zebra" in html


def test_words_that_were_typed_open_the_page_that_has_them(page: Client, paper: Source) -> None:
    def shown(**query: object) -> tuple[str, str]:
        response = page.get(address_of(paper), query, follow=True)
        return unescape(text_of(response)), response.request["PATH_INFO"]

    html, path = shown(q="second", find=1)
    assert path == address_of(paper, 2)
    assert '<mark class="quoted looked-for">second</mark>' in html
    assert "1 of 1" in html
    assert shown(q="second")[1] == address_of(paper)  # a link to a page is one
    assert f'{address_of(paper, 2)}?q=second&match=1" data-page-link data-match-step="next"' in (
        " ".join(shown(q="second")[0].split())
    )
    assert shown(q="zebra", find=1)[1] == address_of(paper)


def test_other_forms_of_the_words_are_announced_where_they_count(
    page: Client, paper: Source
) -> None:
    note = "Other forms of these words are included"
    assert note in text_of(page.get(address_of(paper), {"q": "opening"}))
    assert note not in text_of(page.get(address_of(paper), {"q": "opens"}))


def test_a_page_that_is_not_there_is_a_friendly_404(
    page: Client, paper: Source, stranger: Client
) -> None:
    response = page.get(address_of(paper, 9))
    assert response.status_code == 404
    assert "has no page 9" in response.content.decode()
    for path in (address_of(paper), f"{address_of(paper)}image/", f"/sources/{paper.uuid}/file/"):
        assert stranger.get(path).status_code == 404


def test_the_page_of_a_recording_leads_to_the_recording(
    page: Client, collection: Collection
) -> None:
    talk = make_source(make_video(collection))
    assert page.get(address_of(talk)).headers["Location"] == f"/sources/{talk.uuid}/"
    assert page.get(f"/sources/{talk.uuid}/file/").status_code == 404


# The picture


def test_a_picture_is_given_once_and_only_to_members(
    page: Client, viewer: Client, stranger: Client, book: Source
) -> None:
    path = f"{address_of(book, 3)}image/"
    response = page.get(path, {"width": "1700"})
    assert response["Content-Type"] == "image/webp"
    assert response.content[8:12] == b"WEBP"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"] == "private, no-cache"
    again = viewer.get(path, {"width": "1600"}, headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert stranger.get(path, headers={"If-None-Match": response["ETag"]}).status_code == 404
    assert page.get(path, {"width": "x"})["ETag"] != response["ETag"]


def test_the_card_of_a_document_shows_its_first_page_small(page: Client, book: Source) -> None:
    cards = text_of(page.get("/library/?view=cards"))
    (path,) = re.findall(r'class="cover" src="([^"]*)"', cards)
    assert 'loading="lazy"' in cards
    response = page.get(path.replace("&amp;", "&"))
    assert response["Content-Type"] == "image/webp"
    assert response["Cache-Control"] == "private, max-age=300"
    assert len(response.content) < 20_000


def test_text_has_no_pictures(page: Client, paper: Source) -> None:
    assert page.get(f"{address_of(paper)}image/").status_code == 404


# The file


def test_the_file_is_given_to_be_stored_and_never_as_a_page(
    page: Client, paper: Source, book: Source
) -> None:
    web_page, pdf = (page.get(f"/sources/{source.uuid}/file/") for source in (paper, book))
    assert web_page["Content-Type"] == "application/octet-stream"
    assert web_page["Content-Disposition"] == 'attachment; filename="no tes.html"'
    assert pdf["Content-Type"] == "application/pdf"
    assert pdf["Content-Disposition"].startswith("attachment")
    for response in (web_page, pdf):
        assert response["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in response["Content-Security-Policy"]
        response.close()
    assert int(pdf["Content-Length"]) == TEXTBOOK.stat().st_size


@pytest.mark.django_db(transaction=True)
def test_the_file_is_the_one_that_was_added(page: Client, book: Source) -> None:
    response = page.get(f"/sources/{book.uuid}/file/")
    assert asyncio.run(read(response)) == TEXTBOOK.read_bytes()
    empty = page.head(f"/sources/{book.uuid}/file/")
    assert int(empty["Content-Length"]) == TEXTBOOK.stat().st_size
    empty.close()


# The ways there


def test_hits_and_passages_of_documents_lead_to_their_page(
    page: Client, paper: Source, fake_models: None
) -> None:
    replace_chunks(paper, ["The guard opens."])
    paper.chunks.update(page=1, last_page=1)
    way = f'href="{address_of(paper)}?from=0&amp;to=17"'
    html = text_of(page.get("/search/", {"q": "guard", "mode": "words"}))
    listed = text_of(page.get(f"/sources/{paper.uuid}/passages/"))
    hit = f'href="/sources/{paper.uuid}/hit/?from=0&amp;to=17&amp;q=guard&amp;hit=1&amp;of=1'
    for shown, link in ((html, hit), (listed, way)):
        assert re.search(re.escape(link) + r"[^>]* data-page-link", shown)
        assert 'id="page-dialog"' in shown
    assert_shows(listed, f'href="/sources/{paper.uuid}/"', f'href="/sources/{paper.uuid}/file/"')


# The reader


MARKDOWN = """# Tides

*Twice* a day, says [a guide](https://example.org/tides).

| Day | Height |
|---|---|
| Monday | 0.4 |

1. At springs
2. At neaps
   - nothing

<script>alert(1)</script>
"""


@pytest.fixture
def guide(collection: Collection, tmp_path: Path, settings: Any) -> Source:
    """A Markdown file that was read."""
    settings.DATA_DIR = tmp_path
    source = document_storage.add(collection, BytesIO(MARKDOWN.encode()), name="tides.md").source
    document_storage.extract(source)
    return source


def test_markdown_is_rendered_with_tables_and_lists_and_without_scripts_or_links(
    page: Client, guide: Source
) -> None:
    html = text_of(page.get(f"/sources/{guide.uuid}/"))
    assert "<h2>Tides</h2>" in html
    assert "<em>Twice</em>" in html
    assert "says a guide." in html  # links lead nowhere
    assert "<td>Monday</td>" in html
    assert '<ol start="1"><li><p>At springs</p></li>' in html
    assert "<li><p>nothing</p></li></ul>" in html
    assert "alert(1)" not in html


def test_a_quote_is_marked_in_what_is_rendered(page: Client, guide: Source) -> None:
    text = guide.document.pages.get().text
    first, last = text.index("Monday"), text.index("springs") + len("springs")
    address = f"/sources/{guide.uuid}/pages/1/?from={first}&to={last}&q=monday"
    html = text_of(page.get(address))
    assert '<td><mark class="quoted looked-for">Monday</mark></td>' in html
    assert '<td><mark class="quoted">0.4</mark></td>' in html
    assert '<p><mark class="quoted">At springs</mark></p>' in html
    assert "<p>At neaps</p>" in html


def test_a_table_that_goes_on_has_its_header_on_every_page(
    page: Client, collection: Collection
) -> None:
    rows = "".join(f"| <i>Day</i> {number} | 0.{number} |\n" for number in range(400))
    text = f"# Tides\n\n| Day | <b>Height</b> |\n|---|---|\n{rows}\nThat is all.\n\n| Neap |\n"
    source = document_storage.add(collection, BytesIO(text.encode()), name="long.md").source
    document_storage.extract(source)
    pages = source.document.pages.order_by("number")
    assert len(pages) > 2
    header = '<thead class="repeated"><tr><th>Day</th><th>Height</th></tr></thead>'
    assert header not in text_of(page.get(f"/sources/{source.uuid}/pages/1/"))
    for later in pages[1:]:
        first = later.text.index("0.")
        address = f"/sources/{source.uuid}/pages/{later.number}/?from={later.start + first}"
        html = text_of(page.get(f"{address}&to={later.start + first + 3}"))
        assert html.count(header) == html.count("<table>") == 1
        assert_shows(html, f"<table>{header}<tbody><tr><td>", '<mark class="quoted">0.')


def test_a_table_without_a_header_of_its_own_gets_none_of_another(
    page: Client, collection: Collection
) -> None:
    paragraphs = "".join(f"<p>Paragraph {number} is about tides.</p>" for number in range(150))
    tables = "<table><tr><th>Day<th>Height<tr><td>Monday<td>1</table>"
    html = f"<h1>Tides</h1>{tables}{paragraphs}<table><tr><td>High<td>Low</table>"
    source = document_storage.add(collection, BytesIO(html.encode()), name="two.html").source
    document_storage.extract(source)
    assert source.document.pages.count() > 1
    for number in range(1, source.document.pages.count() + 1):
        assert "repeated" not in text_of(page.get(f"/sources/{source.uuid}/pages/{number}/"))


def test_a_copied_link_marks_its_words_wherever_they_are_now(page: Client, guide: Source) -> None:
    address = f"/sources/{guide.uuid}/pages/1/?passage=Monday+%7C+0.4"
    html = text_of(page.get(address))
    assert '<td><mark class="quoted">Monday</mark></td>' in html
    assert '<td><mark class="quoted">0.4</mark></td>' in html
    assert "passage=Monday" in html  # the way to another zoom or page keeps them
    lost = text_of(page.get(f"/sources/{guide.uuid}/pages/1/?passage=Never+written"))
    assert "is no longer in this document" in lost


def test_a_document_opens_as_a_book_with_its_contents_and_how_it_is_indexed_elsewhere(
    page: Client, guide: Source
) -> None:
    html = text_of(page.get(f"/sources/{guide.uuid}/"))
    assert f'href="/sources/{guide.uuid}/pages/1/" aria-current="true"' in html
    assert '<span class="contents-title">Tides</span>' in html
    assert f'href="/sources/{guide.uuid}/passages/"' in html
    assert "chunk-row" not in html


def test_who_may_write_indexes_a_document_again_or_deletes_it_from_its_page(
    page: Client, viewer: Client, paper: Source
) -> None:
    shown = text_of(page.get(address_of(paper)))
    assert f'action="/sources/{paper.uuid}/index/"' in shown
    assert f'name="item" value="document-{paper.pk}"' in shown
    assert 'name="action" value="delete"' not in text_of(viewer.get(address_of(paper)))


def test_a_document_that_was_not_read_yet_shows_how_far_it_is(
    page: Client, collection: Collection
) -> None:
    source = document_storage.add(collection, BytesIO(b"# Waits"), name="waits.md").source
    address = f"/sources/{source.uuid}/"
    assert page.get(address)["Location"] == f"{address}passages/"


def test_the_lines_of_a_pdf_can_be_selected_on_its_picture(page: Client, book: Source) -> None:
    html = text_of(page.get(address_of(book, 5)))
    lines = re.findall(r"<text x=\"([\d.]+)\" y=\"([\d.]+)\"[^>]*>([^<]+)</text>", html)
    stored = " ".join(book.document.pages.get(number=5).text.split())
    assert len(lines) > 10
    assert all(unescape(text).strip() in stored for _, _, text in lines)
    assert all(0 < float(left) < 800 for left, _, _ in lines)
    heights = [float(base) for _, base, _ in lines]
    assert heights == sorted(heights)


def test_a_note_and_a_question_stand_beside_a_page(page: Client, guide: Source) -> None:
    html = text_of(page.get(f"/sources/{guide.uuid}/"))
    assert f"page 1](/sources/{guide.uuid}/pages/1/): </textarea>" in html
    assert f'<input type="hidden" name="source" value="{guide.uuid}">' in html


def test_zooming_and_the_address_of_a_page_keep_the_match_and_other_pages_do_not() -> None:
    parameters = PageParameters(words="network", match=3, zoom=150)
    assert parameters.larger == "?q=network&match=3&zoom=200"
    assert parameters.smaller == "?q=network&match=3"
    assert parameters.permanent == "?q=network&match=3"
    assert parameters.address == "?q=network&zoom=150"


def test_the_form_for_a_highlight_begins_empty_where_words_were_looked_for(
    page: Client, paper: Source
) -> None:
    response = page.get(f"/sources/{paper.uuid}/pages/2/?q=second")
    assert response.context["view"].quote
    assert response.context["passage"].quote == ""


def test_the_contents_of_a_book_are_folded_by_chapter_and_come_after_its_guide(
    page: Client, guide: Source
) -> None:
    headings = [
        [1 + bool(number), f"Part {chapter}.{number}", 1]
        for chapter in range(1, 10)
        for number in range(8)
    ]
    Document.objects.filter(source=guide).update(outline=headings)
    html = text_of(page.get(f"/sources/{guide.uuid}/"))
    assert html.index('class="tools"') < html.index('class="chapters"')
    assert "Part 9.0" in html
    assert "Part 9.7" not in html  # comes when it is unfolded
    way = f"/sources/{guide.uuid}/contents/9/"
    assert_shows(html, f'hx-get="{way}"', f'<a href="{way}"')
    for headers in ({}, {"HX-Request": "true"}):
        within = text_of(page.get(way, headers=headers))
        assert "Part 9.7" in within
        assert ("<html" in within) is not bool(headers)
    assert page.get(f"/sources/{guide.uuid}/contents/10/").status_code == 404


def test_an_outline_of_many_parts_comes_when_it_is_unfolded(page: Client, guide: Source) -> None:
    text = "It is about tides."
    texts = {"title": "A part", "text": text, "spans": [[0, len(text)]], "digest": bytes(32)}
    places = {"first": 0, "last": 0, "span_start": 0, "span_end": 5, "page": 1, "last_page": 1}
    Node.objects.create(source=guide, level=Level.DOCUMENT, ordinal=0, **places, **texts)
    for ordinal in range(41):
        Node.objects.create(source=guide, level=Level.SECTION, ordinal=ordinal, **places, **texts)
    way = f"/sources/{guide.uuid}/outline/"
    html = text_of(page.get(f"/sources/{guide.uuid}/"))
    assert "A part" not in html
    assert f'hx-get="{way}"' in html
    assert f'<a href="{way}"' in html
    for headers in ({}, {"HX-Request": "true"}):
        assert text_of(page.get(way, headers=headers)).count("A part") == 41


# Read by another version


def test_a_page_that_lost_its_marks_says_why_and_how_they_come_back(
    page: Client, viewer: Client, book: Source
) -> None:
    passages, form = f"/sources/{book.uuid}/passages/", f'action="/sources/{book.uuid}/index/"'
    said = "An earlier version of Cuebase read this document: nothing is marked"
    for address in (address_of(book, 2), passages):
        assert said not in text_of(page.get(address))
    Document.objects.filter(pk=book.pk).update(read_by="pdf 1")
    for address, forms in ((address_of(book, 2), 2), (passages, 1)):
        html = text_of(page.get(address))
        assert said in html
        assert html.count(form) == forms
        html = text_of(viewer.get(address))
        assert_shows(html, said, without=(form,))
    assert page.post(f"/sources/{book.uuid}/index/").status_code == 302
    for address in (address_of(book, 2), passages):
        assert said not in text_of(page.get(address)), "it waits to be read again"


def test_a_document_that_was_read_otherwise_and_is_no_pdf_is_told_of_too(
    page: Client, paper: Source
) -> None:
    Document.objects.filter(pk=paper.pk).update(read_by="html 1")
    said = "An earlier version of Cuebase read this document."
    assert said in text_of(page.get(address_of(paper)))


def test_the_library_tells_staff_how_many_documents_were_read_otherwise(
    page: Client, book: Source
) -> None:
    User.objects.update(is_staff=True)
    said = "1 document was read by an earlier version"
    assert said not in text_of(page.get("/library/"))
    Document.objects.filter(pk=book.pk).update(read_by="pdf 1")
    assert said in text_of(page.get("/library/"))
    User.objects.update(is_staff=False)
    assert said not in text_of(page.get("/library/"))
