"""A served endpoint, and callers of every kind."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from mcp_types import TextContent, TextResourceContents

from kbsite.celery import make_queue_folders
from kbsite.mcp.server import Application
from kbsite.middleware import rate_limits
from kbsite.models import ApiToken
from tests.kbsite.mcp.endpoint import Endpoint, cursor, reply, served, text
from tests.makers import make_user
from transcripts.core.access import AccessLevel
from transcripts.models import Collection, Role


@dataclass(frozen=True)
class Caller:
    """Calls tools of the endpoint with a token, and returns what they answer."""

    endpoint: Endpoint | None
    token: str

    def __call__(self, tool: str, **arguments: Any) -> str:
        """Return the text of an answer; the call must succeed."""
        return reply(self.endpoint.call(self.token, tool, **arguments))

    def refused(self, tool: str, **arguments: Any) -> str:
        """Return the text of a refusal; the call must fail."""
        result = self.endpoint.call(self.token, tool, **arguments)
        assert result.is_error, text(result)
        return text(result)

    def pages(self, tool: str, **arguments: Any) -> list[str]:
        """Return all pages of an answer, each by the cursor of the one before."""
        pages = [self(tool, **arguments)]
        while mark := cursor(pages[-1]):
            assert len(pages) < 200, "the cursors do not come to an end"
            pages.append(self(tool, **arguments, cursor=mark))
        return pages

    def resource(self, uri: str) -> str:
        """Return the text of a resource."""
        (content,) = self.endpoint.talk(
            self.token, lambda client: client.read_resource(uri)
        ).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    def prompt(self, name: str, **arguments: str) -> str:
        """Return the text of a prompt."""
        given = self.endpoint.talk(self.token, lambda client: client.get_prompt(name, arguments))
        (message,) = given.messages
        assert isinstance(message.content, TextContent)
        return message.content.text

    def completed(self, of: Any, name: str, value: str, **given: str) -> list[str]:
        """Return the values that are offered for an argument of a prompt or of a template."""

        async def complete(client: Any) -> Any:
            return await client.complete(of, {"name": name, "value": value}, given or None)

        return list(self.endpoint.talk(self.token, complete).completion.values)


@dataclass(frozen=True)
class Shelf:
    """A collection, its owner, the owner's tokens, and calls with them."""

    collection: Collection
    owner: User
    token: str
    reading: str
    read: Caller
    write: Caller


@pytest.fixture(scope="session")
def endpoint() -> Iterator[Endpoint]:
    """The whole application, served for all tests."""
    Path(settings.STATIC_ROOT).mkdir(exist_ok=True)  # WhiteNoise warns otherwise
    with served(Application()) as running:
        yield running


@pytest.fixture(autouse=True)
def _clean(transactional_db: None) -> None:
    rate_limits.forget()
    make_queue_folders()


@pytest.fixture
def shelf(endpoint: Endpoint) -> Shelf:
    """A collection with an owner."""
    return make_shelf("lectures", endpoint)


@pytest.fixture
def other(endpoint: Endpoint) -> Shelf:
    """Another collection, with another owner."""
    return make_shelf("secrets", endpoint)


def make_shelf(name: str, endpoint: Endpoint | None = None) -> Shelf:
    """Make a collection with an owner who has a token that may write and one that may only read."""
    collection = Collection.objects.create(name=name.title(), slug=name)
    owner = make_user(f"owner-of-{name}", collection=collection, role=Role.OWNER)
    _, token = ApiToken.issue(owner, name="all", access=AccessLevel.MANAGE)
    _, reading = ApiToken.issue(owner, name="reading")
    read, write = Caller(endpoint, reading), Caller(endpoint, token)
    return Shelf(collection, owner, token, reading, read, write)
