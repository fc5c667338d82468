"""live and lectures."""

from typing import Any

import pytest

from citations.lectures import sessions, speech
from citations.models import LectureSession, Source, Window, WindowOutcome
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_document, make_source, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection, Video
from transcripts.text.cues import Cue

pytestmark = pytest.mark.usefixtures("fake_models")

SPEECH = (
    "Backpropagation carries the error from the end of the network to its start,"
    " so that every weight learns how much it is to blame, case {}."
)
PASSAGE = (
    "Backpropagation: the error is carried from the end of the network to its start,"
    " and each weight learns how much it is to blame for it."
)


@pytest.fixture
def talk(library: Collection) -> Video:
    cues = [Cue(n * 1_000, (n + 1) * 1_000, SPEECH.format(n)) for n in range(6)]
    return make_video(library, key="dQw4w9WgXcQ", title="Learning", cues=cues)


@pytest.fixture
def textbook(library: Collection) -> Source:
    source = make_document(library, [PASSAGE], title="Textbook")
    source.chunks.update(page=7)
    space = vector_space.claim()
    missing = vector_store.in_batches(vector_store.missing(space, source=source.pk))
    list(vector_store.make(space, vector_space.embedder_of(space), missing))
    return source


def begin(library: Collection, **about: Any) -> LectureSession:
    reach = frozenset({library.pk})
    scope = Scope(readable=reach, writable=reach)
    return sessions.start(scope, None, collection=library, **about)


def test_a_video_is_replayed_and_what_it_cites_lands_beside_it(
    transactional_db: None, kb: Kb, talk: Video, textbook: Source
) -> None:
    make_source(talk)
    ran = kb("live", "dQw4w9WgXcQ", "--lecture", "My lecture", "--speed", 1000)
    assert ran.out.index(SPEECH.format(0)) < ran.out.index("[1] Textbook, page 7")
    assert ran.out.count("Textbook, page 7") == 1  # all windows cite on what the first one does
    assert "cited 100%" in ran.out
    assert "search" in ran.out
    session = LectureSession.objects.get()
    assert (session.title, session.ended_at is not None) == ("My lecture", True)
    assert set(Window.objects.values_list("outcome", flat=True)) == {WindowOutcome.CITED}
    # It has ended: its figures are shown.
    again = kb("live", "--lecture", str(session.uuid)[:8], "--json").json
    assert again["statistics"]["cited"] == 1.0
    assert again["lecture"]["state"] == "ended"
    names = {"window_index", "rank", "document_name", "page_number", "snippet", "relevance_score"}
    assert again["cited"][0].keys() >= names


def test_a_lecture_goes_on_with_its_own_video_alone(
    kb: Kb, library: Collection, talk: Video
) -> None:
    session = begin(library, transcript=talk.transcripts.get())
    make_video(library, key="other")
    refused = kb("live", "other", "--lecture", str(session.uuid), code=5)
    assert "replays another recording" in refused.err


def test_an_ended_lecture_is_kept_as_a_recording(kb: Kb, library: Collection) -> None:
    session = begin(library, title="Heat")
    speech.say(session, "Heat flows from hot to cold.")
    assert "has not ended" in kb("lectures", "keep", session.uuid, code=5).err
    speech.end(session)
    kept = kb("lectures", "keep", str(session.uuid)[:8]).out
    assert f"“Heat” is kept as a recording: `kb show {session.uuid}` reads it." in kept
    again = kb("lectures", "keep", session.uuid, "--json").json["video"]
    assert (again["id"], again["title"]) == (str(session.uuid), "Heat")
    assert Video.objects.count() == 1
    assert "Heat flows from hot to cold." in kb("show", session.uuid).out


def test_lectures_are_listed_shown_and_deleted(kb: Kb, library: Collection) -> None:
    assert "No lecture" in kb("lectures").out
    session = begin(library, title="Heat")
    assert "not begun" in kb("lectures").out
    speech.say(session, "Entropy grows.")
    assert "in progress" in kb("lectures").out
    speech.end(session)
    assert "ended" in kb("lectures").out
    (lecture,) = kb("lectures", "--json").json
    assert (lecture["title"], lecture["collection"]) == ("Heat", "library")
    assert (lecture["windows"], lecture["citations"]) == (1, 0)
    assert str(session.uuid) in kb("lectures").out
    assert kb("lectures", "figures", session.uuid, "--json").json["windows"] == 1
    assert "1 windows, 0 citations" in kb("lectures", "figures", session.uuid).out
    assert kb("lectures", "notes", session.uuid).out.startswith("# Heat\n")
    deleted = kb("lectures", "delete", session.uuid, "--yes", "--json").json
    assert deleted == {"deleted": str(session.uuid)}
    assert not LectureSession.objects.exists()
    assert "There is no lecture" in kb("lectures", "notes", session.uuid, code=3).err
