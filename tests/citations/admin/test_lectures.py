"""Lectures in the admin: every table opens, with shares of outcomes and durations."""

import pytest
from django.contrib import admin
from django.db import connection, models
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from citations.lectures import sessions, speech
from citations.lectures.windows import Utterance
from citations.models import Citation, LectureSession, Segment, Source, Window, WindowOutcome
from tests.admin_pages import listing
from tests.makers import make_document
from transcripts.core.scope import Scope
from transcripts.models import Collection

OUTCOMES = [
    WindowOutcome.CITED,
    WindowOutcome.CITED,
    WindowOutcome.OFF_TOPIC,
    WindowOutcome.TOO_FAR,
    WindowOutcome.WAITING,
]


@pytest.fixture
def source(collection: Collection) -> Source:
    return make_document(collection, ["Entropy is disorder."])


@pytest.fixture
def lecture(scope: Scope, source: Source) -> LectureSession:
    session = sessions.start(scope, None, title="Heat")
    speech.push(session, [Utterance(0, "Entropy grows.", 61_000, 62_000)])
    for index, outcome in enumerate(OUTCOMES):
        about = (
            {
                "stages": {"search": 3.0},
                "milliseconds": 12.0,
                "note": "<b>Ordered</b> by similarity.",
            }
            if outcome == WindowOutcome.CITED
            else {}
        )
        Window.objects.create(
            session=session, index=index, text="a", start=61_000, outcome=outcome, **about
        )
    about = {
        "span_start": 0,
        "span_end": 5,
        "quote": "Entropy",
        "snippet": "Entropy",
        "relevance_score": 0.5,
        "digest": "d",
        "start": 61_000,
    }
    Citation.objects.create(
        session=session,
        window=Window.objects.earliest("index"),
        window_index=0,
        rank=1,
        source=source,
        **about,
    )
    return session


@pytest.mark.parametrize(
    "model", [LectureSession, Segment, Window, Citation], ids=lambda model: model.__name__
)
def test_every_table_is_searchable_and_every_page_opens(
    browser: Client, lecture: LectureSession, model: type[models.Model]
) -> None:
    assert admin.site.get_model_admin(model).list_filter
    assert "Heat" in browser.get(listing(model, q="heat")).content.decode()
    row = model._default_manager.first()
    assert row is not None
    page = browser.get(
        reverse(f"admin:citations_{model._meta.model_name}_change", args=[row.pk])
    ).content.decode()
    assert 'name="_save"' not in page


def test_skip_rates_and_stage_times_are_seen_per_session_and_in_all(
    browser: Client, lecture: LectureSession
) -> None:
    page = browser.get(listing(LectureSession)).content.decode()
    assert (
        "All lectures: 5 windows, 1 waiting; cited 50%, off-topic 25%, nothing is near enough 25%,"
        " nothing is relevant enough 0%, failed 0%; p50/p95 ms: search 3/3, total 12/12" in page
    )
    row = page[page.index("field-windows_") :]
    assert [
        row[row.index(f"field-{name}") :].partition(">")[2].partition("<")[0]
        for name in ("share_cited", "share_off_topic", "share_too_far", "share_too_weak")
    ] == ["50%", "25%", "25%", "0%"]
    html = browser.get(
        reverse("admin:citations_lecturesession_change", args=[lecture.pk])
    ).content.decode()
    assert "cited: 2" in html
    assert "<td>search</td><td>3.0</td>" in html
    assert "2× &lt;b&gt;Ordered&lt;/b&gt; by similarity." in html


def test_the_list_asks_no_more_for_more_lectures(
    browser: Client, scope: Scope, lecture: LectureSession
) -> None:
    with CaptureQueriesContext(connection) as few:
        browser.get(listing(LectureSession))
    for number in range(5):
        sessions.start(scope, None, title=f"Lecture {number}")
    with CaptureQueriesContext(connection) as many:
        browser.get(listing(LectureSession))
    assert len(many) <= len(few)
