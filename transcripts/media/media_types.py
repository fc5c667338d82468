"""What an audio or video file is, by its first bytes, as far as browsers can play it."""

import re
from typing import Final

HEAD: Final = 65_536  # bytes that are examined

ENDING: Final = re.compile(
    r"(?<=.)\.(?:aac|flac|m4[abv]|mov|mp[34]|og[agv]|opus|wav|webm)$", re.IGNORECASE
)  # of a file's name

_PICTURES: Final = (b"heic", b"heix", b"mif1", b"avif", b"avis")  # still ones, in the same boxes
_SOUND: Final = (b"M4A ", b"M4B ")
_MP3: Final = re.compile(rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]")  # not UTF-16, which begins so, too
_ADTS: Final = re.compile(rb"\xff[\xf0\xf1\xf8\xf9]")
_SEEN: Final = re.compile(rb"V_VP8|V_VP9|V_AV1")  # codecs of pictures in WebM


def type_of(head: bytes) -> str:
    """Return the media type of a file with these first ``HEAD`` bytes; empty for any other file."""
    if head[4:8] == b"ftyp":
        return _type_of_boxes(head[8:12])
    if head.startswith(b"\x1aE\xdf\xa3") and b"webm" in head[:64]:
        return "video/webm" if _SEEN.search(head) else "audio/webm"
    if head.startswith(b"OggS"):
        return "video/ogg" if b"\x80theora" in head else "audio/ogg"
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return "audio/wav"
    if head.startswith(b"fLaC"):
        return "audio/flac"
    if _MP3.match(head):
        return "audio/mpeg"
    return "audio/aac" if _ADTS.match(head) else ""


def _type_of_boxes(brand: bytes) -> str:
    if brand in _PICTURES:
        return ""
    return "audio/mp4" if brand in _SOUND else "video/mp4"
