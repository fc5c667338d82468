"""A library from Python: the same results on this machine and from a server, as documented."""

import json
import re
import signal
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from citations.schemas.answers import AskedEventOut, TracedReplyOut
from kbsite.library.remote import RemoteLibrary
from tests import template
from tests.programs import run_python
from tests.serving import ROOT, Serving
from transcripts.core.errors import (
    CollectionNotFound,
    Forbidden,
    InvalidInput,
    NotSignedIn,
    Unavailable,
)

NOTES = """# Waiting

Exponential backoff means that each pause is twice as long as the one before. It needs no guess.
"""
TALK = "WEBVTT\n\n00:01.000 --> 00:04.000\nA queue keeps what cannot be done at once.\n"
EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)
NOT_OURS = ("id", "milliseconds", "stages", "created_at", "mark")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    home = tmp_path_factory.mktemp("library") / "home"
    template.copy_to(home)
    server = Serving(home)
    yield server
    server.end(signal.SIGTERM)


@pytest.fixture(scope="module")
def token(served: Serving) -> str:
    return str(served.json("token", "create", "python", "--write")["token"])


@pytest.fixture
def kb(served: Serving, token: str) -> Iterator[RemoteLibrary]:
    with RemoteLibrary(served.url, token) as library:
        yield library


@pytest.fixture(scope="module")
def examples() -> list[str]:
    return EXAMPLE.findall((ROOT / "docs" / "python.md").read_text())


def run(code: str, folder: Path, served: Serving, **more: str) -> str:
    """What an example prints, run as a program of its own in a folder."""
    environment = {**served.environment, "PYTHONPATH": str(ROOT), **more}
    process = run_python(
        "-c", f"import kbsite.cuebase, sys\n{ALIAS}\n{code}", environment=environment, cwd=folder
    )
    return process.stdout


ALIAS = "sys.modules['cuebase'] = kbsite.cuebase"  # the name that an installation gives it


def same(result: Any) -> Any:
    """A result without what differs from call to call."""
    return result.model_dump(mode="json", exclude=set(NOT_OURS))


def test_the_documented_examples_run(
    served: Serving, token: str, examples: list[str], tmp_path: Path
) -> None:
    notes = f"{NOTES}Other tests add the same without this sentence, and without tags.\n"
    (tmp_path / "notes.md").write_text(notes)
    on_this_machine, narrowed, on_a_server, failing = examples
    shown = run(on_this_machine, tmp_path, served)
    assert "verbatim" in shown
    assert "twice as long" in shown
    assert run(narrowed, tmp_path, served).startswith("['Waiting']")
    address = {"CUEBASE_URL": served.url, "CUEBASE_TOKEN": token}
    assert run(on_a_server, tmp_path, served, **address).strip()
    assert run(failing, tmp_path, served).startswith("collection_not_found ")


def test_a_server_gives_what_this_machine_gives(
    served: Serving, token: str, kb: RemoteLibrary, tmp_path: Path
) -> None:
    (tmp_path / "waiting.md").write_text(NOTES)
    (tmp_path / "talk.vtt").write_text(TALK)
    document, recording = (kb.add(tmp_path / name)[0] for name in ("waiting.md", "talk.vtt"))
    assert kb.add(tmp_path / "waiting.md") == [document]
    code = f"""
import cuebase, json
with cuebase.open() as kb:
    results = (
        kb.search("pauses in a queue", explain=True),
        kb.ask("What is exponential backoff?", sources=[{document!r}]),
        kb.verify("keeps what cannot be done", source={recording!r}),
    )
    dumped = [result.model_dump(mode="json", exclude=set({NOT_OURS})) for result in results]
    print(json.dumps(dumped))
"""
    theirs = [
        same(kb.search("pauses in a queue", explain=True)),
        same(kb.ask("What is exponential backoff?", sources=[document])),
        same(kb.verify("keeps what cannot be done", source=recording)),
    ]
    ours = json.loads(run(code, tmp_path, served))
    for mine, other in zip(ours, theirs, strict=True):
        assert mine == other
    hit = next(row for row in theirs[0]["passages"] if row["video_id"] == recording)
    assert (hit["start"], hit["end"], hit["place"]) == (1.0, 4.0, "0:01–0:04")
    assert theirs[2]["verdict"] == "verbatim"


SEARCHES: list[dict[str, Any]] = [
    {"kinds": ["markdown"], "languages": ["en"]},
    {"kinds": ["pdf", "video"], "tags": ["narrowed"]},
    {"tags": ["narrowed"], "start": 0.5, "end": 3.25, "mode": "words"},
    {"tags": ["narrowed"], "start": 100},
    {"channels": ["Nobody"], "collections": ["library"]},
    {"since": date(1999, 1, 1), "until": date(2000, 1, 1)},
    {"rerank": False, "limit": 1, "explain": True},
]


def test_a_conversation_on_a_server_goes_on_and_is_read(kb: RemoteLibrary) -> None:
    first, *_, reply = kb.answer("What is exponential backoff?")
    assert isinstance(first, AskedEventOut)
    assert isinstance(reply, TracedReplyOut)
    conversation = str(first.conversation_id)
    list(kb.answer("And is there a queue?", conversation=conversation))
    replies = kb.read_conversation(conversation)
    assert [answer.question for answer in replies] == [reply.question, "And is there a queue?"]
    assert (replies[0].claims, replies[0].trace) == (reply.claims, reply.trace)
    assert [str(row.id) for row in kb.list_conversations(limit=1)] == [conversation]
    assert kb.find_sources("nothing at all").total == 0
    assert kb.is_served


def test_a_server_narrows_a_search_as_this_machine_does(
    served: Serving, kb: RemoteLibrary, tmp_path: Path
) -> None:
    (tmp_path / "narrowed.vtt").write_text(TALK.replace("queue", "narrow queue"))
    (tmp_path / "narrowed.md").write_text(NOTES.replace("Waiting", "Narrowed"))
    recording, document = (
        kb.add(tmp_path / name, tags=["narrowed"], language="en")[0]
        for name in ("narrowed.vtt", "narrowed.md")
    )
    code = f"""
import cuebase, datetime, json
with cuebase.open() as kb:
    results = [kb.search("pauses in a queue", **options) for options in {SEARCHES!r}]
    dumped = [result.model_dump(mode="json", exclude=set({NOT_OURS})) for result in results]
    print(json.dumps(dumped))
"""
    theirs = [same(kb.search("pauses in a queue", **options)) for options in SEARCHES]
    assert json.loads(run(code, tmp_path, served)) == theirs
    kinds, tagged, timed, late, channel, dated, best = (result["passages"] for result in theirs)
    assert {hit["kind"] for hit in kinds} == {"markdown"}
    assert [hit["video_id"] for hit in tagged] == [recording]
    assert recording in [hit["video_id"] for hit in timed]
    assert recording not in [hit["video_id"] for hit in late]
    assert (channel, dated, len(best)) == ([], [], 1)
    assert document in [hit["source_id"] for hit in kinds]


def test_errors_of_a_server_are_those_of_this_machine(
    served: Serving, kb: RemoteLibrary, tmp_path: Path
) -> None:
    with pytest.raises(CollectionNotFound) as missing:
        kb.search("x", collections=["nowhere"])
    assert missing.value.message
    with pytest.raises(InvalidInput):
        kb.add("ftp://example.org/no-video")
    with pytest.raises(InvalidInput):
        kb.search("x", limit=1_000)
    (tmp_path / "other.md").write_text(NOTES)
    read_only = served.json("token", "create", "reader")["token"]
    with RemoteLibrary(served.url, read_only) as reader, pytest.raises(Forbidden):
        reader.add(tmp_path / "other.md")
    with RemoteLibrary(served.url, "wrong") as stranger, pytest.raises(NotSignedIn):
        stranger.search("x")
    gone = RemoteLibrary("http://127.0.0.1:9", "x")
    with gone, pytest.raises(Unavailable, match="does not answer"):
        gone.search("x")
    with pytest.raises(InvalidInput, match="no address"):
        RemoteLibrary("file:///etc/passwd", "x")


def test_this_machine_names_the_error_of_a_file_and_opens_one_library_only(
    served: Serving, tmp_path: Path
) -> None:
    code = """
import cuebase
with cuebase.open() as kb:
    for attempt in (lambda: kb.add("nowhere/at all.vtt"), lambda: cuebase.open("elsewhere")):
        try:
            attempt()
        except cuebase.Error as error:
            print(type(error).__name__, error.code)
"""
    assert run(code, tmp_path, served).splitlines() == [
        "InvalidInput invalid_input",
        "Conflict conflict",
    ]
