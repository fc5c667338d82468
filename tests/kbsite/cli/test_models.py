"""models: what is here, and fetching what is not."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from citations.providers import weights
from tests.citations.providers import tiny_models
from tests.hub_standin import Fault, HubStandIn
from tests.kbsite.cli.conftest import Kb
from tests.programs import run_program
from tests.scripted_model_server import Reply, ScriptedModelServer, events, whole

ROOT = Path(__file__).resolve().parents[3]
NAME = "somebody/cross"

pytestmark = pytest.mark.usefixtures("fresh_registry")


@pytest.fixture(autouse=True)
def machine(settings: Any, hub: HubStandIn) -> HubStandIn:
    """A machine that has the embedding model; its cross-encoder is at the hub."""
    (
        settings.EMBEDDING_PROVIDER,
        settings.RERANKER,
        settings.LIVE_RERANKER,
        settings.LLM_PROVIDER,
    ) = "local", NAME, "none", "none"
    hub.publish(NAME, tiny_models.folder(tiny_models.CROSS))
    return hub


def flat(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def test_the_models_of_the_settings_are_listed(kb: Kb, hub: HubStandIn) -> None:
    ran = kb("models")
    lines = [flat(line) for line in ran.out.splitlines()]
    assert lines[0] == "Model Provider Used for Here Size Licence"
    assert f"{weights.MINILM} local embedding, chunking yes" in lines[1]
    assert "92 MB apache-2.0" in lines[1]
    assert lines[2] == f"{NAME} local reranking no"
    assert "`kb models fetch` gets the missing models" in ran.err
    assert not hub.requests


def test_the_list_is_json(kb: Kb) -> None:
    ran = kb("models", "--json")
    embedding, reranker = ran.json
    assert embedding == {
        "model": weights.MINILM,
        "provider": "local",
        "uses": ["embedding", "chunking"],
        "present": True,
        "size": weights.size(weights.find(weights.MINILM)),
        "licence": "apache-2.0",
        "note": "",
    }
    assert reranker == {
        "model": NAME,
        "provider": "local",
        "uses": ["reranking"],
        "present": False,
        "size": None,
        "licence": "",
        "note": "",
    }
    assert not ran.err


def test_a_known_model_has_a_size_before_it_is_here(kb: Kb, settings: Any) -> None:
    settings.EMBEDDING_PROVIDER = "bge"
    assert "BAAI/bge-m3 bge embedding no about 2.3 GB mit" in flat(kb("models").out)


def test_nothing_is_said_of_fetching_where_all_is_here(kb: Kb, settings: Any) -> None:
    settings.RERANKER = "none"
    assert not kb("models").err
    assert kb("models", "fetch").out.strip() == "Nothing is missing."
    assert kb("models", "fetch", "--json").json == []


def test_what_is_missing_is_fetched(kb: Kb, hub: HubStandIn) -> None:
    ran = kb("models", "fetch")
    assert flat(ran.out).startswith(f"{NAME}: fetched, 1 MB, in /")
    assert [entry["present"] for entry in kb("models", "--json").json] == [True, True]
    before = len(hub.requests)
    assert "Nothing is missing." in kb("models", "fetch").out
    assert f"{NAME}: already here" in kb("models", "fetch", "reranker").out
    assert len(hub.requests) == before


def test_a_fetched_model_is_told_as_json_and_nothing_else(kb: Kb, hub_cache: Path) -> None:
    ran = kb("models", "fetch", "reranker", "local", "--json")
    reranker, local = ran.json
    assert reranker == {
        "model": NAME,
        "fetched": True,
        "size": weights.size(Path(reranker["folder"])),
        "folder": reranker["folder"],
    }
    assert Path(reranker["folder"]).is_relative_to(hub_cache)
    assert (local["model"], local["fetched"]) == (weights.MINILM, False)
    assert not ran.err


@pytest.mark.parametrize("arguments", [["no-such"], ["/etc/passwd"], ["reranker", "a/b/c"], [""]])
def test_a_name_that_means_no_model_is_told_before_anything_is_fetched(
    kb: Kb, hub: HubStandIn, arguments: list[str]
) -> None:
    ran = kb("models", "fetch", *arguments, code=2)
    assert "to download" in ran.err
    assert "bge-base" in flat(ran.err)
    assert not ran.out
    assert not hub.requests


@pytest.mark.parametrize(
    ("fault", "message", "hint"),
    [
        (Fault.UNAUTHORIZED, "There is no model somebody/cross", "HF_TOKEN"),
        (Fault.GATED, "accepted its terms", "HF_TOKEN"),
        (Fault.OVERLOADED, "HTTP 503", "later"),
        (Fault.OTHER, "not the Hugging Face hub", "sign-in"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_what_goes_wrong_is_told(
    kb: Kb, hub: HubStandIn, fault: Fault, message: str, hint: str, as_json: bool
) -> None:
    hub.fail(fault)
    ran = kb("models", "fetch", *(["--json"] if as_json else []), code=8)
    assert message in flat(ran.err)
    assert hint in flat(ran.err)
    assert not ran.out


def test_a_fetch_that_broke_off_is_run_again(kb: Kb, hub: HubStandIn) -> None:
    hub.fail(Fault.RESET, at="/store/")
    assert "Run the command again to resume" in flat(kb("models", "fetch", code=8).err)
    half = hub.sent("/store/")
    assert "fetched" in kb("models", "fetch").out
    assert (
        hub.sent("/store/")
        < 1.5 * half
        + len((tiny_models.folder(tiny_models.CROSS) / "model.safetensors").read_bytes()) / 2
    )


def test_a_folder_that_is_not_there_is_told(kb: Kb, settings: Any, tmp_path: Path) -> None:
    settings.RERANKER = str(tmp_path / "gone")
    assert "There is no model" in flat(kb("models", "fetch", code=8).err)


def test_neither_needs_a_database(machine: HubStandIn, tmp_path: Path) -> None:
    """The real program: nothing is started, and a bar is drawn only in a terminal."""
    environment = {
        "YOUTUBE_KB_DATA_DIR": str(tmp_path / "data"),
        "HF_HOME": str(tmp_path / "hub"),
        "HF_ENDPOINT": machine.url,
        "NO_PROXY": "127.0.0.1,localhost",
        "RERANKER": NAME,
        "LIVE_RERANKER": "none",
        "SPEECH_PROVIDER": "none",
        "PATH": str(tmp_path),
        "DATABASE_URL": "postgresql://127.0.0.1:9/nothing",
    }
    process = run_program(
        sys.executable,
        "-c",
        "from kbsite.cli import main; main()",
        "models",
        "fetch",
        "--json",
        environment=environment,
    )
    assert json.loads(process.stdout)[0]["fetched"] is True
    assert not process.stderr
    assert not (tmp_path / "data" / "postgres").exists()


def test_the_language_model_is_tried(kb: Kb, settings: Any) -> None:
    def reply(body: dict[str, Any]) -> Reply:
        words = ("It clicks off ", "at 96 degrees [1].")
        return Reply(events(*words)) if body.get("stream") else Reply(whole('{"degrees": 96}'))

    with ScriptedModelServer(reply) as server:
        settings.LLM_PROVIDER, settings.LLM_MODEL = "openai", "small"
        settings.LLM_BASE_URL = f"{server.url}/v1"
        lines = [flat(line) for line in kb("models", "try").out.splitlines()]
        result = kb("models", "try", "--json").json
    assert lines[0].startswith("small 127.0.0.1:")
    assert lines[1] == "Answers It clicks off at 96 degrees [1]."
    assert any(line.startswith("Speed ") and "words a second" in line for line in lines)
    assert (result["answers"], result["json"], result["model"]) == (True, True, "small")


def test_without_a_language_model_there_is_nothing_to_try(kb: Kb) -> None:
    ran = kb("models", "try", code=8)
    assert "No language model is configured" in ran.err
