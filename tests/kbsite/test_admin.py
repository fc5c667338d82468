"""The admin of keys: a token's text is shown once and stored nowhere."""

import re

import pytest
from django import forms
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import translation
from oauth2_provider.models import get_application_model
from selectolax.lexbor import LexborHTMLParser

from citations.admin.spaces import MigrateForm
from kbsite.admin import NewTokenForm
from kbsite.models import ApiToken, SignInLink
from tests.makers import make_user, make_video, signed_in
from transcripts.admin.jobs import PasteForm
from transcripts.admin.videos import TagsForm
from transcripts.models import Collection, Video

ADD = "admin:kbsite_apitoken_add"


def test_a_token_is_shown_once_and_only_its_hash_is_stored(
    browser: Client, collection: Collection
) -> None:
    user = make_user("ada", collection=collection)
    response = browser.post(
        reverse(ADD),
        {
            "user": user.pk,
            "name": "laptop",
            "access": "write",
            "collections": [collection.pk],
            "days": "30",
        },
    )
    assert response.status_code == 200
    (text,) = re.findall(r'value="(kb_[\w-]+)"', response.content.decode())
    assert "no-store" in response["Cache-Control"]
    assert not browser.cookies.get("messages")
    token = ApiToken.objects.get()
    assert ApiToken.find(text) == token
    assert (token.user, token.access, token.limited, list(token.collections.all())) == (
        user,
        "write",
        True,
        [collection],
    )
    assert token.expires_at is not None
    for name in ("change", "history", "delete"):
        page = browser.get(
            reverse(f"admin:kbsite_apitoken_{name}", args=[token.pk])
        ).content.decode()
        assert text not in page
        assert token.digest not in page


def test_what_a_token_may_do_is_settled_when_it_is_made(
    browser: Client, collection: Collection
) -> None:
    token, text = ApiToken.issue(make_user("ada"), name="old", collections=(collection,))
    data = {
        "name": "new",
        "access": "manage",
        "limited": "",
        "digest": "x",
        "user": "1",
        "collections": "",
    }
    assert (
        browser.post(reverse("admin:kbsite_apitoken_change", args=[token.pk]), data).status_code
        == 302
    )
    token.refresh_from_db()
    assert (token.name, token.access, token.limited) == ("new", "read", True)
    assert ApiToken.find(text) == token


def test_tokens_are_revoked(browser: Client) -> None:
    token, text = ApiToken.issue(make_user("ada"), name="x")
    browser.post(
        reverse("admin:kbsite_apitoken_changelist"),
        {"action": "revoke", "_selected_action": [token.pk]},
    )
    assert ApiToken.find(text) is None
    assert ApiToken.objects.exists()


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"name": "x"},
        {"name": "x", "user": "999"},
        {"name": "\0", "user": "1"},
        {"name": "x", "days": "0"},
        {"name": "x" * 81},
    ],
)
def test_a_token_that_cannot_be_made_is_not(browser: Client, data: dict[str, str]) -> None:
    assert browser.post(reverse(ADD), data).status_code == 200
    assert not ApiToken.objects.exists()


def test_only_superusers_make_tokens_for_others(db: None) -> None:
    client = signed_in(make_user("helper", is_staff=True))
    assert client.get(reverse(ADD)).status_code == 403


def test_sign_in_links_are_listed_without_their_secret(browser: Client) -> None:
    SignInLink.issue(make_user("ada"))
    page = browser.get(reverse("admin:kbsite_signinlink_changelist"))
    assert SignInLink.objects.get().digest not in page.content.decode()


@pytest.mark.parametrize("form", [MigrateForm, NewTokenForm, PasteForm, TagsForm])
def test_fields_that_no_column_names_are_labelled_in_the_language_of_the_reader(
    form: type[forms.BaseForm],
) -> None:
    for name, field in form.declared_fields.items():
        with translation.override("de"):
            german = str(field.label)
        with translation.override("en"):
            assert field.label
            assert german != str(field.label), name


def test_the_admin_is_called_by_what_it_is_in_german(browser: Client) -> None:
    german = {"Accept-Language": "de"}
    assert "Administration: Belege" in browser.get("/admin/citations/", headers=german).text
    with translation.override("de"):
        assert translation.gettext("View") == "Anzeigen"  # a verb, of Django


def test_only_a_form_that_makes_a_slug_of_a_name_loads_the_scripts_for_it(browser: Client) -> None:
    tokens = browser.get(reverse("admin:kbsite_apitoken_changelist")).content.decode()
    collection = browser.get(reverse("admin:transcripts_collection_add")).content.decode()
    assert "admin/js/actions" in tokens
    for script in ("xregexp", "urlify", "prepopulate."):
        assert script not in tokens
        assert script in collection


SAME_IN_GERMAN = {"Status"}


def filter_names(browser: Client, model: type[Model], language: str) -> list[str]:
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    html = browser.get(address, headers={"Accept-Language": language}).content.decode()
    return [name.text(strip=True) for name in LexborHTMLParser(html).css("[data-filter-title] > *")]


def test_filters_are_called_by_what_people_call_it_in_their_language(
    browser: Client, collection: Collection
) -> None:
    video = make_video(collection)
    Video.objects.filter(pk=video.pk).update(partial=True)
    assert "Incomplete" in filter_names(browser, Video, "en")
    assert "Unvollständig" in filter_names(browser, Video, "de")
    assert "Kind of application" in filter_names(browser, get_application_model(), "en")


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: str(model._meta.label))
def test_each_filter_has_a_german_name(browser: Client, model: type[Model]) -> None:
    english, german = (filter_names(browser, model, language) for language in ("en", "de"))
    assert len(english) == len(german)
    same = {name for name, other in zip(english, german, strict=True) if name == other}
    assert same <= SAME_IN_GERMAN
    assert not {name for name in english if name.startswith("By ") or "_" in name}
