"""Pages are in the reader's language; what programs read is English, whoever asks."""

import ast
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import polib
import pytest
from django.test import Client
from django.utils import translation
from django.utils.translation.template import templatize
from selectolax.lexbor import LexborHTMLParser

from citations.models import Answer
from kbsite.api_description import TAGS
from kbsite.languages import LOCALE_PATHS
from kbsite.pages.glossary import TERMS
from tests.html import text_of
from tests.makers import make_video
from transcripts.adding import acquisition
from transcripts.core.alphabet import alphabet_key
from transcripts.core.errors import NoCaptions
from transcripts.core.translation import translated
from transcripts.models import Collection, Job

GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de-DE,de;q=0.9,en;q=0.8"}
TEMPLATES = Path(__file__).resolve().parents[3] / "templates"
TEXT = re.compile(r"\b(?:n?gettext)\(u?'((?:[^'\\]|\\.)+)'")
PROGRAMS = ("/api/v1/sources", "/api/v1/nothing", "/api/content/videos/", "/healthz", "/readyz")


def test_a_browser_gets_its_language_and_caches_keep_them_apart(page: Client) -> None:
    german, english = page.get("/library/", **GERMAN), page.get("/library/")
    for response, language in ((german, "de"), (english, "en")):
        assert response["Content-Language"] == language
        assert "Accept-Language" in response["Vary"]
        assert f'<html lang="{language}">' in response.text
    assert "Die Bibliothek ist leer" in text_of(german)
    assert "Your library is empty" in text_of(english)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [("de-AT", "de"), ("fr, de;q=0.4", "de"), ("fr", "en"), ("en-GB, de;q=0.9", "en"), ("", "en")],
)
def test_the_most_wanted_language_that_there_is_counts(
    client: Client, accepted: str, language: str, db: None
) -> None:
    assert client.get("/sign-in/", HTTP_ACCEPT_LANGUAGE=accepted)["Content-Language"] == language


def test_a_language_that_is_not_there_or_is_no_language_changes_nothing(
    client: Client, db: None
) -> None:
    for odd in ("../../etc", "de\x7f", "x" * 5_000, ";q=2,,", "de_DE.UTF-8"):
        assert client.get("/sign-in/", HTTP_ACCEPT_LANGUAGE=odd).status_code == 200


@pytest.mark.parametrize("path", PROGRAMS)
def test_what_programs_read_is_the_same_in_every_language(page: Client, path: str) -> None:
    german, english = page.get(path, **GERMAN), page.get(path)
    assert german.content == english.content
    assert "Content-Language" not in german
    assert "Accept-Language" not in german.get("Vary", "")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/docs",
        *(f"/api/v1/docs/{group}" for group in TAGS),
        "/api/content/",
        "/api/content/videos/",
        "/api/content/videos/?limit=1",
        "/api/content/videos/{video}/",
        "/api/content/videos/987654/",
        "/api/content/videos/?nothing=1",
    ],
)
def test_what_a_page_about_rest_says_is_english_and_the_site_around_it_german(
    page: Client, collection: Collection, path: str
) -> None:
    address = path.format(video=[make_video(collection, key=f"talk-{n}") for n in range(2)][0].pk)
    html = {"HTTP_ACCEPT": "text/html,application/xhtml+xml"}
    german, english = page.get(address, **GERMAN, **html), page.get(address, **html)
    assert said(german) == said(english)
    assert re.findall(r'<(html|body|main)[^>]* lang="(\w+)"', text_of(german)) == [
        ("html", "en"),
        ("body", "de"),
        ("main", "en"),
    ]
    assert re.findall(r'<(html|body|main)[^>]* lang="(\w+)"', text_of(english)) == [("html", "en")]
    assert "Zum Inhalt springen" in text_of(german)
    assert german["Content-Language"] == "en"
    assert "Accept-Language" in german["Vary"]


def said(response: Any) -> list[str]:
    """Return the title and the content of a page, without the token that differs each time."""
    html = re.sub(r'value="\w{64}"', "", text_of(response))
    (title,), (main,) = (
        re.findall(rf"<{name}.*?>(.*?)</{name}>", html) for name in ("title", "main")
    )
    return [title, main]


def test_json_on_a_german_page_is_what_programs_get(page: Client) -> None:
    path, html = "/api/content/videos/?nothing=1", {"HTTP_ACCEPT": "text/html"}
    message = page.get(path, **GERMAN).json()["detail"]
    assert message in unescape(text_of(page.get(path, **GERMAN, **html)))


def test_a_german_page_leaves_english_in_the_tables(page: Client) -> None:
    page.post("/add/", {"what": "https://youtu.be/abcdefghijk"}, **GERMAN)
    (job,) = Job.objects.all()
    job.fail(NoCaptions("This video has no captions."))
    job.refresh_from_db()
    assert job.error == "This video has no captions."
    html = text_of(page.get(f"/jobs/{job.pk}/", **GERMAN))
    assert "Dieses Video hat keine Untertitel." in html
    assert "This video has no captions." in text_of(page.get(f"/jobs/{job.pk}/"))


@pytest.mark.parametrize("form", ["md", "txt", "vtt", "json"])
def test_a_file_is_the_same_in_every_language(
    page: Client, collection: Collection, form: str
) -> None:
    video = make_video(collection)
    path = f"/videos/{video.pk}/download/{form}/"
    german, english = page.get(path, **GERMAN), page.get(path)
    assert (german.status_code, german.content) == (200, english.content)


def test_the_glossary_follows_the_alphabet_of_its_words(page: Client) -> None:
    for language in ("en", "de"):
        with translation.override(language):
            html = LexborHTMLParser(page.get("/glossary/", HTTP_ACCEPT_LANGUAGE=language).text)
            words = [word.text() for word in html.css("dl.glossary dt")]
            assert words == sorted(map(str, (term.word for term in TERMS)), key=alphabet_key)


def test_an_error_of_the_core_is_said_in_german_with_what_was_filled_in(page: Client) -> None:
    missing = text_of(page.get("/videos/987654/", **GERMAN))
    assert "In den Sammlungen, die Sie sehen, gibt es diese Aufnahme nicht." in missing
    with translation.override("de"):
        assert translated("There is no format “odt”.") == "Es gibt kein Format „odt“."
        assert translated("“a “b” c” has no page 3.") == "„a “b” c“ hat keine Seite 3."
        outside = translated("Links for people without an account are not allowed in “Physics”.")
        assert outside.endswith("„Physics“ nicht erlaubt.")
        assert translated("A sentence that nobody wrote.") == "A sentence that nobody wrote."
        assert translated("") == ""
        damaged = translated("The PDF cannot be read: it is damaged, or no PDF.")  # on no page
        assert damaged == "Das PDF kann nicht gelesen werden: Es ist beschädigt oder kein PDF."
    with translation.override("en"):
        assert translated("There is no format “odt”.") == "There is no format “odt”."


def test_the_texts_of_scripts_come_with_a_german_page_alone(page: Client) -> None:
    html = page.get("/library/", **GERMAN).text
    texts = json.loads(html.partition('id="texts" type="application/json">')[2].partition("<")[0])
    assert texts["Copied"] == "Kopiert"
    assert texts["{count} file added"] == [
        "{count} Datei hinzugefügt",
        "{count} Dateien hinzugefügt",
    ]
    assert 'id="texts"' not in page.get("/library/").text


def test_the_catalogue_has_every_text_of_the_templates() -> None:
    """Those of Python, too, are gathered by ``make messages``, which needs xgettext."""
    (path,) = LOCALE_PATHS[0].glob("de/LC_MESSAGES/django.po")
    known = {entry.msgid for entry in polib.pofile(str(path))}
    for template in TEMPLATES.rglob("*.html"):
        # Django writes a template's texts as calls of gettext, for xgettext.
        calls = templatize(template.read_text(), origin=str(template))
        for literal in TEXT.findall(calls):
            assert ast.literal_eval(f"'{literal}'") in known, f"{template}: run `make messages`"


def test_the_manifest_is_kept_apart_by_language(client: Client, db: None) -> None:
    response = client.get("/manifest.webmanifest", **GERMAN)
    assert response.json()["description"] == "Ihre Bibliothek aus Transkripten und Dokumenten."
    assert "Accept-Language" in response["Vary"]


def test_the_admin_and_the_second_factor_are_german(browser: Client) -> None:
    assert "Sammlungen" in text_of(browser.get("/admin/", **GERMAN))
    assert "Zweiter Faktor" in text_of(browser.get("/second-factor/", **GERMAN))


def test_numbers_in_attributes_stay_numbers(page: Client, collection: Collection) -> None:
    acquisition.request(collection, "https://youtu.be/abcdefghijk")
    for path in ("/library/", "/activity/", "/search/?q=network", "/ask/", "/lectures/"):
        html = page.get(path, **GERMAN).text
        for attribute in ("value", "width", "max", "data-ms", "data-start", "x", "y"):
            assert f'{attribute}="0,' not in html


def test_the_admin_explains_our_columns_in_the_language_of_its_reader() -> None:
    column = Answer._meta.get_field("parts")
    with translation.override("de"):
        assert str(column.help_text) == "Bei mehreren Fragen: welche beantwortet wurden."
    assert str(column.help_text) == "Of several questions: which were answered."
