"""list, show, export, sources, collections, delete, demo."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from citations.ingest import discovery
from citations.models import Document, EmbeddingSpace, Source
from citations.providers import weights
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_cues, make_paper, make_source, make_two_talks, make_video
from transcripts import captions
from transcripts.models import Collection, Video


def read(kb: Kb, *options: object) -> Any:
    """Read the recording "talk"."""
    return kb("show", "talk", *options, "--json").json["reading"]


# Lists


def test_the_list_names_what_is_there_and_a_title_is_no_markup(kb: Kb, library: Collection) -> None:
    make_video(library, key="lecture-1", title="[bold]Arrays[/bold] a[0]")
    output = kb("list").out
    assert "lecture-1" in output
    assert "[bold]Arrays[/bold] a[0]" in output


def test_lists_call_a_collection_by_its_name_and_json_by_its_id(
    kb: Kb, library: Collection
) -> None:
    Collection.objects.filter(pk=library.pk).update(name="Evening school")
    make_source(make_video(library, key="lecture-1"))
    for command, rows in (("list", "videos"), ("sources", "sources")):
        assert "Evening school" in kb(command).out
        assert kb(command, "--json").json[rows][0]["collection"] == library.slug


def test_sources_are_called_what_pages_call_them(kb: Kb, library: Collection) -> None:
    for key in ("one", "two"):
        make_source(make_video(library, key=key))
    Video.objects.filter(key="two").update(youtube_id="dQw4w9WgXcQ")
    lines = kb("sources").out.splitlines()[1:]
    for name in ("recording", "transcript"):
        assert sorted(name in line for line in lines) == [False, True]
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
    assert kb("list").out.count("found by words") == 1
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


# Sources


def test_sources_are_listed_with_how_far_they_are(kb: Kb, library: Collection) -> None:
    make_two_talks(library)
    waiting = make_source(make_video(library, key="new", title="New talk"), state="pending")
    failed = make_source(make_video(library, key="bad", title="Bad talk"), state="failed")
    Source.objects.filter(pk=failed.pk).update(error="Its text is gone.", hint="Add it again.")
    page = kb("sources", "--json").json
    titles = [source["title"] for source in page["sources"]]
    assert titles == ["Bad talk", "New talk", "Baking", "Learning"]
    assert (page["total"], page["next"]) == (4, None)
    assert page["counts"] == {"pending": 1, "words": 0, "ready": 2, "failed": 1}
    result = kb("sources")
    assert str(waiting.uuid) in result.out
    assert "found by words and meaning" in result.out
    assert "1 of 4 are still being indexed" in result.err
    assert "Its text is gone. Add it again." in result.err


def test_sources_that_the_model_does_not_help_to_find_are_found_by_words_alone(
    kb: Kb, library: Collection
) -> None:
    make_source(make_video(library, key="talk"), state="ready")
    EmbeddingSpace.objects.all().delete()
    about = {"provider": "local", "model": weights.MINILM, "dimensions": 384}
    EmbeddingSpace.objects.create(**about, state="active")
    for command in ("list", "sources"):
        assert "migrate-embeddings" not in kb(command).err
    Source.objects.update(language="de")
    for command in ("list", "sources"):
        result = kb(command)
        assert "found by words alone" in result.out
        assert "kb db migrate-embeddings --to e5-small" in result.err


def test_sources_are_narrowed_and_paged(kb: Kb, library: Collection) -> None:
    make_two_talks(library)
    (source,) = kb("sources", "bak", "--json").json["sources"]
    assert source["title"] == "Baking"
    for option in (("--state", "failed"), ("--kind", "pdf")):
        assert kb("sources", *option, "--json").json["total"] == 0
    page = kb("sources", "--limit", 1, "--json").json
    assert (len(page["sources"]), page["next"]) == (1, 1)
    assert "--offset 1" in kb("sources", "--limit", 1).err
    assert "no state" in kb("sources", "--state", "half", code=2).err


# Transcripts


def test_a_short_transcript_is_shown_whole(kb: Kb, library: Collection) -> None:
    make_video(library, key="talk", cues=make_cues(3))
    whole = read(kb)
    assert (whole["mode"], whole["text"].endswith("Point 2.")) == ("full", True)
    assert "Point 2." in kb("show", "talk").out


def test_a_long_transcript_is_previewed_with_the_commands_to_read_on(
    kb: Kb, library: Collection
) -> None:
    make_video(library, key="talk", cues=make_cues(2000))
    result = kb("show", "talk")
    assert "kb show talk --chunk 0" in result.err
    assert "Point 1999." not in result.out
    assert "Point 1999." in kb("show", "talk", "--full").out


def test_a_chunk_tells_its_neighbours_and_one_that_is_not_there_the_valid_ones(
    kb: Kb, library: Collection
) -> None:
    make_video(library, key="talk", cues=make_cues(180))
    chunk = read(kb, "--chunk", 1)["chunk"]
    assert (chunk["index"], chunk["count"], chunk["start"]) == (1, 3, 300)
    assert (chunk["previous"], chunk["next"]) == (0, 2)
    failed = kb("show", "talk", "--chunk", 9, code=3)
    assert ("0 to 2" in failed.err, failed.out) == (True, "")


def test_a_range_is_given_by_the_clock_or_in_seconds(kb: Kb, library: Collection) -> None:
    make_video(library, key="talk", cues=make_cues(900))
    by_clock = read(kb, "--start", "1:02:00", "--end", "1:02:10")
    assert by_clock == read(kb, "--start", 3720, "--end", "1h2m10s")
    assert (by_clock["mode"], by_clock["start"], by_clock["end"]) == ("range", 3720, 3730)


@pytest.mark.parametrize("form", ["vtt", "srt", "json"])
def test_an_export_can_be_read_again(kb: Kb, library: Collection, form: str) -> None:
    make_video(library, key="talk", cues=make_cues(5))
    exported = kb("export", "talk", "--format", form).out.encode()
    again = captions.parse(exported, name=f"talk.{form}").cues
    times = [(cue.start, cue.end, cue.text) for cue in again]
    assert times == [(cue.start, cue.end, cue.text) for cue in make_cues(5)]


@pytest.mark.parametrize("command", [("talk",), ("--highlights", "obsidian"), ("--everything",)])
def test_an_export_that_cannot_be_written_says_so(
    kb: Kb, library: Collection, owner: User, tmp_path: Path, command: tuple[str, ...]
) -> None:
    make_video(library, key="talk", cues=make_cues(3))
    missing = kb("export", *command, "-o", tmp_path / "none" / "file", code=2).err
    assert "cannot be written: No such file or directory." in missing
    assert "Name a file in a folder that is there." in missing
    assert "Is a directory" in kb("export", *command, "-o", tmp_path, code=2).err


# Deletions


@pytest.mark.parametrize(
    ("options", "answer", "code"),
    [((), "n\n", 1), ((), "", 1), ((), "y\n", 0), (("--yes",), "", 0)],
    ids=["no", "that nobody can give", "yes", "given before"],
)
def test_a_video_is_deleted_after_a_yes_and_the_answer_is(
    kb: Kb, library: Collection, options: tuple[str, ...], answer: str, code: int
) -> None:
    make_video(library, key="talk")
    ran = kb("delete", "talk", *options, stdin=answer, code=code)
    assert ("with 1 transcript?" in ran.err) is not bool(options)
    assert Video.objects.count() == code


def test_a_video_is_deleted_by_the_id_of_its_source_too(kb: Kb, library: Collection) -> None:
    make_video(library, key="talk")
    discovery.adopt()
    deleted = kb("delete", Source.objects.get().uuid, "--yes", "--json").json
    assert (deleted, Video.objects.count()) == ({"deleted": "talk"}, 0)


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


# The demonstration


def test_the_demo_reads_pages_and_finds_and_can_be_repeated(kb: Kb) -> None:
    body = kb("demo", "--json").json
    assert list(body) == ["reading", "page", "hits", "lecture"]
    assert body["reading"]["reading"]["text"].startswith("Hello, and welcome.")
    chunk = body["page"]["reading"]["chunk"]
    assert (chunk["index"], chunk["count"] >= 3, len(body["hits"])) == (1, True, 3)
    for hit in body["hits"]:
        assert set(hit) == {"text", "start", "end", "score", "spans", "timestamp_link"}
    assert "a rare word should count more" in body["hits"][0]["text"]
    assert kb("demo", "--json").json == body
    assert Video.objects.count() == 3
    assert "$ kb search" in kb("demo").out
