"""REST and ``kb --json`` show the same fields with the same values."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from typer.testing import CliRunner

from citations.answers import pipeline, tree_search
from citations.answers.answer import GROUND
from citations.models import Answer, Source
from citations.schemas.library import DatabaseOut, ListedVideosOut
from citations.schemas.notebook import HighlightsOut
from citations.schemas.outlines import OutlineOut, TopicsOut
from citations.schemas.search import SearchOut, SourcesOut
from citations.search import pipeline as search_pipeline
from citations.stages import LABELS
from kbsite import boot
from kbsite.cli.app import app
from kbsite.schemas import TokenOut, TokenSecretOut, UserOut
from tests.citations.talks import QUESTION, talk_in
from tests.kbsite.mcp.conftest import Shelf, make_shelf
from transcripts.models import Job
from transcripts.schemas import CollectionOut, VideoReadingOut, YouTubeOut

# Each call has its own; of an answer, also its ids and the links made of them.
OWN = {"milliseconds", "stages", "updated_at", "created_at", "id", "conversation_id"}
QUOTE = "Backpropagation carries the error of a network from its end back to its start."


class Doors:
    """Two doors to one library."""

    def __init__(self, shelf: Shelf, talk: Source, job: Job) -> None:
        self.talk, self.job = talk, job
        self.rest = Client(headers={"Authorization": f"Bearer {shelf.token}"})

    def get(self, path: str) -> Any:
        return self.rest.get(f"/api/v1/{path}").json()

    def post(self, path: str, **body: Any) -> Any:
        return self.rest.post(f"/api/v1/{path}", json.dumps(body), "application/json").json()

    def kb(self, *arguments: object) -> Any:
        result = CliRunner().invoke(app, [*map(str, arguments), "--json"], prog_name="kb")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


@pytest.fixture
def doors(db: None, fake_models: None, monkeypatch: pytest.MonkeyPatch) -> Doors:
    shelf = make_shelf("lectures")
    monkeypatch.setattr(boot, "boot", lambda **_: None)
    talk = talk_in(shelf.collection)
    job = Job.objects.create(
        collection=shelf.collection,
        kind="files",
        target="talk.vtt",
        state="done",
        problems=[{"name": "a.vtt", "code": "empty", "message": "It is empty.", "hint": ""}],
    )
    return Doors(shelf, talk, job)


def search(doors: Doors) -> tuple[Any, Any]:
    return (
        doors.get("search?q=error+network&explain=true&limit=50"),
        doors.kb("search", "error network", "--explain", "--limit", 50),
    )


def quote_check(doors: Doors) -> tuple[Any, Any]:
    return (doors.post("verify", quote=QUOTE), doors.kb("verify", QUOTE))


def source(doors: Doors) -> tuple[Any, Any]:
    rest = doors.post(f"sources/{doors.talk.uuid}/index")
    (printed,) = doors.kb("sources")["sources"]
    assert rest["id"] == printed["id"] == str(doors.talk.uuid)
    return rest, printed


def job(doors: Doors) -> tuple[Any, Any]:
    rest = doors.get(f"jobs/{doors.job.pk}")
    (printed,) = doors.kb("jobs", "--all")["jobs"]
    assert rest["id"] == printed["id"] == doors.job.pk
    return rest, printed


def answer(doors: Doors) -> tuple[Any, Any]:
    shown = (
        doors.post("ask?stream=false", question=QUESTION),
        doors.kb("ask", QUESTION, "--trace"),
    )
    for reply in shown:
        assert reply["citations"]
        for citation in reply["citations"]:
            assert citation.pop("link").endswith(f"/citations/{citation['id']}/")
    return shown


def reading(doors: Doors) -> tuple[Any, Any]:
    key = doors.talk.video.key
    return doors.get(f"transcripts/{key}"), doors.kb("show", key)


@pytest.mark.parametrize("show", [search, quote_check, source, job, answer, reading])
def test_both_doors_show_the_same(doors: Doors, show: Callable[[Doors], tuple[Any, Any]]) -> None:
    rest, printed = (without(shown, OWN) for shown in show(doors))
    assert printed == rest


SHAPES: dict[str, tuple[str, Any]] = {
    "search error": ("", SearchOut),
    "sources": ("", SourcesOut),
    "list": ("", ListedVideosOut),
    "show {key}": ("", VideoReadingOut),
    "outline {key}": ("", OutlineOut),
    "outline": ("", TopicsOut),
    "highlights": ("", HighlightsOut),
    "jobs --all": ("youtube", YouTubeOut),
    "jobs reopen": ("youtube", YouTubeOut),
    "collections": ("0", CollectionOut),
    "collections add New": ("", CollectionOut),
    "user list": ("0", UserOut),
    "token list": ("0", TokenOut),
    "token create mine": ("", TokenSecretOut),
    "db status": ("", DatabaseOut),
}


@pytest.mark.parametrize("command", SHAPES)
def test_what_kb_prints_as_json_is_its_shape(doors: Doors, command: str) -> None:
    part, shape = SHAPES[command]
    printed = doors.kb(*command.format(key=doors.talk.video.key).split())
    if part:
        printed = printed[int(part) if part.isdigit() else part]
    assert printed == shape.parse(printed).model_dump(mode="json")


def test_an_outline_has_times_in_seconds(doors: Doors) -> None:
    outline = doors.kb("outline", doors.talk.video.key)
    assert outline["source_id"] == str(doors.talk.uuid)
    ends = {node["end"] for node in outline["nodes"]}
    assert max(ends) == doors.talk.video.duration / 1000


def test_the_queue_to_youtube_is_the_same_over_rest_and_in_the_terminal(doors: Doors) -> None:
    assert doors.kb("jobs")["youtube"] == doors.get("youtube")


def test_every_stage_of_a_search_and_an_answer_has_a_label(doors: Doors) -> None:
    searched = doors.get("search?q=error+network&explain=true")
    answered = doors.post("ask?stream=false", question=QUESTION)
    answer = Answer.objects.get(uuid=answered["id"])
    shown = {stage["name"] for stage in (*searched["stages"], *answer.trace["stages"])}
    assert {"route", "lexical", "write", "ground"} <= shown
    events = {GROUND, pipeline.ROUTE, pipeline.RETRIEVE, pipeline.WRITE}
    others = {tree_search.LEVELS, search_pipeline.SPELL, *search_pipeline.STAGES}
    assert shown | events | others <= LABELS.keys()


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
