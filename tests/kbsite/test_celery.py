"""The Celery application, and its queue of files."""

import os
import re
from pathlib import Path

import pytest
from kombu import Connection

import kbsite
from kbsite.celery import Transport, app


def test_a_message_is_never_there_before_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    replace = os.replace

    def watched(source: str, target: str) -> None:
        seen.append([path.name for path in tmp_path.glob("*.msg")])
        replace(source, target)

    monkeypatch.setattr("pathlib.os.replace", watched)
    folders = {
        "data_folder_in": str(tmp_path),
        "data_folder_out": str(tmp_path),
        "control_folder": str(tmp_path / "control"),
    }
    with Connection("filesystem://", transport=Transport, transport_options=folders) as connection:
        queue = connection.SimpleQueue("jobs")
        queue.put({"job": 1})
        assert seen == [[]]
        assert queue.get(timeout=5).payload == {"job": 1}
        queue.close()
    assert not list(tmp_path.glob("*.part"))


def test_the_application_uses_it() -> None:
    with app.connection_for_write("filesystem://") as connection:
        assert isinstance(connection.transport, Transport)


def test_kb_and_mcp_send_by_the_application_that_has_the_settings() -> None:
    tasks = re.compile(r"^from (transcripts|citations)\b.*\btasks\b", re.MULTILINE)
    files = Path(kbsite.__path__[0]).rglob("*.py")
    importers = {path.name for path in files if tasks.search(path.read_text())}
    assert importers == {"celery.py", "delivery.py", "worker.py"}
