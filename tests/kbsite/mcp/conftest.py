"""A served endpoint, and callers of every kind."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from kbsite.celery import make_queue_folders
from kbsite.mcp.server import Application
from kbsite.middleware import rate_limits
from kbsite.models import ApiToken
from tests.kbsite.mcp.endpoint import Endpoint, served
from tests.makers import make_user
from transcripts.core.access import AccessLevel
from transcripts.models import Collection, Role


@dataclass(frozen=True)
class Shelf:
    """A collection, its owner, and the owner's tokens."""

    collection: Collection
    owner: User
    token: str
    reading: str


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
def shelf() -> Shelf:
    """A collection with an owner."""
    return make_shelf("lectures")


@pytest.fixture
def other() -> Shelf:
    """Another collection, with another owner."""
    return make_shelf("secrets")


def make_shelf(name: str) -> Shelf:
    """Make a collection with an owner who has a token that may write and one that may only read."""
    collection = Collection.objects.create(name=name.title(), slug=name)
    owner = make_user(f"owner-of-{name}", collection=collection, role=Role.OWNER)
    _, token = ApiToken.issue(owner, name="all", access=AccessLevel.MANAGE)
    _, reading = ApiToken.issue(owner, name="reading")
    return Shelf(collection=collection, owner=owner, token=token, reading=reading)
