"""Libraries of earlier versions are migrated, and everything in them is found again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbsite import postgres
from kbsite.postgres import programs
from tests.instance import Instance
from tests.upgrades import ENVIRONMENT, FOLDER
from transcripts.tokenizer import TOKENIZER_VERSION

CONTENTS = "from tests.upgrades import contents\nclient = contents.sign_in()\n"


@pytest.fixture(
    scope="module", params=sorted(FOLDER.glob("*.backup")), ids=lambda path: str(path.stem)
)
def upgraded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Instance, Any]]:
    """A library that an earlier version wrote, migrated, and what was in it."""
    home: Path = tmp_path_factory.mktemp("upgrade")
    with postgres.start(home, fast=True) as server:
        # Not `kb db restore`: the first libraries were written before backups had a manifest.
        done = programs.run(
            "pg_restore", f"--dbname={server.dsn}", "--no-owner", str(request.param)
        )
        assert done.returncode == 0, done.stderr
        with Instance(home, **ENVIRONMENT) as instance:
            kept = json.loads(request.param.with_suffix(".json").read_text())
            yield instance, kept


def test_answers_quotes_notes_marks_and_members_are_still_there(
    upgraded: tuple[Instance, Any],
) -> None:
    instance, kept = upgraded
    code = f"{CONTENTS}print(json.dumps(contents.read(client, {kept['ids']})))"
    assert instance.json(code) == kept["contents"]


def test_words_are_indexed_again_where_the_tokenizer_has_changed(
    upgraded: tuple[Instance, Any],
) -> None:
    instance, _ = upgraded
    code = (
        f"{CONTENTS}from citations.models import LexEntry, Source\n"
        "versions = LexEntry.objects.filter(source__chunk_count__gt=0)\n"
        "versions = [*versions.values_list('tokenizer_version', flat=True)]\n"
        "count = Source.objects.filter(chunk_count__gt=0).count()\n"
        "print(json.dumps([sorted({*versions}), len(versions) == count]))"
    )
    assert instance.json(code) == [[TOKENIZER_VERSION], True]


def test_pages_search_questions_and_tokens_work(upgraded: tuple[Instance, Any]) -> None:
    instance, kept = upgraded
    code = f"{CONTENTS}kept = json.loads({json.dumps(kept)!r})\n"
    used = instance.json(f"{code}print(json.dumps(contents.use(client, kept)))")
    assert used == {"failed": {}, "answered": True, "verdicts": {"verbatim": True}, "token": 200}
