"""Program of the child process that cuts a clip out of an audio or video file with FFmpeg.

A hostile file may crash or hang FFmpeg. The program is run by its path and imports nothing of the
project. Its argument is JSON: ``path`` of the file, ``format`` that it is read as, ``start`` and
``end`` in ms, ``target`` to be written, ``most`` bytes of it, ``seconds`` of CPU time. It copies
packets and encodes nothing. It prints JSON: either ``lead``, the ms of the clip that only lead its
pictures up to their start, with ``has_pictures`` and ``format``; or why it is ``refused``.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, TypeAlias

import av
from av.container import InputContainer
from av.packet import Packet
from av.stream import Disposition, Stream

try:
    import resource
except ImportError:  # a system without limits
    resource = None  # type: ignore[assignment]

AnyPacket: TypeAlias = "Packet[Any]"  # generic in its stubs alone

MEMORY: Final = 1024**3  # bytes of address space
LEAD: Final = 10.0  # seconds: the earliest key frame before a clip that its pictures begin with
# FLAC's own files say how long the whole was, and number frames from its beginning.
FORMATS: Final = {"mov": "mp4", "matroska": "webm", "flac": "mp4", "aac": "adts"}
READING: Final = {"wav": {"max_size": "1024"}}  # shorter packets: 16 ms of 16-bit speech at 32 kHz
WRITING: Final = {
    "mp3": {"id3v2_version": "0", "write_id3v1": "0"},
    "mp4": {"movflags": "+faststart"},
}
SOUGHT: Final = ("mov", "matroska", "wav")  # where a place is found by its time, exactly
FLAC_SETUP: Final = 34  # bytes
EDITED: Final = ("mp4",)  # players skip what stands before the beginning of these


class ClipRefused(Exception):
    """The reason is the answer to the request."""


@dataclass(slots=True)
class ClippedStream:
    """The packets of a stream that belong to a clip (seconds), in the order of decoding."""

    stream: Stream
    start: float
    end: float
    packets: list[AnyPacket] = field(default_factory=list)
    size: int = 0
    is_over: bool = False

    @property
    def has_pictures(self) -> bool:
        return self.stream.type == "video"

    @property
    def is_in_clip(self) -> bool:
        """Whether it has anything at the times of the clip: pictures stay until the next one."""
        if not self.packets:
            return False
        return self.is_over or max(map(_begin, self.packets)) >= self.start

    def add(self, packet: AnyPacket) -> None:
        """Add a packet if it belongs to the clip."""
        begin = _begin(packet)
        if self.has_pictures:
            self._add_picture(packet, begin)
        elif self.start <= begin and begin + _lasts(packet) <= self.end:
            self._append(packet)
        self.is_over = self.is_over or begin >= self.end

    def _add_picture(self, packet: AnyPacket, begin: float) -> None:
        """Begin with the last key frame at the start. End with the first picture beyond the end, as
        those that follow may need it.
        """
        if self.is_over or begin >= self.end:
            return
        if packet.is_keyframe and begin <= self.start:
            self.packets, self.size = [], 0
        is_first = packet.is_keyframe and begin >= self.start - LEAD
        # What is shown before the key frame may need others before it.
        if is_first if not self.packets else begin >= _begin(self.packets[0]):
            self._append(packet)

    def _append(self, packet: AnyPacket) -> None:
        self.packets.append(packet)
        self.size += packet.size


def main() -> None:
    request = json.loads(sys.argv[1])
    _set_limits(request["seconds"])
    try:
        answer = cut(request)
    except ClipRefused as refusal:
        answer = {"refused": str(refusal)}
    sys.stdout.write(json.dumps(answer))


def _set_limits(seconds: int) -> None:
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def cut(request: dict[str, Any]) -> dict[str, Any]:
    """Write the clip; raise ``ClipRefused`` if nothing is in it, or too much."""
    form = request["format"]
    target = FORMATS.get(form, form)
    start, end = request["start"] / 1000, request["end"] / 1000
    options = {"protocol_whitelist": "file", **READING.get(form, {})}
    with av.open(request["path"], format=form, options=options) as source:
        zero = max(source.start_time or 0, 0) / av.time_base  # where players begin
        if form in SOUGHT:
            with suppress(av.FFmpegError):  # then it is read from its beginning
                source.seek(round((start + zero - LEAD) * av.time_base))
        tracks = [ClippedStream(stream, start + zero, end + zero) for stream in _streams(source)]
        _read(source, tracks, request["most"])
        filled = [track for track in tracks if track.is_in_clip]
        if not filled:
            raise ClipRefused("empty")
        has_pictures = any(track.has_pictures for track in filled)
        first = min(_begin(track.packets[0]) for track in filled)
        lead = max(start + zero - first, 0.0)
        is_edited = has_pictures and target in EDITED
        _write(filled, request["target"], target, zero=first + (lead if is_edited else 0))
    return {
        "format": target,
        "has_pictures": has_pictures,
        "lead": 0 if is_edited else round(lead * 1000),
    }


def _streams(source: InputContainer) -> Iterator[Stream]:
    """Yield the first stream of sound and the first of moving pictures."""
    yield from source.streams.audio[:1]
    covers = Disposition.attached_pic | Disposition.timed_thumbnails
    films = (stream for stream in source.streams.video if not stream.disposition & covers)
    yield from islice(films, 1)


def _read(source: InputContainer, tracks: Sequence[ClippedStream], most: int) -> None:
    """Give the tracks their packets."""
    by_index = {track.stream.index: track for track in tracks}
    for packet in source.demux([track.stream for track in tracks]):
        if packet.pts is None or packet.dts is None or packet.is_discard or packet.is_corrupt:
            continue
        by_index[packet.stream.index].add(packet)
        if all(track.is_over for track in tracks):
            return
        if sum(track.size for track in tracks) > most:
            raise ClipRefused("large")


def _write(tracks: Sequence[ClippedStream], target: str, form: str, *, zero: float) -> None:
    """Write the packets, with times from ``zero`` (seconds) on, and nothing else of their file."""
    with av.open(
        target, "w", format=form, options={"fflags": "+bitexact", **WRITING.get(form, {})}
    ) as clip:
        for track in tracks:
            stream = clip.add_stream_from_template(track.stream, opaque=True)
            stream.codec_context.extradata = _setup(track.stream)
            for packet in track.packets:
                packet.stream = stream
        packets = (packet for track in tracks for packet in track.packets)
        for packet in sorted(packets, key=_decoded):
            offset = round(zero / packet.time_base)
            packet.pts = (packet.pts or 0) - offset
            packet.dts = (packet.dts or 0) - offset
            clip.mux(packet)


def _setup(stream: Stream) -> bytes | None:
    """Return what a decoder needs to begin, without titles, and the length and sum of the whole."""
    data: bytes | None = stream.codec_context.extradata
    if data is None:
        return None
    if stream.codec_context.name == "flac" and len(data) >= FLAC_SETUP:
        return data[:13] + bytes([data[13] & 0xF0]) + bytes(FLAC_SETUP - 14)
    if stream.codec_context.name == "vorbis" and data[:1] == b"\x02":
        return _without_comments(data)
    return data


def _without_comments(data: bytes) -> bytes:
    """Empty the second of Vorbis' three headers, which are laced as in Matroska."""
    at, sizes = 1, []
    for _ in range(2):
        size = 0
        while data[at] == 255:
            size, at = size + 255, at + 1
        sizes.append(size + data[at])
        at += 1
    first, last = data[at : at + sizes[0]], data[at + sum(sizes) :]
    empty = b"\x03vorbis" + bytes(8) + b"\x01"
    return bytes([2, sizes[0], len(empty)]) + first + empty + last


def _lasts(packet: AnyPacket) -> float:
    return float((packet.duration or 0) * packet.time_base)


def _decoded(packet: AnyPacket) -> float:
    return float((packet.dts or 0) * packet.time_base)


def _begin(packet: AnyPacket) -> float:
    return float((packet.pts or 0) * packet.time_base)


if __name__ == "__main__":
    main()
