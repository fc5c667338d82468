"""What an audio or video file is, by its content."""

import pytest

from tests.makers import make_wav
from transcripts.media.files import type_of


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (b"ID3\x04rest", "audio/mpeg"),
        (b"\xff\xfb\x90\x00", "audio/mpeg"),
        (b"\xff\xf1\x50\x80", "audio/aac"),
        (b"\0\0\0\x20ftypM4A \0\0", "audio/mp4"),
        (b"\0\0\0\x20ftypisom\0\0", "video/mp4"),
        (b"\x1aE\xdf\xa3\x9fB\x82\x84webm...V_VP9", "video/webm"),
        (b"\x1aE\xdf\xa3\x9fB\x82\x84webm...A_OPUS", "audio/webm"),
        (b"OggS\0\x02vorbis", "audio/ogg"),
        (b"OggS\0\x02\x80theora", "video/ogg"),
        (b"fLaC\0", "audio/flac"),
        (make_wav()[:64], "audio/wav"),
    ],
)
def test_a_file_is_known_by_its_first_bytes(head: bytes, media_type: str) -> None:
    assert type_of(head) == media_type


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"WEBVTT",
        b"%PDF-1.7",
        "Löwe".encode("utf-16"),
        b"\0\0\0\x20ftypavif\0\0",
        b"RIFF\0\0\0\0WEBPVP8 ",
        b"\x1aE\xdf\xa3\x9fB\x82\x88matroska",
    ],
)
def test_other_files_are_none_that_browsers_play(head: bytes) -> None:
    assert type_of(head) == ""
