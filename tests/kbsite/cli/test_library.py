"""list, show, export, collections, delete, demo."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from citations.ingest import discovery
from citations.models import Document, Source
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_cues, make_paper, make_source, make_video
from transcripts import captions
from transcripts.models import Collection, Video


def test_the_list_names_what_is_there(kb: Kb, library: Collection) -> None:
    make_video(library, key="lecture-1", title="On networks")
    result = kb("list")
    assert "lecture-1" in result.out
    assert "On networks" in result.out


def test_lists_call_a_collection_by_its_name_and_json_by_its_id(
    kb: Kb, library: Collection
) -> None:
    Collection.objects.filter(pk=library.pk).update(name="Evening school")
    make_source(make_video(library, key="lecture-1"))
    for command, rows in (("list", "videos"), ("sources", "sources")):
        assert "Evening school" in kb(command).out
        assert kb(command, "--json").json[rows][0]["collection"] == library.slug


def test_sources_are_called_what_pages_call_them(kb: Kb, library: Collection) -> None:
    silent, playing = (make_video(library, key=key) for key in ("one", "two"))
    Video.objects.filter(pk=playing.pk).update(youtube_id="dQw4w9WgXcQ")
    for video in (silent, playing):
        make_source(video)
    lines = kb("sources").out.splitlines()[1:]
    assert sorted("recording" in line for line in lines) == [False, True]
    assert sorted("transcript" in line for line in lines) == [False, True]
    kinds = [source["kind"] for source in kb("sources", "--json").json["sources"]]
    assert kinds == ["video", "video"]


def test_the_list_as_json_pages_on(kb: Kb, library: Collection) -> None:
    for number in range(3):
        make_video(library, key=f"talk-{number}", title=f"Talk {number}")
    first = kb("list", "--limit", 2, "--json").json
    assert (first["total"], first["next"], len(first["videos"])) == (3, 2, 2)
    rest = kb("list", "--limit", 2, "--offset", 2, "--json").json
    assert [video["id"] for video in rest["videos"]] == ["talk-0"]
    assert rest["next"] is None


def test_the_list_says_how_far_each_video_is_indexed(kb: Kb, library: Collection) -> None:
    source = make_source(make_video(library, key="a"), state="words")
    make_video(library, key="b")
    output = kb("list").out
    assert output.count("found by words") == 1
    rows = {video["id"]: video["sources"] for video in kb("list", "--json").json["videos"]}
    assert rows == {"a": [{"id": str(source.uuid), "language": "en", "state": "words"}], "b": []}


def test_words_narrow_the_list(kb: Kb, library: Collection) -> None:
    make_video(library, key="a", title="Deep learning")
    make_video(library, key="b", title="Deep sea")
    assert [video["id"] for video in kb("list", "deep", "SEA", "--json").json["videos"]] == ["b"]


def test_an_empty_list_tells_an_empty_library_from_words_that_fit_nothing(
    kb: Kb, library: Collection
) -> None:
    assert "No recordings" in kb("list").out
    make_video(library, key="a", title="Deep learning")
    Video.objects.update(tags=["NLP"])
    assert "None of the 1 recordings fits" in kb("list", "--tag", "moss").out
    assert "Deep learning" in kb("list", "--tag", "nlp").out


def test_an_unknown_video_is_not_there_but_those_with_the_words_are_named(
    kb: Kb, library: Collection, tmp_path: Path
) -> None:
    make_video(library, key="talk-1", title="Deep learning")
    document = make_paper(library, ["Moss.", ""], title="On moss")
    Document.objects.update(note="No text on page 2 of 2.")
    assert "Did you mean talk-1 (Deep learning)?" in kb("show", "deep", code=3).err
    said = kb("show", str(document.uuid), code=3).err
    assert "“On moss” is a document" in said
    assert "No text on page 2 of 2." in said
    assert "add this one first" in kb("export", "moss", code=3).err


@pytest.mark.parametrize("command", [("talk",), ("--highlights", "obsidian"), ("--everything",)])
def test_an_export_that_cannot_be_written_says_so(
    kb: Kb, library: Collection, owner: User, tmp_path: Path, command: tuple[str, ...]
) -> None:
    make_video(library, key="talk", cues=make_cues(3))
    missing = kb("export", *command, "-o", tmp_path / "none" / "file", code=2).err
    assert "cannot be written: No such file or directory." in missing
    assert "Name a file in a folder that is there." in missing
    assert "Is a directory" in kb("export", *command, "-o", tmp_path, code=2).err


def test_a_title_with_brackets_is_no_markup(kb: Kb, library: Collection) -> None:
    make_video(library, key="a", title="[bold]Arrays[/bold] a[0]")
    assert "[bold]Arrays[/bold] a[0]" in kb("list").out


def test_a_short_transcript_is_shown_whole(kb: Kb, library: Collection) -> None:
    make_video(library, key="talk", cues=make_cues(3))
    read = kb("show", "talk", "--json").json["reading"]
    assert read["mode"] == "full"
    assert read["text"].endswith("Point 2.")
    assert "Point 2." in kb("show", "talk").out


def test_a_long_transcript_is_previewed_with_the_commands_to_read_on(
    kb: Kb, library: Collection
) -> None:
    make_video(library, key="talk", cues=make_cues(2000))
    result = kb("show", "talk")
    assert "kb show talk --chunk 0" in result.err
    assert "Point 1999." not in result.out
    assert "Point 1999." in kb("show", "talk", "--full").out


def test_a_chunk_tells_its_neighbours(kb: Kb, library: Collection) -> None:
    make_video(library, key="talk", cues=make_cues(180))
    chunk = kb("show", "talk", "--chunk", 1, "--json").json["reading"]["chunk"]
    assert (chunk["index"], chunk["count"], chunk["previous"], chunk["next"], chunk["start"]) == (
        1,
        3,
        0,
        2,
        300,
    )


def test_a_range_is_given_by_the_clock_or_in_seconds(kb: Kb, library: Collection) -> None:
    make_video(library, key="talk", cues=make_cues(900))
    by_clock = kb("show", "talk", "--start", "1:02:00", "--end", "1:02:10", "--json").json[
        "reading"
    ]
    again = kb("show", "talk", "--start", 3720, "--end", "1h2m10s", "--json").json["reading"]
    assert by_clock == again
    assert (by_clock["mode"], by_clock["start"], by_clock["end"]) == ("range", 3720, 3730)


def test_a_chunk_that_is_not_there_ends_with_code_3_and_the_valid_ones(
    kb: Kb, library: Collection
) -> None:
    make_video(library, key="talk", cues=make_cues(180))
    failed = kb("show", "talk", "--chunk", 9, code=3)
    assert "0 to 2" in failed.err
    assert not failed.out


def test_an_unknown_video_ends_with_code_3_and_a_hint(kb: Kb) -> None:
    failed = kb("show", "nothing", code=3)
    assert "nothing" in failed.err
    assert "Traceback" not in failed.err


def test_a_time_that_is_none_ends_with_code_2(kb: Kb) -> None:
    assert "not a time" in kb("show", "talk", "--start", "soon", code=2).err


def test_an_export_can_be_read_again(kb: Kb, library: Collection) -> None:
    cues = make_cues(5)
    make_video(library, key="talk", cues=cues)
    for form in ("vtt", "srt", "json"):
        again = captions.parse(
            kb("export", "talk", "--format", form).out.encode(), name=f"talk.{form}"
        )
        assert [(cue.start, cue.end, cue.text) for cue in again.cues] == [
            (cue.start, cue.end, cue.text) for cue in cues
        ]


def test_a_video_is_deleted_only_after_a_yes(kb: Kb, library: Collection) -> None:
    make_video(library, key="talk")
    refused = kb("delete", "talk", stdin="n\n", code=1)
    assert "1 transcript" in refused.err
    assert Video.objects.count() == 1
    kb("delete", "talk", stdin="y\n")
    assert Video.objects.count() == 0


def test_a_video_is_deleted_by_the_id_of_its_source_too(kb: Kb, library: Collection) -> None:
    make_video(library, key="talk")
    discovery.adopt()
    kb("delete", Source.objects.get().uuid, "--yes")
    assert Video.objects.count() == 0


def test_a_deletion_that_nobody_can_confirm_does_not_happen(kb: Kb, library: Collection) -> None:
    make_video(library, key="talk")
    kb("delete", "talk", stdin="", code=1)
    assert Video.objects.count() == 1


def test_yes_deletes_without_asking(kb: Kb, library: Collection) -> None:
    make_video(library, key="talk")
    assert kb("delete", "talk", "--yes", "--json").json == {"deleted": "talk"}
    assert not Video.objects.exists()


def test_collections_are_made_listed_and_deleted_with_what_is_in_them(kb: Kb) -> None:
    added = kb("collections", "add", "Signal processing", "--json").json
    assert (added["slug"], added["name"]) == ("signal-processing", "Signal processing")
    make_video(Collection.objects.named("signal-processing"))
    rows = {row["slug"]: row for row in kb("collections", "--json").json}
    assert rows["signal-processing"]["videos"] == 1
    assert rows["signal-processing"]["members"] == [{"user": "owner", "role": "owner"}]
    assert "owner (owner)" in kb("collections").out
    refused = kb("collections", "delete", "signal-processing", stdin="n\n", code=1)
    assert "with 1 recording?" in refused.err
    kb("collections", "delete", "signal-processing", "--yes")
    assert not Video.objects.exists()
    kb("collections", "add", "Empty")
    assert "with nothing in it?" in kb("collections", "delete", "empty", stdin="n\n", code=1).err


def test_a_second_collection_of_that_name_is_a_conflict(kb: Kb) -> None:
    kb("collections", "add", "Talks")
    kb("collections", "add", "Talks", code=5)


def test_the_demo_reads_pages_and_finds(kb: Kb) -> None:
    body = kb("demo", "--json").json
    assert list(body) == ["reading", "page", "hits", "lecture"]
    assert body["reading"]["reading"]["text"].startswith("Hello, and welcome.")
    assert body["page"]["reading"]["chunk"]["index"] == 1
    assert body["page"]["reading"]["chunk"]["count"] >= 3
    assert len(body["hits"]) == 3
    assert all(
        set(hit) == {"text", "start", "end", "score", "spans", "timestamp_link"}
        for hit in body["hits"]
    )
    assert "a rare word should count more" in body["hits"][0]["text"]


def test_the_demo_can_be_repeated(kb: Kb) -> None:
    assert kb("demo", "--json").json == kb("demo", "--json").json
    assert Video.objects.count() == 3
    assert "$ kb search" in kb("demo").out


def test_an_absurd_offset_is_refused_and_not_given_to_the_database(kb: Kb) -> None:
    kb("list", "--offset", str(10**24), code=2)
