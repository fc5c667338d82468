import pytest

from tests.makers import make_cues, make_video
from transcripts.models import Collection, Video


@pytest.fixture
def video(collection: Collection) -> Video:
    """A lecture of 50 minutes."""
    return make_video(collection, cues=make_cues(600))
