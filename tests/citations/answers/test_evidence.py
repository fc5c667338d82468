"""Searching over levels of detail."""

from collections.abc import Sequence

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from citations.answers import evidence as answer_evidence
from citations.answers.answer import Breadth, QuestionPart
from citations.answers.evidence import EvidenceSet
from citations.errors import ModelServerError
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.library.filters import Filter
from citations.models import Chunk, Level, Node, Source
from citations.providers import registry
from citations.readers import source_blocks
from citations.text import blocks
from tests.makers import embed, make_document, make_video
from transcripts.core.errors import EmptyQuery
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection
from transcripts.text.cues import Cue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

TEXTS = (
    "Entropy is disorder.",
    "Enthalpy is the heat of a system.",
    "Entropy, and entropy again.",
    "A cat sat on the mat.",
)


@pytest.mark.parametrize("breadth", Breadth)
def test_chunks_answer_where_there_is_no_level_above_them(
    collection: Collection, scope: Scope, breadth: Breadth
) -> None:
    source = make_document(collection, TEXTS)
    evidence_set = answer_evidence.find(
        scope, QuestionPart(text="What is enthalpy?", breadth=breadth, about="enthalpy")
    )
    first = evidence_set.evidence[0]
    assert (first.number, first.text, first.level, first.source) == (1, TEXTS[1], 0, source.pk)
    assert first.spans == (first.locator.span,)
    assert [passage.number for passage in evidence_set.evidence] == list(
        range(1, len(evidence_set.evidence) + 1)
    )


def test_a_definition_is_found_beside_many_passages_that_use_its_term_more_often(
    collection: Collection, scope: Scope
) -> None:
    subjects = ["gas", "water", "heat", "engine", "code", "noise", "star"]
    uses = [f"What is entropy of {subject}? Entropy, {subject}." for subject in subjects]
    definition = "In the hall on Monday somebody said: entropy is a measure of how gases mix."
    make_document(collection, (*uses, definition))
    evidence_set = answer_evidence.find(scope, QuestionPart(text="What is entropy?"), limit=5)
    assert [passage.text for passage in evidence_set.evidence[5:]] == [definition]
    assert evidence_set.evidence[5].score <= evidence_set.evidence[0].score


def test_nothing_outside_the_scope_or_the_filter_is_found(
    collection: Collection, scope: Scope
) -> None:
    make_document(collection, TEXTS)
    other = make_document(collection, TEXTS[1:])
    assert not answer_evidence.find(NOTHING, QuestionPart(text="enthalpy")).evidence
    evidence_set = answer_evidence.find(
        scope, QuestionPart(text="enthalpy"), filter=Filter(sources=(str(other.uuid),))
    )
    assert {passage.source for passage in evidence_set.evidence} == {other.pk}


def test_quotation_marks_that_stand_in_the_way_are_overlooked_and_that_is_said(
    collection: Collection, scope: Scope
) -> None:
    make_document(collection, TEXTS)
    evidence_set = answer_evidence.find(
        scope, QuestionPart(text='What does "enthalpy is the cold" mean?')
    )
    assert evidence_set.evidence[0].text == TEXTS[1]
    assert answer_evidence.UNQUOTED in evidence_set.notes
    assert (
        answer_evidence.UNQUOTED
        not in answer_evidence.find(scope, QuestionPart(text='What is "enthalpy"?')).notes
    )


def test_a_question_longer_than_a_search_takes_is_cut(collection: Collection, scope: Scope) -> None:
    make_document(collection, TEXTS)
    assert (
        answer_evidence.find(scope, QuestionPart(text="enthalpy " * 1_000)).evidence[0].text
        == TEXTS[1]
    )


def test_scores_of_words_alone_do_not_count_as_those_of_words_and_meaning(
    collection: Collection, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ModelServerError("The server is down.")

    embed(make_document(collection, TEXTS))
    assert answer_evidence.find(scope, QuestionPart(text="enthalpy")).is_fused
    monkeypatch.setattr(registry, "identity", lambda _: ("fake", "words", 64))
    monkeypatch.setattr(registry, "embedder", fail)
    late = answer_evidence.find(scope, QuestionPart(text="enthalpy"))
    assert (late.evidence[0].score, late.is_fused) == (1.0, False)


def test_a_question_without_words_is_refused(scope: Scope) -> None:
    with pytest.raises(EmptyQuery):
        answer_evidence.find(scope, QuestionPart(text="?!"))


# With levels above the chunks

OVERVIEW = QuestionPart(text="Give me an overview of whales", breadth=Breadth.BROAD, about="whales")
WHOLE = QuestionPart(text="What is this lecture about?", breadth=Breadth.BROAD)

SUBJECTS = {
    "entropy": "Entropy measures disorder in a closed system and grows over time.",
    "whales": "Whales are mammals that live in the sea and breathe air.",
    "bridges": "Bridges carry roads over rivers and are built of steel.",
}


def lecture(collection: Collection, *subjects: str, key: str = "talk", count: int = 12) -> Source:
    """Ingest a talk on one subject after the other, in sentences that all differ."""
    cues = [
        Cue(
            start=n * 5_000,
            end=n * 5_000 + 5_000,
            text=f"{SUBJECTS[subject]} This is point {n} about {subject}.",
        )
        for n, subject in enumerate(subject for subject in subjects for _ in range(count))
    ]
    video = make_video(collection, key=key, title=f"A talk on {' and '.join(subjects)}", cues=cues)
    discovery.adopt()
    source = Source.objects.get(video=video)
    ingest_pipeline.ingest(source.pk)
    return source


def levels(evidence_set: EvidenceSet) -> list[int]:
    return [passage.level for passage in evidence_set.evidence]


def text_of(source: Source) -> str:
    return blocks.text_of(source_blocks.read(Source.objects.get(pk=source.pk)))


def test_an_overview_begins_with_sections_and_documents_and_a_fact_has_chunks(
    collection: Collection, scope: Scope
) -> None:
    source = lecture(collection, "entropy", "whales")
    lecture(collection, "bridges", key="other")
    broad = answer_evidence.find(
        scope,
        QuestionPart(
            text="Whales: mammals that live in the sea",
            breadth=Breadth.BROAD,
            about="Whales mammals live sea",
        ),
    )
    assert broad.evidence[0].level >= Level.SECTION
    assert (broad.evidence[0].source, "hales" in broad.evidence[0].text) == (source.pk, True)
    specific = answer_evidence.find(scope, QuestionPart(text="Where do whales live?"))
    assert set(levels(specific)) == {0}
    assert all(
        0 <= passage.score <= 1
        for evidence_set in (broad, specific)
        for passage in evidence_set.evidence
    )
    assert [passage.score for passage in specific.evidence] == sorted(
        (passage.score for passage in specific.evidence), reverse=True
    )
    assert [stage.name for stage in broad.stages][-1] == "levels"


def test_every_passage_stands_in_its_source_word_for_word(
    collection: Collection, scope: Scope
) -> None:
    source = lecture(collection, "entropy", "whales")
    text = text_of(source)
    evidence_set = answer_evidence.find(scope, OVERVIEW)
    assert {passage.digest for passage in evidence_set.evidence} == {
        Source.objects.get(pk=source.pk).digest
    }
    assert all(
        passage.text == " ".join(text[first:last] for first, last in passage.spans)
        for passage in evidence_set.evidence
        if passage.level
    )
    assert all(
        passage.text == text[slice(*passage.spans[0])]
        for passage in evidence_set.evidence
        if not passage.level
    )


def test_a_question_without_a_subject_is_answered_by_the_whole_then_by_its_largest_sections(
    collection: Collection, scope: Scope
) -> None:
    source = lecture(collection, *SUBJECTS, *SUBJECTS, *SUBJECTS, count=24)
    lecture(collection, "bridges", key="other")
    evidence_set = answer_evidence.find(scope, WHOLE, filter=Filter(sources=(str(source.uuid),)))
    assert evidence_set.evidence[0].level == Level.DOCUMENT
    assert set(levels(evidence_set)[1:]) == {Level.SECTION}
    assert {passage.source for passage in evidence_set.evidence} == {source.pk}


@pytest.mark.parametrize("breadth", Breadth)
def test_a_summary_and_the_chunks_that_it_is_made_of_are_not_both_told(
    collection: Collection, scope: Scope, breadth: Breadth
) -> None:
    lecture(collection, "entropy", "whales")
    passages = answer_evidence.find(
        scope, OVERVIEW if breadth == Breadth.BROAD else QuestionPart(text=OVERVIEW.text), limit=30
    ).evidence
    assert len(passages) > 3
    for place, passage in enumerate(passages):
        said = {
            n
            for other in passages[:place]
            if passage.level or other.level
            for span in other.spans
            for n in range(*span)
        }
        own = {n for span in passage.spans for n in range(*span)}
        assert len(own & said) < len(own) / 2


def test_no_level_of_what_is_not_visible_or_filtered_out_is_found(
    collection: Collection, scope: Scope
) -> None:
    mine = lecture(collection, "entropy", "whales")
    elsewhere = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    lecture(elsewhere, "whales", key="theirs")
    other = lecture(collection, "whales", key="other")
    parts = (QuestionPart(text=OVERVIEW.text), OVERVIEW, WHOLE)
    for part in parts:
        assert {passage.source for passage in answer_evidence.find(scope, part).evidence} <= {
            mine.pk,
            other.pk,
        }
        narrowed = answer_evidence.find(
            scope, part, filter=Filter(sources=(str(mine.uuid),), start=30, end=110)
        )
        assert narrowed.evidence
        assert {passage.source for passage in narrowed.evidence} == {mine.pk}
        assert all(
            (passage.locator.end or 0) > 30_000 and (passage.locator.start or 0) < 110_000
            for passage in narrowed.evidence
        )
        assert all(
            (passage.locator.start or 0) >= 30_000 and (passage.locator.end or 0) <= 110_000
            for passage in narrowed.evidence
            if passage.level
        )
        assert not answer_evidence.find(NOTHING, part).evidence


def test_a_node_whose_sentences_are_no_longer_there_is_left_out(
    collection: Collection, scope: Scope
) -> None:
    lecture(collection, "entropy", "whales")
    assert max(levels(answer_evidence.find(scope, OVERVIEW))) > 0
    Chunk.objects.update(span_start=F("span_start") + 3, span_end=F("span_end") + 3)
    assert set(levels(answer_evidence.find(scope, OVERVIEW))) == {0}


def test_nodes_without_vectors_are_found_by_the_words_below_them(
    collection: Collection, scope: Scope
) -> None:
    source = lecture(collection, "entropy", "whales")
    Node.objects.update(vector=None, space=None)
    first = answer_evidence.find(scope, OVERVIEW).evidence[0]
    assert first.level >= Level.SECTION
    assert first.source == source.pk


def test_a_cross_encoder_scores_nodes_and_chunks_alike(
    collection: Collection, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counter:
        name = "counter"

        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            return [0.9 if text.count("hales") > 1 else 0.1 for text in texts]

    lecture(collection, "entropy", "whales")
    monkeypatch.setattr(registry, "reranker", Counter)
    passages = answer_evidence.find(scope, OVERVIEW).evidence
    assert {passage.score for passage in passages} <= {0.9, 0.1}
    assert passages[0].score == 0.9


def test_a_search_over_levels_asks_the_database_the_same_few_times(
    collection: Collection, scope: Scope
) -> None:
    counts = []
    for n in range(2):
        lecture(collection, "entropy", "whales", key=f"talk{n}")
        with CaptureQueriesContext(connection) as queries:
            answer_evidence.find(scope, QuestionPart(text="Where do whales live?"))
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 14
