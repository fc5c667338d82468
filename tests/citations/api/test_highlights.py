"""The operations on highlights."""

from typing import Any

from django.test import Client

from citations.models import Source
from tests.makers import make_paper
from transcripts.models import Collection

JSON = "application/json"


def add(browser: Client, source: Source, **body: Any) -> Any:
    body = {"source_id": str(source.uuid), "quote": "Each weight follows.", "card": True, **body}
    return browser.post("/api/v1/highlights", body, content_type=JSON)


def test_the_words_that_a_card_hides_are_chosen_read_and_left_to_be_chosen_again(
    page: Client, collection: Collection
) -> None:
    book = make_paper(collection, ["Each weight follows."])
    made = add(page, book, hidden_words="weight")
    assert (made.status_code, made.json()["hidden_words"]) == (201, "weight")
    address = made["Location"]
    assert page.get(address).json()["hidden_words"] == "weight"
    refused = page.put(address, {"card": True, "hidden_words": "moon"}, content_type=JSON)
    assert (refused.status_code, refused.json()["code"]) == (422, "hidden_words_not_found")
    assert "“moon”" in refused.json()["detail"]
    changed = page.put(address, {"card": True, "hidden_words": ""}, content_type=JSON)
    assert changed.json()["hidden_words"] == ""


def test_a_passage_is_not_kept_where_the_words_to_hide_are_not_in_its_sentence(
    page: Client, collection: Collection
) -> None:
    book = make_paper(collection, ["Each weight follows."])
    assert add(page, book, hidden_words="moon").status_code == 422
    assert page.get("/api/v1/highlights").json()["total"] == 0
    assert add(page, book, hidden_words="x" * 201).status_code == 422
