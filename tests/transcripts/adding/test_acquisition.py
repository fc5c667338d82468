"""Requesting and running jobs, with the real YouTube libraries and a stand-in for YouTube."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from tests.makers import caption_json, done, make_cues, make_video, restarting_vtt
from tests.youtube_standin import PLAYLIST, RUSSIAN, YouTubeStandIn
from transcripts.adding import acquisition, storage, transcript_rows
from transcripts.adding.transcript_rows import StorageChange
from transcripts.core.errors import Conflict, InvalidInput, InvalidUrl, Premiere, ProcessKilled
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.models import Collection, Feed, Job, Transcript, Video, YouTubeGate

pytestmark = [pytest.mark.django_db, pytest.mark.youtube]
VTT = b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello there world\n"


def test_an_address_becomes_a_video_with_transcript_metadata_and_picture(
    collection: Collection, scope: Scope, youtube: YouTubeStandIn
) -> None:
    youtube.add_video("first-video", title="A first talk")
    job = done(acquisition.request(collection, "https://youtu.be/first-video"))
    assert job.state == Job.State.DONE, job.error
    video = library.find_video(scope, "first-video")
    assert (video.title, job.video, job.percent) == ("A first talk", video, 100)
    assert library.read(video).reading.text


def test_two_requests_make_one_job_and_two_fetches_one_video(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    youtube.add_video("first-video")
    first = acquisition.request(collection, "first-video")
    assert acquisition.request(collection, "https://www.youtube.com/watch?v=first-video") == first
    done(first)
    done(acquisition.request(collection, "first-video"))
    assert (Video.objects.count(), Transcript.objects.count(), Job.objects.count()) == (1, 1, 2)


def test_an_address_that_only_looks_like_youtubes_is_a_web_page(collection: Collection) -> None:
    address = "https://youtube.com.evil.example/watch?v=first-video"
    assert acquisition.request(collection, address).kind == Job.Kind.PAGE


def test_what_is_no_address_is_refused_before_anything_is_queued(
    collection: Collection, settings: Any
) -> None:
    with pytest.raises(InvalidUrl):
        acquisition.request(collection, "youtube.com.evil.example/watch?v=first-video")
    settings.WEB_PAGE_RUNNER = ""
    with pytest.raises(InvalidUrl):
        acquisition.request(collection, "https://evil.example/")
    assert not Job.objects.exists()


def test_a_refusal_closes_the_gate_and_keeps_the_job(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    youtube.add_video("first-video")
    youtube.blocked = True
    job = done(acquisition.request(collection, "first-video"))
    gate = YouTubeGate.current()
    assert (job.state, job.attempts, gate.state) == (Job.State.QUEUED, 0, "closed")
    assert gate.closed_until is not None
    assert job.run_after == gate.closed_until + acquisition.PROBE_TURN
    assert 14 < (gate.closed_until - timezone.now()).total_seconds() / 60 <= 15
    requests = len(youtube.requests)
    Job.objects.update(run_after=None)
    done(job)
    assert len(youtube.requests) == requests, "nothing is asked while the gate is closed"


def test_after_the_pause_one_probe_goes_through_and_opens_the_gate(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    youtube.add_video("first-video")
    YouTubeGate.refused(InvalidInput("no"))
    YouTubeGate.objects.update(closed_until=timezone.now() - timedelta(seconds=1))
    assert YouTubeGate.current().state == "probing"
    assert done(acquisition.request(collection, "first-video")).state == Job.State.DONE
    assert YouTubeGate.current().state == "open"


def test_a_video_that_is_refused_alone_closes_nothing_again_and_fails_in_the_end(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    for name in ("first-video", "other-video"):
        youtube.add_video(name)
    youtube.blocked = True
    refused = done(acquisition.request(collection, "first-video"))
    youtube.blocked = False
    other = acquisition.request(collection, "other-video")
    YouTubeGate.objects.update(closed_until=timezone.now() - timedelta(seconds=1))
    assert Job.objects.ready().first() == other, "the probe is another video"
    assert done(other).state == Job.State.DONE
    youtube.blocked = True
    for attempts in (1, 2):
        Job.objects.filter(pk=refused.pk).update(run_after=None)
        done(refused)
        assert (refused.state, refused.attempts) == (Job.State.QUEUED, attempts)
        assert YouTubeGate.current().state == "open"
    Job.objects.filter(pk=refused.pk).update(run_after=None)
    assert done(refused).state == Job.State.FAILED
    assert refused.error_code in acquisition.GATE_CODES


def test_reopening_the_gate_wakes_the_jobs_that_wait_for_it(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    youtube.add_video("first-video")
    youtube.blocked = True
    waiting = done(acquisition.request(collection, "first-video"))
    premiere = acquisition.request(collection, "other-video")
    premiere.postpone(until=timezone.now() + timedelta(hours=1), error=Premiere("Not yet."))
    youtube.blocked = False
    assert acquisition.reopen_gate() == 1
    assert list(Job.objects.ready().unsent()) == [waiting]
    assert done(waiting).state == Job.State.DONE


def test_each_further_refusal_doubles_the_pause_up_to_two_hours(db: None) -> None:
    minutes = [
        round((YouTubeGate.refused(InvalidInput("no")) - timezone.now()).total_seconds() / 60)
        for _ in range(6)
    ]
    assert minutes == [15, 30, 60, 120, 120, 120]


def test_a_network_problem_is_tried_three_times(
    collection: Collection, youtube: YouTubeStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    youtube.stop()
    job = acquisition.request(collection, "first-video")
    for attempt in (1, 2):
        Job.objects.update(run_after=None)
        assert done(job).state == Job.State.QUEUED
        assert job.attempts == attempt
    Job.objects.update(run_after=None)
    assert done(job).state == Job.State.FAILED
    assert (job.error_code, bool(job.hint)) == ("network", True)


def test_a_second_sync_of_a_playlist_queues_only_new_videos(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    ids = [f"list-video{n}" for n in range(3)]
    for video_id in ids:
        youtube.add_video(video_id)
    youtube.add_playlist("PLnewnewnewnew", ids[:2], title="A course")
    assert (
        done(
            acquisition.request(
                collection, "https://www.youtube.com/playlist?list=PLnewnewnewnew", every_hours=6
            )
        ).state
        == Job.State.DONE
    )
    feed = Feed.objects.get()
    assert (feed.title, feed.next_sync_at is not None) == ("A course", True)
    queued = Job.objects.filter(kind=Job.Kind.VIDEO)
    assert set(queued.values_list("target", flat=True)) == set(ids[:2])
    done(queued.get(target=ids[0]))
    Video.objects.all().delete()  # by hand: it is not brought back
    youtube.add_playlist("PLnewnewnewnew", ids, title="A course")
    done(acquisition.request_feed(feed))
    assert sorted(queued.values_list("target", flat=True)) == ids
    feed.refresh_from_db()
    assert feed.new_count == 1
    assert list(feed.entries.values_list("youtube_id", flat=True)) == ids


def test_entries_of_a_playlist_without_a_video_are_listed_with_the_reason(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    seen = youtube.add_video("seen-video1").id
    youtube.add_playlist("PLhalfhidden00", [seen, "hidden-0001"])
    job = done(
        acquisition.request(collection, "https://www.youtube.com/playlist?list=PLhalfhidden00")
    )
    assert (job.state, job.done, job.total) == (Job.State.DONE, 1, 1)
    assert [(problem["name"], problem["code"]) for problem in job.problems] == [
        ("hidden-0001", "private_video")
    ]


def test_a_machine_translation_is_fetched_where_it_was_asked_for(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    assert done(acquisition.request(collection, RUSSIAN, language="de")).state == Job.State.FAILED
    job = done(acquisition.request(collection, RUSSIAN, language="de", translated=True))
    assert job.state == Job.State.DONE, job.error
    stored = Transcript.objects.get()
    assert (stored.language, stored.origin) == ("de", "translated")


def test_a_request_with_translation_does_not_join_one_without(collection: Collection) -> None:
    plain, translated = (
        acquisition.request(collection, RUSSIAN, language="de", translated=wanted)
        for wanted in (False, True)
    )
    assert plain != translated
    assert acquisition.request(collection, RUSSIAN, language="de", translated=True) == translated


@pytest.mark.parametrize(("address", "language"), [(RUSSIAN, ""), (PLAYLIST, "de")])
def test_a_machine_translation_needs_one_video_and_a_language(
    collection: Collection, address: str, language: str
) -> None:
    with pytest.raises(InvalidInput, match="language that is named"):
        acquisition.request(collection, address, language=language, translated=True)
    assert not Job.objects.exists()


def test_uploaded_files_are_stored_one_by_one_and_problems_are_listed(
    collection: Collection,
) -> None:
    uploads = [
        ("good.vtt", VTT),
        ("bad.vtt", b"<html><body>Sign in</body></html>"),
        ("notes.pdf", b"%PDF"),
    ]
    job = done(acquisition.request_files(collection, uploads))
    assert (job.state, job.done, job.total) == (Job.State.DONE, 2, 2)
    assert [(problem["name"], problem["code"]) for problem in job.problems] == [
        ("bad.vtt", "html_page")
    ]
    assert not job.files.exists()
    video = Video.objects.get(key="good")
    row = {"name": "good.vtt", "video": video.pk, "change": "added"}
    assert job.read == [row | {"is_joined": False, "media": ""}]


def test_an_upload_whose_clock_starts_again_is_stored_with_a_warning(
    collection: Collection,
) -> None:
    job = done(acquisition.request_files(collection, [("talks.vtt", restarting_vtt())]))
    assert (job.state, job.failure_count) == (Job.State.DONE, 0)
    assert [(problem["name"], problem["code"]) for problem in job.problems] == [
        ("talks.vtt", "clock_restarts")
    ]
    cues = library.cues_of(Transcript.objects.get())
    assert [cue.text.split()[0] for cue in cues] == ["One"] * 10 + ["Another"] * 10


def test_all_doubts_about_a_file_are_told_and_its_rest_is_stored(collection: Collection) -> None:
    subtitles = "00:00:01,000 --> 00:00:02,000\nŹle, że\n\n00:0x:03,000 --> 00:00:04,000\nlost\n"
    job = done(acquisition.request_files(collection, [("a.srt", subtitles.encode("cp1250"))]))
    assert (job.state, job.failure_count) == (Job.State.DONE, 0)
    codes = [problem["code"] for problem in job.problems]
    assert codes == ["untimed_text", "unsure_encoding"]


def test_a_copy_under_another_name_is_stored_with_a_warning_in_its_collection_alone(
    collection: Collection,
) -> None:
    data = b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello\n"
    elsewhere = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    assert done(acquisition.request_files(elsewhere, [("far.vtt", data)])).problems == []
    assert done(acquisition.request_files(collection, [("talk.vtt", data)])).problems == []
    again = done(acquisition.request_files(collection, [("talk.vtt", data)]))
    assert again.problems == [], "the same file is no copy"
    job = done(acquisition.request_files(collection, [("copy.vtt", data)]))
    assert (job.state, job.failure_count) == (Job.State.DONE, 0)
    assert [(problem["code"], problem["message"]) for problem in job.problems] == [
        ("same_text", "It has the same text as “talk” (talk), which was there already.")
    ]
    Video.objects.filter(key="talk").update(deletion=uuid4())
    Video.objects.get(key="copy").delete()
    assert done(acquisition.request_files(collection, [("late.vtt", data)])).problems == []


def test_two_uploaded_files_of_the_same_name_are_both_imported(collection: Collection) -> None:
    other = b"WEBVTT\n\n00:01.000 --> 00:02.000\nquite another recording\n"
    job = done(
        acquisition.request_files(
            collection, [("talk.vtt", VTT), ("talk.vtt", other), ("talk.vtt", VTT)]
        )
    )
    assert (job.state, job.total, [problem["code"] for problem in job.problems]) == (
        Job.State.DONE,
        3,
        ["conflict"],
    )
    assert library.cues_of(Transcript.objects.get())[0].text == "hello there world"


@pytest.mark.parametrize("name", ["Tides-dQw4w9WgXcQ.en.vtt", "Tides [dQw4w9WgXcQ].en.vtt"])
def test_captions_named_by_the_id_of_a_video_play_with_it(
    collection: Collection, name: str
) -> None:
    data = b"WEBVTT\n\n00:01.000 --> 00:02.000\nThe sea falls.\n"
    video = storage.add_captions(collection, data, name=name).video
    assert (video.title, video.youtube_id) == ("Tides", "dQw4w9WgXcQ")
    assert video.player == "youtube"


def test_another_format_replaces_an_unreadable_upload(collection: Collection) -> None:
    job = done(acquisition.request_files(collection, [("talk.vtt", VTT), ("talk.json3", b"")]))
    assert (job.state, job.problems) == (Job.State.DONE, [])
    assert Transcript.objects.get().video.key == "talk"


def test_an_import_without_a_readable_file_fails_with_the_reason(collection: Collection) -> None:
    job = done(acquisition.request_files(collection, [("bad.vtt", b"<html></html>")]))
    assert (job.state, "bad.vtt" in job.error) == (Job.State.FAILED, True)
    with pytest.raises(InvalidInput):
        acquisition.request_files(collection, [("film.mp4", b"")])
    with pytest.raises(InvalidInput, match="None of these"):
        acquisition.request_files(collection, [("talk.info.json", b"{}")])


def test_adding_the_same_file_again_changes_nothing_and_an_edited_one_updates(
    collection: Collection,
) -> None:
    changes = [
        storage.add_captions(collection, data, name="talk.en.vtt").change
        for data in (VTT, VTT, VTT.replace(b"world", b"world again"))
    ]
    assert changes == [StorageChange.ADDED, StorageChange.UNCHANGED, StorageChange.UPDATED]
    assert Transcript.objects.get().cue_count == 1


def test_another_recording_of_the_same_name_is_refused_and_the_first_kept(
    collection: Collection,
) -> None:
    first = storage.add_captions(collection, VTT, name="a/lecture.vtt")
    with pytest.raises(Conflict) as caught:
        storage.add_captions(
            collection,
            b"WEBVTT\n\n00:01.000 --> 00:02.000\nquite different matters\n",
            name="b/lecture.vtt",
        )
    assert "a/lecture.vtt" in caught.value.message
    first.transcript.refresh_from_db()
    assert first.transcript.cues[0][2] == "hello there world"


def test_a_download_folder_of_yt_dlp_brings_title_chapters_and_the_youtube_id(
    collection: Collection,
) -> None:
    info = {
        "id": "dQw4w9WgXcQ",
        "extractor": "youtube",
        "extractor_key": "Youtube",
        "title": "A talk",
        "channel": "A channel",
        "duration": 60,
        "upload_date": "20240229",
        "chapters": [{"start_time": 0, "end_time": 30, "title": "Start"}],
    }
    uploads = [
        ("dir/A talk [dQw4w9WgXcQ].en.vtt", VTT),
        ("dir/A talk [dQw4w9WgXcQ].info.json", json.dumps(info).encode()),
    ]
    job = done(acquisition.request_files(collection, uploads))
    video = Video.objects.get()
    assert job.video == video
    assert (video.key, video.youtube_id, video.title, video.channel) == (
        "dQw4w9WgXcQ",
        "dQw4w9WgXcQ",
        "A talk",
        "A channel",
    )
    assert (video.chapters, video.published_at and video.published_at.date().isoformat()) == (
        [[0, "Start"]],
        "2024-02-29",
    )


def test_a_stored_original_can_be_parsed_again(collection: Collection) -> None:
    video = make_video(collection)
    transcript = video.transcripts.get()
    Transcript.objects.filter(pk=transcript.pk).update(
        digest="of an older parser", cues=[[0, 1, "old"]]
    )
    assert transcript_rows.reparse(video.transcripts.get()) is StorageChange.UPDATED
    assert video.transcripts.get().cue_count == 60


def test_an_abandoned_job_is_queued_again_and_fails_after_five_crashes(
    collection: Collection,
) -> None:
    job = acquisition.request(collection, "first-video")
    Job.objects.update(state=Job.State.RUNNING, attempts=1)
    assert acquisition.recover_abandoned() == 1
    job.refresh_from_db()
    assert job.state == Job.State.QUEUED
    Job.objects.update(state=Job.State.RUNNING, crashes=Job.MAX_CRASHES)
    acquisition.recover_abandoned()
    acquisition.perform(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error_code) == (Job.State.FAILED, ProcessKilled.code)


def test_a_caption_file_keeps_its_own_id_title_and_language(
    collection: Collection, scope: Scope
) -> None:
    stored = storage.add_captions(
        collection,
        caption_json(make_cues(3), id="own-id", title="Own title", lang="pt-BR"),
        name="elsewhere.json",
    )
    assert (stored.video.key, stored.video.title, stored.transcript.language) == (
        "own-id",
        "Own title",
        "pt-BR",
    )
    assert library.find_video(scope, "own-id") == stored.video


def test_unpaired_surrogates_are_removed_from_titles_tags_and_languages(
    collection: Collection,
) -> None:
    stored = storage.add_captions(
        collection,
        VTT,
        name="talk\ud800.vtt",
        title="A\x00 \ud800title",
        language="en\x00",
        tags=["a\ud800", "a", " "],
    )
    assert (stored.video.title, stored.video.tags, stored.transcript.language) == (
        "A title",
        ["a"],
        "en",
    )


def test_the_id_of_another_site_is_not_a_youtube_id(collection: Collection) -> None:
    info = {"id": "12345678901", "extractor_key": "Vimeo", "title": "Elsewhere"}
    assert (
        storage.add_captions(
            collection, VTT, name="talk.vtt", info=json.dumps(info).encode()
        ).video.youtube_id
        == ""
    )


def test_a_network_outage_uses_up_no_attempts(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    youtube.stop()
    jobs = [acquisition.request(collection, f"lost-video{n}") for n in range(6)]
    for job in jobs:
        YouTubeGate.objects.update(closed_until=None)  # as if the pause were over
        done(job)
    assert [job.attempts for job in jobs] == [1, 1, 0, 0, 0, 0]
    gate = YouTubeGate.current()
    assert (gate.state, gate.reason_code) == ("closed", "network")
    YouTubeGate.succeeded(pace=0)
    assert YouTubeGate.current().state == "open"


def test_added_word_times_are_an_update_of_the_same_text(collection: Collection) -> None:
    plain = b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello world\n"
    timed = b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello<00:01.500><c> world</c>\n"
    changes = [
        storage.add_captions(collection, data, name="talk.vtt").change
        for data in (plain, timed, timed)
    ]
    assert changes == [StorageChange.ADDED, StorageChange.UPDATED, StorageChange.UNCHANGED]
    assert Transcript.objects.get().word_times
