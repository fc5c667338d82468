"""Real caption files: every one is read, and rolling automatic captions come out word for word."""

import json
from collections import Counter
from pathlib import Path

import pytest

from transcripts.captions import Captions, parse, split_name, to_srt, to_vtt
from transcripts.captions.caption_errors import ClockRestarts


@pytest.fixture(scope="module")
def native(real_data: Path) -> dict[Path, Captions]:
    return {
        path: parse(path.read_bytes(), name=path.name)
        for path in sorted((real_data / "dev" / "native").glob("*/*"))
    }


@pytest.fixture(scope="module")
def rolling(real_data: Path) -> list[Path]:
    return sorted((real_data / "dev" / "fixtures" / "youtube_auto").glob("*.auto.vtt"))


def test_native_files_are_read_in_the_format_of_their_folder(native: dict[Path, Captions]) -> None:
    assert len(native) > 50
    for path, captions in native.items():
        assert captions.format == path.parent.name, path
        assert len(captions.cues) > 5, path


def test_native_files_say_the_same_as_their_transcripts(
    native: dict[Path, Captions], real_data: Path
) -> None:
    compared = 0
    for path, captions in native.items():
        identity, language = split_name(path.name)
        for other in (real_data / "dev" / "transcripts").glob(f"*/{identity}.json"):
            transcript = parse(other.read_bytes(), name=other.name)
            if transcript.language == language == "en":
                compared += 1
                # Cues without an end are not lost any more, as they were in these transcripts.
                assert spoken(captions) >= spoken(transcript), path
    assert compared > 30


def test_a_clock_that_starts_again_leaves_the_words_in_the_order_of_the_file(
    real_data: Path,
) -> None:
    in_parts = []
    for path in sorted((real_data / "dev" / "transcripts" / "nyudl_pt").glob("*.json")):
        captions = parse(path.read_bytes(), name=path.name)
        if any(warning.code == ClockRestarts.code for warning in captions.warnings):
            in_parts.append(path.stem)
            written = json.loads(path.read_text(encoding="utf-8"))["cues"]
            assert [word for cue in captions.cues for word in cue.text.split()] == [
                word for row in written for word in row["text"].split()
            ]
    assert in_parts == ["nyu-w03-lecture", "nyu-w05-lecture", "nyu-w06-lecture"]


def test_every_transcript_is_read_whole(real_data: Path) -> None:
    paths = sorted((real_data / "dev" / "transcripts").glob("**/*.json"))
    assert len(paths) > 200
    for path in paths:
        content = json.loads(path.read_text(encoding="utf-8"))
        captions = parse(path.read_bytes(), name=path.name)
        assert (captions.format, captions.id, captions.title) == (
            "json",
            content["id"],
            " ".join(content["title"].split()),
        )
        assert (captions.language, captions.youtube_id) == (
            content["lang"],
            content.get("youtube_id") or "",
        )
        words, wanted = (
            spoken(captions),
            Counter(word for cue in content["cues"] for word in cue["text"].split()),
        )
        assert words <= wanted, path
        assert words.total() >= 0.999 * wanted.total(), (
            path
        )  # rows told twice at one moment are told once


def test_rolling_captions_come_out_word_for_word(rolling: list[Path]) -> None:
    assert rolling
    for path in rolling:
        wanted = json.loads(
            path.with_name(path.name.replace(".en.auto.vtt", ".expected.json")).read_text(
                encoding="utf-8"
            )
        )
        captions = parse(path.read_bytes(), name=path.name)
        assert " ".join(cue.text for cue in captions.cues) == wanted["text"]
        lines = [
            (round(line["start"] * 1000), round(line["end"] * 1000), line["text"])
            for line in wanted["lines"]
        ]
        assert [(cue.start, cue.end, cue.text) for cue in captions.cues] == lines
        assert sum(len(cue.words) for cue in captions.cues) == wanted["words"]
        assert all(" ".join(word.text for word in cue.words) == cue.text for cue in captions.cues)


def test_real_cues_survive_being_downloaded_and_added_again(native: dict[Path, Captions]) -> None:
    for path, captions in native.items():
        wanted = [(cue.start, cue.end, cue.text) for cue in captions.cues]
        for written in (to_vtt(captions.cues), to_srt(captions.cues)):
            assert [
                (cue.start, cue.end, cue.text) for cue in parse(written.encode()).cues
            ] == wanted, path


def spoken(captions: Captions) -> Counter[str]:
    return Counter(word for cue in captions.cues for word in cue.text.split())
