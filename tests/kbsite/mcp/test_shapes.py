"""REST, MCP and ``kb --json`` show the same fields with the same values."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from typer.testing import CliRunner

from citations.models import Source
from kbsite import boot
from kbsite.cli.app import app
from tests.citations.talks import QUESTION, talk_in
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, data
from transcripts.models import Job

# Each call has its own; of an answer, also its ids and the links made of them.
OWN = {"milliseconds", "stages", "updated_at", "created_at", "id", "conversation_id"}
MCP_ONLY = {"next_cursor", "is_cut", "problem_count", "sources"}
QUOTE = "Backpropagation carries the error of a network from its end back to its start."


class Doors:
    """The three doors to one library."""

    def __init__(self, endpoint: Endpoint, shelf: Shelf, talk: Source, job: Job) -> None:
        self.endpoint, self.shelf, self.talk, self.job = endpoint, shelf, talk, job
        self.rest = Client(headers={"Authorization": f"Bearer {shelf.token}"})

    def get(self, path: str) -> Any:
        return self.rest.get(f"/api/v1/{path}").json()

    def post(self, path: str, **body: Any) -> Any:
        return self.rest.post(f"/api/v1/{path}", json.dumps(body), "application/json").json()

    def tool(self, name: str, **arguments: Any) -> Any:
        return data(self.endpoint.call(self.shelf.token, name, **arguments))

    def kb(self, *arguments: object) -> Any:
        result = CliRunner().invoke(app, [*map(str, arguments), "--json"], prog_name="kb")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


@pytest.fixture
def doors(
    endpoint: Endpoint, shelf: Shelf, fake_models: None, monkeypatch: pytest.MonkeyPatch
) -> Doors:
    monkeypatch.setattr(boot, "boot", lambda **_: None)
    talk = talk_in(shelf.collection)
    job = Job.objects.create(
        collection=shelf.collection,
        kind="files",
        target="talk.vtt",
        state="done",
        problems=[{"name": "a.vtt", "code": "empty", "message": "It is empty.", "hint": ""}],
    )
    return Doors(endpoint, shelf, talk, job)


def search(doors: Doors) -> tuple[Any, Any, Any]:
    return (
        doors.get("search?q=error+network&explain=true&limit=50"),
        doors.tool("search_knowledge_base", query="error network", explain=True),
        doors.kb("search", "error network", "--explain", "--limit", 50),
    )


def quote_check(doors: Doors) -> tuple[Any, Any, Any]:
    return (
        doors.post("verify", quote=QUOTE),
        doors.tool("verify_quote", quote=QUOTE),
        doors.kb("verify", QUOTE),
    )


def source(doors: Doors) -> tuple[Any, Any, Any]:
    rest = doors.post(f"sources/{doors.talk.uuid}/index")
    (row,) = doors.tool("list_sources")["sources"]
    (printed,) = doors.kb("sources")["sources"]
    assert rest["id"] == row["id"] == printed["id"] == str(doors.talk.uuid)
    return rest, row, printed


def job(doors: Doors) -> tuple[Any, Any, Any]:
    rest = doors.get(f"jobs/{doors.job.pk}")
    progress = doors.tool("get_job", jobId=doors.job.pk)
    (printed,) = doors.kb("jobs", "--all")["jobs"]
    assert rest["id"] == progress["id"] == printed["id"] == doors.job.pk
    return rest, progress, printed


def answer(doors: Doors) -> tuple[Any, Any, Any]:
    shown = (
        doors.post("ask?stream=false", question=QUESTION),
        doors.tool("ask_knowledge_base", question=QUESTION),
        doors.kb("ask", QUESTION, "--trace"),
    )
    for reply in shown:
        assert reply["citations"]
        for citation in reply["citations"]:
            assert citation.pop("link").endswith(f"/citations/{citation['id']}/")
    return shown


def reading(doors: Doors) -> tuple[Any, Any, Any]:
    key = doors.talk.video.key
    shown = (
        doors.get(f"transcripts/{key}"),
        doors.tool("get_transcript", videoId=key),
        doors.kb("show", key),
    )
    shown[1].pop("timestamp_link")
    return shown


@pytest.mark.parametrize("show", [search, quote_check, source, job, answer, reading])
def test_every_door_shows_the_same(
    doors: Doors, show: Callable[[Doors], tuple[Any, Any, Any]]
) -> None:
    rest, tool, printed = (without(shown, OWN) for shown in show(doors))
    assert printed == rest
    assert_part_of(without(tool, MCP_ONLY), rest)


def test_an_error_is_the_same_problem_over_rest_and_in_the_terminal(doors: Doors) -> None:
    shown = doors.get("transcripts/nowhere")
    result = CliRunner().invoke(app, ["show", "nowhere", "--json"], prog_name="kb")
    assert (result.exit_code, result.stdout) == (3, "")
    problem = json.loads(result.stderr)
    assert problem == {name: shown[name] for name in ("code", "detail", "hint")}
    assert problem["code"] == "video_not_found"


def without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {name: without(part, names) for name, part in value.items() if name not in names}
    return [without(part, names) for part in value] if isinstance(value, list) else value


def assert_part_of(part: Any, whole: Any) -> None:
    """Assert that all fields of ``part`` are in ``whole``, with the same values."""
    if isinstance(part, dict):
        assert part.keys() <= whole.keys()
        for name in part:
            assert_part_of(part[name], whole[name])
    elif isinstance(part, list):
        assert len(part) == len(whole)
        for one_part, one_whole in zip(part, whole, strict=True):
            assert_part_of(one_part, one_whole)
    else:
        assert part == whole
