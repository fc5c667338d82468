"""Web pages: fetched from a stand-in for the web, or not at all from this machine."""

import time
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from citations.documents import storage, web_pages
from citations.documents.web_pages import fetch
from citations.errors import DocumentTooLarge, WebPageRefused, WebPageUnreachable
from citations.models import Page, Source
from tests.makers import done
from tests.web_standin import Web
from transcripts.adding import acquisition
from transcripts.core.errors import InvalidInput, InvalidUrl
from transcripts.models import Collection, Job
from transcripts.text.timecodes import parse_web_page

ARTICLE = """<!doctype html><html lang="en"><head><title>Bees | A Site</title>
<link rel="canonical" href="https://bees.example/honey">
<script type="application/ld+json">{"@graph": [{"@type": "WebSite", "name": "A Site"},
{"@type": "NewsArticle", "headline": "Bees in the city", "datePublished": "2024-05-01",
"author": [{"name": "Ada Hive"}, {"name": "Ben Comb"}]}]}</script></head>
<body><nav>Home Shop</nav><article><h1>Bees in the city</h1><p>%s</p></article></body></html>"""
WORDS = "Honey from roofs is cleaner, since nobody sprays the parks of a town. " * 8


@pytest.mark.django_db
def test_an_address_outside_youtube_becomes_a_document_with_its_facts(
    web: Web, collection: Collection
) -> None:
    page = (ARTICLE % WORDS).encode()
    web.give("bees.example/honey?id=1", page, Content_Type="text/html; charset=utf-8")
    job = done(acquisition.request(collection, "https://bees.example/honey?id=1#part", tags=["b"]))
    assert (job.state, job.state_text) == (Job.State.DONE, "page fetched"), job.error
    (source,) = Source.objects.filter(uuid__in=job.document_ids)
    storage.extract(source)
    source.refresh_from_db()
    assert (source.kind, source.url, source.tags) == (
        "html", "https://bees.example/honey?id=1", ["b"],
    )  # fmt: skip
    assert (source.title, source.author) == ("Bees in the city", "Ada Hive, Ben Comb")
    assert source.published_at
    assert source.published_at.date().isoformat() == "2024-05-01"
    text = Page.objects.get(document=source.document).text
    assert "Honey from roofs" in text
    assert "Shop" not in text
    again = done(acquisition.request(collection, "https://bees.example/honey?id=1"))
    assert again.document_ids == job.document_ids


@pytest.mark.django_db
def test_a_saved_page_keeps_the_address_that_it_names(
    collection: Collection, tmp_path: Any
) -> None:
    file = tmp_path / "page.html"
    file.write_text(ARTICLE % WORDS)
    with file.open("rb") as stream:
        source = storage.add(collection, stream, name="page.html").source
    storage.extract(source)
    assert source.url == "https://bees.example/honey"


def test_what_is_no_web_page_keeps_its_own_format(web: Web) -> None:
    web.give("a.example/paper", b"%PDF-1.4 ...", Content_Type="application/pdf")
    web.give("a.example/", b"<html>", Content_Type="text/html")
    web.give("a.example/read.me.md", b"# Hello", Content_Type="text/plain")
    addresses = ("http://a.example/paper", "http://a.example", "http://a.example/read.me.md")
    names = [fetch(address).name for address in addresses]
    assert names == ["paper.pdf", "a.example.html", "read.me.md"]


def test_the_encoding_that_a_server_names_counts_before_that_of_the_page(web: Web) -> None:
    body = '<html><meta charset="iso-8859-1"><p>Über Bären</p>'.encode("cp1251", "ignore")
    russian = "<html><meta charset='utf-8'><p>Привет</p>".encode("cp1251")
    web.give("a.example/1", russian, Content_Type='text/html; charset="windows-1251"')
    web.give("a.example/2", body, Content_Type="text/html")
    assert fetch("http://a.example/1").data.decode("utf-8-sig").endswith("Привет</p>")
    assert fetch("http://a.example/2").data == body


def test_redirects_are_followed_and_the_last_address_is_kept(web: Web) -> None:
    web.give("a.example/", status=302, Location="https://b.example/there?x=Ã¤")
    web.give("b.example/there?x=%C3%A4", b"<html>hello", Content_Type="text/html")
    assert fetch("http://a.example").url == "https://b.example/there?x=%C3%A4"
    web.give("c.example/", status=301, Location="/")
    with pytest.raises(WebPageRefused, match="without end"):
        fetch("http://c.example")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "http://u:p@a.example/", "http://[::1"])
def test_a_redirect_to_what_is_no_web_page_is_refused(web: Web, target: str) -> None:
    web.give("a.example/", status=302, Location=target)
    with pytest.raises(InvalidUrl):
        fetch("http://a.example")


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (404, WebPageRefused, "no such page"),
        (410, WebPageRefused, "no such page"),
        (401, WebPageRefused, "not give this page to everybody"),
        (403, WebPageRefused, "not give this page to everybody"),
        (429, WebPageUnreachable, "cannot answer now"),
        (503, WebPageUnreachable, "cannot answer now"),
    ],
)
def test_a_refusal_says_what_the_site_says(
    web: Web, status: int, error: type[Exception], said: str
) -> None:
    web.give("a.example/", status=status)
    with pytest.raises(error, match=f"“a.example” .*{said}"):
        fetch("http://a.example")


def test_what_is_too_large_too_slow_or_empty_is_an_error(
    web: Web, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.give("a.example/")
    web.give("a.example/large", b"x" * 2_000)
    with pytest.raises(InvalidInput, match="empty"):
        fetch("http://a.example")
    settings.MAX_DOCUMENT_BYTES = 1_000
    with pytest.raises(DocumentTooLarge):
        fetch("http://a.example/large")

    def trickle(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        while not web.released.is_set():
            request.wfile.write(b"x")
            time.sleep(0.01)

    web.answers["a.example/slow"] = trickle
    monkeypatch.setattr(web_pages, "PATIENCE", 0.1)
    with pytest.raises(WebPageUnreachable, match="too slowly"):
        fetch("http://a.example/slow")


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1",
        "http://localhost",
        "http://[::1]",
        "http://10.0.0.1",
        "http://169.254.1.1",
    ],
)
def test_no_address_leads_into_this_machine_or_its_network(address: str) -> None:
    with pytest.raises(WebPageRefused, match="no public address"):
        fetch(address)


@pytest.mark.django_db
def test_captions_at_an_address_are_not_stored_as_prose(web: Web, collection: Collection) -> None:
    captions = b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello there.\n"
    web.give("a.example/talk.vtt", captions, Content_Type="text/vtt")
    job = done(acquisition.request(collection, "https://a.example/talk.vtt"))
    assert (job.state, job.error_code) == (Job.State.FAILED, "web_page_refused")
    assert not Source.objects.exists()


@pytest.mark.django_db
def test_a_site_out_of_reach_is_tried_again_and_stops_no_video(
    web: Web, collection: Collection
) -> None:
    web.give("a.example/", status=503)
    job = done(acquisition.request(collection, "http://a.example/"))
    assert (job.state, job.error_code) == (Job.State.QUEUED, "web_page_unreachable")
    web.give("a.example/", status=404)
    Job.objects.update(run_after=None)
    job = done(job)
    assert (job.state, job.error_code) == (Job.State.FAILED, "web_page_refused")


@pytest.mark.parametrize(
    ("written", "page"),
    [
        (" https://a.example/b?c=d#e ", "https://a.example/b?c=d"),
        ("http://a.example", "http://a.example/"),
        (
            "https://bücher.example/ä b".replace(" ", "%20"),
            "https://xn--bcher-kva.example/%C3%A4%20b",
        ),
    ],
)
def test_the_address_of_a_page_is_in_ascii_and_has_no_fragment(written: str, page: str) -> None:
    assert parse_web_page(written) == page


@pytest.mark.parametrize(
    "written", ["paper.pdf", "a.example", "ftp://a.example/", "http://u@a.example", "http://a:99/"]
)
def test_what_is_no_address_of_a_page_is_refused(written: str) -> None:
    with pytest.raises(InvalidUrl):
        parse_web_page(written)
