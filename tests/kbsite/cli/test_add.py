"""add: files, folders, documents, what is pasted, addresses."""

import json
import os
import shutil
import zlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from citations.models import Page, Source, State
from citations.readers.ocr import engine
from citations.readers.pdf.ocr_page import OcrPage
from tests import template
from tests.citations.readers.office.archives import docx, epub, odt, paragraph, pptx, shape, slide
from tests.citations.readers.pdf.bombs import page
from tests.citations.readers.pdf.papers import scanned
from tests.kbsite.cli.conftest import Kb
from tests.makers import caption_json, make_cues, restarting_vtt
from tests.programs import run_python
from tests.web_standin import Web
from tests.youtube_standin import MANUAL, PLAYLIST, RUSSIAN, YouTubeStandIn
from transcripts.core.errors import Blocked
from transcripts.core.installation import install_command
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
PROSE = "Walruses rest on the ice. Zebras graze on the plain.\n\n" * 3


@pytest.fixture
def add(kb: Kb, tmp_path: Path) -> Any:
    """Run `kb add --json` on files of the test's folder, or on an address; return the report."""

    def run(*targets: object, code: int = 0, **options: Any) -> Any:
        named = [
            tmp_path / str(name) if (tmp_path / str(name)).exists() else name for name in targets
        ]
        return kb("add", *named, "--json", code=code, **options).json

    return run


def write(folder: Path, **contents: bytes) -> None:
    """Write captions and other files; "__" in a name stands for a dot."""
    for name, content in contents.items():
        (folder / name.replace("__", ".")).write_bytes(content)


def counts(report: Any) -> tuple[int, ...]:
    return tuple(report[name] for name in ("added", "updated", "unchanged", "skipped"))


def codes(report: Any) -> list[str]:
    return [problem["code"] for problem in report["problems"]]


def said(kb: Kb, video: str) -> str:
    return str(kb("show", video, "--json").json["reading"]["text"])


# Files


def test_a_sound_file_plays_beside_the_captions_in_its_folder(add: Any, tmp_path: Path) -> None:
    write(tmp_path, talk__en__vtt=VTT, talk__mp3=b"ID3", song__mp3=b"ID3")
    report = add("")
    assert (report["media"], codes(report)) == (["talk"], ["media_without_captions"])
    assert MediaFile.objects.get().video == Video.objects.get()


def test_a_file_is_added_under_the_name_it_has(kb: Kb, add: Any, tmp_path: Path) -> None:
    (tmp_path / "my talk.en.vtt").write_bytes(VTT)
    report = add("my talk.en.vtt", "--tag", "a", "--tag", "b")
    assert counts(report) == (1, 0, 0, 0)
    assert [video["id"] for video in report["videos"]] == ["my talk"]
    (video,) = kb("list", "--json").json["videos"]
    assert (video["languages"], video["tags"]) == (["en"], ["a", "b"])
    assert said(kb, "my talk") == "Hello and welcome. This is a talk."


def test_adding_again_changes_nothing_and_a_new_version_updates(add: Any, tmp_path: Path) -> None:
    write(tmp_path, talk__vtt=VTT)
    add("talk.vtt")
    assert add("talk.vtt")["unchanged"] == 1
    write(tmp_path, talk__vtt=VTT.replace(b"a talk", b"a better talk"))
    assert add("talk.vtt")["updated"] == 1
    assert Transcript.objects.count() == 1


def test_two_files_of_one_recording_do_not_take_turns(kb: Kb, add: Any, tmp_path: Path) -> None:
    for name, text in (
        ("srt/talk.srt", b"1\n00:00:00,000 --> 00:00:04,000\nHello and welcome.\n"),
        ("vtt/talk.vtt", VTT),
    ):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(text)
    assert [counts(add("srt", "vtt"))[:3] for _ in range(2)] == [(1, 0, 1), (0, 0, 2)]
    assert (said(kb, "talk"), RawCaptions.objects.get().name) == ("Hello and welcome.", "talk.srt")


def test_where_the_best_format_cannot_be_read_another_one_of_the_recording_is_taken(
    add: Any, tmp_path: Path
) -> None:
    write(tmp_path, talk__json3=b"", talk__vtt=VTT)
    for names in (("",), ("talk.json3", "talk.vtt")):
        report = add(*names)
        assert (report["videos"][0]["id"], report["problems"]) == ("talk", [])
    assert RawCaptions.objects.get().name == "talk.vtt"


def test_a_clock_that_starts_again_is_told_and_is_no_failure(
    kb: Kb, add: Any, tmp_path: Path
) -> None:
    write(tmp_path, talks__vtt=restarting_vtt())
    output = kb("add", tmp_path / "talks.vtt").out
    assert "1 added" in output
    assert "clock_restarts" in output
    assert codes(add("talks.vtt")) == ["clock_restarts"]


def test_title_language_and_collection_can_be_given(
    add: Any, tmp_path: Path, collection: Collection
) -> None:
    write(tmp_path, x__srt=b"1\n00:00:01,000 --> 00:00:02,000\nHallo.\n")
    add("x.srt", "--title", "Ein Vortrag", "--lang", "de", "-c", "lectures")
    video = Video.objects.get()
    assert (video.title, video.collection) == ("Ein Vortrag", collection)
    assert video.transcripts.get().language == "de"


def test_an_unknown_collection_is_refused_and_the_known_ones_are_named(
    kb: Kb, tmp_path: Path, collection: Collection
) -> None:
    assert "lectures" in kb("add", tmp_path, "-c", "nowhere", code=3).err


def test_a_folder_is_added_with_its_folders_and_what_is_no_transcript_is_skipped(
    add: Any, tmp_path: Path
) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    for name in ("a.vtt", "deep/b.vtt", "deep/er/c.vtt", ".hidden/d.vtt", ".e.vtt"):
        (tmp_path / name).write_bytes(VTT + name.encode())
    write(tmp_path, slides__key=b"PK", notes__rtf=b"{")
    report = add("")
    assert {video["id"] for video in report["videos"]} == {"a", "b", "c"}
    assert (report["added"], report["skipped"], report["problems"]) == (3, 2, [])


def test_an_unreadable_member_of_a_folder_is_listed_and_the_rest_kept(
    kb: Kb, add: Any, tmp_path: Path
) -> None:
    folder = tmp_path / ("a folder with a long name " * 9).strip()
    folder.mkdir()
    html = b"<!DOCTYPE html><html><body>Not found</body></html>"
    write(folder, good__vtt=VTT, empty__vtt=b"", page__vtt=html)
    report = add(folder)
    assert (report["added"], report["skipped"]) == (1, 2)
    assert {(Path(problem["name"]).name, problem["code"]) for problem in report["problems"]} == {
        ("empty.vtt", "empty"),
        ("page.vtt", "html_page"),
    }
    assert "html_page" in kb("add", folder).out


def test_a_bad_file_that_is_named_ends_with_code_2_and_the_good_one_is_kept(
    add: Any, tmp_path: Path
) -> None:
    write(tmp_path, good__vtt=VTT, bad__vtt=b"")
    report = add("bad.vtt", "good.vtt", code=2)
    assert (report["added"], codes(report)) == (1, ["empty"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_the_right_to_read_is_a_problem_not_a_crash(kb: Kb, tmp_path: Path) -> None:
    write(tmp_path, secret__vtt=VTT)
    (tmp_path / "secret.vtt").chmod(0)
    assert "cannot be read" in kb("add", tmp_path / "secret.vtt", code=2).out


def test_a_pipe_in_a_folder_does_not_block(add: Any, tmp_path: Path) -> None:
    for name in ("pipe.vtt", "pipe.pdf"):
        os.mkfifo(tmp_path / name)
    write(tmp_path, talk__vtt=VTT)
    report = add("")
    assert (report["added"], len(report["problems"])) == (1, 2)


def test_links_that_lead_back_up_end(add: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path / "in", talk__vtt=VTT)
    (tmp_path / "in" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert add("")["added"] == 1


def test_a_name_that_is_no_text_is_taken(add: Any, tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/t\xe4lk.vtt")).write_bytes(VTT)
    assert add("")["added"] == 1
    assert "\udce4" not in RawCaptions.objects.get().name


def test_a_download_folder_of_yt_dlp_gives_title_channel_and_chapters(
    kb: Kb, add: Any, tmp_path: Path
) -> None:
    chapters = [{"start_time": 0, "end_time": 8, "title": "Opening"}]
    about = {"id": "dQw4w9WgXcQ", "extractor": "youtube", "title": "A talk", "channel": "Talks"}
    info = json.dumps({**about, "chapters": chapters})
    (tmp_path / "A talk [dQw4w9WgXcQ].info.json").write_text(info)
    (tmp_path / "A talk [dQw4w9WgXcQ].en.vtt").write_bytes(VTT)
    report = add("")
    assert report["skipped"] == 0
    [video] = report["videos"]
    assert (video["id"], video["title"], video["channel"]) == ("dQw4w9WgXcQ", "A talk", "Talks")
    (video,) = kb("list", "--json").json["videos"]
    assert video["chapters"] == [{"start": 0, "title": "Opening"}]
    assert video["url"] == "https://www.youtube.com/watch?v=dQw4w9WgXcQ"


def test_a_named_file_finds_its_metadata_beside_it(add: Any, tmp_path: Path) -> None:
    info = json.dumps({"id": "talk", "title": "With a title"}).encode()
    write(tmp_path, talk__info__json=info, talk__en__vtt=VTT)
    assert add("talk.en.vtt")["videos"][0]["title"] == "With a title"
    report = add("talk.en.vtt", "talk.info.json")
    assert (report["unchanged"], report["skipped"], report["problems"]) == (1, 0, [])


def test_of_one_recording_in_several_formats_the_best_is_taken(add: Any, tmp_path: Path) -> None:
    write(tmp_path, talk__vtt=VTT, talk__txt=b"Hello and welcome. This is a talk.")
    assert counts(add("")) == (1, 0, 0, 1)
    assert RawCaptions.objects.get().name == "talk.vtt"


def test_a_file_beyond_the_limit_is_refused_by_name(
    add: Any, tmp_path: Path, settings: Any
) -> None:
    settings.MAX_UPLOAD_BYTES = 1000
    write(tmp_path, big__vtt=VTT * 30)
    assert codes(add("")) == ["too_large"]


def test_hundreds_of_files_are_added(kb: Kb, tmp_path: Path) -> None:
    for number in range(120):
        name = f"talk-{number}"
        (tmp_path / f"{name}.json").write_bytes(caption_json(make_cues(3), id=name))
    assert "120 added" in kb("add", tmp_path).out
    assert Video.objects.count() == 120


# Documents


def test_words_without_times_become_a_document_and_words_with_times_a_transcript(
    add: Any, tmp_path: Path
) -> None:
    html = b"<!doctype html><title>Zebras</title><p>They graze.</p>"
    notes = b"# Walruses\n\nThey rest on the ice.\n"
    write(tmp_path, prose__txt=PROSE.encode(), talk__txt=VTT, notes__md=notes, page__html=html)
    write(tmp_path, photo__jpg=b"\xff\xd8\xff")
    report = add("")
    assert {
        (row["source"]["title"], row["source"]["kind"], row["is_new"])
        for row in report["documents"]
    } == {("prose", "text", True), ("Walruses", "markdown", True), ("Zebras", "html", True)}
    assert (report["added"], report["skipped"], report["problems"]) == (1, 1, [])
    assert Video.objects.get().key == "talk"


def test_a_document_is_found_by_its_words_at_once_and_told_as_such(kb: Kb, tmp_path: Path) -> None:
    write(tmp_path, prose__txt=PROSE.encode())
    assert "“prose” added as a document (text)" in kb("add", tmp_path / "prose.txt").out
    assert "“prose” is already in the library (text)" in kb("add", tmp_path / "prose.txt").out
    hits = kb("search", "walruses", "--mode", "words", "--json").json["passages"]
    assert [(row["title"], row["page"]) for row in hits] == [("prose", 1)]


def test_office_documents_and_books_of_a_folder_are_added_and_found(kb: Kb, tmp_path: Path) -> None:
    made = {
        "a.docx": docx(paragraph(PROSE)),
        "b.pptx": pptx([slide(), slide(shape(PROSE))]),
        "c.odt": odt(f"<text:p>{PROSE}</text:p>"),
        "d.epub": epub({"one.xhtml": f"<p>{PROSE}</p>"}),
        "~$a.docx": b"\x05Somebody",  # Word has the file open
    }
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
    report = kb("add", tmp_path, "--json").json
    assert (len(report["documents"]), report["problems"]) == (4, [])
    hits = kb("search", "walruses", "--mode", "words", "--kind", "pptx", "--json").json["passages"]
    assert [row["page"] for row in hits] == [2]


def test_a_scan_is_read_by_ocr_when_asked_and_says_what_is_missing(
    kb: Kb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = scanned(tmp_path / "scan.pdf", pages=1)
    assert "add --ocr FILE`" in kb("add", scan).err
    monkeypatch.setattr(engine, "is_installed", lambda: False)
    assert install_command("ocr") in kb("add", "--ocr", scan, code=8).err
    monkeypatch.setattr(engine, "is_installed", lambda: True)
    said = [("words", 0.99, 100.0, 50.0, 20.0, [(10 * n, 10 * n + 9) for n in range(5)])]
    read = OcrPage(width=600, height=800, engine="Stand-in 1", lines=said)
    monkeypatch.setattr(engine, "read", lambda picture: read)
    kb("add", "--ocr", scan)
    assert Page.objects.get().text == "words"
    source = Source.objects.get()
    assert "Read by OCR (Stand-in 1), 99 % sure" in kb("show", source.uuid, code=3).err


def test_a_file_that_is_nothing_readable_is_refused_by_name_with_what_to_try(
    add: Any, tmp_path: Path
) -> None:
    write(tmp_path, slides__pptx=b"PK\x03\x04" + b"\0" * 100)
    [problem] = add("slides.pptx", code=2)["problems"]
    assert (problem["code"], "PDF" in problem["hint"]) == ("document_unknown", True)


def test_a_document_that_cannot_be_read_says_so_and_is_listed_as_failed(
    kb: Kb, add: Any, tmp_path: Path
) -> None:
    write(tmp_path, broken__pdf=b"%PDF-1.7\nnothing of it is there\n" * 50)
    report = add("broken.pdf")
    assert (report["failed"], report["documents"][0]["source"]["state"]) == (1, "failed")
    output = kb("add", tmp_path / "broken.pdf").out
    assert "cannot be read" in output
    assert "added" not in output
    assert Source.objects.get().state == State.FAILED
    assert [row["state"] for row in kb("sources", "--json").json["sources"]] == ["failed"]


def test_a_document_of_letters_without_height_is_added(add: Any, tmp_path: Path) -> None:
    letters = b"".join(b"1 0 0 1 72 %d Tm (ab) Tj " % y for y in (700, 690, 680))
    write(tmp_path, tiny__pdf=page(zlib.compress(b"BT /F 0.1 Tf " + letters + b"ET")))
    add("tiny.pdf")
    assert Source.objects.get().state != State.FAILED
    assert Page.objects.get().text.split() == ["ab"] * 3


def test_a_document_is_deleted_after_a_question(kb: Kb, add: Any, tmp_path: Path) -> None:
    write(tmp_path, prose__txt=PROSE.encode())
    [added] = add("prose.txt")["documents"]
    kb("delete", added["source"]["id"], code=1)
    assert Source.objects.count() == 1
    kb("delete", added["source"]["id"], "--yes")
    assert (Source.objects.count(), Page.objects.count()) == (0, 0)


# Pasted


def test_a_pasted_panel_is_added_with_the_title_that_is_given(kb: Kb) -> None:
    kb("add", "-", "--title", "Pasted talk", stdin="0:00\nHello there\n0:05\nand welcome\n")
    video = Video.objects.get()
    assert (video.title, said(kb, video.key)) == ("Pasted talk", "Hello there and welcome")


def test_an_empty_paste_is_refused(add: Any) -> None:
    assert codes(add("-", "--title", "Nothing", stdin="", code=2)) == ["empty"]


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
def test_what_is_neither_file_nor_address_ends_with_code_2(add: Any, what: str) -> None:
    assert [problem["name"] for problem in add(what, code=2)["problems"]] == [what]
    assert not Job.objects.exists()


def test_a_web_page_is_fetched_and_read(kb: Kb, add: Any, web: Web) -> None:
    web.give("a.example/bees", b"<html><h1>Bees</h1><p>Honey from roofs.", Content_Type="text/html")
    report = add("https://a.example/bees", "--wait")
    assert [(job["kind"], job["state"]) for job in report["jobs"]] == [("page", "done")]
    assert (report["problems"], report["unfinished"]) == ([], 0)
    assert "Honey from roofs" in kb("search", "honey").out


def test_waiting_without_a_worker_does_the_work_here(
    kb: Kb, add: Any, youtube: YouTubeStandIn
) -> None:
    report = add(MANUAL, "--wait")
    assert [(job["state"], job["video_id"]) for job in report["jobs"]] == [("done", MANUAL)]
    assert [video["id"] for video in report["videos"]] == [MANUAL]
    assert counts(report) == (1, 0, 0, 0)
    assert counts(add(MANUAL, "--wait")) == (0, 0, 1, 0)
    assert said(kb, MANUAL)


def test_waiting_for_a_playlist_waits_for_its_videos(add: Any, youtube: YouTubeStandIn) -> None:
    report = add(PLAYLIST, "--newest", 2, "--wait")
    assert {job["state"] for job in report["jobs"]} == {"done"}
    assert len(report["videos"]) == Video.objects.count() == 2


def test_entries_of_a_playlist_that_nobody_may_see_are_reported_and_the_others_counted(
    kb: Kb, youtube: YouTubeStandIn
) -> None:
    youtube.add_playlist(PLAYLIST, [MANUAL, "hidden-0001"])
    output = kb("add", PLAYLIST, "--wait").out
    assert all(words in output for words in ("1 added", "hidden-0001", "private_video"))


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
    add: Any, youtube: YouTubeStandIn
) -> None:
    YouTubeGate.refused(Blocked("YouTube treats this server as a bot."))
    report = add(MANUAL, "--wait", code=7)
    assert codes(report) == ["gate_closed"]
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
    settings = {"YOUTUBE_KB_DATA_DIR": str(tmp_path / "home"), "EMBEDDING_PROVIDER": "fake"}
    environment = os.environ | settings | {"DJANGO_SETTINGS_MODULE": "kbsite.settings.django"}
    command = ("-m", "kbsite.cli", "add", str(folder), "--json")
    report = json.loads(run_python(*command, environment=environment).stdout)
    assert report["added"] >= 12
    # The expected results of parsers beside the fixtures are no captions.
    assert all(problem["name"].endswith(".expected.json") for problem in report["problems"])
