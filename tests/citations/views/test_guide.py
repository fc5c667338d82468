"""The guide beside a source, and the questions on empty pages."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from citations.guide import storage as guide_storage
from citations.guide.items import GuideItem, SourceGuide
from citations.models import Guide, Node, Source, State
from citations.passages import Locator
from tests.citations.talks import talk_in
from transcripts.models import Collection, WorkerPulse

pytestmark = pytest.mark.usefixtures("fake_models")
QUESTION = "How long does a sourdough starter rise in a warm kitchen?"
SAID = (
    "A sourdough starter is a dough of flour and water that wild yeast has fermented.",
    QUESTION,
    "A sourdough starter rises for about 12 hours in a warm kitchen before it is used.",
    "The sourdough starter is fed with flour every day.",
)


@pytest.fixture
def talk(collection: Collection) -> Source:
    source = talk_in(collection, said=SAID)
    source.refresh_from_db()
    guide_storage.make(source)
    return source


@pytest.fixture
def browser(owner: User) -> Client:
    client = Client()
    client.force_login(owner)
    return client


def flat(text: str) -> str:
    return " ".join(text.split())


def page(browser: Client, address: str) -> LexborHTMLParser:
    response = browser.get(address)
    assert response.status_code == 200
    return LexborHTMLParser(response.content.decode())


def test_the_guide_is_open_on_the_first_visit_only(browser: Client, talk: Source) -> None:
    address = f"/videos/{talk.video_id}/"
    assert page(browser, address).css_first("#guide[open]")
    again = page(browser, address)
    assert again.css_first("#guide")
    assert not again.css_first("#guide[open]")


def test_pages_are_named_in_the_language_of_the_reader(browser: Client, talk: Source) -> None:
    item = GuideItem(locator=Locator(span=(0, 9), page=3, last_page=4), text=SAID[0])
    Guide.objects.update(items=SourceGuide(about=(item,)).as_json())
    german = browser.get(f"/videos/{talk.video_id}/", headers={"Accept-Language": "de"})
    shown = LexborHTMLParser(german.content.decode()).css_first("#guide")
    assert shown
    assert "Seiten 3–4" in shown.text()


def test_an_item_leads_to_its_words(browser: Client, talk: Source) -> None:
    shown = page(browser, f"/videos/{talk.video_id}/").css_first("#guide")
    assert shown
    link = shown.css_first("form[action='/ask/'] + a")
    assert link
    marked = page(browser, link.attributes["href"] or "").css_first("mark.quoted")
    assert marked
    assert marked.text().startswith("A sourdough starter rises")


OPENED = {"wanted_at": datetime(2026, 1, 1, tzinfo=UTC)}
IN_WORK = {"state": State.WORDS, "step": "embedding"}
LATER = datetime.now(UTC) + timedelta(hours=1)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            {"state": State.WORDS},
            "This is waiting to be indexed. Its guide is made once it is ready.",
        ),
        (IN_WORK, "This is being indexed. Its guide is made once it is ready."),
        (IN_WORK | OPENED, "This is being indexed. Its guide is made once it is ready."),
        ({"state": State.PENDING, **OPENED}, "It is indexed next, because you opened it"),
        (
            {"state": State.WORDS, "run_after": LATER, "error": "The key was refused.", **OPENED},
            "The key was refused. Next attempt in",
        ),
        ({}, "Its guide is made once everything is indexed."),
        (OPENED, "This is ready. Its guide is made next, because you opened it."),
    ],
)
def test_a_guide_that_is_to_come_appears_by_itself(
    browser: Client, talk: Source, source: dict[str, Any], said: str
) -> None:
    guide = Guide.objects.get()
    Guide.objects.all().delete()
    Source.objects.update(**source)
    coming = page(browser, f"/videos/{talk.video_id}/").css_first("#guide")
    assert coming
    assert said in flat(coming.text())
    address = coming.attributes["hx-get"] or ""
    polled = browser.get(address, headers={"HX-Request": "true"}).content.decode()
    assert said in flat(polled)
    guide.save(force_insert=True)
    html = browser.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "sourdough" in html
    assert "hx-get" not in html
    assert browser.get(address).status_code == 302


def test_chapters_are_asked_for_again_once_their_source_is_ready(
    browser: Client, talk: Source
) -> None:
    Guide.objects.all().delete()
    Node.objects.all().delete()
    Source.objects.update(state=State.WORDS)
    opened = page(browser, f"/videos/{talk.video_id}/?view=chapters")
    guide, chapters = opened.css_first("#guide"), opened.css_first("#transcript > p")
    assert guide
    assert chapters
    assert "its outline is made when it is indexed" in flat(chapters.text())
    assert chapters.attributes["hx-trigger"] == "source-ready from:body"
    poll = guide.attributes["hx-get"] or ""
    assert "HX-Trigger" not in browser.get(poll, headers={"HX-Request": "true"})
    Source.objects.update(state=State.READY)
    ready = browser.get(poll, headers={"HX-Request": "true"})
    assert ready["HX-Trigger"] == "source-ready"
    address = f"/videos/{talk.video_id}/{chapters.attributes['hx-get']}"
    renewed = page(browser, address).css_first("#transcript")
    assert renewed
    assert "It has neither chapters nor an outline." in flat(renewed.text())
    assert not renewed.css_first("[hx-get]")


def test_a_guide_that_is_being_made_says_so(browser: Client, talk: Source) -> None:
    Guide.objects.all().delete()
    with guide_storage.request(talk).hold():
        coming = page(browser, f"/videos/{talk.video_id}/").css_first("#guide")
    assert coming
    assert "Its guide is being made." in coming.text()
    assert "No worker is running" in coming.text()
    WorkerPulse.beat()
    coming = page(browser, f"/videos/{talk.video_id}/").css_first("#guide")
    assert coming
    assert "No worker is running" not in coming.text()


def test_a_guide_that_arrives_on_the_first_visit_is_open(browser: Client, talk: Source) -> None:
    guide = Guide.objects.get()
    Guide.objects.all().delete()
    first, again = (
        (page(browser, f"/videos/{talk.video_id}/").css_first("#guide"), is_open)
        for is_open in (True, False)
    )
    guide.save(force_insert=True)
    for coming, is_open in (first, again):
        assert coming
        address = coming.attributes["hx-get"] or ""
        html = browser.get(address, headers={"HX-Request": "true"}).content.decode()
        assert bool(LexborHTMLParser(html).css_first("#guide[open]")) == is_open


@pytest.mark.parametrize("columns", [{"state": State.WORDS}, {"state": State.PENDING}, {}])
def test_a_page_that_is_shown_puts_its_source_first_and_one_that_is_fetched_does_not(
    browser: Client, viewer: Client, stranger: Client, talk: Source, columns: dict[str, Any]
) -> None:
    Guide.objects.all().delete()
    Source.objects.update(**columns)
    shown = page(viewer, f"/videos/{talk.video_id}/").css_first("#guide form[hx-trigger=load]")
    assert shown
    address = shown.attributes["hx-post"] or ""
    assert stranger.post(address).status_code == 404
    assert viewer.get(address).status_code == 405
    assert Source.objects.filter(wanted_at=None).exists()
    response = viewer.post(address)
    assert (response.status_code, response["HX-Trigger"]) == (204, "source-opened")
    assert Source.objects.exclude(wanted_at=None).exists()
    coming = page(viewer, f"/videos/{talk.video_id}/").css_first("#guide")
    assert coming
    assert not coming.css_first("form")
    assert "because you opened it" in coming.text()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({}, "too short"),
        ({"language": "zh"}, "this language is not supported"),
        ({"characters": 50_000}, "captions without full stops"),
    ],
)
def test_a_source_without_anything_to_guide_to_says_why(
    browser: Client, talk: Source, source: dict[str, Any], said: str
) -> None:
    Guide.objects.update(items={})
    Source.objects.update(**source)
    shown = page(browser, f"/videos/{talk.video_id}/").css_first("#guide")
    assert shown
    assert said in shown.text()
    assert "hx-get" not in shown.attributes


@pytest.mark.parametrize("address", ["/ask/", "/search/"])
def test_a_question_on_an_empty_page_is_asked_of_its_source(
    browser: Client, talk: Source, address: str
) -> None:
    form = page(browser, address).css_first("form[data-suggested]")
    assert form
    values = {
        field.attributes["name"] or "": field.attributes["value"] or ""
        for field in form.css("input[type=hidden]")
        if field.attributes["name"] != "csrfmiddlewaretoken"
    }
    assert values == {"source": str(talk.uuid), "q": QUESTION}
    answered = browser.post("/ask/", values, follow=True)
    assert answered.status_code == 200
    assert SAID[2] in answered.content.decode()


def test_a_search_page_with_a_query_suggests_nothing(browser: Client, talk: Source) -> None:
    assert not page(browser, "/search/?q=sourdough").css_first("form[data-suggested]")
