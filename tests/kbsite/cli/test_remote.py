"""kb with the library of a server: the same results as there, and what it says where it cannot."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from kbsite import boot
from tests import template
from tests.kbsite.cli.conftest import Ran, run_here
from tests.programs import run_python
from tests.serving import KB, Serving, environment, until

NOTES = """# Waiting

Exponential backoff means that each pause is twice as long as the one before. It needs no guess.
"""
TALK = "WEBVTT\n\n00:01.000 --> 00:04.000\nA queue keeps what cannot be done at once.\n"
SEARCH = ("search", "pauses in a queue", "--explain")
ASK = ("ask", "What does exponential backoff mean?")
VERIFY = ("verify", "each pause is twice as long as the one before")
NOT_EQUAL = {"id", "conversation_id", "created_at", "milliseconds", "stages", "link"}


class Terminal:
    """A terminal on another machine: its data directory has no library."""

    def __init__(self, home: Path, served: Serving, token: str) -> None:
        self.home = home
        self.settings = {"CUEBASE_SERVER": served.url, "CUEBASE_TOKEN": token}

    def run(self, *arguments: str, code: int = 0, stdin: str = "", **more: str) -> Ran:
        """Run a command in this process, where it must not open a library."""

        def open_library(**_: object) -> None:
            raise AssertionError("the library of this machine was opened")

        changed = override_settings(DATA_DIR=self.home, **{**self.settings, **more})
        with changed, pytest.MonkeyPatch.context() as patch:
            patch.setattr(boot, "boot", open_library)
            return run_here(*arguments, stdin=stdin, code=code)

    def start(self, *arguments: str, code: int = 0, **more: str) -> Ran:
        """Run a command in a process of its own."""
        process = run_python(
            *KB,
            *arguments,
            code=code,
            environment=environment(self.home, **{**self.settings, **more}),
        )
        return Ran(code=process.returncode, out=process.stdout, err=process.stderr)

    def json(self, *arguments: str, **options: Any) -> Any:
        return self.run(*arguments, "--json", **options).json


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("remote")
    template.copy_to(folder / "home")
    server = Serving(folder / "home")
    (folder / "waiting.md").write_text(NOTES)
    (folder / "talk.vtt").write_text(TALK)
    server.kb("add", str(folder / "waiting.md"), str(folder / "talk.vtt"), "--wait")
    yield server
    server.end(signal.SIGTERM)


@pytest.fixture(scope="module")
def terminal(served: Serving, tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    token = str(served.json("token", "create", "terminal", "--write")["token"])
    return Terminal(tmp_path_factory.mktemp("elsewhere") / "home", served, token)


def plain(value: Any) -> Any:
    """A result without what differs from call to call, and from address to address."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items() if name not in NOT_EQUAL}
    return [plain(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "command", [SEARCH, (*ASK, "--trace"), VERIFY], ids=lambda command: command[0]
)
def test_a_server_gives_what_it_would_give_there(
    served: Serving, terminal: Terminal, command: tuple[str, ...]
) -> None:
    def is_same() -> bool:
        there = plain(json.loads(served.kb(*command, "--json").stdout))
        return bool(there) and plain(terminal.start(*command, "--json").json) == there

    until(is_same)  # what other tests have added moves scores while it is being indexed
    lines = terminal.run(*command).out.splitlines()
    assert lines[:2] == served.kb(*command).stdout.splitlines()[:2]
    assert not (terminal.home / "postgres").exists()


def test_a_conversation_goes_on_where_it_was_left(terminal: Terminal) -> None:
    first = terminal.json(*ASK)
    assert (first["state"], "trace" in first) == ("answered", False)
    assert first["citations"][0]["link"].startswith("http")
    followed = terminal.json("ask", "And why is it twice as long?", "--follow-up")
    assert followed["conversation_id"] == first["conversation_id"]
    shown = terminal.run(*ASK)
    assert "each pause is twice as long as the one before" in shown.out
    assert "[1] Waiting" in shown.out
    assert "the sources’ own words" in shown.err
    nowhere = ("ask", "And why?", "--follow-up", "--collection", "nowhere")
    assert "nowhere" in terminal.run(*nowhere, code=3).err
    refused = terminal.run("ask", "Which turbine has a governor?")
    assert "nothing was made up" in refused.err


def test_an_option_names_the_server_and_an_empty_one_this_machine(
    served: Serving, terminal: Terminal
) -> None:
    chosen = ("--server", served.url, "verify", "twice as long as the one")
    assert terminal.start(*chosen, CUEBASE_SERVER="").out.startswith("verbatim")
    unreachable = {**served.environment, "CUEBASE_SERVER": "http://127.0.0.1:9"}
    assert terminal.start(*chosen, **unreachable).out.startswith("verbatim")
    here = ("--server", "", "verify", "twice as long as the one")
    assert terminal.start(*here, **unreachable).out.startswith("verbatim")
    assert "does not answer" in terminal.start(*here[2:], **unreachable, code=8).err


def test_quotes_of_a_file_are_checked_on_the_server(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "quotes.jsonl"
    lines = [VERIFY[1], {"quote": "It needs no guess.", "source": "nowhere"}]
    file.write_text("\n".join(map(json.dumps, lines)))
    done = terminal.run("verify", "--file", str(file), "--json", code=2)
    assert done.json["verdict"] == "verbatim"
    assert "Line 2: There is no source “nowhere”." in done.err


@pytest.mark.parametrize("command", ["list", "serve", "doctor", "db"])
def test_other_commands_say_that_they_work_on_this_machine(
    terminal: Terminal, command: str
) -> None:
    refused = terminal.run(command, code=2)
    assert f"`kb {command}` works on the library of this machine" in refused.err
    assert f'kb --server "" {command}' in refused.err
    assert "Usage:" in terminal.run(command, "--help").out


def test_settings_are_shown_whatever_the_server(terminal: Terminal) -> None:
    shown = terminal.start("config", "--json")
    rows = {row["name"]: row for row in shown.json}
    assert rows["CUEBASE_SERVER"]["value"] == terminal.settings["CUEBASE_SERVER"]
    assert terminal.settings["CUEBASE_TOKEN"] not in shown.out


@pytest.mark.parametrize(
    ("changed", "code", "sentence"),
    [
        ({"CUEBASE_TOKEN": "kb_wrong"}, 4, "This token is unknown, expired or revoked."),
        ({"CUEBASE_TOKEN": ""}, 4, "There is no token for http://127.0.0.1"),
        ({"CUEBASE_TOKEN": "kb_\nx"}, 4, "This is no token."),
        ({"CUEBASE_SERVER": "http://127.0.0.1:9"}, 8, "does not answer: "),
        ({"CUEBASE_SERVER": "http://kb.example.org"}, 2, "Without https"),
        ({"CUEBASE_SERVER": "kb.example.org"}, 2, "is no address of a server"),
    ],
)
def test_what_prevents_a_call_is_said(
    terminal: Terminal, changed: dict[str, str], code: int, sentence: str
) -> None:
    failed = terminal.run("search", "queue", code=code, **changed)
    assert sentence in failed.err
    assert len(failed.err.splitlines()) >= 2
    assert "Traceback" not in failed.err
    problem = json.loads(terminal.run("search", "queue", "--json", code=code, **changed).err)
    assert problem["code"]
    assert problem["hint"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("search", "x", "--collection", "nowhere"), 3, "nowhere"),
        (("search", "x", "--in", "nowhere"), 3, "nowhere"),
        (("search", "x", "--kind", "scroll"), 2, "kind"),
        (("search", "   "), 2, "nothing to search"),
        (("verify", "each pause is twice as long", "--in", "nowhere"), 3, "nowhere"),
    ],
)
def test_errors_of_the_server_end_with_the_codes_that_they_have_there(
    served: Serving, terminal: Terminal, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    assert sentence in served.kb(*arguments, code=code).stderr
    assert sentence in terminal.run(*arguments, code=code).err


# Adding


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "folder" / "deeper").mkdir(parents=True)
    said = {
        "a.en.vtt": "Volcanoes erupt where a plate is thin.",
        "b.vtt": "Volcanoes make islands of basalt.",
        "deeper/c.vtt": "Sleeping volcanoes are watched by satellite.",
        "../alone.vtt": "A geyser needs heat, water and a narrow pipe.",
    }
    for name, sentence in said.items():
        captions = f"WEBVTT\n\n00:01.000 --> 00:04.000\n{sentence}\n"
        (tmp_path / "folder" / name).write_text(captions)
    (tmp_path / "folder" / "a.info.json").write_text('{"id": "dQw4w9WgXcQ", "title": "Talk A"}')
    (tmp_path / "folder" / "handout.md").write_text("# Handout\n\nBackoff has no jitter here.\n")
    (tmp_path / "folder" / "broken.vtt").write_text("WEBVTT\n")
    (tmp_path / "folder" / "picture.jpg").write_bytes(b"\xff\xd8")
    return tmp_path


def test_a_file_is_sent_and_found_on_the_server(
    served: Serving, terminal: Terminal, files: Path
) -> None:
    document = str(files / "sent.md")
    Path(document).write_text("# Sent\n\nBackoff has no jitter there either.\n")
    added = terminal.start("add", document, "--tag", "sent", "--wait", "--json").json
    assert [entry["is_new"] for entry in added["documents"]] == [True]
    assert (added["unfinished"], added["problems"]) == (0, [])
    (hit,) = terminal.json("search", "jitter", "--tag", "sent", "--mode", "words")["passages"]
    assert hit["source_id"] == added["documents"][0]["source"]["id"]
    again = terminal.run("add", document).out
    assert f"“Sent” is already in the library (Markdown): {hit['source_id']}" in again
    output = terminal.run("add", str(files / "alone.vtt"), "--wait").out
    assert "import files alone.vtt · 1 file read · alone" in output
    assert "narrow pipe" in terminal.run("search", "geyser").out


def test_a_folder_is_sent_recording_by_recording(
    served: Serving, terminal: Terminal, files: Path
) -> None:
    added = terminal.json("add", str(files / "folder"), "--tag", "folder", "--wait")
    keys = [job["video_id"] for job in added["jobs"]]
    assert sorted(key for key in keys if key) == ["b", "c", "dQw4w9WgXcQ"]
    assert [problem["name"] for problem in added["problems"]] == ["broken.vtt"]
    assert added["skipped"] == 1
    search = ("search", "volcanoes", "--tag", "folder", "--kind", "video")
    hits = terminal.json(*search)["passages"]
    assert {hit["video_id"] for hit in hits} == {"b", "c", "dQw4w9WgXcQ"}


def test_a_report_has_the_same_shape_wherever_the_library_is(
    served: Serving, terminal: Terminal, tmp_path: Path
) -> None:
    document, captions = tmp_path / "shape.md", tmp_path / "shape.vtt"
    document.write_text("# Shape\n\nA shape has a name for each of its parts.\n")
    captions.write_text("WEBVTT\n\n00:01.000 --> 00:04.000\nMoss grows on stones.\n")
    add = ("add", str(document), str(captions), "--wait", "--json")
    here, there = json.loads(served.kb(*add).stdout), terminal.json(*add[:-1])
    assert list(here) == list(there)
    assert [video["id"] for video in here["videos"]] == ["shape"]
    assert here["videos"] == there["videos"]
    assert [list(row) for row in here["documents"]] == [list(row) for row in there["documents"]]
    assert (there["unfinished"], there["failed"], there["added"]) == (0, 0, None)


def test_more_than_twenty_files_are_sent_together(
    served: Serving, terminal: Terminal, tmp_path: Path
) -> None:
    for number in range(21):
        said = f"WEBVTT\n\n00:01.000 --> 00:04.000\nGlacier {number} moves slowly.\n"
        (tmp_path / f"glacier-{number}.vtt").write_text(said)
    (tmp_path / "broken.vtt").write_text("WEBVTT\n")
    added = terminal.json("add", str(tmp_path), "--tag", "ice", "--wait")
    assert [(job["target"], job["state"]) for job in added["jobs"]] == [("22 transcripts", "done")]
    assert [problem["name"] for problem in added["problems"]] == ["broken.vtt"]
    assert served.json("list", "--tag", "ice")["total"] == 21


def test_text_and_captions_get_the_title_that_is_given(terminal: Terminal, files: Path) -> None:
    pasted = terminal.json("add", "-", "--title", "Pasted", stdin="0:01\nA pasted sentence.\n")
    assert [video["title"] for video in pasted["videos"]] == ["Pasted"]
    caption = str(files / "alone.vtt")
    assert "“Named” was added" in terminal.run("add", caption, "--title", "Named").out
    assert "needs a title" in terminal.run("add", "-", code=2).err


def test_what_cannot_be_added_ends_with_its_code(
    served: Serving, terminal: Terminal, files: Path
) -> None:
    broken = str(files / "folder" / "broken.vtt")
    assert "broken.vtt" in terminal.run("add", broken, code=2).out
    assert "There is no file" in terminal.run("add", "nowhere/at all.vtt", code=2).out
    assert "nowhere" in terminal.run("add", broken, "-c", "nowhere", code=3).err
    reader = str(served.json("token", "create", "reader")["token"])
    refused = terminal.run("add", broken, code=4, CUEBASE_TOKEN=reader)
    assert "Traceback" not in refused.err
    assert len(refused.err.splitlines()) >= 1
