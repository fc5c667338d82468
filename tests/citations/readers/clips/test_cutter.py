"""Clips: what plays from one time until another, and nothing else of a file."""

import os
import signal
import struct
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import av
import pytest

from citations.errors import CannotBeCut, CutterMissing
from citations.readers.clips import cutter
from citations.readers.clips.cutter import CutClip
from tests.tones import CODECS, length, make_recording, seconds_heard, seconds_seen
from transcripts.core.installation import install_command
from transcripts.media import files

SOUNDS = [ending for ending, (_, _, film) in CODECS.items() if not film]
NO_COMMENTS = b"\3vorbis" + bytes(8) + b"\1"
FILMS = [ending for ending, (_, _, film) in CODECS.items() if film]


def cut(folder: Path, data: bytes, start: int, end: int, *, most: int = 10**7) -> CutClip:
    """Cut from second ``start`` until ``end``, into the file that ``written`` returns."""
    (folder / "file").write_bytes(data)
    media_type = files.type_of(data[: files.HEAD])
    target = folder / "clip"
    span = {"start": start * 1000, "end": end * 1000}
    return cutter.cut(folder / "file", media_type, target, **span, most=most)


def written(folder: Path) -> bytes:
    return (folder / "clip").read_bytes()


@pytest.mark.parametrize("ending", CODECS)
def test_a_clip_sounds_from_its_start_until_its_end_and_names_nothing(
    tmp_path: Path, ending: str
) -> None:
    data = make_recording(ending, title="Between ourselves")
    assert seconds_heard(data) == [*range(8)]
    clip = cut(tmp_path, data, 3, 5)
    assert seconds_heard(written(tmp_path)) == [3, 4]
    assert 1.9 < length(written(tmp_path)) <= 2.01
    assert b"Between ourselves" not in written(tmp_path)
    kind = "audio" if ending in SOUNDS else "video"
    form = files.type_of(written(tmp_path)[: files.HEAD]).partition("/")[2]
    assert clip.media_type == f"{kind}/{form}"


def test_titles_that_stand_before_vorbis_sound_are_left_out(tmp_path: Path) -> None:
    source, target = BytesIO(make_recording("vorbis")), BytesIO()
    title = b"title=Between ourselves"
    titled = NO_COMMENTS[:11] + struct.pack("<II", 1, len(title)) + title + b"\1"
    with av.open(source) as untitled, av.open(target, "w", format="webm") as copy:
        stream: Any = copy.add_stream_from_template(untitled.streams.audio[0], opaque=True)
        setup = stream.codec_context.extradata.replace(NO_COMMENTS, titled)
        stream.codec_context.extradata = setup[:2] + bytes([len(titled)]) + setup[3:]
        for packet in untitled.demux(audio=0):
            if packet.dts is not None:
                packet.stream = stream
                copy.mux(packet)
    assert title in target.getvalue()
    cut(tmp_path, target.getvalue(), 3, 5)
    assert b"Between ourselves" not in written(tmp_path)
    assert seconds_heard(written(tmp_path)) == [3, 4]


def test_the_clip_of_a_flac_file_does_not_tell_the_whole_by_its_sum(tmp_path: Path) -> None:
    data = make_recording("flac")
    digest = data[26:42]
    assert any(digest)
    cut(tmp_path, data, 3, 5)
    assert digest not in written(tmp_path)


@pytest.mark.parametrize("ending", FILMS)
def test_pictures_are_shown_from_the_start_until_the_end(tmp_path: Path, ending: str) -> None:
    data = make_recording(ending, key_frames=4)
    assert seconds_seen(data) == [*range(8)]
    clip = cut(tmp_path, data, 2, 6)
    assert seconds_seen(written(tmp_path), skip=clip.lead / 1000) == [2, 3, 4, 5]
    assert seconds_heard(written(tmp_path)) == [2, 3, 4, 5]


def test_pictures_of_more_than_ten_seconds_before_are_left_out(tmp_path: Path) -> None:
    data = make_recording("webm", seconds=16, key_frames=14)
    clip = cut(tmp_path, data, 12, 16)
    assert clip.lead == 0
    assert seconds_heard(written(tmp_path)) == [12, 13, 14, 15]
    assert seconds_seen(written(tmp_path)) == [14, 15]
    assert cut(tmp_path, data, 11, 13).media_type == "audio/webm"  # there is no key frame at all


def test_pictures_may_begin_before_the_sound_by_what_the_clip_says(tmp_path: Path) -> None:
    clip = cut(tmp_path, make_recording("webm", key_frames=4), 2, 6)
    assert abs(clip.lead - 2_000) < 100
    assert seconds_seen(written(tmp_path)) == [*range(6)]


@pytest.mark.parametrize("ending", ["mp3", "m4a", "webm"])
def test_what_ends_before_the_clip_begins_is_refused(tmp_path: Path, ending: str) -> None:
    with pytest.raises(CannotBeCut, match="nothing at the times"):
        cut(tmp_path, make_recording(ending, seconds=2), 3, 5)


def test_a_clip_that_is_too_large_is_refused(tmp_path: Path) -> None:
    data = make_recording("wav")
    with pytest.raises(CannotBeCut, match="more than 100,000 bytes"):
        cut(tmp_path, data, 3, 5, most=100_000)


def test_without_ffmpeg_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutter, "is_installed", lambda: False)
    with pytest.raises(CutterMissing) as raised:
        cut(tmp_path, make_recording("wav"), 3, 5)
    assert install_command("clips") in raised.value.hint


@pytest.mark.parametrize("ending", CODECS)
def test_a_file_that_is_broken_is_refused_or_gives_nothing_else(
    tmp_path: Path, ending: str
) -> None:
    data = make_recording(ending)
    broken = data[: len(data) // 4] + os.urandom(500) + data[len(data) // 4 + 500 :]
    for damaged in (data[:600], broken):
        try:
            cut(tmp_path, damaged, 3, 5)
        except CannotBeCut:
            continue
        assert len(written(tmp_path)) < len(data) / 2


def test_every_type_of_files_that_are_accepted_can_be_cut() -> None:
    heads = (
        b"\0\0\0\x20ftypM4A ", b"\0\0\0\x20ftypisom", b"\x1aE\xdf\xa3....webm", b"OggS", b"fLaC",
        b"RIFF....WAVE", b"ID3", b"\xff\xf1",
    )  # fmt: skip
    types = {files.type_of(head).partition("/")[2] for head in heads}
    assert types == set(cutter.FORMATS)


def test_the_child_has_limits_of_time_and_memory() -> None:
    program = f"""
import resource, runpy, sys
module = runpy.run_path({str(cutter.PROGRAM)!r})
module["_set_limits"](1)
print(resource.getrlimit(resource.RLIMIT_AS)[0], flush=True)
while True: pass
"""
    child = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert 0 < int(child.stdout) <= 2 * 1024**3
    assert child.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


@pytest.mark.parametrize("answer", ["", "{}", "[]", '{"format": "exe", "has_pictures": 1}'])
def test_a_child_that_answers_nonsense_cuts_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str
) -> None:
    program = tmp_path / "child.py"
    program.write_text(f"print({answer!r})")
    monkeypatch.setattr(cutter, "PROGRAM", program)
    with pytest.raises(CannotBeCut, match="cannot be cut"):
        cutter.cut(tmp_path / "file", "audio/wav", tmp_path / "clip", start=0, end=1_000)
