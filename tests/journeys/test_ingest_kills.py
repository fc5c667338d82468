"""Processes killed while the library is indexed or migrated: nothing is lost or doubled."""

import json
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import consistency
from tests.fork_server import Fork
from tests.instance import Instance, kill, wait_until

TALKS = 8
ADD = f"""
from transcripts.models import Collection
from tests.makers import make_cues, make_video
shelf = Collection.objects.default()
for n in range({TALKS}):
    sentences = [f"Talk {{n}} is on its own subject {{n}}.", "A network is a chain.", "It goes on."]
    make_video(shelf, key=f"talk-{{n}}", cues=make_cues(200, sentences=sentences))
"""
SETTLED = "SELECT count(*) FROM citations_source WHERE state = 'ready'"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    with Instance(tmp_path / "home", RERANKER="none") as site:
        yield site


def test_killed_workers_lose_nothing_and_words_are_found_within_seconds(instance: Instance) -> None:
    with instance.worker() as worker:
        wait_until(lambda: instance.rows("SELECT FROM transcripts_workerpulse"), what="the worker")
        instance.python(ADD)
        wait_until(
            lambda: (
                instance.rows("SELECT count(*) FROM citations_source WHERE chunk_count > 0")
                == [(TALKS,)]
            ),
            what="their words",
            patience=30,
        )
        kill(worker)
    for table in ("citations_chunk", "citations_embedding"):
        with instance.worker() as worker, instance.locked(table):
            wait_until(lambda: _waits_for_a_lock(instance), what=f"a writer of {table}")
            kill(worker)
    with instance.worker() as worker:
        wait_until(
            lambda: instance.rows("SELECT FROM citations_source WHERE step <> ''"), what="an ingest"
        )
        time.sleep(random.uniform(0, 0.5))
        kill(worker)
    _finishes(instance)


def test_a_worker_finishes_what_a_killed_command_began(instance: Instance) -> None:
    instance.python(ADD)
    with _process(
        instance, "-m", "kbsite.cli", "add", "--wait", str(_captions(instance.home))
    ) as adding:
        wait_until(
            lambda: instance.rows("SELECT FROM citations_source WHERE state <> 'pending'"),
            what="the first words",
        )
        kill(adding)
    _finishes(instance, talks=TALKS + 1)


SEARCHING = """
import json, time
from django.db import connection
from citations.search import pipeline as search_pipeline
from citations.vectors import space as vector_space
from citations.models import Embedding, EmbeddingSpace
from citations.passages import SearchMode
from transcripts.core.scope import Scope
from transcripts.models import Collection
scope = Scope(readable=frozenset(Collection.objects.values_list("pk", flat=True)))
expected = None
while True:
    for mode in (SearchMode.MEANING, SearchMode.BOTH):
        answer = {"spaces": [vector_space.active().pk]}
        try:
            query = "Talk 7 is on its own subject 7."
            results = search_pipeline.search(scope, query, mode=mode, limit=5)
            answer["texts"] = [passage.text[:60] for passage in results.passages]
            answer["scores"] = [passage.score for passage in results.passages]
            answer["notes"] = list(results.notes)
        except Exception as error:
            answer["error"] = repr(error)
        answer["spaces"].append(vector_space.active().pk)
        print(json.dumps(answer), flush=True)
"""
MIGRATE = (
    "-m",
    "kbsite.cli",
    "db",
    "migrate-embeddings",
    "--to",
    "fake",
    "--model",
    "others",
    "--dimensions",
    "48",
    "--yes",
)


def test_searches_continue_while_a_migration_is_killed_resumed_and_finished(
    instance: Instance,
) -> None:
    instance.python(ADD)
    _finishes(instance)
    old, chunks = instance.rows(
        "SELECT id, (SELECT count(*) FROM citations_chunk) FROM citations_embeddingspace"
    )[0]
    with _searching(instance) as answers:
        wait_until(lambda: len(_lines(answers)) > 5, what="the first searches")
        with instance.locked("citations_embedding"), _process(instance, *MIGRATE) as migrating:
            wait_until(lambda: _waits_for_a_lock(instance), what="the first vectors to be stored")
            kill(migrating)
        with _process(instance, *MIGRATE) as migrating:
            wait_until(lambda: _embedded(instance, old), what="the first vectors")
            kill(migrating)
        assert _embedded(instance, old) > 0
        with instance.worker() as worker:
            wait_until(lambda: _embedded(instance, old) > chunks / 2, what="more vectors")
            kill(worker)
        with _process(instance, *MIGRATE) as migrating:
            migrating.wait(60)
        wait_until(lambda: _switched(instance, old), what="the switch")
        seen = len(_lines(answers))
        wait_until(lambda: len(_lines(answers)) > seen + 10, what="searches after the switch")
        results = [json.loads(line) for line in _lines(answers)]
    assert [result for result in results if "error" in result or result["notes"]] == []
    # A search that saw one space returns what that space returns, never a mixture of two.
    by_space: dict[int, set[str]] = {}
    for result in results:
        if result["spaces"][0] == result["spaces"][1]:
            hits = json.dumps([result["texts"], result["scores"]])
            by_space.setdefault(result["spaces"][0], set()).add(hits)
    assert all(len(hits) == 2 for hits in by_space.values()), "one result for each mode"
    assert {space for result in results for space in result["spaces"]} == {
        old,
        instance.rows("SELECT id FROM citations_embeddingspace WHERE state = 'active'")[0][0],
    }
    assert all(len(row["texts"]) == 5 and "Talk 7" in row["texts"][0] for row in results)
    assert instance.rows("SELECT count(*) FROM citations_embedding WHERE space_id <> %s", old) == [
        (chunks,)
    ]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
def test_a_migration_whose_database_restarts_says_so_and_is_resumed_by_the_same_command(
    instance: Instance, how: signal.Signals
) -> None:
    instance.python(ADD)
    _finishes(instance)
    log = instance.home / "migration.log"
    with log.open("wb") as output:
        streams = {"stdout": output.fileno(), "stderr": output.fileno()}
        with instance.locked("citations_embedding"), _process(instance, *MIGRATE, **streams) as cut:
            wait_until(lambda: _waits_for_a_lock(instance), what="the first vectors to be stored")
            instance.restart(how)
            assert cut.wait(60) == 8, log.read_text()
        of_the_first = log.read_text()
        with _process(instance, *MIGRATE, **streams) as resumed:
            assert resumed.wait(60) == 0
    assert "Error: The database" in of_the_first
    assert "Traceback" not in log.read_text()
    assert instance.rows("SELECT state FROM citations_embeddingspace ORDER BY id DESC LIMIT 1") == [
        ("active",)
    ]


def _finishes(instance: Instance, *, talks: int = TALKS) -> None:
    """Let a worker do the rest, and look for anything that is there twice, missing or failed."""
    with instance.worker():
        wait_until(
            lambda: instance.rows(SETTLED) == [(talks,)],
            what="all sources to be ready",
            patience=120,
        )
    assert consistency.contradictions(instance.rows) == {}


def _waits_for_a_lock(instance: Instance) -> bool:
    return bool(instance.rows("SELECT FROM pg_locks WHERE NOT granted AND locktype = 'relation'"))


def _embedded(instance: Instance, old: int) -> int:
    return int(
        instance.rows("SELECT count(*) FROM citations_embedding WHERE space_id <> %s", old)[0][0]
    )


def _switched(instance: Instance, old: int) -> bool:
    return bool(
        instance.rows(
            "SELECT FROM citations_embeddingspace WHERE id <> %s AND state = 'active'", old
        )
    )


def _captions(home: Path) -> Path:
    text = "WEBVTT\n\n" + "\n".join(
        f"00:{n:02}:00.000 --> 00:{n:02}:59.000\nThis is minute {n} of it.\n" for n in range(59)
    )
    path = home / "added.vtt"
    path.write_text(text)
    return path


@contextmanager
def _process(instance: Instance, *arguments: str, **streams: int) -> Iterator[Fork]:
    process = Fork(*arguments, environment=instance.environment, **streams)
    try:
        yield process
    finally:
        kill(process)


@contextmanager
def _searching(instance: Instance) -> Iterator[Path]:
    """Search without a pause, from before a migration to after it; yields the file of answers, a
    line each.
    """
    answers = instance.home / "answers.jsonl"
    code = f"from kbsite import boot\nboot.boot()\n{SEARCHING}"
    with (
        answers.open("wb") as stream,
        _process(instance, "-c", code, stdout=stream.fileno(), stderr=stream.fileno()),
    ):
        yield answers


def _lines(path: Path) -> list[str]:
    text = path.read_text()
    return text[: text.rfind("\n") + 1].splitlines()
