"""What tests of conversations share."""

import pytest
from django.contrib.auth.models import User

from citations.models import Conversation, Source
from citations.notebook import conversations
from tests.citations.talks import talk_in
from transcripts.core.scope import Scope
from transcripts.models import Collection


@pytest.fixture
def talk(collection: Collection, fake_models: None) -> Source:
    """A talk that is found by its words."""
    return talk_in(collection)


@pytest.fixture
def conversation(scope: Scope, owner: User, talk: Source) -> Conversation:
    """A conversation of Ada's, about all there is."""
    return conversations.begin(scope, owner)
