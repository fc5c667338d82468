"""What stands for the sources as a whole."""

import pytest

from citations.answers import evidence
from citations.answers.answer import Breadth, QuestionPart
from citations.library.filters import Filter, resolve
from citations.models import Level, Node, Source, Topic
from citations.outline import search as outline_search
from citations.outline import topics
from tests.citations.answers.test_evidence import lecture
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection, Transcript, Video

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

ASKED = "What is this library about?"


def sources_of(whole: outline_search.Whole) -> set[int]:
    return {node.passage.source for node, _ in whole.nodes}


def of(
    scope: Scope, question: str = ASKED, *, filter: Filter = Filter(), limit: int = 10
) -> outline_search.Whole:
    return outline_search.overview(scope, resolve(scope, filter), question, limit=limit)


def test_of_few_sources_each_is_told_and_its_sections(collection: Collection, scope: Scope) -> None:
    mine = [lecture(collection, "entropy", "whales", key=f"talk{number}").pk for number in range(2)]
    whole = of(scope)
    assert sources_of(whole) == set(mine)
    assert {node.level for node, _ in whole.nodes} == {Level.DOCUMENT, Level.SECTION}
    assert whole.note == ""


def test_of_many_sources_the_largest_topics_are_told(collection: Collection, scope: Scope) -> None:
    for number in range(outline_search.FEW + 3):
        lecture(collection, "whales" if number % 3 else "bridges", "entropy", key=f"talk{number}")
    assert "longest" in of(scope).note
    assert topics.rebuild(collection) > 1
    whole = of(scope)
    assert "topics" in whole.note
    assert {node.level for node, _ in whole.nodes} == {Level.SECTION}
    assert len(whole.nodes) == min(10, Topic.objects.count())
    said = " ".join(node.passage.text for node, _ in whole.nodes)
    assert all(word in said for word in ("hales", "ridges", "ntropy"))
    evidence_set = evidence.find(scope, QuestionPart(text=ASKED, breadth=Breadth.BROAD))
    assert whole.note in evidence_set.notes
    assert [stage.name for stage in evidence_set.stages] == ["levels"]


def test_nothing_that_is_not_visible_or_filtered_out_stands_for_the_whole(
    collection: Collection, scope: Scope
) -> None:
    for number in range(outline_search.FEW + 3):
        lecture(collection, "whales", "entropy", key=f"talk{number}")
    topics.rebuild(collection)
    elsewhere = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    for number in range(outline_search.FEW + 3):
        lecture(elsewhere, "bridges", "whales", key=f"theirs{number}")
    topics.rebuild(elsewhere)
    own = set(Source.objects.filter(collection=collection).values_list("pk", flat=True))
    assert sources_of(of(scope)) <= own
    assert of(scope).nodes
    source = Source.objects.filter(collection=collection)[0]
    assert sources_of(of(scope, filter=Filter(sources=(str(source.uuid),)))) == {source.pk}
    assert of(NOTHING).nodes == []


def test_of_a_speaker_only_what_nobody_else_says_stands_for_the_whole(
    collection: Collection, scope: Scope
) -> None:
    source = lecture(collection, "entropy", "whales")
    source.chunks.update(speaker="Ann Lee")
    filter = Filter(speakers=("Ann Lee",))
    assert Level.DOCUMENT in {node.level for node, _ in of(scope, filter=filter).nodes}
    source.chunks.filter(ordinal=0).update(speaker="Bo Chen")
    assert all(node.first > 0 for node, _ in of(scope, filter=filter).nodes)


def test_a_video_is_told_of_in_the_language_of_the_question(
    collection: Collection, scope: Scope
) -> None:
    english = lecture(collection, "entropy", "whales")
    Source.objects.filter(pk=english.pk).update(language="en")
    german = lecture(collection, "bridges", "whales", key="other")
    Transcript.objects.filter(pk=german.transcript_id).update(video=english.video_id, language="de")
    Source.objects.filter(pk=german.pk).update(video=english.video_id, language="de")
    Video.objects.filter(pk=german.video_id).delete()
    assert Node.objects.values("source").distinct().count() == 2
    assert sources_of(of(scope, "What is this about?")) == {english.pk}
    assert sources_of(of(scope, "Worum geht es in den Quellen und was ist das Wichtigste?")) == {
        german.pk
    }
