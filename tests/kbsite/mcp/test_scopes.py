"""Nobody sees through MCP what they do not see elsewhere."""

import pytest

from kbsite.models import ApiToken
from tests.architecture.pages import needed
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, reply, text
from tests.kbsite.mcp_walk import TOOL_CALLS, arguments
from tests.makers import make_source, make_video
from transcripts.core.access import AccessLevel
from transcripts.models import AuditEntry, Job

READING = (
    "fetch_transcript",
    "get_transcript",
    "get_outline",
    "get_guide",
    "search_transcript",
    "search",
    "fetch",
    "search_knowledge_base",
    "ask_knowledge_base",
    "list_sources",
    "get_job",
)
LISTING = (
    "search",
    "list_transcripts",
    "list_sources",
    "search_knowledge_base",
    "ask_knowledge_base",
)  # these answer everybody, each with what they may see


@pytest.mark.parametrize("tool", sorted(TOOL_CALLS))
def test_a_member_of_another_collection_learns_nothing(
    endpoint: Endpoint, shelf: Shelf, other: Shelf, tool: str
) -> None:
    arguments = _furnish(shelf, tool)
    result = endpoint.call(other.reading, tool, **arguments)
    assert "Lecture" not in text(result)
    assert "lectures" not in text(result)
    assert "secret words" not in text(result).replace("of secret words in", "")
    assert bool(result.is_error) == (tool not in LISTING)


@pytest.mark.parametrize("tool", READING)
def test_the_owner_gets_an_answer(shelf: Shelf, tool: str) -> None:
    answer = shelf.read(tool, **_furnish(shelf, tool))
    assert "lecture" in answer.casefold() or "secret words" in answer


@pytest.mark.parametrize("tool", sorted(TOOL_CALLS))
def test_a_stranger_is_not_answered(endpoint: Endpoint, shelf: Shelf, tool: str) -> None:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": _furnish(shelf, tool)},
    }
    assert endpoint.post(body).status_code == 401


@pytest.mark.parametrize("access", AccessLevel)
def test_a_token_may_call_the_tools_that_the_table_of_scopes_says(
    endpoint: Endpoint, shelf: Shelf, access: AccessLevel
) -> None:
    _, token = ApiToken.issue(shelf.owner, name="walk", access=access)
    refused = set()
    for tool in TOOL_CALLS:  # without arguments, which are not looked at before
        if "may only read" in text(endpoint.call(token, tool)):
            refused.add(tool)
    table = {tool for tool in TOOL_CALLS if not access.covers(needed()[tool])}
    assert refused == table
    assert bool(table) == (access == AccessLevel.READ)


def test_two_callers_at_once_are_not_mixed_up(
    endpoint: Endpoint, shelf: Shelf, other: Shelf
) -> None:
    make_video(shelf.collection, key="mine")
    make_video(other.collection, key="theirs")
    for _ in range(5):
        for token, own, foreign in (
            (shelf.token, "mine", "theirs"),
            (other.token, "theirs", "mine"),
        ):
            listed = reply(endpoint.call(token, "list_transcripts"))
            assert (f"- {own} ·" in listed, f"- {foreign} ·" in listed) == (True, False)


def test_what_a_program_adds_is_found_with_its_user_token_and_address(shelf: Shelf) -> None:
    AuditEntry.objects.all().delete()
    url = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
    shelf.write("add_source", url=url)
    entry = AuditEntry.objects.get()
    assert (entry.door, entry.actor, entry.address) == ("mcp", "owner-of-lectures", "127.0.0.1")
    assert (entry.action, entry.kind, entry.thing) == ("add", "video", "dQw4w9WgXcQ")
    assert (entry.token, entry.collection) == (shelf.token[:9], "lectures")


def _furnish(shelf: Shelf, tool: str) -> dict[str, object]:
    make_source(
        make_video(shelf.collection, key="their-video", title="Lecture of secret words"),
        texts=["These are secret words."],
    )
    job = Job.objects.create(
        collection=shelf.collection, kind="files", target="secret words", state="done"
    )
    return arguments(tool, video_id="their-video", job_id=job.pk)
