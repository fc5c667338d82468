"""`kb verify`."""

import json
from pathlib import Path

import pytest

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source
from tests.kbsite.cli.conftest import Kb
from tests.makers import SENTENCES, make_cues, make_video
from transcripts.models import Collection


@pytest.fixture
def talk(library: Collection, fake_models: None) -> Source:
    """An indexed talk."""
    make_video(library, key="talk", title="A talk")
    discovery.adopt()
    source = Source.objects.get()
    ingest_pipeline.ingest(source.pk)
    return source


def test_a_true_quote_is_told_with_its_place_and_a_false_one_with_what_differs(
    kb: Kb, talk: Source
) -> None:
    verified = kb("verify", f"{SENTENCES[1]} Point 1.")
    assert verified.out.startswith("verbatim")
    assert f"/videos/{talk.video_id}/?t=5s&until=10s" in verified.out
    altered = kb("verify", "A network is a chain of complex functions.", "--in", "talk", code=1)
    assert "changed: “complex” → “simple”" in altered.out
    added = kb("verify", "A network is never a chain of simple functions.", code=1)
    assert "added: “never”\n" in added.out
    assert kb("verify", "a chain", code=1).out.startswith("too short")
    make_video(
        talk.collection,
        key="other",
        title="Another talk",
        cues=make_cues(3, sentences=["Turbines hum at night."]),
    )
    discovery.adopt()
    elsewhere = kb("verify", f"{SENTENCES[1]} Point 1.", "--in", "other", code=1).out
    assert elsewhere.startswith("misattributed")
    assert "verbatim, but in another source: “A talk” 0:05" in elsewhere


def test_a_file_of_quotes_is_answered_line_by_line(kb: Kb, talk: Source, tmp_path: Path) -> None:
    file = tmp_path / "quotes.jsonl"
    file.write_text(
        "\n".join(
            [
                json.dumps(f"{SENTENCES[2]} Point 2."),
                "",
                json.dumps({"quote": "Bananas ripen in paper bags.", "source": "talk"}),
            ]
        )
    )
    rows = [
        json.loads(line) for line in kb("verify", "--file", file, "--json", code=1).out.splitlines()
    ]
    assert [(row["line"], row["verdict"], row["start"]) for row in rows] == [
        (1, "verbatim", 10.0),
        (3, "not_found", None),
    ]
    assert [
        line[:6]
        for line in kb("verify", "--file", file, code=1).out.splitlines()
        if not line.startswith(" ")
    ] == ["1: ver", "3: not"]


BROKEN = [
    "{",
    "7",
    "{}",
    '{"quote": 7}',
    '{"quote": "a b c d", "source": 7}',
    "[" * 100_000,
    '{"quote": "a b c d", "source": "nowhere"}',
    f'"{"a" * 1_000_001}"',
]


def test_a_line_that_is_no_quote_is_told_and_the_others_are_checked(
    kb: Kb, talk: Source, tmp_path: Path
) -> None:
    file = tmp_path / "quotes.jsonl"
    file.write_text("\n".join([*BROKEN, json.dumps(f"{SENTENCES[2]} Point 2.")]))
    result = kb("verify", "--file", file, "--json", code=2)
    assert [json.loads(line)["verdict"] for line in result.out.splitlines()] == ["verbatim"]
    assert [f"Line {number}: " in result.err for number in range(1, 10)] == [True] * 8 + [False]
    assert "Line 1: It is not JSON." in result.err
    assert "Line 4: It is neither a text nor an object with a “quote”" in result.err
    assert "Line 7: There is no source “nowhere”." in result.err
    assert "8 lines were not checked" in result.err
