"""Lecture sessions and speech: segments in order, windows, replays and reports."""

import re
import threading
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from citations.errors import (
    CitationNotFound,
    InvalidFilter,
    LectureEnded,
    LectureNotFound,
    SourceNotFound,
)
from citations.lectures import report as lecture_report
from citations.lectures import sessions as lecture_sessions
from citations.lectures import speech
from citations.lectures.windows import Utterance
from citations.models import (
    Citation,
    LectureEvent,
    LectureSession,
    Segment,
    Source,
    Window,
    WindowOutcome,
)
from citations.schemas.lectures import CitedEventOut
from tests.contention import run_against
from tests.makers import make_cues, make_document, make_user, make_video
from transcripts.core.errors import (
    CollectionNotFound,
    Forbidden,
    InvalidInput,
    TooLarge,
    TranscriptNotFound,
)
from transcripts.core.scope import NOTHING, Scope
from transcripts.library import collections
from transcripts.models import Collection, Role
from transcripts.text.cues import Cue

pytestmark = pytest.mark.django_db

SENTENCE = (
    "Backpropagation carries the error from the end of the network to its start, layer by layer,"
    " so that every weight learns number {}."
)


def spoken(count: int, *, first: int = 0) -> list[Utterance]:
    """Say so many long sentences, one a segment of five seconds."""
    return [
        Utterance(n, SENTENCE.format(n), n * 5_000, (n + 1) * 5_000)
        for n in range(first, first + count)
    ]


@pytest.fixture
def lecture(scope: Scope, collection: Collection) -> LectureSession:
    return lecture_sessions.start(scope, None, title="Networks", collection=collection)


def kinds(session: LectureSession) -> list[str]:
    happened = list(LectureEvent.objects.filter(session=session).order_by("number"))
    assert [event.number for event in happened] == list(range(1, len(happened) + 1))
    return [event.kind for event in happened]


def words_of(windows: list[Window]) -> list[str]:
    return [window.text for window in windows]


# Sessions


def test_a_lecture_begins_in_a_collection_that_may_be_changed(
    scope: Scope, collection: Collection, owner: User
) -> None:
    made = lecture_sessions.start(
        scope, owner, title="  Networks\x00 ", collection="lectures", language="en"
    )
    expected = ("Networks", owner, collection, "en")
    assert (made.title, made.owner, made.collection, made.language) == expected
    assert lecture_sessions.start(scope, None).title.startswith("Lecture of ")
    with pytest.raises(Forbidden):
        lecture_sessions.start(Scope(readable=scope.readable), None, collection=collection)
    with pytest.raises(CollectionNotFound):
        lecture_sessions.start(scope, None, collection="elsewhere")


def test_a_lecture_names_sources_of_its_own_collection_alone(
    scope: Scope, collection: Collection
) -> None:
    mine = make_document(collection, ["Entropy is disorder."])
    other = Collection.objects.create(name="Other", slug="other")
    theirs = make_document(other, ["Enthalpy is heat."])
    both = Scope(
        readable=frozenset({collection.pk, other.pk}), writable=frozenset({collection.pk, other.pk})
    )
    made = lecture_sessions.start(both, None, collection=collection, sources=[str(mine.uuid)])
    assert list(made.sources.all()) == [mine]
    with pytest.raises(SourceNotFound):
        lecture_sessions.start(both, None, collection=collection, sources=[str(theirs.uuid)])
    too_many = [str(mine.uuid)] * (lecture_sessions.MAX_SOURCES + 1)
    with pytest.raises(InvalidFilter):
        lecture_sessions.start(scope, None, collection=collection, sources=too_many)


def test_a_recording_that_is_not_visible_cannot_be_replayed(
    scope: Scope, collection: Collection
) -> None:
    other = Collection.objects.create(name="Other", slug="other")
    transcript = make_video(other).transcripts.get()
    with pytest.raises(TranscriptNotFound):
        lecture_sessions.start(scope, None, collection=collection, transcript=transcript)


def test_replays_of_a_recording_have_titles_that_tell_them_apart(
    scope: Scope, collection: Collection
) -> None:
    talk = make_video(collection, title="Networks (week 3)").transcripts.get()
    about = {"collection": collection, "transcript": talk}
    replays = [lecture_sessions.start(scope, None, **about) for _ in range(2)]
    replays += [lecture_sessions.start_again(scope, None, replays[n]) for n in (1, 0)]
    assert [replay.title for replay in replays] == [
        "Networks (week 3)",
        "Networks (week 3) (replay 2)",
        "Networks (week 3) (replay 3)",
        "Networks (week 3) (replay 4)",
    ]


def test_lectures_are_found_within_the_scope_alone(scope: Scope, lecture: LectureSession) -> None:
    assert lecture_sessions.find_session(scope, str(lecture.uuid)) == lecture
    hits = lecture_sessions.list_sessions(scope, words="netw", collection="lectures")
    assert [session.title for session in hits.sessions] == ["Networks"]
    assert lecture_sessions.list_sessions(scope, words="networks of old").total == 0
    assert lecture_sessions.list_sessions(NOTHING).sessions == ()
    for reference in (lecture.uuid, "no id", "\x00", ""):
        with pytest.raises(LectureNotFound):
            lecture_sessions.find_session(NOTHING, reference)
    with pytest.raises(Forbidden):
        lecture_sessions.find_session(Scope(readable=scope.readable), lecture.uuid, write=True)


def test_the_list_goes_on_from_page_to_page(scope: Scope, collection: Collection) -> None:
    for number in range(3):
        lecture_sessions.start(scope, None, title=f"Lecture {number}", collection=collection)
    first = lecture_sessions.list_sessions(scope, limit=2)
    rest = lecture_sessions.list_sessions(scope, limit=2, offset=first.next or 0)
    expected = ["Lecture 2", "Lecture 1", "Lecture 0"]
    assert [session.title for session in (*first.sessions, *rest.sessions)] == expected
    assert (first.total, first.next, rest.next) == (3, 2, None)


def test_deleting_a_lecture_deletes_all_that_was_said_and_nothing_else(
    lecture: LectureSession, collection: Collection
) -> None:
    source = make_document(collection, ["Entropy is disorder."])
    lecture.sources.add(source)
    speech.push(lecture, spoken(6))
    lecture_sessions.delete(lecture)
    assert not any(
        model.objects.exists() for model in (LectureSession, Segment, Window, LectureEvent)
    )
    assert Source.objects.get() == source
    with pytest.raises(LectureNotFound):
        speech.push(lecture, spoken(1))


# What is said


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("target", ["lecture", "collection"])
def test_a_deletion_waits_for_citations_that_are_being_stored(
    lecture: LectureSession, target: str
) -> None:
    speech.push(lecture, spoken(12))
    window = lecture.windows.earliest("pk")
    deletions = {
        "lecture": lambda: lecture_sessions.delete(lecture),
        "collection": lambda: collections.delete(lecture.collection),
    }
    run_against(
        deletions[target],
        lock=lambda: LectureSession.objects.select_for_update().get(pk=lecture.pk),
        write=lambda: Window.objects.filter(pk=window.pk).update(note="Stored."),
    )
    assert not LectureSession.objects.exists()


def test_segments_become_windows_that_share_a_sentence(lecture: LectureSession) -> None:
    new_windows = speech.push(lecture, spoken(9)) + speech.end(lecture)
    assert [window.index for window in new_windows] == list(range(len(new_windows)))
    assert all(window.outcome == WindowOutcome.WAITING for window in Window.objects.all())
    assert len(new_windows) >= 3
    for before, after in pairwise(words_of(new_windows)):
        shared = before.rpartition(". ")[2]
        assert after.startswith(shared)
    said = " ".join(words_of(new_windows))
    assert all(SENTENCE.format(n) in said for n in range(9))
    assert (new_windows[0].first, new_windows[0].start) == (0, 0)


def test_what_is_said_is_told_in_order(lecture: LectureSession) -> None:
    speech.push(lecture, spoken(6))
    speech.end(lecture)
    names = kinds(lecture)
    assert names[:6] == ["segment"] * 6
    assert set(names[6:-1]) == {"window"}
    assert names[-1] == "ended"
    first = LectureEvent.objects.filter(kind="segment").earliest("number")
    assert first.data == {"number": 0, "text": SENTENCE.format(0), "start": 0, "end": 5}
    window = LectureEvent.objects.filter(kind="window").earliest("number")
    assert window.data.keys() == {"index", "first", "last", "start", "end", "text"}


def test_a_segment_that_comes_twice_counts_once(lecture: LectureSession) -> None:
    speech.push(lecture, spoken(4))
    others = ((3, "Something else."), (4, "And on."), (4, "And on, in other words."))
    speech.push(lecture, [Utterance(*other) for other in others])
    speech.push(lecture, spoken(4))
    assert list(Segment.objects.values_list("number", flat=True)) == [0, 1, 2, 3, 4]
    assert Segment.objects.get(number=3).text == SENTENCE.format(3)
    assert Segment.objects.get(number=4).text == "And on."
    assert kinds(lecture).count("segment") == 5


def test_segments_out_of_order_make_the_windows_that_they_make_in_order(
    scope: Scope, collection: Collection
) -> None:
    results = []
    for order in ([0, 1, 2, 3, 4, 5, 6, 7], [0, 2, 1, 4, 3, 5, 7, 6]):
        session = lecture_sessions.start(scope, None, collection=collection)
        said = spoken(8)
        new_windows = [
            window for number in order for window in speech.push(session, [said[number]])
        ]
        results.append(words_of(new_windows + speech.end(session)))
    assert results[0] == results[1]


def test_pushes_at_the_same_time_neither_lose_nor_double_anything(
    transactional_db: None, lecture: LectureSession
) -> None:
    def push(first: int) -> None:
        try:
            for number in range(first, 12, 3):
                speech.push(lecture, spoken(1, first=number))
        finally:
            connection.close()

    threads = [threading.Thread(target=push, args=(first,)) for first in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    speech.end(lecture)
    assert list(Segment.objects.values_list("number", flat=True)) == list(range(12))
    indexes = list(Window.objects.values_list("index", flat=True))
    assert indexes == list(range(len(indexes)))
    assert kinds(lecture).count("segment") == 12


def test_a_lecture_that_has_ended_takes_nothing_more(lecture: LectureSession) -> None:
    speech.push(lecture, spoken(1))
    assert len(speech.end(lecture)) == 1
    assert speech.end(lecture) == []
    with pytest.raises(LectureEnded):
        speech.push(lecture, spoken(1, first=7))
    with pytest.raises(LectureEnded):
        speech.say(lecture, "More.")


@pytest.mark.parametrize(
    ("utterance", "error"),
    [
        (Utterance(-1, "a"), InvalidInput),
        (Utterance(2**31, "a"), InvalidInput),
        (Utterance(0, "a", -1, 5), InvalidInput),
        (Utterance(0, "a", 0, 2**40), InvalidInput),
        (Utterance(0, "a" * (speech.MAX_TEXT + 1)), TooLarge),
    ],
)
def test_what_no_database_keeps_is_refused(
    lecture: LectureSession, utterance: Utterance, error: type[Exception]
) -> None:
    with pytest.raises(error):
        speech.push(lecture, [utterance])
    assert not Segment.objects.exists()


def test_hostile_text_is_kept_without_what_a_database_refuses(lecture: LectureSession) -> None:
    speech.push(lecture, [Utterance(0, "A\x00 b\ud800 c\x1b", 9_000, 5), Utterance(1, " \n\x00 ")])
    segment = Segment.objects.get()
    assert (segment.text, segment.start, segment.end) == ("A b c", 9_000, 9_000)
    with pytest.raises(TooLarge):
        speech.push(lecture, (Utterance(n, "a") for n in range(speech.MAX_SEGMENTS + 1)))


def test_what_is_pasted_is_numbered_behind_what_was_said(lecture: LectureSession) -> None:
    speech.push(lecture, spoken(2))
    speech.say(lecture, "A line.\n\nAnother line.\n" + "word " * 2_500)
    texts = dict(Segment.objects.values_list("number", "text"))
    assert (texts[2], texts[3]) == ("A line.", "Another line.")
    assert max(map(len, texts.values())) <= speech.MAX_TEXT
    assert sum(text.count("word") for text in texts.values()) == 2_500
    with pytest.raises(TooLarge):
        speech.say(lecture, "a" * (speech.MAX_SAID + 1))


# Replay


@pytest.fixture
def replay(scope: Scope, collection: Collection) -> LectureSession:
    video = make_video(collection, title="A talk", cues=make_cues(12))
    return lecture_sessions.start(
        scope, None, collection=collection, transcript=video.transcripts.get()
    )


def test_a_recording_is_said_up_to_where_it_has_come(replay: LectureSession) -> None:
    assert replay.title == "A talk"
    speech.advance(replay, 14_999)
    numbers = list(Segment.objects.values_list("number", flat=True))
    assert numbers == [0, 1], "a cue counts when it has ended"
    speech.advance(replay, 15_000)
    speech.advance(replay, 3_000)
    assert Segment.objects.count() == 3
    replay.refresh_from_db()
    assert (replay.position, replay.ended_at) == (15_000, None)


def test_a_replay_ends_with_its_recording_and_makes_the_windows_that_the_speech_would(
    replay: LectureSession, scope: Scope, collection: Collection
) -> None:
    made = [
        window for position in range(0, 61_000, 700) for window in speech.advance(replay, position)
    ]
    replay.refresh_from_db()
    assert replay.ended_at is not None
    assert kinds(replay)[-1] == "ended"
    spoken_live = lecture_sessions.start(scope, None, collection=collection)
    cues = [Utterance(n, cue.text, cue.start, cue.end) for n, cue in enumerate(make_cues(12))]
    assert words_of(made) == words_of(speech.push(spoken_live, cues) + speech.end(spoken_live))
    assert speech.advance(replay, 90_000) == []


def test_what_is_pasted_into_a_replay_takes_no_word_from_the_recording(
    replay: LectureSession,
) -> None:
    new_windows = speech.advance(replay, 15_000)
    new_windows += speech.say(replay, "Somebody asks a question.\nSomebody answers it.")
    speech.push(replay, [Utterance(9, "")])
    new_windows += speech.say(replay, "Somebody laughs.") + speech.advance(replay, 60_000)
    cues = [" ".join(cue.text.split()) for cue in make_cues(12)]
    spoken_ = list(Segment.objects.order_by("number").values_list("text", flat=True))
    assert spoken_ == [
        *cues[:3],
        "Somebody asks a question.",
        "Somebody answers it.",
        "Somebody laughs.",
        *cues[3:],
    ]
    assert all(any(sentence in window.text for window in new_windows) for sentence in spoken_)


def test_a_replay_at_once_says_everything(replay: LectureSession) -> None:
    speech.advance(replay, 10**12)
    assert Segment.objects.count() == 12
    assert kinds(replay)[-1] == "ended"


def test_cues_that_overlap_are_said_once_each(scope: Scope, collection: Collection) -> None:
    cues = [
        Cue(0, 0, "Nothing yet."),
        Cue(0, 9_000, "Long."),
        Cue(1_000, 2_000, "Short."),
        Cue(3_000, 10_000, "Last."),
    ]
    talk = make_video(collection, cues=cues).transcripts.get()
    session = lecture_sessions.start(scope, None, collection=collection, transcript=talk)
    for position in range(0, 12_000, 500):
        speech.advance(session, position)
    stored = session.transcript.cues if session.transcript else []
    expected = list(Segment.objects.order_by("number").values_list("text", flat=True))
    assert [text for _, _, text in stored] == expected


def test_what_replays_nothing_cannot_advance(
    lecture: LectureSession, replay: LectureSession
) -> None:
    with pytest.raises(InvalidInput):
        speech.advance(lecture, 1_000)
    replay.transcript.video.delete()  # type: ignore[union-attr]
    replay.refresh_from_db()
    with pytest.raises(InvalidInput):
        speech.advance(replay, 1_000)


# What is left


def cite(window: Window, source: Source, *, rank: int = 1, **about: Any) -> Citation:
    where = {
        "span_start": 0,
        "span_end": 20,
        "digest": "d",
        "quote": "Entropy is disorder.",
        "snippet": "Entropy is disorder.",
        "relevance_score": 0.9,
    }
    of = {"session": window.session, "window": window, "window_index": window.index}
    return Citation.objects.create(rank=rank, source=source, **{**of, **where, **about})


def test_citations_are_seen_by_whoever_sees_the_lecture_and_the_source(
    scope: Scope, lecture: LectureSession, collection: Collection
) -> None:
    source = make_document(collection, ["Entropy is disorder."])
    [window] = speech.push(lecture, spoken(3))[:1]
    made = cite(window, source, page=3)
    assert list(lecture_sessions.citations_of(lecture)) == [made]
    assert lecture_sessions.find_citation(scope, str(made.uuid)) == made
    assert CitedEventOut.model_validate(made).page_number == 3
    with pytest.raises(CitationNotFound):
        lecture_sessions.find_citation(NOTHING, made.uuid)
    Source.objects.update(collection=Collection.objects.create(name="Other", slug="other"))
    assert list(lecture_sessions.citations_of(lecture)) == []
    with pytest.raises(CitationNotFound):
        lecture_sessions.find_citation(scope, made.uuid)


def test_the_notes_hold_what_was_said_with_what_is_cited_behind_it(
    lecture: LectureSession, collection: Collection
) -> None:
    source = make_document(collection, ["Entropy is disorder."], title="Physics *for* all")
    windows = speech.push(
        lecture, [*spoken(4), Utterance(4, "1. We <b>close</b> [now](x)."), Utterance(5, "_Bye_.")]
    ) + speech.end(lecture)
    cite(windows[0], source, page=3, last_page=4, section_heading="Heat")
    cite(windows[0], source, rank=2, start=65_000, span_start=900, span_end=920)
    cite(windows[1], source, page=3, section_heading="Heat")
    cite(windows[1], source, rank=2, start=70_000, span_start=2_900, span_end=2_920)
    notes = lecture_report.export(lecture)
    assert notes.startswith("# Networks\n")
    assert f"{SENTENCE.format(windows[0].last)}[^1]\n" in notes.replace("\\", "")
    assert "[^2]" not in notes  # the second window cites on what the first one does
    assert re.search(
        r"^\[\^1\]: \S+: \*\*Physics \\\*for\\\* all\*\*, pages 3–4, Heat\."
        r" “Entropy is disorder\.” <",
        notes,
        re.MULTILINE,
    )
    assert "    <details><summary>1 more passage</summary>\n" in notes
    assert "\n    **Physics \\*for\\* all**, 1:05." in notes
    assert "    - **Physics \\*for\\* all**, 1:10." in notes
    assert "\\<b>close\\</b> \\[now\\]" in notes
    assert all(
        text in notes.replace("\\", "") for text in Segment.objects.values_list("text", flat=True)
    )


def test_the_notes_of_a_lecture_without_citations_say_so(lecture: LectureSession) -> None:
    speech.say(lecture, "Nothing of it.")
    assert "*Nothing was cited.*" in lecture_report.export(lecture)


def test_statistics_tell_shares_and_times_by_session_and_in_all(
    lecture: LectureSession, scope: Scope, collection: Collection
) -> None:
    outcomes = [
        WindowOutcome.CITED,
        WindowOutcome.CITED,
        WindowOutcome.OFF_TOPIC,
        WindowOutcome.TOO_FAR,
        WindowOutcome.TOO_WEAK,
        WindowOutcome.NO_DOCUMENTS,
        WindowOutcome.WAITING,
    ]
    for index, outcome in enumerate(outcomes):
        about: dict[str, Any] = {}
        if outcome != WindowOutcome.WAITING:
            about = {"milliseconds": 10.0, "note": "Ordered by similarity."}
            about["stages"] = {"search": 2.0 * (index + 1)}
        Window.objects.create(session=lecture, index=index, text="a", outcome=outcome, **about)
    other = lecture_sessions.start(scope, None, collection=collection)
    Window.objects.create(session=other, index=0, text="a", outcome=WindowOutcome.CITED)
    figures = lecture_report.statistics(lecture)
    assert (figures.windows, figures.waiting, figures.citations) == (7, 1, 0)
    expected = (0.4, 0.2, 0.2, 0.2)
    assert (figures.cited, figures.off_topic, figures.too_far, figures.too_weak) == expected
    [search] = figures.stages
    assert (search.name, search.p50, search.count) == ("search", 7.0, 6)
    assert 11 < search.p95 <= 12
    assert figures.total is not None
    assert figures.total.p50 == 10.0
    assert figures.notes == {"Ordered by similarity.": 6}
    assert lecture_report.statistics().windows == 8
    empty = lecture_sessions.start(scope, None, collection=collection)
    assert lecture_report.statistics(empty).cited == 0.0


def test_whoever_is_deleted_leaves_the_lecture(scope: Scope, collection: Collection) -> None:
    user = make_user("bob", collection=collection, role=Role.EDITOR)
    session = lecture_sessions.start(scope, user, collection=collection)
    user.delete()
    session.refresh_from_db()
    assert session.owner is None
