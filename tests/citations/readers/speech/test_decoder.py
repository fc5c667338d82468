"""The sound of audio and video files in parts: which, where they end, and hostile files."""

from io import BytesIO
from pathlib import Path

import av
import numpy
import pytest
from numpy.typing import NDArray

from citations.errors import SpeechFailed
from citations.readers.speech import decoder
from citations.readers.speech.decoder import SoundPart
from tests.tones import make_recording
from transcripts.captions.caption_errors import EmptyCaptions

RATE = decoder.RATE


def write(path: Path, samples: NDArray[numpy.int16]) -> Path:
    """Write a FLAC file of samples at 16 kHz."""
    with av.open(str(path), "w", format="flac") as target:
        stream = target.add_stream("flac", rate=RATE, layout="mono")
        for first in range(0, len(samples), RATE):
            block = samples[first : first + RATE].reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(block, format="s16", layout="mono")
            frame.sample_rate = RATE
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
    return path


def noise(seconds: float) -> NDArray[numpy.int16]:
    made = numpy.random.default_rng(1).normal(0, 4_000, round(seconds * RATE))
    return made.astype(numpy.int16)


@pytest.mark.parametrize("ending", ["aac", "flac", "m4a", "mp3", "mp4", "opus", "wav", "webm"])
def test_the_sound_of_every_kind_of_file_is_decoded(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "any.name"
    path.write_bytes(make_recording(ending))
    part = decoder.part_at(path, 0)
    assert part.is_last
    assert abs(part.end - 8_000) < 150
    assert abs(decoder.length_of(path) - 8_000) < 400  # an estimate where a file does not say it
    samples = numpy.frombuffer(part.samples, numpy.int16)
    assert abs(len(samples) - part.end * RATE // 1000) < RATE // 1000
    middle = samples[5 * RATE + 2_000 : 6 * RATE - 2_000].astype(float)
    spectrum = abs(numpy.fft.rfft(middle))
    assert abs(spectrum.argmax() * RATE / len(middle) - 900) < 20  # the tone of second 5


def test_a_long_file_is_cut_at_its_pauses_and_every_sample_is_in_one_part(tmp_path: Path) -> None:
    whole = noise(400)
    for second in (60, 101, 200.5):
        whole[round(second * RATE) : round((second + 0.5) * RATE)] = 0
    path, parts = write(tmp_path / "long.flac", whole), list[SoundPart]()
    while not (parts and parts[-1].is_last):
        parts.append(decoder.part_at(path, parts[-1].end if parts else 0))
    starts = [part.start for part in parts]
    assert starts == [0, *(part.end for part in parts[:-1])]
    assert b"".join(part.samples for part in parts) == whole.tobytes()
    assert all(90_000 <= part.end - part.start <= 150_000 for part in parts[:-1])
    assert 101_000 <= parts[0].end <= 101_500
    assert 200_500 <= parts[1].end <= 201_000
    again = decoder.part_at(path, parts[1].start)  # as after a kill
    assert (again.start, again.end, again.samples) == (
        parts[1].start,
        parts[1].end,
        parts[1].samples,
    )


def test_times_are_those_of_the_player_where_a_stream_begins_late_or_has_gaps(
    tmp_path: Path,
) -> None:
    path = tmp_path / "gaps.mka"
    with av.open(str(path), "w", format="matroska") as target:
        stream = target.add_stream("pcm_s16le", rate=RATE)
        for second in (0, 1, 4, 5):  # 2 and 3 are missing
            frame = av.AudioFrame.from_ndarray(noise(1).reshape(1, -1), format="s16", layout="mono")
            frame.sample_rate, frame.pts = RATE, second * RATE
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
    samples = numpy.frombuffer(decoder.part_at(path, 0).samples, numpy.int16)
    assert len(samples) == 6 * RATE
    assert not samples[2 * RATE + 200 : 4 * RATE - 200].any()
    assert samples[4 * RATE + 200 :].any()


def test_a_file_without_sound_or_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    film = BytesIO()
    with av.open(film, "w", format="mp4") as target:
        stream = target.add_stream("libx264", rate=10)
        stream.width = stream.height = 32
        for frame in [av.VideoFrame(32, 32, "yuv420p")] * 10:
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
    (tmp_path / "film.mp4").write_bytes(film.getvalue())
    with pytest.raises(EmptyCaptions):
        decoder.part_at(tmp_path / "film.mp4", 0)
    # A playlist could name other files of this machine.
    (tmp_path / "list.mp3").write_text("#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n")
    (tmp_path / "concat.mp3").write_text("ffconcat version 1.0\nfile 'film.mp4'\n")
    (tmp_path / "noise.mp3").write_bytes(noise(1).tobytes())
    for name in ("list", "concat", "noise"):
        with pytest.raises((SpeechFailed, EmptyCaptions)):
            decoder.part_at(tmp_path / f"{name}.mp3", 0)


def test_a_damaged_file_is_heard_as_far_as_it_can_be(tmp_path: Path) -> None:
    data = bytearray(make_recording("mp3"))
    data[len(data) // 2 : len(data) // 2 + 2_000] = bytes(2_000)
    (tmp_path / "damaged.mp3").write_bytes(data)
    part = decoder.part_at(tmp_path / "damaged.mp3", 0)
    assert part.is_last
    assert part.end > 6_000
