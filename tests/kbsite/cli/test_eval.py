"""`kb eval`: measuring, keeping a measurement, and refusing what loses."""

import json
from pathlib import Path
from typing import Any

import pytest

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import index as lexical_index
from citations.models import Chunk, Embedding, LexEntry, Source
from citations.providers import registry
from citations.search import judgments
from tests.citations.trusted_readers import trust_readers
from tests.kbsite.cli.conftest import Kb
from tests.makers import embed, make_source, make_user, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

TEXTS = ("alpha beta", "entropy", "gamma delta", "entropy and many other words beside", "heat")


class Backwards:
    """A cross-encoder that turns the order round."""

    name = "backwards"

    def score(self, query: str, texts: list[str]) -> list[float]:
        return [(index + 1) / (len(texts) + 1) for index in range(len(texts))]


@pytest.fixture
def gold(library: Collection, tmp_path: Path) -> Path:
    """A file of two questions, the second one not answered by the lecture there is."""
    make_source(make_video(library, key="lec"), texts=TEXTS)
    file = tmp_path / "gold.jsonl"
    lines = [
        {"query": "entropy", "video": "lec", "gold": [[10, 20]]},
        {"query": "entropy", "video": "elsewhere", "gold": [[10, 20]]},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


def mark(library: Collection, query: str, ordinal: int, *, name: str = "ada") -> None:
    reach = Scope(readable=frozenset({library.pk}))
    chunk = Chunk.objects.get(source__video__key="lec", ordinal=ordinal)
    judgments.mark(reach, make_user(name), query, chunk.pk, right=True)


def with_reranker(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Let RERANKER=backwards name a cross-encoder."""
    trust_readers(monkeypatch)
    monkeypatch.setattr(
        registry, "reranker", lambda: Backwards() if settings.RERANKER == "backwards" else None
    )


def test_a_table_shows_how_good_each_way_to_search_is(kb: Kb, gold: Path) -> None:
    ran = kb("eval", gold)
    assert all(part in ran.out for part in ("words", "nDCG@10", "1.000"))
    assert "1 questions; 1 more have no answer" in ran.err


def test_programs_get_the_measurement_as_json(kb: Kb, gold: Path) -> None:
    (report,) = kb("eval", gold, "--json").json["reports"]
    assert (report["questions"], report["skipped"]) == (1, 1)
    (row,) = report["rows"]
    assert row["approach"] == "words"
    assert row["scores"]["ndcg10"] == 1.0
    assert list(row["questions"].values()) == [1.0]


@pytest.mark.parametrize("options", [(), ("--answers",)])
def test_bad_lines_are_listed_and_the_others_measured(
    kb: Kb, gold: Path, options: tuple[str, ...]
) -> None:
    gold.write_text(f'{gold.read_text()}\nnonsense\n{{"query": ""}}\n')
    ran = kb("eval", gold, *options, "--json")
    assert [message[:6] for message in ran.json["rejected"]] == ["Line 3", "Line 4"]
    assert "Line 3 of the gold file cannot be used: it is not JSON." in ran.err
    assert "Lines left out: 2. A line looks like" in ran.err


def test_only_the_modes_that_are_named_are_measured(kb: Kb, gold: Path) -> None:
    (report,) = kb("eval", gold, "--mode", "both", "--json").json["reports"]
    assert [row["approach"] for row in report["rows"]] == ["both"]


def test_marked_hits_are_measured_of_all_or_of_one_user(
    kb: Kb, gold: Path, library: Collection
) -> None:
    assert "marked as right" in kb("eval", "--marked", code=2).err
    mark(library, "entropy", 1)
    mark(library, "heat", 4, name="bob")
    assert kb("eval", "--marked", "--json").json["reports"][0]["questions"] == 2
    assert kb("eval", "--marked", "--user", "bob", "--json").json["reports"][0]["questions"] == 1


def test_what_to_measure_with_has_to_be_said_once(kb: Kb, gold: Path) -> None:
    assert "--marked" in kb("eval", gold, "--marked", code=2).err


def test_a_kept_measurement_is_compared_and_a_loss_fails(
    kb: Kb, gold: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.json"
    kb("eval", gold, "--save", kept)
    assert "no loss" in kb("eval", gold, "--against", kept).err
    Chunk.objects.filter(ordinal=1).update(start=80_000, end=90_000)
    Chunk.objects.filter(ordinal=2).update(start=10_000, end=20_000)
    lost = kb("eval", gold, "--against", kept, code=5)
    assert "This loses: nDCG@10 of words goes from 1.000 to 0.000" in lost.err


def test_a_setting_that_loses_the_marked_hits_is_refused(
    kb: Kb, gold: Path, library: Collection, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_reranker(monkeypatch, settings)
    settings.RERANKER = "backwards"
    mark(library, "entropy", 1)
    embed(Source.objects.get())
    measured = ("eval", "--marked", "--mode", "both+rerank", "--with")
    better = kb(*measured, "RERANKER=none", "--json").json
    assert [change["loses"] for change in better["changes"]] == [False]
    assert settings.RERANKER == "backwards"
    settings.RERANKER = "none"
    assert "This loses" in kb(*measured, "reranker=backwards", code=5).err
    assert settings.RERANKER == "none"


def test_a_number_of_the_search_is_tried_before_it_is_set(
    kb: Kb, gold: Path, settings: Any
) -> None:
    text = "entropy " * 3 + "and many other words " * 3
    Chunk.objects.filter(ordinal=1).update(text=text.strip())
    make_source(make_video(Collection.objects.get(), key="other"), texts=["entropy"])
    LexEntry.objects.update(tokenizer_version=0)
    lexical_index.renew()
    tried = kb("eval", gold, "--with", "bm25_b=1", "--with", "BM25_K1=0", "--json")
    before, after = tried.json["reports"]
    assert (before["rows"][0]["scores"]["hit1"], after["rows"][0]["scores"]["hit1"]) == (0.0, 1.0)
    assert (before["settings"]["bm25_k1"], after["settings"]["bm25_k1"]) == ("1.5", "0.0")
    assert (settings.BM25_K1, settings.BM25_B) == (1.5, 0.75)


def test_other_chunk_sizes_are_tried_without_changing_the_library(
    kb: Kb, library: Collection, tmp_path: Path, settings: Any
) -> None:
    for key in ("lec", "other"):
        make_video(library, key=key)
    for source in discovery.adopt():
        ingest_pipeline.ingest(source.pk)
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"query": "convolution", "video": "lec", "gold": [[20, 40]]}))
    before = list(Chunk.objects.order_by("pk").values_list("pk", "position", "text"))
    vectors = list(Embedding.objects.order_by("pk").values_list("pk", "digest"))
    ran = kb(
        "eval", gold, "--with", "CHUNK_SIZE=150", "--with", "CHUNK_OVERLAP=0", "--json", code=5
    )
    usual, tried = ran.json["reports"]
    assert (usual["settings"]["chunks"], tried["settings"]["chunks"]) == ("500/150/80", "150/0/80")
    approaches = ["words", "meaning", "both"]
    for report in (usual, tried):
        assert [row["approach"] for row in report["rows"]] == approaches
    assert usual["rows"][0]["scores"] != tried["rows"][0]["scores"]
    assert "Only the sources of the questions are searched (1)" in ran.err
    assert list(Chunk.objects.order_by("pk").values_list("pk", "position", "text")) == before
    assert list(Embedding.objects.order_by("pk").values_list("pk", "digest")) == vectors
    assert settings.CHUNK_SIZE == 500
    assert {*Source.objects.values_list("split_by", "state")} == {("500/150/80", "ready")}
    refused = kb("eval", gold, "--with", "CHUNK_SIZE=120", code=2)
    assert "CHUNK_OVERLAP (150) must be less than CHUNK_SIZE (120)" in refused.err


@pytest.mark.parametrize(
    "setting",
    [
        "EMBEDDING_PROVIDER=bge",
        "SECRET_KEY=x",
        "RERANKER",
        "RERANK_CANDIDATES=many",
        "RERANK_CANDIDATES=0",
        "CHUNK_SIZE=-1",
        "BM25_B=1.5",
        "BM25_K1=-1",
        "BM25_K1=nan",
        "RRF_K=often",
        "DUPLICATE_SIMILARITY=2",
        "=",
        "",
    ],
)
def test_what_cannot_be_tried_is_refused(kb: Kb, gold: Path, setting: str) -> None:
    kb("eval", gold, "--with", setting, code=2)


def test_files_that_cannot_be_used_are_refused_with_the_reason(
    kb: Kb, gold: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b'{"query": "x"}\xff')
    assert "Line 1" in kb("eval", bad, code=2).err
    kb("eval", tmp_path / "missing.jsonl", code=2)
    assert "no measurement" in kb("eval", gold, "--against", bad, code=2).err
    nowhere = kb("eval", gold, "--save", tmp_path / "no" / "where.json", code=2)
    assert "cannot be written" in nowhere.err
