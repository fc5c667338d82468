"""config and doctor."""

import os
import stat
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import InterfaceError, OperationalError
from psycopg_pool import PoolTimeout

from citations.documents import storage as document_storage
from citations.formats import MARKDOWN
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Document, EmbeddingSpace, LexEntry
from citations.providers import weights
from kbsite.cli import config, doctor, terminal
from kbsite.settings import django as settings
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_document, make_source, make_video
from tests.programs import run_python
from tests.text_server import TextServer
from transcripts.core.errors import Blocked
from transcripts.models import Collection, WorkerPulse, YouTubeGate


def checks(kb: Kb) -> dict[str, Any]:
    """Return what `kb doctor` finds, by the names of its checks."""
    return {check["name"]: check for check in kb("doctor", "--json").json["checks"]}


def test_every_setting_is_shown_with_its_origin(kb: Kb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREVIEW_LENGTH", "123")
    rows = {row["name"]: row for row in kb("config", "--json").json}
    assert list(rows) == list(settings.OPTIONS)
    assert rows["PREVIEW_LENGTH"]["origin"] == "environment"
    default = rows["SEARCH_SEGMENT_SECONDS"]
    assert (default["origin"], default["value"]) == ("default", 30)
    assert "SEARCH_SEGMENT_SECONDS" in kb("config").out


def test_the_data_directory_in_use_is_shown(kb: Kb) -> None:
    rows = {row["name"]: row for row in kb("config", "--json").json}
    assert rows["YOUTUBE_KB_DATA_DIR"]["value"] == str(settings.DATA_DIR)


@pytest.mark.parametrize(("most", "is_enough"), [(1_023, None), (1_024, True)])
def test_a_low_limit_of_open_files_is_told(most: int, is_enough: bool | None) -> None:
    script = (
        "import resource; from kbsite import boot; boot.set_up()\n"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({most}, hard))\n"
        "from kbsite.cli import doctor; print(doctor._open_files())"
    )
    result = run_python("-c", script, environment={**os.environ}).stdout
    assert result.startswith(f"({is_enough}, 'this user may have {most:,}'")


def test_languages_that_the_embedding_model_does_not_know_are_told(
    kb: Kb, library: Collection
) -> None:
    about = {"provider": "local", "model": weights.MINILM, "dimensions": 384}
    EmbeddingSpace.objects.create(**about, state="active")
    for text in ("Die Steigung.", "Die Ableitung."):
        make_document(library, [text], language="de")
    check = checks(kb)["Languages"]
    assert check["ok"] is None
    assert check["detail"].startswith("2 of 2 sources are in languages that")
    assert "`kb models fetch e5-small`" in check["hint"]


def test_documents_that_an_earlier_version_read_are_told_and_one_command_reads_them_again(
    kb: Kb, library: Collection
) -> None:
    assert checks(kb)["Documents"]["ok"]
    file = BytesIO(b"# Loss\n\nLoss is a number that says how wrong the network is.\n")
    source = document_storage.add(library, file, name="loss.md").source
    ingest_pipeline.ingest(source.pk)
    assert checks(kb)["Documents"]["detail"] == "all were read by this version"
    Document.objects.filter(pk=source.pk).update(read_by="markdown 1")
    check = checks(kb)["Documents"]
    assert check["ok"] is None
    assert check["detail"] == "1 document read by an earlier version"
    assert "`kb db reindex`" in check["hint"]
    assert "1 of 1 sources are indexed again" in kb("db", "reindex", "--wait", "--yes").out
    assert checks(kb)["Documents"]["ok"]
    assert Document.objects.get(pk=source.pk).read_by == MARKDOWN.version


def test_words_that_an_earlier_version_indexed_are_told_and_one_command_indexes_them_again(
    kb: Kb, library: Collection
) -> None:
    make_document(library, ["a whale"])
    assert checks(kb)["Words"]["ok"]
    assert kb("db", "status", "--json").json["outdated"] == 0
    LexEntry.objects.update(tokenizer_version=0)
    check = checks(kb)["Words"]
    assert check["ok"] is None
    assert check["detail"].startswith("1 source indexed by an earlier version")
    assert "`kb db reindex --wait`" in check["hint"]
    assert "Words: 1 sources are still to be indexed again" in kb("db", "status").out
    assert kb("db", "status", "--json").json["outdated"] == 1
    kb("db", "reindex", "--wait")
    assert checks(kb)["Words"]["ok"]


def test_secrets_are_masked(kb: Kb, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "http://someone:hunter2@proxy"
    for name, option in settings.OPTIONS.items():
        if option.secret:
            monkeypatch.setenv(name, secret)
    for ran in (kb("config"), kb("config", "--json")):
        assert "hunter2" not in ran.out
        assert config.MASK in ran.out


def test_secrets_inside_addresses_are_masked(kb: Kb, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "http://someone:hunter2@host/v1?api_key=hunter2"
    for name, option in settings.OPTIONS.items():
        is_list = isinstance(option.default, list)
        if (is_list or isinstance(option.default, str)) and not name.endswith("_DIR"):
            monkeypatch.setattr(settings, name, [address] if is_list else address)
    for ran in (kb("config"), kb("config", "--json")):
        assert "hunter2" not in ran.out
        assert ran.out.count(config.MASK) > 20


def test_the_check_of_a_provider_shows_no_secret_of_its_address(
    kb: Kb, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer = "http://someone:hunter2@127.0.0.1:9?key=hunter2"
    monkeypatch.setattr(django_settings, "OIDC_ISSUER", issuer)
    for ran in (kb("doctor", code=1), kb("doctor", "--json", code=1)):
        assert "hunter2" not in ran.out


def data_dir(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make a data directory as a loose umask does."""
    (folder / "queue").mkdir(parents=True)
    (folder / "secret_key").touch()
    for path, mode in ((folder, 0o755), (folder / "queue", 0o775), (folder / "secret_key", 0o644)):
        path.chmod(mode)
    monkeypatch.setattr(settings, "DATA_DIR", folder)


def modes(folder: Path) -> list[str]:
    paths = (folder, folder / "queue", folder / "secret_key")
    return [f"{stat.S_IMODE(path.stat().st_mode):o}" for path in paths]


def test_the_doctor_closes_the_data_directory_to_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data_dir(monkeypatch, tmp_path / "data")
    assert doctor._data_dir()[1].endswith("which was open to other users and is closed now")
    assert modes(tmp_path / "data") == ["700", "700", "600"]
    assert doctor._data_dir() == (True, str(tmp_path / "data"), "")


def test_the_doctor_leaves_a_group_that_was_let_in_on_purpose(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data_dir(monkeypatch, tmp_path / "data")
    (tmp_path / "data").chmod(0o2775)
    doctor._data_dir()
    assert modes(tmp_path / "data") == ["2770", "700", "600"]
    assert doctor._data_dir()[1].endswith(", open to its group")


def test_the_secret_key_that_is_kept_in_the_data_directory_is_not_shown(
    kb: Kb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SECRET_KEY")
    assert settings.SECRET_KEY not in kb("config", "--json").out


def test_a_value_out_of_the_env_file_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("PREVIEW_LENGTH=77\n")
    monkeypatch.setattr(config, "ENV_FILE", tmp_path / ".env")
    monkeypatch.setenv("PREVIEW_LENGTH", "77")  # as reading the file did
    monkeypatch.setenv("TIME_ZONE", "UTC")
    origins = {setting.name: setting.origin for setting in config.settings_in_use()}
    assert (origins["PREVIEW_LENGTH"], origins["TIME_ZONE"]) == (".env", "environment")
    assert origins["HOST"] == "default"


def test_the_doctor_finds_a_healthy_library_healthy(kb: Kb) -> None:
    WorkerPulse.beat()
    results = checks(kb)
    failed = {name for name, check in results.items() if check["ok"] is False}
    assert failed <= {"Port"}  # another program may hold the port here
    assert results.keys() >= {
        *("Python", "Data directory", "Free disk", "PostgreSQL", "pgvector", "Migrations"),
        *("Embeddings", "Cross-encoder", "Cross-encoder of lectures", "Sources", "Queue"),
        *("Worker", "YouTube", "yt-dlp", "youtube-transcript-api"),
    }
    assert results["Worker"]["detail"] == "alive"


def test_the_doctor_names_what_is_not_running_without_failing(kb: Kb) -> None:
    YouTubeGate.refused(Blocked("YouTube treats this server as a bot."))
    result = kb("doctor")
    assert "none is running" in result.out
    assert "closed until" in result.out
    assert "PROXY_URL" in result.out


def test_the_doctor_says_what_is_not_searched_yet(
    kb: Kb, library: Collection, settings: Any
) -> None:
    settings.RERANKER = "none"
    make_source(make_video(library, key="a"))
    make_source(make_video(library, key="b"), state="failed")
    make_source(make_video(library, key="c"), state="words")
    sources, encoder = (checks(kb)[name] for name in ("Sources", "Cross-encoder"))
    assert sources["ok"] is None
    assert sources["detail"] == "1 of 3 ready, 1 in progress, 1 failed"
    assert "kb sources" in sources["hint"]
    assert (encoder["ok"], encoder["detail"]) == (None, "switched off")
    settings.RERANKER = "nowhere/no-such-model"
    encoder = checks(kb)["Cross-encoder"]
    assert encoder["ok"] is None
    assert "no-such-model is not installed" in encoder["detail"]


def test_the_doctor_asks_the_reranking_server(kb: Kb, library: Collection, settings: Any) -> None:
    settings.RERANKER = "own-reranker"
    with TextServer() as server:
        settings.RERANKER_BASE_URL = server.url
        encoder = checks(kb)["Cross-encoder"]
        assert (encoder["ok"], encoder["detail"]) == (True, "own-reranker at its server")
        server.refuse = lambda body: (401, {})
        report = kb("doctor", "--json", code=1).json
        (encoder,) = [check for check in report["checks"] if check["name"] == "Cross-encoder"]
        assert encoder["ok"] is False
        assert "requires a key" in encoder["detail"]


def test_the_doctor_fails_where_something_fails(
    kb: Kb, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path / "file" / "data")
    report = kb("doctor", "--json", code=1).json
    assert not report["ok"]
    failed = [check["name"] for check in report["checks"] if check["ok"] is False]
    assert "Data directory" in failed


def test_a_database_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "YOUTUBE_KB_DATA_DIR": str(tmp_path),
        "DATABASE_URL": "postgres://nobody:hunter2@127.0.0.1:1/nothing",
        "DJANGO_SETTINGS_MODULE": "kbsite.settings.django",
    }
    for command, code in (("list", 8), ("doctor", 1)):
        ran = run_python("-m", "kbsite.cli", command, code=code, environment=environment)
        assert "The database does not answer" in ran.stdout + ran.stderr
        assert "Traceback" not in ran.stderr
        assert "hunter2" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("the connection is lost"),
        InterfaceError("the connection is closed"),
        psycopg.errors.AdminShutdown("terminating connection"),
        psycopg.InterfaceError("cursor already closed"),
        PoolTimeout("couldn't get a connection"),
    ],
)
def test_every_way_in_which_a_database_ends_is_told_with_the_next_step(error: Exception) -> None:
    expected = terminal.expected_error(error)
    assert expected is not None
    assert str(error) in expected.message
    assert "Run the command again" in expected.hint


def test_a_setting_that_cannot_be_used_is_told_in_a_sentence(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "YOUTUBE_KB_DATA_DIR": str(tmp_path),
        "PORT": "many",
        "DJANGO_SETTINGS_MODULE": "kbsite.settings.django",
    }
    ran = run_python("-m", "kbsite.cli", "list", code=2, environment=environment)
    assert "setting" in ran.stderr
    assert "Traceback" not in ran.stderr
