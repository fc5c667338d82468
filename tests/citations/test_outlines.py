"""Each source is told in levels of detail, kept up to date when it changes, and read again."""

import pytest

from citations import ingestion, outlines
from citations.models import Chunk, Level, Node, Source
from tests.makers import make_cues, make_video
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


def indexed(collection: Collection, **about) -> Source:
    video = make_video(collection, **about)
    ingestion.adopt()
    source = Source.objects.get(video=video)
    ingestion.ingest(source.pk)
    source.refresh_from_db()
    return source


def test_an_ingest_tells_a_source_in_groups_sections_and_as_a_whole(collection: Collection) -> None:
    source = indexed(collection, cues=make_cues(200))
    nodes = outlines.of(source)
    count = Chunk.objects.filter(source=source).count()
    text = " ".join(cue.text for cue in make_cues(200))
    assert [node.level for node in nodes] == sorted((node.level for node in nodes), reverse=True)
    for level in Level:
        own = [node for node in nodes if node.level == level]
        assert [own[0].first, *(node.first for node in own[1:]), own[-1].last + 1] == [0, *(node.last + 1 for node in own)]
        assert own[-1].last == count - 1
    assert all(node.text == " ".join(text[first:last] for first, last in node.spans) for node in nodes)
    assert Node.objects.filter(source=source, vector=None).count() == 0
    assert nodes[0].title == source.title


def test_a_tree_that_is_built_again_is_the_same(collection: Collection) -> None:
    source = indexed(collection)
    count = Node.objects.count()
    assert outlines.refresh(source) == (count, 0, 0, 0)
