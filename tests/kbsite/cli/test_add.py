"""add: files, folders, what is pasted, addresses."""

import json
import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from tests import template
from tests.kbsite.cli.conftest import Kb
from tests.makers import caption_json, make_cues, restarting_vtt
from tests.programs import run_python
from tests.web_standin import Web
from tests.youtube_standin import MANUAL, PLAYLIST, RUSSIAN, YouTubeStandIn
from transcripts.core.errors import Blocked
from transcripts.models import (
    Collection,
    Feed,
    Job,
    MediaFile,
    RawCaptions,
    Transcript,
    Video,
    WorkerPulse,
    YouTubeGate,
)

VTT = b"""\
WEBVTT

00:00:00.000 --> 00:00:04.000
Hello and welcome.

00:00:04.000 --> 00:00:08.000
This is a talk.
"""


# Files


def test_a_sound_file_plays_beside_the_captions_in_its_folder(kb: Kb, tmp_path: Path) -> None:
    for name, data in (("talk.en.vtt", VTT), ("talk.mp3", b"ID3"), ("song.mp3", b"ID3")):
        (tmp_path / name).write_bytes(data)
    report = kb("add", tmp_path, "--json").json
    assert report["media"] == ["talk"]
    assert [problem["code"] for problem in report["problems"]] == ["media_without_captions"]
    assert MediaFile.objects.get().video == Video.objects.get()


def test_a_file_is_added_under_the_name_it_has(kb: Kb, tmp_path: Path) -> None:
    (tmp_path / "my talk.en.vtt").write_bytes(VTT)
    report = kb("add", tmp_path / "my talk.en.vtt", "--tag", "a", "--tag", "b", "--json").json
    assert (report["added"], report["updated"], report["unchanged"], report["skipped"]) == (
        1,
        0,
        0,
        0,
    )
    assert [video["id"] for video in report["videos"]] == ["my talk"]
    (video,) = kb("list", "--json").json["videos"]
    assert (video["languages"], video["tags"]) == (["en"], ["a", "b"])
    assert (
        kb("show", "my talk", "--json").json["reading"]["text"]
        == "Hello and welcome. This is a talk."
    )


def test_adding_again_changes_nothing_and_a_new_version_updates(kb: Kb, tmp_path: Path) -> None:
    path = tmp_path / "talk.vtt"
    path.write_bytes(VTT)
    kb("add", path)
    assert kb("add", path, "--json").json["unchanged"] == 1
    path.write_bytes(VTT.replace(b"a talk", b"a better talk"))
    assert kb("add", path, "--json").json["updated"] == 1
    assert Transcript.objects.count() == 1


def test_two_files_of_one_recording_do_not_take_turns(kb: Kb, tmp_path: Path) -> None:
    for name, text in (
        ("srt/talk.srt", b"1\n00:00:00,000 --> 00:00:04,000\nHello and welcome.\n"),
        ("vtt/talk.vtt", VTT),
    ):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(text)
    first, again = (kb("add", tmp_path / "srt", tmp_path / "vtt", "--json").json for _ in range(2))
    assert (first["added"], first["updated"], first["unchanged"]) == (1, 0, 1)
    assert (again["added"], again["updated"], again["unchanged"]) == (0, 0, 2)
    assert (
        kb("show", "talk", "--json").json["reading"]["text"],
        RawCaptions.objects.get().name,
    ) == ("Hello and welcome.", "talk.srt")


def test_where_the_best_format_cannot_be_read_another_one_of_the_recording_is_taken(
    kb: Kb, tmp_path: Path
) -> None:
    (tmp_path / "talk.json3").write_bytes(b"")
    (tmp_path / "talk.vtt").write_bytes(VTT)
    for paths in ((tmp_path,), (tmp_path / "talk.json3", tmp_path / "talk.vtt")):
        report = kb("add", *paths, "--json").json
        assert (report["videos"][0]["id"], report["problems"]) == ("talk", [])
    assert RawCaptions.objects.get().name == "talk.vtt"


def test_a_clock_that_starts_again_is_told_and_is_no_failure(kb: Kb, tmp_path: Path) -> None:
    (tmp_path / "talks.vtt").write_bytes(restarting_vtt())
    output = kb("add", tmp_path / "talks.vtt").out
    assert "1 added" in output
    assert "clock_restarts" in output
    report = kb("add", tmp_path / "talks.vtt", "--json").json
    assert [problem["code"] for problem in report["problems"]] == ["clock_restarts"]


def test_a_folder_without_captions_is_said_to_be_one(kb: Kb, tmp_path: Path) -> None:
    assert "nothing was added" in kb("add", tmp_path).err


def test_what_is_too_long_for_a_name_is_refused(kb: Kb) -> None:
    assert "invalid_url" in kb("add", "a" * 5_000, code=2).out


def test_title_language_and_collection_can_be_given(
    kb: Kb, tmp_path: Path, collection: Collection
) -> None:
    (tmp_path / "x.srt").write_bytes(b"1\n00:00:01,000 --> 00:00:02,000\nHallo.\n")
    kb("add", tmp_path / "x.srt", "--title", "Ein Vortrag", "--lang", "de", "-c", "lectures")
    video = Video.objects.get()
    assert (video.title, video.collection, video.transcripts.get().language) == (
        "Ein Vortrag",
        collection,
        "de",
    )


def test_an_unknown_collection_is_refused_and_the_known_ones_are_named(
    kb: Kb, tmp_path: Path, collection: Collection
) -> None:
    failed = kb("add", tmp_path, "-c", "nowhere", code=3)
    assert "lectures" in failed.err


def test_a_folder_is_added_with_its_folders_and_what_is_no_transcript_is_skipped(
    kb: Kb, tmp_path: Path
) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    for name in ("a.vtt", "deep/b.vtt", "deep/er/c.vtt", ".hidden/d.vtt", ".e.vtt"):
        (tmp_path / name).write_bytes(VTT + name.encode())
    (tmp_path / "slides.pptx").write_bytes(b"PK")
    (tmp_path / "notes.docx").write_bytes(b"PK")
    report = kb("add", tmp_path, "--json").json
    assert {video["id"] for video in report["videos"]} == {"a", "b", "c"}
    assert (report["added"], report["skipped"], report["problems"]) == (3, 2, [])


def test_an_unreadable_member_of_a_folder_is_listed_and_the_rest_kept(
    kb: Kb, tmp_path: Path
) -> None:
    folder = tmp_path / ("a folder with a long name " * 9).strip()
    folder.mkdir()
    (folder / "good.vtt").write_bytes(VTT)
    (folder / "empty.vtt").write_bytes(b"")
    (folder / "page.vtt").write_bytes(b"<!DOCTYPE html><html><body>Not found</body></html>")
    report = kb("add", folder, "--json").json
    assert (report["added"], report["skipped"]) == (1, 2)
    assert {(Path(problem["name"]).name, problem["code"]) for problem in report["problems"]} == {
        ("empty.vtt", "empty"),
        ("page.vtt", "html_page"),
    }
    result = kb("add", folder)
    assert "html_page" in result.out


def test_a_bad_file_that_is_named_ends_with_code_2_and_the_good_one_is_kept(
    kb: Kb, tmp_path: Path
) -> None:
    (tmp_path / "good.vtt").write_bytes(VTT)
    (tmp_path / "bad.vtt").write_bytes(b"")
    report = kb("add", tmp_path / "bad.vtt", tmp_path / "good.vtt", "--json", code=2).json
    assert report["added"] == 1
    assert [problem["code"] for problem in report["problems"]] == ["empty"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_the_right_to_read_is_a_problem_not_a_crash(kb: Kb, tmp_path: Path) -> None:
    (tmp_path / "secret.vtt").write_bytes(VTT)
    (tmp_path / "secret.vtt").chmod(0)
    assert "cannot be read" in kb("add", tmp_path / "secret.vtt", code=2).out


def test_a_pipe_in_a_folder_does_not_block(kb: Kb, tmp_path: Path) -> None:
    for name in ("pipe.vtt", "pipe.pdf"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "talk.vtt").write_bytes(VTT)
    report = kb("add", tmp_path, "--json").json
    assert (report["added"], len(report["problems"])) == (1, 2)


def test_links_that_lead_back_up_end(kb: Kb, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "talk.vtt").write_bytes(VTT)
    (tmp_path / "in" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert kb("add", tmp_path, "--json").json["added"] == 1


def test_a_name_that_is_no_text_is_taken(kb: Kb, tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/t\xe4lk.vtt")).write_bytes(VTT)
    report = kb("add", tmp_path, "--json").json
    assert report["added"] == 1
    assert "\udce4" not in RawCaptions.objects.get().name


def test_a_download_folder_of_yt_dlp_gives_title_channel_and_chapters(
    kb: Kb, tmp_path: Path
) -> None:
    info = {
        "id": "dQw4w9WgXcQ",
        "extractor": "youtube",
        "title": "A talk",
        "channel": "Talks",
        "chapters": [{"start_time": 0, "end_time": 8, "title": "Opening"}],
    }
    (tmp_path / "A talk [dQw4w9WgXcQ].info.json").write_text(json.dumps(info))
    (tmp_path / "A talk [dQw4w9WgXcQ].en.vtt").write_bytes(VTT)
    report = kb("add", tmp_path, "--json").json
    assert report["skipped"] == 0
    [video] = report["videos"]
    assert (video["id"], video["title"], video["channel"]) == ("dQw4w9WgXcQ", "A talk", "Talks")
    (video,) = kb("list", "--json").json["videos"]
    assert video["chapters"] == [{"start": 0, "title": "Opening"}]
    assert video["url"] == "https://www.youtube.com/watch?v=dQw4w9WgXcQ"


def test_a_named_file_finds_its_metadata_beside_it(kb: Kb, tmp_path: Path) -> None:
    (tmp_path / "talk.info.json").write_text(json.dumps({"id": "talk", "title": "With a title"}))
    (tmp_path / "talk.en.vtt").write_bytes(VTT)
    assert (
        kb("add", tmp_path / "talk.en.vtt", "--json").json["videos"][0]["title"] == "With a title"
    )
    report = kb("add", tmp_path / "talk.en.vtt", tmp_path / "talk.info.json", "--json").json
    assert (report["unchanged"], report["skipped"], report["problems"]) == (1, 0, [])


def test_of_one_recording_in_several_formats_the_best_is_taken(kb: Kb, tmp_path: Path) -> None:
    (tmp_path / "talk.vtt").write_bytes(VTT)
    (tmp_path / "talk.txt").write_bytes(b"Hello and welcome. This is a talk.")
    report = kb("add", tmp_path, "--json").json
    assert (report["added"], report["skipped"]) == (1, 1)
    assert RawCaptions.objects.get().name == "talk.vtt"


def test_a_file_beyond_the_limit_is_refused_by_name(
    kb: Kb, tmp_path: Path, settings: object
) -> None:
    settings.MAX_UPLOAD_BYTES = 1000  # type: ignore[attr-defined]
    (tmp_path / "big.vtt").write_bytes(VTT * 30)
    report = kb("add", tmp_path, "--json").json
    assert [problem["code"] for problem in report["problems"]] == ["too_large"]


def test_hundreds_of_files_are_added(kb: Kb, tmp_path: Path) -> None:
    for number in range(120):
        (tmp_path / f"talk-{number}.json").write_bytes(
            caption_json(make_cues(3), id=f"talk-{number}")
        )
    assert "120 added" in kb("add", tmp_path).out
    assert Video.objects.count() == 120


# Pasted


def test_a_pasted_panel_is_added_with_the_title_that_is_given(kb: Kb) -> None:
    kb("add", "-", "--title", "Pasted talk", stdin="0:00\nHello there\n0:05\nand welcome\n")
    video = Video.objects.get()
    assert video.title == "Pasted talk"
    assert kb("show", video.key, "--json").json["reading"]["text"] == "Hello there and welcome"


def test_what_is_pasted_needs_a_title(kb: Kb) -> None:
    assert "--title" in kb("add", "-", stdin="0:00\nHello\n", code=2).err


def test_an_empty_paste_is_refused(kb: Kb) -> None:
    assert (
        kb("add", "-", "--title", "Nothing", "--json", stdin="", code=2).json["problems"][0]["code"]
        == "empty"
    )


def test_bytes_that_are_no_text_do_not_crash_the_paste(kb: Kb) -> None:
    kb("add", "-", "--title", "Bytes", stdin=b"0:00\n\xff\xfeHello\xe9\n")
    assert "Hello" in Transcript.objects.get().cues[0][2]


# Addresses


def test_an_address_becomes_a_job_and_says_that_nobody_does_it_yet(kb: Kb) -> None:
    result = kb("add", f"https://youtu.be/{MANUAL}?si=x", "--tag", "talk")
    job = Job.objects.get()
    assert (job.target, job.tags, job.state) == (MANUAL, ["talk"], "queued")
    assert f"Job {job.pk}" in result.out
    assert "kb serve" in result.err


def test_with_a_living_worker_nothing_is_said_about_one(kb: Kb) -> None:
    WorkerPulse.beat()
    assert "kb serve" not in kb("add", MANUAL).err


def test_an_address_twice_is_one_job(kb: Kb) -> None:
    kb("add", MANUAL, f"https://www.youtube.com/watch?v={MANUAL}")
    assert Job.objects.count() == 1


def test_a_playlist_is_remembered_with_its_wishes(kb: Kb) -> None:
    kb("add", PLAYLIST, "--newest", 5, "--every", 24)
    feed = Feed.objects.get()
    assert (feed.youtube_id, feed.newest, feed.every_hours) == (PLAYLIST, 5, 24)


@pytest.mark.parametrize(
    "what",
    [
        "lecture.vtt",
        "folder/lecture",
        "youtube.com.evil/watch?v=dQw4w9WgXcQ",
        "https://user@example.org/watch?v=dQw4w9WgXcQ",
    ],
)
def test_what_is_neither_file_nor_address_ends_with_code_2(kb: Kb, what: str) -> None:
    report = kb("add", what, "--json", code=2).json
    assert [problem["name"] for problem in report["problems"]] == [what]
    assert not Job.objects.exists()


def test_a_web_page_is_fetched_and_read(kb: Kb, web: Web) -> None:
    web.give("a.example/bees", b"<html><h1>Bees</h1><p>Honey from roofs.", Content_Type="text/html")
    report = kb("add", "https://a.example/bees", "--wait", "--json").json
    assert [(job["kind"], job["state"]) for job in report["jobs"]] == [("page", "done")]
    assert (report["problems"], report["unfinished"]) == ([], 0)
    assert "Honey from roofs" in kb("search", "honey").out


def test_a_title_for_an_address_is_refused(kb: Kb) -> None:
    assert "--title" in kb("add", MANUAL, "--title", "Mine", code=2).err


def test_waiting_without_a_worker_does_the_work_here(kb: Kb, youtube: YouTubeStandIn) -> None:
    report = kb("add", MANUAL, "--wait", "--json").json
    assert [(job["state"], job["video_id"]) for job in report["jobs"]] == [("done", MANUAL)]
    assert [video["id"] for video in report["videos"]] == [MANUAL]
    assert (report["added"], report["unchanged"]) == (1, 0)
    again = kb("add", MANUAL, "--wait", "--json").json
    assert (again["added"], again["unchanged"]) == (0, 1)
    assert kb("show", MANUAL, "--json").json["reading"]["text"]


def test_waiting_for_a_playlist_waits_for_its_videos(kb: Kb, youtube: YouTubeStandIn) -> None:
    report = kb("add", PLAYLIST, "--newest", 2, "--wait", "--json").json
    assert {job["state"] for job in report["jobs"]} == {"done"}
    assert len(report["videos"]) == Video.objects.count() == 2


def test_entries_of_a_playlist_that_nobody_may_see_are_reported_and_the_others_counted(
    kb: Kb, youtube: YouTubeStandIn
) -> None:
    youtube.add_playlist(PLAYLIST, [MANUAL, "hidden-0001"])
    output = kb("add", PLAYLIST, "--wait").out
    assert "1 added" in output
    assert "hidden-0001" in output
    assert "private_video" in output


def test_machine_translated_captions_are_added_where_asked_for(
    kb: Kb, youtube: YouTubeStandIn
) -> None:
    assert "kb add --translated" in kb("add", RUSSIAN, "--lang", "de", "--wait", code=7).err
    kb("add", RUSSIAN, "--lang", "de", "--translated", "--wait")
    assert Transcript.objects.get().origin == "translated"
    assert "language that is named" in kb("add", RUSSIAN, "--translated", code=2).out


def test_a_video_without_captions_ends_with_the_reason_and_the_way_round(
    kb: Kb, youtube: YouTubeStandIn
) -> None:
    youtube.add_video("without-cap", tracks=())
    failed = kb("add", "without-cap", "--wait", code=7)
    assert "no_captions" in failed.out
    assert "pload" in failed.err


def test_waiting_ends_when_youtube_refuses_and_the_job_stays(
    kb: Kb, youtube: YouTubeStandIn
) -> None:
    YouTubeGate.refused(Blocked("YouTube treats this server as a bot."))
    report = kb("add", MANUAL, "--wait", "--json", code=7).json
    assert [problem["code"] for problem in report["problems"]] == ["gate_closed"]
    assert "stays in the queue" in report["problems"][0]["hint"]
    job = Job.objects.get()
    assert job.state == "queued"
    assert job.run_after is not None
    assert job.run_after > timezone.now() + timedelta(minutes=5)


# The real thing


def test_real_captions_of_every_format_are_added_at_once(real_data: Path, tmp_path: Path) -> None:
    files = sorted(
        path
        for folder in ("native", "fixtures")
        for path in (real_data / "dev" / folder).rglob("*.*")
    )
    folder = tmp_path / "some"
    folder.mkdir()
    template.copy_to(tmp_path / "home")
    for kind in (".sbv", ".srt", ".vtt", ".json"):
        for path in [path for path in files if path.suffix == kind][:5]:
            shutil.copy(path, folder)
    environment = {
        **os.environ,
        "YOUTUBE_KB_DATA_DIR": str(tmp_path / "home"),
        "DJANGO_SETTINGS_MODULE": "kbsite.settings.django",
        "EMBEDDING_PROVIDER": "fake",
    }
    command = ("-m", "kbsite.cli", "add", str(folder), "--json")
    process = run_python(*command, environment=environment)
    report = json.loads(process.stdout)
    assert report["added"] >= 12
    # The expected results of parsers beside the fixtures are no captions.
    assert all(problem["name"].endswith(".expected.json") for problem in report["problems"])
