"""What tests of several doors need."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from kbsite.middleware import rate_limits
from tests.makers import token_client


@pytest.fixture
def asking(owner: User) -> Client:
    """A program with a token that may do whatever the owner of the collection may."""
    return token_client(owner)


@pytest.fixture(autouse=True)
def nothing_is_counted_yet() -> Iterator[None]:
    """Let each test begin with no calls and no attempts to sign in, and leave none."""
    rate_limits.forget()
    yield
    rate_limits.forget()
