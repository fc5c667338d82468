"""The tables of the knowledge engine in the admin: whole, quick, and able to ask for work.

Conversations, notes, levels and topics are looked at, and neither changed nor deleted.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection, models
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from citations.conf import EmbeddingChoice
from citations.ingest import discovery, lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.maintenance import migration
from citations.models import (
    Answer,
    Chunk,
    Citation,
    Conversation,
    Embedding,
    EmbeddingSpace,
    Mark,
    Node,
    Note,
    Source,
    SpaceState,
    State,
    Topic,
)
from citations.outline import topics
from citations.vectors import space as vector_space
from tests.admin_pages import act, listing
from tests.makers import make_citation, make_cues, make_document, make_user, make_video, multiply
from transcripts.models import Collection, Transcript, Video

pytestmark = pytest.mark.usefixtures("fake_models")
MODELS = (Source, Chunk, EmbeddingSpace, Mark)
MANY = 10_000


@pytest.fixture
def library(collection: Collection, boss: User) -> Source:
    """A talk that is found by meaning, with one marked hit."""
    make_video(collection, title="Neural networks", cues=make_cues(20))
    (source,) = discovery.adopt()
    ingest_pipeline.ingest(source.pk)
    Mark.objects.create(
        user=boss,
        query="backpropagation",
        source=source,
        span_start=0,
        span_end=9,
        start=1_000,
        right=True,
    )
    source.refresh_from_db()
    return source


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_table_is_searchable_and_filterable_and_every_page_opens(
    browser: Client, library: Source, model: type[models.Model]
) -> None:
    table = admin.site.get_model_admin(model)
    assert table.search_fields
    assert table.list_filter
    assert not table.show_full_result_count
    assert browser.get(listing(model, q="network")).status_code == 200
    assert browser.get(listing(model)).status_code == 200
    row = model._default_manager.first()
    assert row is not None
    page = browser.get(reverse(f"admin:citations_{model._meta.model_name}_change", args=[row.pk]))
    assert page.status_code == 200
    assert 'name="_save"' not in page.content.decode()


def test_no_listing_asks_more_for_more_rows(
    browser: Client, collection: Collection, boss: User, django_assert_max_num_queries: Any
) -> None:
    for n in range(8):
        make_video(collection, key=f"v{n}", cues=make_cues(4))
    for source in discovery.adopt():
        ingest_pipeline.ingest(source.pk)
        Mark.objects.create(
            user=boss, query="x", source=source, span_start=0, span_end=1, right=True
        )
    for model in MODELS:
        with django_assert_max_num_queries(15):
            assert browser.get(listing(model)).status_code == 200


def test_chunks_are_found_by_their_words(browser: Client, library: Source) -> None:
    page = browser.get(listing(Chunk, q="backpropagation")).content.decode()
    assert "Backpropagation" in page
    assert (
        "0 results" in browser.get(listing(Chunk, q="walrus")).content.decode()
        or "0 chunks" in browser.get(listing(Chunk, q="walrus")).content.decode()
    )


def test_chunks_and_spaces_and_sources_of_videos_are_not_deleted_here(
    browser: Client, library: Source
) -> None:
    for row in (library, Chunk.objects.all()[0], EmbeddingSpace.objects.get()):
        assert (
            browser.post(
                reverse(f"admin:citations_{row._meta.model_name}_delete", args=[row.pk]),
                {"post": "yes"},
            ).status_code
            == 403
        )
    document = Source.objects.create(collection=library.collection, kind="text", title="Notes")
    assert (
        browser.post(
            reverse("admin:citations_source_delete", args=[document.pk]), {"post": "yes"}
        ).status_code
        == 302
    )
    assert not Source.objects.filter(pk=document.pk).exists()


# Asking for work


def test_sources_are_indexed_again(browser: Client, library: Source) -> None:
    assert "1 will be indexed again" in act(browser, Source, "index_again", [library])
    library.refresh_from_db()
    assert library.state == State.PENDING
    assert library.chunk_count == Chunk.objects.count() > 0


def test_sources_that_wait_are_tried_at_once(browser: Client, library: Source) -> None:
    Source.objects.update(state=State.WORDS, run_after=timezone.now() + timedelta(hours=1))
    assert "1 will be tried at once" in act(browser, Source, "try_again", [library])
    assert list(lanes.waiting()) == [library]


def test_the_library_is_moved_to_another_model(browser: Client, library: Source) -> None:
    space = vector_space.locked()
    assert space is not None
    old = EmbeddingSpace.objects.create(
        provider="fake", model="others", dimensions=8, state=SpaceState.RETIRED
    )
    assert "1 migration is under way" in act(browser, EmbeddingSpace, "move", [old])
    building = migration.under_way()
    assert building is not None
    assert (building.model, building.dimensions) == ("others", 8)
    assert 'value="0"' in browser.get(listing(EmbeddingSpace)).content.decode()
    assert "1 given up" in act(browser, EmbeddingSpace, "give_up", [building])
    assert "already" in act(browser, EmbeddingSpace, "move", [space])


def test_adding_a_space_tells_how_much_it_is_and_then_begins(
    browser: Client, library: Source, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = reverse("admin:citations_embeddingspace_add")
    assert browser.get(path).status_code == 200
    missing = browser.post(path, {"provider": "bge-base", "begin": "Begin"}).content.decode()
    assert "errornote" in missing
    monkeypatch.setattr(
        "citations.admin.spaces.MigrateForm.choice",
        EmbeddingChoice(provider="fake", model="others"),
    )
    confirmation = browser.post(path, {"provider": "local", "look": ""}).content.decode()
    assert f"{Chunk.objects.count()} chunks" in confirmation
    assert migration.under_way() is None
    assert browser.post(path, {"provider": "local", "begin": "Begin"}).status_code == 302
    assert migration.under_way() is not None


def test_work_needs_the_right_to_change(library: Source) -> None:
    helper = make_user("helper", is_staff=True)
    helper.user_permissions.set(
        Permission.objects.filter(codename__in=("view_source", "view_embeddingspace"))
    )
    client = Client()
    client.force_login(helper)
    act(client, Source, "index_again", [library])
    library.refresh_from_db()
    assert library.state == State.READY
    assert client.get(reverse("admin:citations_embeddingspace_add")).status_code == 403


# Ten thousand


@pytest.fixture
def ten_thousand(collection: Collection) -> None:
    video = Video.objects.create(collection=collection, key="v0", title="Lecture 0")
    transcript = Transcript.objects.create(
        video=video,
        language="en",
        origin="auto",
        cues=[[0, 1, "x"]],
        digest="",
        cue_count=1,
        characters=1,
        duration=1,
    )
    source = Source.objects.create(
        collection=collection,
        video=video,
        transcript=transcript,
        title=video.title,
        fingerprint="x",
        kind="video",
        language="en",
        state=State.READY,
        chunk_count=2,
    )
    multiply(video, MANY - 1, key="'v' || n", title="'Lecture ' || n")
    multiply(transcript, MANY - 1, video_id=f"{video.pk} + n")
    multiply(
        source,
        MANY - 1,
        uuid="gen_random_uuid()",
        title="'Lecture ' || n",
        video_id=f"{video.pk} + n",
        transcript_id=f"{transcript.pk} + n",
    )
    space = EmbeddingSpace.objects.create(
        provider="fake", model="words", dimensions=4, state=SpaceState.ACTIVE
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO citations_chunk (source_id, ordinal, position, text, context, heading,"
            " sentence_starts, span_start, span_end, digest)"
            " SELECT s.id, n, s.id * 2 + n, 'x', '', '', '[]', 0, 1, ''"
            " FROM citations_source s, generate_series(0, 1) n"
        )
        cursor.execute(
            "INSERT INTO citations_embedding (chunk_id, space_id, source_id, digest, vector)"
            " SELECT id, %s, source_id, '', '[1,0,0,0]' FROM citations_chunk",
            [space.pk],
        )
        # As the database does by itself within a minute.
        cursor.execute(
            "ANALYZE transcripts_video, transcripts_transcript, citations_source,"
            " citations_chunk, citations_embedding"
        )
    assert Source.objects.count() == MANY


@pytest.mark.usefixtures("ten_thousand")
def test_ten_thousand_sources_are_listed_searched_looked_at_for_news_and_deleted(
    browser: Client,
    collection: Collection,
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for model in MODELS:
        for query in ({}, {"q": "Lecture 999"}, {"p": "50"}, {"o": "1"}):
            with django_assert_max_num_queries(15):
                response = browser.get(listing(model, **query))
            assert response.status_code in (200, 302)
            assert len(response.content) < 300_000
    Source.objects.update(fingerprint="", refreshed_at=None)
    monkeypatch.setattr(discovery, "AT_ONCE", 20)
    assert len(discovery.adopt()) == 20
    for _ in range(2):
        Video.objects.filter(pk__in=Video.objects.order_by("pk").values("pk")[: MANY // 2]).delete()
    assert Embedding.objects.count() == Chunk.objects.count() == Source.objects.count() * 2


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
    listed = browser.get(reverse(f"admin:citations_{name}_changelist", query={"q": "heat"}))
    assert "Heat" in listed.content.decode()
    row = model._default_manager.get()
    page = browser.get(reverse(f"admin:citations_{name}_change", args=[row.pk])).content.decode()
    assert "Heat" in page
    assert 'name="_save"' not in page


def test_staff_look_at_levels_and_topics_and_delete_none(
    client: Client, collection: Collection
) -> None:
    for n in range(8):
        make_video(collection, key=f"lecture-{n}", cues=make_cues(80))
    discovery.adopt()
    for source in Source.objects.all():
        ingest_pipeline.ingest(source.pk)
    topics.rebuild(collection)
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    for model, row in (("node", Node.objects.first()), ("topic", Topic.objects.first())):
        assert str(row.pk) in client.get(f"/admin/citations/{model}/").content.decode()
        assert client.get(f"/admin/citations/{model}/{row.pk}/change/").status_code == 200
        deletion = client.post(f"/admin/citations/{model}/{row.pk}/delete/", {"post": "yes"})
        assert deletion.status_code == 403
