"""Libraries of earlier versions are migrated, and everything in them is found again."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db.migrations.loader import MigrationLoader
from psycopg.conninfo import make_conninfo

from kbsite import postgres
from kbsite.postgres import programs
from tests.instance import Instance
from tests.upgrades import ENVIRONMENT, FOLDER
from transcripts.text.tokenizer import TOKENIZER_VERSION

# Names that PostgreSQL or Django made, also of a table or column that was renamed since.
MADE = re.compile(
    r"\b(citations|kbsite|transcripts)_\w+_([0-9a-f]{8}\w*|check|id_seq|key|pkey|uniq)\b"
)
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
        run("pg_restore", f"--dbname={server.dsn}", "--no-owner", str(request.param))
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


def test_a_migrated_library_has_the_schema_of_a_new_one(
    upgraded: tuple[Instance, Any], tmp_path: Path
) -> None:
    instance, _ = upgraded
    instance.python("")
    recorded = "SELECT app, name FROM django_migrations"
    with Instance(tmp_path / "home") as new:
        assert schema(instance, tmp_path) ^ schema(new, tmp_path) == set()
        # What is recorded of packages depends on the versions that there were.
        assert {*new.rows(recorded)} <= {*instance.rows(recorded)}


def test_an_upgrade_that_was_killed_goes_on() -> None:
    """Django refuses a squashed migration all of whose parts are applied, and a migration that it
    depends on is not: the last part has to depend on it, too.
    """
    loader = MigrationLoader(None, replace_migrations=False)
    assert sorted(app for app, _ in loader.replacements) == ["citations", "kbsite", "transcripts"]
    last = {key: max(squashed.replaces) for key, squashed in loader.replacements.items()}
    for key, squashed in loader.replacements.items():
        before = loader.graph.forwards_plan(last[key])
        for dependency in squashed.dependencies:
            needed = loader.check_key(dependency, key[0]) or dependency
            assert last.get(needed, needed) in before


def schema(instance: Instance, folder: Path) -> set[str]:
    """Return the statements of the schema, without the order of columns and the names of ``MADE``.

    It is restored once, as PostgreSQL writes conditions in another way then.
    """
    dump, copy = folder / "schema.sql", make_conninfo(instance.dsn, dbname="copy")
    options = ["--schema-only", "--no-owner", f"--file={dump}"]
    run("pg_dump", f"--dbname={instance.dsn}", *options)
    run("psql", f"--dbname={instance.dsn}", "--command=CREATE DATABASE copy TEMPLATE template0")
    run("psql", f"--dbname={copy}", "--set=ON_ERROR_STOP=1", f"--file={dump}")
    run("pg_dump", f"--dbname={copy}", *options)
    text = re.sub(r"^(--|\\).*\n", "", dump.read_text(), flags=re.MULTILINE)
    text = MADE.sub(r"\1", re.sub(r" CONSTRAINT \w+_not_null NOT NULL", " NOT NULL", text))
    return {
        "\n".join(sorted(line.rstrip(",") for line in statement.splitlines()))
        for statement in re.split(r"\n{2,}", text)
    }


def run(program: str, *arguments: str) -> None:
    done = programs.run(program, *arguments)
    assert done.returncode == 0, done.stderr
