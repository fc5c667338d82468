from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.db.models import DO_NOTHING, ForeignKey

from citations.models import Answer, Citation, Conversation, LectureSession, Source, Window
from tests.makers import make_source, make_video
from transcripts.models import Collection

AT = {"span_start": 3, "span_end": 9, "digest": "d", "start": 1_000, "end": 2_500, "page": None}
RULES = """
    SELECT attname, confdeltype::text FROM pg_constraint
    JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
    WHERE contype = 'f' AND conrelid = %s::regclass
"""


def deletion_rules(table: str) -> dict[str, str]:
    """What the database does with a row whose target is deleted: c is CASCADE, n SET NULL."""
    with connection.cursor() as cursor:
        cursor.execute(RULES, [table])
        return dict(cursor.fetchall())


def test_the_database_deletes_what_django_leaves_to_it(db: None) -> None:
    rules = {
        (model, field.column): deletion_rules(model._meta.db_table)[field.column]
        for model in apps.get_app_config("citations").get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, ForeignKey) and field.remote_field.on_delete is DO_NOTHING
    }
    assert rules
    assert set(rules.values()) <= {"c", "n"}, "a or r would keep the row, or refuse"
    assert deletion_rules("citations_citation") == {
        "answer_id": "c",
        "session_id": "c",
        "window_id": "c",
        "source_id": "c",
        "chunk_id": "n",
    }


@pytest.fixture
def answer(collection: Collection) -> Answer:
    conversation = Conversation.objects.create(title="All", collection=collection)
    return Answer.objects.create(conversation=conversation, ordinal=1, question="Why?")


@pytest.fixture
def window(collection: Collection) -> Window:
    session = LectureSession.objects.create(collection=collection, title="Lecture")
    return Window.objects.create(session=session, index=0, text="It is said.")


@pytest.fixture
def source(collection: Collection) -> Source:
    return make_source(make_video(collection), texts=["It was said."])


def refused(**columns: Any) -> bool:
    try:
        with transaction.atomic():
            Citation.objects.create(uuid=uuid4(), quote="it was", **AT, **columns)
    except IntegrityError:
        return True
    return False


def test_a_citation_belongs_to_an_answer_or_to_a_window_but_not_to_both_or_neither(
    answer: Answer, window: Window, source: Source
) -> None:
    of_answer = {"answer": answer, "number": 1}
    of_lecture = {
        "session": window.session,
        "window": window,
        "window_index": 0,
        "rank": 1,
        "relevance_score": 0.5,
    }
    assert refused(source=source)
    assert refused(source=source, **of_answer, **of_lecture)
    assert refused(source=source, answer=answer)
    assert refused(source=source, **(of_lecture | {"relevance_score": None}))
    assert not refused(source=source, **of_answer)
    assert not refused(source=source, **of_lecture)
    assert refused(source=source, **of_answer), "the number is taken"
    assert refused(source=source, **of_lecture), "the rank is taken"


def test_the_database_deletes_citations_with_their_answer(answer: Answer, source: Source) -> None:
    Citation.objects.create(answer=answer, number=1, source=source, quote="it was", **AT)
    answer.conversation.delete()
    assert not Citation.objects.exists()
