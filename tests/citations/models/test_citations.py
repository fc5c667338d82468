from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from citations.models import Answer, Citation, Conversation, LectureSession, Source, Window
from tests.makers import make_source, make_video
from transcripts.models import Collection

BEFORE = [("citations", "0014_note_once")]
AFTER = [("citations", "0015_one_citation")]
LATEST = [("citations", "0016_names")]
AT = {"span_start": 3, "span_end": 9, "digest": "d", "start": 1_000, "end": 2_500, "page": None}
RULES = """
    SELECT attname, confdeltype::text FROM pg_constraint
    JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
    WHERE contype = 'f' AND conrelid = %s::regclass
"""


def migrate(targets: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


@pytest.fixture
def old_apps(transactional_db: None) -> Iterator[Any]:
    yield migrate(BEFORE)
    migrate(MigrationExecutor(connection).loader.graph.leaf_nodes())


def deletion_rules(table: str) -> dict[str, str]:
    """Return what the database does with a row whose target is deleted: c is CASCADE."""
    with connection.cursor() as cursor:
        cursor.execute(RULES, [table])
        return dict(cursor.fetchall())


def make_old_rows(apps: Any) -> tuple[UUID, UUID]:
    collection, _ = apps.get_model("transcripts", "Collection").objects.get_or_create(
        slug="library", defaults={"name": "Library"}
    )
    models = {
        name: apps.get_model("citations", name).objects
        for name in (
            "Source",
            "Conversation",
            "Answer",
            "Quotation",
            "LectureSession",
            "Window",
            "Citation",
        )
    }
    source = models["Source"].create(collection=collection, kind="text", title="Book")
    conversation = models["Conversation"].create(title="All", collection=collection)
    answer = models["Answer"].create(conversation=conversation, ordinal=1, question="Why?")
    session = models["LectureSession"].create(collection=collection, title="Lecture")
    window = models["Window"].create(session=session, index=4, text="It is said.")
    quotation = models["Quotation"].create(
        answer=answer,
        number=2,
        source=source,
        quote="it was",
        before="As ",
        behind=" said",
        section_heading="One",
        **AT,
    )
    citation = models["Citation"].create(
        session=session,
        window=window,
        window_index=4,
        rank=3,
        source=source,
        quote="it was",
        snippet="it was",
        relevance_score=0.75,
        **AT,
    )
    return quotation.uuid, citation.uuid


def test_quotes_of_answers_become_citations_and_quotations_again(old_apps: Any) -> None:
    of_answer, of_lecture = make_old_rows(old_apps)
    quotations = list(old_apps.get_model("citations", "Quotation").objects.values())
    citations = list(old_apps.get_model("citations", "Citation").objects.values())

    model = migrate(AFTER).get_model("citations", "Citation")
    rows = {row["uuid"]: row for row in model.objects.values()}
    assert set(rows) == {of_answer, of_lecture}
    (quotation,) = quotations
    moved = quotation | {"prefix": quotation["before"], "suffix": quotation["behind"]}
    for name in ("id", "before", "behind"):
        del moved[name]
    assert rows[of_answer].items() >= moved.items()
    assert rows[of_answer]["session_id"] is rows[of_answer]["rank"] is None
    assert rows[of_lecture].items() >= citations[0].items()
    assert rows[of_lecture]["answer_id"] is rows[of_lecture]["number"] is None
    assert deletion_rules("citations_citation") == {
        "answer_id": "c",
        "session_id": "c",
        "window_id": "c",
        "source_id": "c",
        "chunk_id": "n",
    }

    migrate(LATEST)  # drops the old table
    apps = migrate(BEFORE)
    again = list(apps.get_model("citations", "Quotation").objects.values())
    assert [row | {"id": None} for row in again] == [row | {"id": None} for row in quotations]
    assert list(apps.get_model("citations", "Citation").objects.values()) == citations
    assert deletion_rules("citations_quotation") == {"answer_id": "c", "source_id": "c"}
    assert deletion_rules("citations_citation")["session_id"] == "c"


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
