"""`kb outline`: the outline of a source, the topics of a collection, and building both anew."""

import pytest

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Node, Source
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_cues, make_video
from transcripts.models import Collection
from transcripts.text.timecodes import clock, milliseconds

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


def indexed(library: Collection, key: str = "lecture-1") -> Source:
    make_video(library, key=key, title=key, cues=make_cues(80))
    discovery.adopt()
    source = Source.objects.get(video__key=key)
    ingest_pipeline.ingest(source.pk)
    return source


def test_the_outline_of_a_source_is_printed_and_built_anew(kb: Kb, library: Collection):
    indexed(library)
    nodes = kb("outline", "lecture-1", "--json").json["nodes"]
    assert [node["level"] for node in nodes][:3] == [3, 2, 1]
    whole = nodes[0]
    assert (whole["start"], whole["place"]) == (0, f"0:00–{clock(milliseconds(whole['end']))}")
    assert whole["end"] < 1000  # seconds
    shown = " ".join(kb("outline", "lecture-1").out.split())
    assert whole["place"] in shown
    assert all(" ".join(node["text"].split()) in shown for node in nodes)
    Node.objects.all().delete()
    assert f"{len(nodes)} made" in kb("outline", "lecture-1", "--rebuild").err
    assert kb("outline", "lecture-1", "--json").json["nodes"] == nodes


def test_a_part_that_says_what_the_one_above_it_says_is_not_printed_again(
    kb: Kb, library: Collection
):
    make_video(library, key="short", title="Short", cues=make_cues(8))
    discovery.adopt()
    ingest_pipeline.ingest(Source.objects.get().pk)
    nodes = kb("outline", "short", "--json").json["nodes"]
    assert [node["level"] for node in nodes] == [3, 2, 1]
    printed = " ".join(kb("outline", "short").out.split())
    assert printed.count("Welcome to this lecture on neural networks.") == 1


def test_topics_are_found_anew_and_printed(kb: Kb, library: Collection):
    assert "No topics yet" in kb("outline").out
    for n in range(8):
        indexed(library, f"lecture-{n}")
    kb("outline", "--rebuild")
    topics = kb("outline", "--json").json["topics"]
    assert sum(topic["sections"] for topic in topics) >= 8
    assert topics[0]["label"] in kb("outline", "--collection", library.slug).out
