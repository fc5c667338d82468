"""Program of the child process that decodes the sound of audio and video files with FFmpeg.

``child_loop`` has the protocol: a request has the ``path`` of a file and ``start``, a time in ms.
The answer is the part that begins there, 16 kHz mono in 16 bits, and its ``start``, ``end`` and the
``total`` length of the file in ms. A part ends at a pause, or with the file (``is_last``). A file
without sound is ``refused``. The file stays open, so that parts in their order are decoded once.
Times are those of players: the first sample of any stream is at 0.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import av
import numpy
from av.audio.resampler import AudioResampler
from av.container import InputContainer

from citations.readers import child_loop

RATE: Final = 16_000  # samples a second
LEAST, MOST = 90 * RATE, 150 * RATE  # samples of a part, but for the last
FRAME: Final = RATE // 50  # samples by which loudness is told
PAUSE: Final = 15  # frames
GAP: Final = RATE // 10  # samples that a stream may lack before times say so
MOST_GAP: Final = 600 * RATE  # what is longer is no pause, but wrong times
MEMORY: Final = 4 * 1024**3  # bytes of address space, of which a tenth is used
IDLE: Final = 120  # seconds
FORMATS: Final = "aac,aiff,asf,avi,flac,matroska,mov,mp3,mpeg,mpegts,ogg,wav,webm"
OPTIONS: Final = {"protocol_whitelist": "file", "format_whitelist": FORMATS}

Samples = numpy.ndarray[Any, numpy.dtype[numpy.int16]]
_NOTHING: Final[Samples] = numpy.zeros(0, numpy.int16)


class SoundStream:
    """The sound of a file from its beginning, in parts."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._container: InputContainer = av.open(path, options=OPTIONS)
        self.has_sound = bool(self._container.streams.audio)
        self._zero = max(self._container.start_time or 0, 0) / av.time_base
        self._blocks = self._decoded() if self.has_sound else iter(())
        self._samples, self._position = _NOTHING, 0  # what is decoded, and where it begins

    @property
    def position(self) -> int:
        """The ms at which the next part begins."""
        return self._position * 1000 // RATE

    @property
    def total(self) -> int:
        """The length that the file names, in ms; 0 if it names none."""
        return max(0, (self._container.duration or 0) * 1000 // av.time_base)

    def skip(self, until: int) -> None:
        """Leave out what is before a time (ms)."""
        while self._position < until * RATE // 1000 and self._fill(RATE):
            count = min(len(self._samples), until * RATE // 1000 - self._position)
            self._take(count)

    def part(self) -> tuple[Samples, bool]:
        """Return the next part, and whether it is the last."""
        if not self._fill(MOST + 1):
            return self._take(len(self._samples)), True
        return self._take(_pause(self._samples[:MOST])), False

    def _take(self, count: int) -> Samples:
        part, self._samples = self._samples[:count], self._samples[count:]
        self._position += count
        return part

    def _fill(self, count: int) -> bool:
        """Decode until there are so many samples; return whether there are."""
        blocks, size = [self._samples], len(self._samples)
        while size < count and (block := next(self._blocks, None)) is not None:
            blocks.append(block)
            size += len(block)
        self._samples = numpy.concatenate(blocks)
        return size >= count

    def _decoded(self) -> Iterator[Samples]:
        """Yield the samples; silence stands where the file has nothing."""
        resampler = AudioResampler(format="s16", layout="mono", rate=RATE)
        count = shift = 0
        for frame in self._frames():
            if frame.time is not None:
                lacking = round((frame.time - self._zero) * RATE) - count - shift
                if not -MOST_GAP < lacking < MOST_GAP:
                    shift += lacking
                elif lacking > GAP:
                    count += lacking
                    yield numpy.zeros(lacking, numpy.int16)
            frame.pts = None
            for resampled in resampler.resample(frame):
                block: Samples = resampled.to_ndarray().reshape(-1).astype(numpy.int16)
                count += len(block)
                yield block

    def _frames(self) -> Iterator[av.AudioFrame]:
        """Yield the sound of the first stream, without damaged packets."""
        for packet in self._container.demux(self._container.streams.audio[0]):
            with suppress(av.FFmpegError):
                yield from (frame for frame in packet.decode() if isinstance(frame, av.AudioFrame))


def _pause(samples: Samples) -> int:
    """Return the middle of the quietest moment from ``LEAST`` on."""
    end = len(samples) // FRAME * FRAME
    frames = samples[LEAST:end].astype(numpy.float32).reshape(-1, FRAME)
    loudness = numpy.convolve((frames**2).mean(axis=1), numpy.ones(PAUSE), "valid")
    return LEAST + (int(loudness.argmin()) + PAUSE // 2) * FRAME


def _answer(
    streams: dict[str, SoundStream], path: str, start: int, *, is_probe: bool = False, **_: Any
) -> child_loop.Answer:
    stream = streams.get(path)
    if stream is None or stream.position > start:
        streams.clear()
        streams[path] = stream = SoundStream(path)
    if not stream.has_sound:
        return {"refused": "silent"}, ()
    if is_probe:
        return {"total": stream.total}, ()
    stream.skip(start)
    begin = stream.position
    part, is_last = stream.part()
    times = {"start": begin, "end": stream.position, "total": stream.total, "is_last": is_last}
    return times, [part.tobytes()]


def main() -> None:
    """Answer requests."""
    child_loop.set_limits(MEMORY)
    streams: dict[str, SoundStream] = {}  # the open one by its path

    def answer(request: dict[str, Any]) -> child_loop.Answer:
        try:
            return _answer(streams, **request)
        except (av.FFmpegError, OSError) as error:
            streams.clear()
            return {"refused": f"{type(error).__name__}: {error}"[:300]}, ()

    child_loop.serve(answer, idle=IDLE)


if __name__ == "__main__":
    main()
