"""Sections of several sources share topics, which are kept up to date a source at a time."""

import random

import pytest
from django.db.models import Sum

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Level, Node, Source, Topic, TopicMember
from citations.outline import topics
from tests.makers import make_video
from transcripts.models import Collection
from transcripts.text.cues import Cue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

SUBJECTS = {
    "bread": "flour yeast dough oven crust knead loaf bake",
    "stars": "galaxy telescope orbit comet planet nebula gravity light",
    "money": "bank credit loan interest market price invest debt",
}


def lecture(collection: Collection, key: str, *subjects: str, count: int = 60) -> Source:
    """Index a lecture that speaks of its subjects one after the other."""
    dice = random.Random(key)
    cues = []
    for n in range(count):
        words = SUBJECTS[subjects[n * len(subjects) // count]].split()
        cues.append(
            Cue(
                start=n * 5000,
                end=n * 5000 + 5000,
                text=f"We {' '.join(dice.choices(words, k=8))} here.",
            )
        )
    make_video(collection, key=key, title=key, cues=cues)
    discovery.adopt()
    source = Source.objects.get(video__key=key)
    ingest_pipeline.ingest(source.pk)
    return source


@pytest.fixture
def library(collection: Collection) -> list[Source]:
    """Six lectures, of two subjects each, and their topics."""
    pairs = (("bread", "stars"), ("stars", "money"), ("money", "bread")) * 2
    lectures = [lecture(collection, f"lecture-{n}", *pair) for n, pair in enumerate(pairs)]
    assert topics.rebuild(collection) >= 2
    return lectures


def shares() -> dict[int, float]:
    """Return what the shares of each section add up to."""
    return dict(TopicMember.objects.values_list("node").annotate(Sum("weight")))


def test_sections_of_one_subject_share_a_topic_across_sources(
    collection: Collection, library: list[Source]
) -> None:
    library_topics = topics.of(collection)
    assert max(topic.sources for topic in library_topics) >= 4
    named = " ".join(topic.label for topic in library_topics)
    assert any(word in named for word in SUBJECTS["bread"].split())
    assert any(word in named for word in SUBJECTS["stars"].split())


def test_the_shares_of_a_section_add_up_to_one(library: list[Source]) -> None:
    assert shares().keys() == set(
        Node.objects.filter(level=Level.SECTION).values_list("pk", flat=True)
    )
    assert all(total == pytest.approx(1) for total in shares().values())


def test_a_new_source_touches_only_the_topics_that_it_joins(
    collection: Collection, library: list[Source]
) -> None:
    before = {topic["id"]: topic for topic in Topic.objects.values()}
    source = lecture(collection, "another", "bread")
    joined = set(TopicMember.objects.filter(node__source=source).values_list("topic", flat=True))
    after = {topic["id"]: topic for topic in Topic.objects.values()}
    assert joined
    assert {pk for pk in before if before[pk] != after[pk]} == joined < before.keys()


def test_topics_are_told_anew_when_a_source_goes(
    collection: Collection, library: list[Source]
) -> None:
    for source in library[:4]:
        source.delete()
    topics.tend()
    assert all(topic.size == topic.members.count() > 0 for topic in Topic.objects.all())


def test_topics_are_found_anew_when_the_collection_has_grown_by_half(
    collection: Collection, library: list[Source]
) -> None:
    before = set(Topic.objects.values_list("pk", flat=True))
    lecture(collection, "a-little", "money", count=20)
    topics.tend()
    assert before <= set(Topic.objects.values_list("pk", flat=True))
    for n in range(5):
        lecture(collection, f"more-{n}", "money", "stars")
    topics.tend()
    assert not before & set(Topic.objects.values_list("pk", flat=True))
    assert all(total == pytest.approx(1) for total in shares().values())


def test_topics_found_anew_are_the_same_ones(collection: Collection, library: list[Source]) -> None:
    before = list(Topic.objects.order_by("label").values_list("label", "terms", "size"))
    topics.rebuild(collection)
    assert list(Topic.objects.order_by("label").values_list("label", "terms", "size")) == before


def test_a_source_that_was_moved_leaves_the_topics_of_its_collection(
    collection: Collection, library: list[Source]
) -> None:
    other = Collection.objects.create(name="Other", slug="other")
    Source.objects.filter(pk=library[0].pk).update(collection=other)
    topics.tend()
    assert not TopicMember.objects.filter(node__source=library[0])


def test_few_sections_have_no_topics(collection: Collection) -> None:
    lecture(collection, "one", "bread", count=12)
    assert topics.rebuild(collection) == 0
    assert topics.tend() == 0
