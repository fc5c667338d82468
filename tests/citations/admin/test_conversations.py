"""Conversations and notes in the admin: searchable, viewable and read-only."""

import pytest
from django.db import models
from django.test import Client
from django.urls import reverse

from citations.models import Answer, Citation, Conversation, Note
from tests.makers import make_citation, make_document
from transcripts.models import Collection


@pytest.mark.parametrize(
    "model", [Conversation, Answer, Citation, Note], ids=lambda model: model.__name__
)
def test_every_table_is_searchable_and_every_page_opens(
    browser: Client, collection: Collection, model: type[models.Model]
) -> None:
    conversation = Conversation.objects.create(collection=collection, title="Heat")
    answer = Answer.objects.create(conversation=conversation, ordinal=1, question="Heat?")
    source = make_document(collection, ["Heat flows."], title="Heat")
    make_citation(answer, source, "Heat flows.")
    Note.objects.create(collection=collection, title="Heat", text="It flows.", answer=answer)
    name = model._meta.model_name
    assert (
        "Heat"
        in browser.get(
            reverse(f"admin:citations_{name}_changelist", query={"q": "heat"})
        ).content.decode()
    )
    row = model._default_manager.get()
    page = browser.get(reverse(f"admin:citations_{name}_change", args=[row.pk])).content.decode()
    assert "Heat" in page
    assert 'name="_save"' not in page
