"""Recordings whose sound and picture say which second it is."""

from fractions import Fraction
from io import BytesIO
from itertools import groupby
from typing import Any

import av
import numpy as np

RATE = 48_000
FRAMES = 10  # pictures in a second
LOWEST, STEP = 400, 100  # Hz: the tone of second 0, and by how much each next one is higher
DARKEST, LIGHTER = 30, 15  # of the picture of second 0, and by how much each next one is lighter
CODECS = {
    "aac": ("adts", "aac", ""),
    "flac": ("flac", "flac", ""),
    "m4a": ("ipod", "aac", ""),
    "mp3": ("mp3", "libmp3lame", ""),
    "mp4": ("mp4", "aac", "libx264"),
    "mov": ("mov", "pcm_s16le", "libx264"),
    "opus": ("ogg", "libopus", ""),
    "vorbis": ("webm", "vorbis", ""),
    "wav": ("wav", "pcm_s16le", ""),
    "weba": ("webm", "libopus", ""),
    "webm": ("webm", "libopus", "libvpx"),
}


def make_recording(ending: str, *, seconds: int = 8, key_frames: int = 2, title: str = "") -> bytes:
    """Write a file in which second n has its own tone and, if it has pictures, its own grey, with a
    key frame each ``key_frames`` seconds.
    """
    form, sound, film = CODECS[ending]
    file = BytesIO()
    with av.open(file, "w", format=form) as target:
        if title:
            target.metadata["title"] = title
        layout = "stereo" if sound == "vorbis" else "mono"  # FFmpeg's own encoder has no other
        options = {"strict": "experimental"} if sound == "vorbis" else {}
        heard: Any = target.add_stream(sound, rate=RATE, layout=layout, options=options)
        frames = [(heard, frame) for frame in _sound(seconds)]
        if film:
            gap = str(key_frames * FRAMES)  # no key frame where the picture changes
            options = {"g": gap, "keyint_min": gap, "sc_threshold": "0"}
            seen: Any = target.add_stream(film, rate=FRAMES, options=options)
            seen.width, seen.height, seen.pix_fmt = 64, 36, "yuv420p"
            frames += [(seen, frame) for frame in _pictures(seconds)]
        for stream, frame in sorted(frames, key=lambda pair: pair[1].time or 0):
            target.mux(stream.encode(frame))
        for stream in target.streams:
            target.mux(stream.encode(None))
    return file.getvalue()


def seconds_heard(data: bytes) -> list[int]:
    """Return the seconds of ``make_recording`` whose tones sound for a tenth of a second each."""
    with av.open(BytesIO(data)) as source:
        resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
        frames = [part for frame in source.decode(audio=0) for part in resampler.resample(frame)]
    sound = np.concatenate([frame.to_ndarray()[0] for frame in frames])
    size = RATE // 10
    parts = [sound[first : first + size] for first in range(0, len(sound) - size + 1, size)]
    pitches = [
        int(np.argmax(np.abs(np.fft.rfft(part * np.hanning(size))))) * 10
        for part in parts
        if np.abs(part).max() > 0.1
    ]
    return [second for second, _ in groupby((p - LOWEST + STEP // 2) // STEP for p in pitches)]


def seconds_seen(data: bytes, *, skip: float = 0) -> list[int]:
    """Return the seconds whose pictures a player shows, but for the first ``skip`` seconds."""
    with av.open(BytesIO(data)) as source:
        greys = [
            int(frame.to_ndarray(format="gray").mean())
            for frame in source.decode(video=0)
            if frame.time >= skip
        ]
    return [second for second, _ in groupby((g - DARKEST + LIGHTER // 2) // LIGHTER for g in greys)]


def length(data: bytes) -> float:
    """Return how many seconds of sound there are."""
    with av.open(BytesIO(data)) as source:
        return sum(frame.samples / frame.sample_rate for frame in source.decode(audio=0))


def _sound(seconds: int) -> list[av.AudioFrame]:
    times = np.arange(RATE) / RATE
    frames = []
    for second in range(seconds):
        wave = np.sin(2 * np.pi * (LOWEST + STEP * second) * times)
        samples = (wave * 20_000).astype(np.int16).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, second * RATE, Fraction(1, RATE)
        frames.append(frame)
    return frames


def _pictures(seconds: int) -> list[av.VideoFrame]:
    frames = []
    for number in range(seconds * FRAMES):
        grey = np.full((36, 64), DARKEST + LIGHTER * (number // FRAMES), dtype=np.uint8)
        frame = av.VideoFrame.from_ndarray(grey, format="gray")
        frame.pts, frame.time_base = number, Fraction(1, FRAMES)
        frames.append(frame)
    return frames
