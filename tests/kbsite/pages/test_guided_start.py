"""The guided start: offered once beside the sample, a hint on each page, left at any time."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations import samples
from kbsite.pages.guided_start import STEPS
from tests.html import text_of

OFFER = "Show me, in a minute"


@pytest.fixture
def reader(client: Client, owner: User) -> Client:
    """Somebody who signs in for the first time, in a library with the sample."""
    samples.load(samples.collection_of(owner), owner=owner)
    client.force_login(owner)
    return client


def page(client: Client, address: str) -> str:
    return text_of(client.get(address, follow=True))


def test_the_library_says_what_cuebase_is_for_where_the_sample_is(reader: Client) -> None:
    text = page(reader, "/library/")
    assert "What is Cuebase for?" in text
    assert OFFER in text
    assert OFFER not in page(reader, "/search/")


def test_a_library_of_ones_own_offers_no_start_with_a_sample_that_is_not_there(
    client: Client, owner: User
) -> None:
    client.force_login(owner)
    assert OFFER not in page(client, "/library/")


def test_each_step_is_its_real_page_with_one_hint_and_the_way_to_the_next(reader: Client) -> None:
    for number, step in enumerate(STEPS, 1):
        text = page(reader, f"/start/{number}/")
        assert f"Step {number} of {len(STEPS)}" in text
        assert str(step.hint) in text
        assert (f'href="/start/{number + 1}/"' in text) == (number < len(STEPS))


def test_the_hint_stays_while_one_follows_the_links_of_its_page(reader: Client) -> None:
    reader.get("/start/2/")
    assert "Step 2 of" in page(reader, "/highlights/")


def test_who_has_left_sees_no_hint_and_no_offer_until_they_begin_again(reader: Client) -> None:
    reader.get("/start/1/")
    assert reader.post("/start/leave/")["Location"] == "/library/"
    text = page(reader, "/library/")
    assert "Step 1" not in text
    assert OFFER not in text
    assert 'href="/start/1/"' in reader.get("/library/").content.decode()
    assert "Step 1 of" in page(reader, "/start/1/")


def test_the_start_of_one_person_is_nobody_elses(
    reader: Client, django_user_model: type[User]
) -> None:
    reader.get("/start/3/")
    reader.force_login(django_user_model.objects.create_user("bob"))
    assert "Step 3" not in page(reader, "/highlights/")


@pytest.mark.parametrize("value", ["9", "-1", "x", ""])
def test_a_cookie_that_names_no_step_is_none(reader: Client, owner: User, value: str) -> None:
    reader.cookies[f"start-{owner.pk}"] = value
    assert OFFER in page(reader, "/library/")


def test_steps_that_are_not_there_say_where_to_begin(reader: Client) -> None:
    assert "Begin at the first one" in page(reader, "/start/6/")


def test_the_talk_of_a_deleted_sample_leads_to_loading_it(client: Client, owner: User) -> None:
    client.force_login(owner)
    assert "Press “Try the sample” first" in page(client, "/start/2/")
