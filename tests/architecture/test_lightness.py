"""Nothing heavy is loaded before it is needed."""

import sys
from pathlib import Path

import pytest

from tests.programs import run_program

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "torch",
    "sentence_transformers",
    "keybert",
    "transformers",
    "sklearn",
    "openvino",
    "tokenizers",
    "huggingface_hub",
)

WATCHING = ("prometheus_client", "opentelemetry", "pythonjsonlogger")

READ_AND_SEARCH = """
import sys
from pathlib import Path
from transcripts import captions
from transcripts.text import bm25
from transcripts.text.terms import counted_in, words_in
from transcripts.text import reading
cues = captions.parse(Path("transcripts/sample/how-bm25-ranks.en.vtt").read_bytes()).cues
assert reading.read(cues, limits=reading.ReadingLimits()).text
index = bm25.Index.build(counted_in(cue.text, "en") for cue in cues)
assert index.rank(words_in("rare word", "en"), limit=3)
"""
THE_SITE = """
import sys, os
os.environ["DJANGO_SETTINGS_MODULE"] = "kbsite.settings.django"
import django
django.setup()
import kbsite.urls, kbsite.mcp.server, kbsite.cli.app, transcripts.adding.acquisition
"""
A_LISTING = """
import sys
from kbsite import boot
boot.set_up()
import kbsite.cli.library
"""
A_WORKER = """
import sys
from kbsite import boot
boot.set_up()
from celery import signals
from kbsite.celery import app
app.loader.import_default_modules()
signals.worker_init.send(sender=app.Worker)
"""


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        (READ_AND_SEARCH, (*HEAVY, "numpy", "django", "yt_dlp", "requests")),
        (THE_SITE, (*HEAVY, "yt_dlp", "youtube_transcript_api", "opentelemetry.sdk")),
        (A_LISTING, (*HEAVY, *WATCHING, "yt_dlp", "celery", "ninja", "django.test")),
        (A_WORKER, ("kbsite.urls", "kbsite.pages.home", "kbsite.admin", "uvicorn")),
    ],
    ids=["reading and searching", "the whole site", "kb list", "a worker"],
)
def test_nothing_is_loaded_that_is_not_needed(
    code: str, absent: tuple[str, ...], tmp_path: Path
) -> None:
    script = f"{code}\nprint(sorted(set({absent!r}) & set(sys.modules)))"
    environment = {"YOUTUBE_KB_DATA_DIR": str(tmp_path), "PATH": ""}
    process = run_program(sys.executable, "-c", script, code=None, environment=environment)
    assert (process.stdout.strip(), process.returncode) == ("[]", 0), process.stderr
