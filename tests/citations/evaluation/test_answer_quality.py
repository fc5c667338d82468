"""How good answers are, on gold questions."""

import pytest

from citations.evaluation import answer_quality
from citations.evaluation.gold import Gold
from citations.evaluation.questions import Question
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source
from tests.makers import make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


def question(query: str, *ranges: tuple[float, float], source: str = "lecture-1") -> Question:
    return Question(query=query, answers=(Gold(query=query, source=source, ranges=ranges),))


def test_citations_are_compared_with_where_the_answer_is(
    collection: Collection, scope: Scope
) -> None:
    make_video(collection)
    discovery.adopt()
    for pk in Source.objects.values_list("pk", flat=True):
        ingest_pipeline.ingest(pk)
    questions = [
        question("What does backpropagation carry?", (0, 300)),
        question("What is pooling?", (0, 1)),
        question("Elsewhere", (0, 9), source="gone"),
    ]
    result = answer_quality.appraise(scope, questions)
    assert (result.questions, result.skipped, result.answered) == (2, 1, 2)
    assert result.first_right == result.any_right == 0.5
    assert sum(band.answers for band in result.reliability) == 2
    assert result.as_json()["error"] == result.error


def test_nothing_asked_is_nothing_found(scope: Scope) -> None:
    result = answer_quality.appraise(scope, [])
    assert (result.questions, result.answered, result.first_right, result.reliability) == (
        0,
        0,
        0.0,
        (),
    )


def test_a_table_tells_what_was_estimated_and_what_was_right() -> None:
    table = answer_quality.reliability([(0.9, True), (0.9, False), (0.1, False), (1.0, True)])
    assert [(part.low, part.answers, round(part.right, 2)) for part in table] == [
        (0.0, 1, 0.0),
        (0.8, 3, 0.67),
    ]
    assert answer_quality.calibration_error(table) == pytest.approx(
        (0.1 + 3 * (2.8 / 3 - 2 / 3)) / 4
    )
    assert answer_quality.calibration_error([]) == 0
