"""Settings that make no sense are refused at the start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import run_program

ROOT = Path(__file__).resolve().parents[3]


def test_what_is_made_in_the_data_directory_is_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    made = """
import os
os.umask(0o022)
from kbsite import boot
boot.set_up()
from kbsite import celery
from kbsite.telemetry import metrics
boot.join_database = lambda: None
boot.boot(migrate=False)
celery.make_queue_folders()
"""
    environment = {"YOUTUBE_KB_DATA_DIR": str(home), "PATH": os.defpath}
    run_program(sys.executable, "-c", made, environment=environment)
    folders = {path for path in home.rglob("*") if path.is_dir()}
    assert {path.name for path in folders} >= {"static", "metrics", "queue"}
    for path in (home.parent, home, home / "secret_key", *folders):
        assert not path.stat().st_mode & 0o077, path


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CHUNK_SIZE_SECONDS", "five"),
        ("YOUTUBE_PACING_SECONDS", "fast"),
        ("PORT", "http"),
        ("LIVE_KEYWORDS", "quick"),
    ],
)
def test_a_setting_that_makes_no_sense_is_told_at_the_start(
    name: str, value: str, tmp_path: Path
) -> None:
    environment = {"YOUTUBE_KB_DATA_DIR": str(tmp_path), name: value, "PATH": ""}
    process = run_program(
        sys.executable, "-c", "import kbsite.settings.django", code=None, environment=environment
    )
    assert process.returncode != 0
    assert f"{name} cannot be '{value}'" in process.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SEARCH_SEGMENT_SECONDS", "0"),
        ("CHUNK_SIZE_SECONDS", "-5"),
        ("DB_POOL_SIZE", "0"),
        ("PORT", "70000"),
        ("CHUNK_SIZE", "-500"),
        ("CHUNK_OVERLAP", "500"),
        ("CHUNK_PERCENTILE", "101"),
        ("BM25_K1", "-0.1"),
        ("BM25_K1", "nan"),
        ("BM25_B", "1.01"),
        ("RRF_K", "0"),
        ("SEARCH_CANDIDATES", "9"),
        ("DUPLICATE_SIMILARITY", "90"),
        ("TIME_ZONE", "Mars/Crater"),
        ("DATABASE_URL", "mysql://a:secret@host/name"),
        ("DATABASE_REPLICAS", "postgres://a:secret@host/name"),  # of what?
        ("DATABASE_REPLICAS", "mysql://a:secret@host/name"),
        ("YOUTUBE_KB_DATA_DIR", "/dev/null/here"),
        ("TRUSTED_PROXIES", "10.0.0.7,*"),
        ("TRUSTED_PROXIES", "10.0.0.7/8"),
    ],
)
def test_a_value_out_of_bounds_is_told_at_the_start_and_no_secret_with_it(
    name: str, value: str, tmp_path: Path
) -> None:
    environment = {"YOUTUBE_KB_DATA_DIR": str(tmp_path), name: value, "PATH": ""}
    process = run_program(
        sys.executable, "-c", "import kbsite.settings.django", code=None, environment=environment
    )
    error = process.stderr.splitlines()[-1]
    assert "ImproperlyConfigured" in error
    assert name in error
    assert "secret" not in error


def test_the_secret_key_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    code = "from kbsite.settings.django import SECRET_KEY; print(SECRET_KEY)"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"YOUTUBE_KB_DATA_DIR": str(tmp_path), "PATH": ""},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    keys = {run.communicate()[0] for run in runs}
    assert len(keys) == 1
    assert len(keys.pop()) > 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]
