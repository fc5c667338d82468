"""The page Settings: what a browser keeps, and where the rest is chosen."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.html import text_of
from tests.makers import make_source, make_video
from transcripts.models import Collection


@pytest.fixture
def person(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def test_the_page_says_what_is_set_up_and_leads_there(person: Client) -> None:
    text = text_of(person.get("/settings/"))
    assert "Applications: 0 · Tokens: 0" in text
    for address in ("/account/password/", "/second-factor/", "/tokens/", "/webhooks/"):
        assert f'href="{address}"' in text
    assert 'href="/settings/"' in text_of(person.get("/library/"))


def test_only_staff_sees_what_is_chosen_for_the_server(person: Client, owner: User) -> None:
    owner.is_staff = False
    owner.save()
    assert "/ask/model/" not in text_of(person.get("/settings/"))
    owner.is_staff = True
    owner.save()
    text = text_of(person.get("/settings/"))
    assert "/ask/model/" in text
    assert "none: answers are quotations alone" in text


def test_a_chosen_language_overrules_the_browsers_until_it_is_taken_back(person: Client) -> None:
    english = {"Accept-Language": "en"}
    assert person.post("/settings/", {"language": "de"}).status_code == 302
    assert 'lang="de"' in text_of(person.get("/settings/", headers=english))
    person.post("/settings/", {"language": ""})
    assert '<html lang="en">' in text_of(person.get("/settings/", headers=english))


@pytest.mark.parametrize("language", ["xx", "../etc", "d" * 9999])
def test_a_language_that_there_is_not_is_refused(person: Client, language: str) -> None:
    assert person.post("/settings/", {"language": language}).status_code == 422


def test_right_and_wrong_are_offered_where_somebody_gathers_judgements(
    person: Client, collection: Collection
) -> None:
    make_source(make_video(collection), texts=("Tides are waves of the moon.",))
    assert "mark-right" not in text_of(person.get("/search/?q=tides&mode=words"))
    person.post("/settings/", {"judges": "on"})
    assert "mark-right" in text_of(person.get("/search/?q=tides&mode=words"))
    person.post("/settings/", {})
    assert "mark-right" not in text_of(person.get("/search/?q=tides&mode=words"))
