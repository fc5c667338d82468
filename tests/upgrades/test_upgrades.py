"""Libraries of earlier versions are migrated, and everything in them is found again.

The first release has no earlier version: until then, the library is one that this version wrote.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from kbsite.postgres import programs
from tests.instance import Instance
from tests.kbsite.cli.conftest import kb_in
from tests.upgrades import ENVIRONMENT, FOLDER
from tests.upgrades.__main__ import make
from transcripts.text.tokenizer import TOKENIZER_VERSION

# Names that PostgreSQL or Django made, also of a table or column that was renamed since.
MADE = re.compile(
    r"\b(citations|kbsite|transcripts)_\w+_([0-9a-f]{8}\w*|check|id_seq|key|pkey|uniq)\b"
)
THIS_VERSION = "this version"
CONTENTS = "from tests.upgrades import contents\nclient = contents.sign_in()\n"


@pytest.fixture(
    scope="module", params=[*sorted(path.stem for path in FOLDER.glob("*.backup")), THIS_VERSION]
)
def upgraded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Instance, Any]]:
    """A library that another version wrote, migrated, and what was in it."""
    home: Path = tmp_path_factory.mktemp("upgrade")
    folder = FOLDER
    if request.param == THIS_VERSION:
        folder = tmp_path_factory.mktemp("written")
        make(THIS_VERSION, folder)
    kept = json.loads((folder / f"{request.param}.json").read_text())
    with Instance(home, **ENVIRONMENT) as instance:
        kb_in(instance, "db", "restore", str(folder / f"{request.param}.backup"), "--yes")
        # Without its stamp, and indexed by an older tokenizer, it is upgraded before it is read.
        instance.rows("UPDATE citations_lexentry SET tokenizer_version = 0 RETURNING source_id")
        (home / "postgres" / "schema").unlink()
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
    kb_in(instance, "db", "reindex", "--yes")
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
