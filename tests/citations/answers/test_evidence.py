"""Searching over levels of detail."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from citations.answers import evidence as answer_evidence
from citations.answers.answer import Breadth, EvidenceSet, QuestionPart
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


def find(scope: Scope, question: QuestionPart | str, **about: Any) -> EvidenceSet:
    part = QuestionPart(text=question) if isinstance(question, str) else question
    return answer_evidence.find(scope, part, **about)


def only(source: Source, **about: Any) -> Filter:
    return Filter(sources=(str(source.uuid),), **about)


@pytest.mark.parametrize("breadth", Breadth)
def test_chunks_answer_where_there_is_no_level_above_them(
    collection: Collection, scope: Scope, breadth: Breadth
) -> None:
    source = make_document(collection, TEXTS)
    part = QuestionPart(text="What is enthalpy?", breadth=breadth, about="enthalpy")
    passages = find(scope, part).evidence
    first = passages[0]
    assert (first.number, first.text, first.level, first.source) == (1, TEXTS[1], 0, source.pk)
    assert first.spans == (first.locator.span,)
    assert [passage.number for passage in passages] == list(range(1, len(passages) + 1))


def test_nothing_outside_the_scope_or_the_filter_is_found(
    collection: Collection, scope: Scope
) -> None:
    make_document(collection, TEXTS)
    other = make_document(collection, TEXTS[1:])
    assert not find(NOTHING, "enthalpy").evidence
    assert sources_of(find(scope, "enthalpy", filter=only(other))) == {other.pk}


def test_quotation_marks_that_stand_in_the_way_are_overlooked_and_that_is_said(
    collection: Collection, scope: Scope
) -> None:
    make_document(collection, TEXTS)
    evidence_set = find(scope, 'What does "enthalpy is the cold" mean?')
    assert evidence_set.evidence[0].text == TEXTS[1]
    assert answer_evidence.UNQUOTED in evidence_set.notes
    assert answer_evidence.UNQUOTED not in find(scope, 'What is "enthalpy"?').notes


def test_a_question_longer_than_a_search_takes_is_cut(collection: Collection, scope: Scope) -> None:
    make_document(collection, TEXTS)
    assert find(scope, "enthalpy " * 1_000).evidence[0].text == TEXTS[1]


def test_scores_of_words_alone_do_not_count_as_those_of_words_and_meaning(
    collection: Collection, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ModelServerError("The server is down.")

    embed(make_document(collection, TEXTS))
    assert find(scope, "enthalpy").is_fused
    monkeypatch.setattr(registry, "identity", lambda _: ("fake", "words", 64))
    monkeypatch.setattr(registry, "embedder", fail)
    late = find(scope, "enthalpy")
    assert (late.evidence[0].score, late.is_fused) == (1.0, False)


def test_a_question_without_words_is_refused(scope: Scope) -> None:
    with pytest.raises(EmptyQuery):
        find(scope, "?!")


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


def sources_of(evidence_set: EvidenceSet) -> set[int]:
    return {passage.source for passage in evidence_set.evidence}


def text_of(source: Source) -> str:
    return blocks.text_of(source_blocks.read(Source.objects.get(pk=source.pk)))


def test_an_overview_begins_with_sections_and_documents_and_a_fact_has_chunks(
    collection: Collection, scope: Scope
) -> None:
    source = lecture(collection, "entropy", "whales")
    lecture(collection, "bridges", key="other")
    text, about = "Whales: mammals that live in the sea", "Whales mammals live sea"
    broad = find(scope, QuestionPart(text=text, breadth=Breadth.BROAD, about=about))
    first = broad.evidence[0]
    assert first.level >= Level.SECTION
    assert (first.source, "hales" in first.text) == (source.pk, True)
    specific = find(scope, "Where do whales live?")
    assert set(levels(specific)) == {0}
    assert all(0 <= passage.score <= 1 for passage in (*broad.evidence, *specific.evidence))
    scores = [passage.score for passage in specific.evidence]
    assert scores == sorted(scores, reverse=True)
    assert [stage.name for stage in broad.stages][-1] == "levels"


def test_every_passage_stands_in_its_source_word_for_word(
    collection: Collection, scope: Scope
) -> None:
    source = lecture(collection, "entropy", "whales")
    text = text_of(source)
    passages = find(scope, OVERVIEW).evidence
    digest = Source.objects.get(pk=source.pk).digest
    assert {passage.digest for passage in passages} == {digest}
    for passage in passages:
        spans = passage.spans if passage.level else passage.spans[:1]
        assert passage.text == " ".join(text[first:last] for first, last in spans)


def test_a_question_without_a_subject_is_answered_by_the_whole_then_by_its_largest_sections(
    collection: Collection, scope: Scope
) -> None:
    source = lecture(collection, *SUBJECTS, *SUBJECTS, *SUBJECTS, count=24)
    lecture(collection, "bridges", key="other")
    evidence_set = find(scope, WHOLE, filter=only(source))
    first, *others = levels(evidence_set)
    assert (first, {*others}) == (Level.DOCUMENT, {Level.SECTION})
    assert sources_of(evidence_set) == {source.pk}


@pytest.mark.parametrize("breadth", Breadth)
def test_a_summary_and_the_chunks_that_it_is_made_of_are_not_both_told(
    collection: Collection, scope: Scope, breadth: Breadth
) -> None:
    lecture(collection, "entropy", "whales")
    part = OVERVIEW if breadth == Breadth.BROAD else OVERVIEW.text
    passages = find(scope, part, limit=30).evidence
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
    for part in (OVERVIEW.text, OVERVIEW, WHOLE):
        assert sources_of(find(scope, part)) <= {mine.pk, other.pk}
        narrowed = find(scope, part, filter=only(mine, start=30, end=110))
        assert sources_of(narrowed) == {mine.pk}
        for passage in narrowed.evidence:
            start, end = passage.locator.start or 0, passage.locator.end or 0
            assert end > 30_000
            assert start < 110_000
            assert not passage.level or (start >= 30_000 and end <= 110_000)
        assert not find(NOTHING, part).evidence


def test_a_node_whose_sentences_are_no_longer_there_is_left_out(
    collection: Collection, scope: Scope
) -> None:
    lecture(collection, "entropy", "whales")
    assert max(levels(find(scope, OVERVIEW))) > 0
    Chunk.objects.update(span_start=F("span_start") + 3, span_end=F("span_end") + 3)
    assert set(levels(find(scope, OVERVIEW))) == {0}


def test_nodes_without_vectors_are_found_by_the_words_below_them(
    collection: Collection, scope: Scope
) -> None:
    source = lecture(collection, "entropy", "whales")
    Node.objects.update(vector=None, space=None)
    first = find(scope, OVERVIEW).evidence[0]
    assert first.level >= Level.SECTION
    assert first.source == source.pk


def test_a_cross_encoder_reads_ten_passages_for_an_answer(
    collection: Collection, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Sequence[str]] = []

    class Reader:
        name = "reader"

        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            read.append(texts)
            return [0.5] * len(texts)

    embed(make_document(collection, [f"Whales eat krill {n}." for n in range(15)]))
    monkeypatch.setattr(registry, "reranker", Reader)
    evidence = find(scope, "What do whales eat?")
    assert [len(texts) for texts in read] == [10]
    assert evidence.is_fused  # its score is a sign of the judge, which keeps its scale


def test_a_search_over_levels_asks_the_database_the_same_few_times(
    collection: Collection, scope: Scope
) -> None:
    counts = []
    for n in range(2):
        lecture(collection, "entropy", "whales", key=f"talk{n}")
        with CaptureQueriesContext(connection) as queries:
            find(scope, "Where do whales live?")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 14
