"""Measuring a library with gold questions and marked hits, and comparing two measurements."""

import json

import pytest

from citations.errors import InvalidGold
from citations.evaluation import questions as gold_questions
from citations.evaluation import search_quality
from citations.evaluation.gold import Gold
from citations.evaluation.metrics import Scores
from citations.evaluation.questions import Question
from citations.evaluation.search_quality import Approach, QualityReport
from citations.library.filters import Filter
from citations.models import Chunk, EmbeddingSpace, Source, SpaceState
from citations.providers import registry
from citations.search import judgments
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from tests.citations.trusted_readers import trust_readers
from tests.makers import make_document, make_source, make_user, make_video
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


def embed_all() -> None:
    fill(vector_space.claim())


def fill(space: EmbeddingSpace) -> EmbeddingSpace:
    list(
        vector_store.make(
            space,
            vector_space.embedder_of(space),
            vector_store.in_batches(vector_store.missing(space)),
        )
    )
    return space


@pytest.fixture
def lecture(collection: Collection) -> Source:
    """A recording of chunks of ten seconds each."""
    return make_source(
        make_video(collection, key="lec"),
        texts=[
            "alpha beta",
            "entropy",
            "gamma delta",
            "entropy and many other words beside",
            "heat",
        ],
    )


def make_question(query: str, *ranges: tuple[float, float], source: str = "lec") -> Question:
    return Question(query=query, answers=(Gold(query=query, source=source, ranges=ranges),))


def lexical(scope: Scope, *questions: Question) -> Scores:
    """Return the scores of the search by words."""
    (row,) = search_quality.evaluate(scope, questions, modes=[Approach.WORDS]).rows
    return row.scores


def test_an_answer_found_first_scores_one_and_one_found_second_less(
    scope: Scope, lecture: Source
) -> None:
    first = lexical(scope, make_question("entropy", (10, 20)))
    assert (first.ndcg10, first.hit1, first.mrr10) == (1, 1, 1)
    second = lexical(scope, make_question("entropy", (30, 40)))
    assert second.ndcg10 == pytest.approx(0.6309, abs=1e-4)
    assert (second.hit1, second.hit5, second.mrr10) == (0, 1, 0.5)


def test_all_chunks_that_answer_count_for_recall_found_or_not(
    scope: Scope, lecture: Source
) -> None:
    scores = lexical(scope, make_question("entropy", (10, 50)))
    assert scores.recall10 == pytest.approx(2 / 4)


def test_questions_without_an_answer_here_are_skipped_and_counted(
    scope: Scope, lecture: Source
) -> None:
    report = search_quality.evaluate(
        scope,
        [
            make_question("entropy", (10, 20)),
            make_question("entropy", (900, 910)),
            make_question("x", (0, 5), source="elsewhere"),
        ],
    )
    assert (report.questions, report.skipped) == (1, 2)
    with pytest.raises(InvalidGold, match="No question"):
        search_quality.evaluate(NOTHING, [make_question("entropy", (10, 20))])
    with pytest.raises(InvalidGold, match="No question"):
        search_quality.evaluate(scope, [])


@pytest.mark.parametrize(
    ("query", "score"), [("-----", 0), ("entropy " * 1_000, 1)], ids=["without a word", "very long"]
)
def test_a_question_that_nobody_could_ask_does_not_end_the_measurement(
    scope: Scope, lecture: Source, query: str, score: float
) -> None:
    scores = lexical(scope, make_question(query, (10, 20)), make_question("entropy", (10, 20)))
    assert scores.hit1 == pytest.approx((score + 1) / 2)


def test_every_mode_that_can_be_taken_is_measured_unless_some_are_named(
    scope: Scope, lecture: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    def approaches(*modes: Approach) -> dict[str, float]:
        report = search_quality.evaluate(scope, [make_question("entropy", (10, 20))], modes=modes)
        return {row.approach: row.scores.hit1 for row in report.rows}

    assert [*approaches()] == ["words"]
    embed_all()
    assert [*approaches()] == ["words", "meaning", "both"]

    class Reranker:
        name = "by length"

        def score(self, query: str, texts: list[str]) -> list[float]:
            return [1 / (1 + len(text)) for text in texts]

    monkeypatch.setattr(registry, "reranker", Reranker)
    assert [*approaches()] == ["words", "meaning", "both", "both+rerank"]
    trust_readers(monkeypatch)
    assert approaches()["both+rerank"] == 0  # “heat” is shorter
    assert [*approaches(Approach.MEANING)] == ["meaning"]


def test_a_source_is_named_by_its_own_id_too_and_pages_are_compared(
    scope: Scope, collection: Collection
) -> None:
    source = make_document(collection, ["entropy", "heat"])
    Chunk.objects.filter(source=source, ordinal=0).update(page=7, last_page=7)
    question = Question(
        query="entropy", answers=(Gold(query="entropy", source=str(source.uuid), pages=((7, 8),)),)
    )
    assert lexical(scope, question).hit1 == 1


def test_an_answer_in_another_video_at_the_same_time_is_none(
    scope: Scope, collection: Collection, lecture: Source
) -> None:
    make_source(
        make_video(collection, key="other"),
        texts=["filler", "entropy entropy entropy entropy again"],
    )
    scores = lexical(scope, make_question("entropy", (10, 20)))
    assert (scores.hit1, scores.hit5) == (0, 1)


def test_a_filter_narrows_what_is_searched_and_what_counts(
    scope: Scope, collection: Collection, lecture: Source
) -> None:
    with pytest.raises(InvalidGold):
        search_quality.evaluate(
            scope, [make_question("entropy", (10, 20))], filter=Filter(kinds=("pdf",))
        )


def test_gold_lines_become_questions() -> None:
    (question,), rejected = gold_questions.from_file(
        '{"query": "entropy", "video": "lec", "gold": [[10, 20]]}\nnonsense\n'
    )
    assert len(rejected) == 1
    assert question.answers[0].ranges == ((10, 20),)
    with pytest.raises(InvalidGold, match="Line 1"):
        gold_questions.from_file("nonsense")


# Marks


def test_hits_marked_as_right_are_gold_and_those_marked_as_wrong_are_not(
    scope: Scope, lecture: Source
) -> None:
    ada = make_user()
    right, wrong = (Chunk.objects.get(source=lecture, ordinal=place).pk for place in (3, 1))
    judgments.mark(scope, ada, "entropy", right, right=True)
    judgments.mark(scope, ada, "entropy", wrong, right=False)
    judgments.mark(scope, ada, "heat", wrong, right=False)
    questions = gold_questions.from_marks(scope)
    assert [question.query for question in questions] == ["entropy"]
    scores = lexical(scope, *questions)
    assert (scores.hit1, scores.mrr10, scores.recall5) == (0, 0.5, 1)


def test_marks_are_taken_of_one_user_or_of_all_and_only_within_the_scope(
    scope: Scope, lecture: Source
) -> None:
    chunk = Chunk.objects.get(source=lecture, ordinal=1).pk
    for name, query in (("ada", "entropy"), ("bob", "disorder")):
        judgments.mark(scope, make_user(name), query, chunk, right=True)
    for user, queries in (("", ["disorder", "entropy"]), ("ada", ["entropy"])):
        marks = gold_questions.from_marks(scope, user=user)
        assert [question.query for question in marks] == queries
    assert gold_questions.from_marks(NOTHING) == []


def test_marks_in_a_document_without_times_or_pages_are_gold_too(
    scope: Scope, collection: Collection
) -> None:
    source = make_document(collection, ["entropy", "heat"])
    chunk = Chunk.objects.get(source=source, ordinal=1).pk
    judgments.mark(scope, make_user(), "heat", chunk, right=True)
    assert lexical(scope, *gold_questions.from_marks(scope)).hit1 == 1


# Comparing


def report(**scores: list[float]) -> QualityReport:
    rows = tuple(
        search_quality.Row(
            approach=name,
            scores=search_quality.metrics.mean([]),
            questions={f"q{number}": value for number, value in enumerate(values)},
            milliseconds=1.0,
        )
        for name, values in scores.items()
    )
    return QualityReport(rows=rows, questions=3, settings={})


def test_a_report_survives_being_kept(scope: Scope, lecture: Source) -> None:
    made = search_quality.evaluate(scope, [make_question("entropy", (10, 20))])
    assert search_quality.from_json(json.dumps(made.as_json())) == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "nonsense",
        '{"rows": [1]}',
        "[" * 100_000,
        '{"rows": 1, "questions": 1, "skipped": 0, "settings": {}}',
    ],
)
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(InvalidGold):
        search_quality.from_json(text)


def test_a_change_for_the_worse_loses_and_one_for_the_better_does_not() -> None:
    (change,) = search_quality.compare(report(hybrid=[1, 1, 1]), report(hybrid=[1, 0.5, 0.2]))
    assert change.loses
    assert change.difference.mean == pytest.approx(-0.4333, abs=1e-3)
    assert "0.567" in str(change)
    assert not search_quality.compare(report(hybrid=[0.5]), report(hybrid=[0.6]))[0].loses
    assert not search_quality.compare(report(hybrid=[0.5, 0.5]), report(hybrid=[0.5, 0.5]))[0].loses


def test_only_what_both_have_is_compared() -> None:
    changes = search_quality.compare(
        report(words=[1], both=[1, 0.2]), report(both=[1], meaning=[1])
    )
    assert [(change.approach, change.questions, change.before) for change in changes] == [
        ("both", 1, 1)
    ]
    with pytest.raises(InvalidGold, match="share no question"):
        search_quality.compare(report(words=[1]), report(both=[1]))


def test_a_space_that_finds_marked_hits_worse_loses(scope: Scope, lecture: Source) -> None:
    embed_all()
    wrong = EmbeddingSpace.objects.create(
        provider="fake", model="other", dimensions=64, state=SpaceState.BUILDING
    )
    assert search_quality.loses(wrong) == []  # nothing is marked
    warm = Chunk.objects.get(source=lecture, ordinal=4)  # is found by its vector alone
    judgments.mark(scope, make_user(), "warmth", warm.pk, right=True)
    fill(wrong)
    for space in EmbeddingSpace.objects.all():
        near = vector_space.embedder_of(space).embed_query("warmth")
        warm.embeddings.filter(space=space).update(vector=near)
    assert search_quality.loses(wrong) == []  # as good as the active one
    worst = vector_space.embedder_of(wrong).embed_query("warmth")
    wrong.embeddings.exclude(chunk=warm).update(vector=worst)
    wrong.embeddings.filter(chunk=warm).update(vector=-worst)
    (change,) = search_quality.loses(wrong)
    assert change.loses
