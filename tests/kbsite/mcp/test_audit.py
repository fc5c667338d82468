"""What programs change over MCP is in the audit trail."""

from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, reply
from transcripts.models import AuditEntry


def test_what_a_program_adds_is_found_with_its_user_token_and_address(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    AuditEntry.objects.all().delete()
    url = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
    reply(endpoint.call(shelf.token, "add_source", url=url))
    entry = AuditEntry.objects.get()
    assert (entry.door, entry.actor, entry.address) == ("mcp", "owner-of-lectures", "127.0.0.1")
    assert (entry.action, entry.kind, entry.thing) == ("add", "video", "dQw4w9WgXcQ")
    assert (entry.token, entry.collection) == (shelf.token[:9], "lectures")
