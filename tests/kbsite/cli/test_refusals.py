"""What a command says that cannot be carried out, and the code with which it ends."""

import pytest

from tests.kbsite.cli.conftest import Kb
from tests.makers import make_user
from tests.youtube_standin import MANUAL
from transcripts.models import Collection

REFUSALS = {
    "a text too long for a name": (["add", "a" * 5_000], 2, "invalid_url"),
    "a pasted text without a title": (["add", "-"], 2, "--title"),
    "a title for an address": (["add", MANUAL, "--title", "Mine"], 2, "--title"),
    "an empty question": (["ask", "  "], 2, "Error: "),
    "a question to no source": (["ask", "Why?", "--in", "nowhere"], 3, "Error: "),
    "a follow-up to nothing": (["ask", "Why?", "--follow-up"], 3, "Error: "),
    "other sources for a follow-up": (["ask", "Why?", "-f", "--in", "talk"], 2, "same sources"),
    "a terminal that is none": (["tui"], 2, "needs a terminal"),
    "a second collection of a name": (["collections", "add", "My collection"], 5, "My collection"),
    "a migration to nothing": (["db", "migrate-embeddings"], 2, "--to PROVIDER"),
    "a migration and its end": (
        ["db", "migrate-embeddings", "--to", "fake", "--cancel"],
        2,
        "--to PROVIDER",
    ),
    "questions of no file": (["eval"], 2, "--marked"),
    "an export of nothing": (["export"], 2, "Name a recording"),
    "highlights of nobody": (["highlights", "--user", "nobody"], 3, "no user"),
    "an unknown job": (["jobs", "retry", 999_999], 3, "999999"),
    "no playlist": (["sync"], 3, "No playlist or channel"),
    "an unknown playlist": (["sync", "no such list"], 3, "no such playlist"),
    "a replay of nothing": (["live"], 2, "Error: "),
    "a replay of no recording": (["live", "no-such-video"], 3, "Error: "),
    "an unknown recording": (["show", "nothing"], 3, "nothing"),
    "a time that is none": (["show", "talk", "--start", "soon"], 2, "not a time"),
    "an absurd offset": (["list", "--offset", 10**24], 2, "offset"),
    "an outline of nothing": (["outline", "nothing"], 3, "no source"),
    "a link for nobody": (["user", "link", "nobody"], 3, "kb user add"),
    "a token without a name": (["token", "create", " "], 2, "has no name"),
    "a token that is none": (["mcp-config", "--token", "hunter2"], 2, "not a token"),
    "no quote": (["verify"], 2, "nothing to check"),
    "an unknown webhook": (["webhook", "delete", "nothing"], 3, "kb webhook list"),
    "a webhook without an id": (["webhook", "delete", ""], 3, "kb webhook list"),
    "a webhook to this machine": (["webhook", "create", "https://127.0.0.1/"], 2, "public address"),
}


@pytest.mark.parametrize(("arguments", "code", "words"), REFUSALS.values(), ids=[*REFUSALS])
def test_what_cannot_be_done_ends_with_its_code_and_a_sentence(
    kb: Kb, library: Collection, arguments: list[object], code: int, words: str
) -> None:
    failed = kb(*arguments, stdin="0:00\nHello\n", code=code)
    assert words in failed.out + failed.err
    assert "Traceback" not in failed.err


@pytest.mark.parametrize(
    ("name", "password", "code"),
    [
        ("ada", "short", 2),
        ("ada", "password", 2),
        ("ada", "12345678901", 2),
        ("a b/c", "correct horse battery", 2),
        ("taken", "correct horse battery", 5),
    ],
    ids=["a short one", "a common one", "digits", "a name that is none", "a name in use"],
)
def test_a_name_or_password_that_cannot_be_used_is_refused(
    kb: Kb, name: str, password: str, code: int
) -> None:
    users = type(make_user("taken")).objects
    kb("user", "add", name, "--password-stdin", stdin=f"{password}\n", code=code)
    assert users.count() == 1
