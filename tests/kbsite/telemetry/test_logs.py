"""Whoever calls `kb` sees messages, and finds the tracebacks in a file."""

import os
import sys
from pathlib import Path

from tests.programs import run_program

FAILS = """
from kbsite import boot
boot.set_up(plain_log=True)
import logging
logger = logging.getLogger("citations.reader")
logger.info("All is well.")
try:
    1 / 0
except ZeroDivisionError:
    logger.exception("It failed.")
"""


def test_a_traceback_is_in_a_file_and_not_on_the_terminal(tmp_path: Path) -> None:
    own = {
        "DJANGO_SETTINGS_MODULE": "kbsite.settings.django",
        "YOUTUBE_KB_DATA_DIR": f"{tmp_path}/data",
    }
    environment = {**os.environ, **own}
    shown = run_program(sys.executable, "-c", FAILS, environment=environment).stderr
    log = tmp_path / "data" / "kb.log"
    assert shown.splitlines() == ["All is well.", f"It failed. ({log} has the details.)"]
    written = log.read_text()
    assert "All is well." not in written
    assert "ERROR citations.reader: It failed.\nTraceback" in written
    assert written.rstrip().endswith("ZeroDivisionError: division by zero")
