"""Program of the child process that recognises speech with faster-whisper.

``child_loop`` has the protocol: a request has the ``path`` of a file of 16-bit samples (16 kHz, one
channel), the folder of a ``model``, ``threads``, and a ``language`` or "". The answer has the
``language``; its blob is JSON: a list of segments, each with its ``text`` and ``words``, which are
[start and end in ms, text, probability].
"""

import json
import os
from typing import Any, Final, TypeAlias

import numpy
from faster_whisper import WhisperModel

from citations.readers import child_loop

Samples: TypeAlias = numpy.ndarray[Any, numpy.dtype[numpy.float32]]

RATE: Final = 16_000  # samples a second
MEMORY: Final = 16 * 1024**3  # bytes of address space; the base model uses half of one
IDLE: Final = 120  # seconds: the model takes some hundred megabytes
BEAMS: Final = 5
NICENESS: Final = 10  # whoever waits for an answer goes before
SCALE: Final = 32_768
FRAME: Final = 160  # samples, 10 ms, by which loudness is told
QUIET: Final = 0.1  # of the loudest moment of a word: what is below is silence
PAUSE: Final = 20  # frames of silence; words have none


def main() -> None:
    """Answer requests."""
    child_loop.set_limits(MEMORY)
    os.nice(NICENESS)
    models: dict[tuple[str, int], WhisperModel] = {}  # one, as another would need as much again

    def answer(request: dict[str, Any]) -> child_loop.Answer:
        key = (request["model"], request["threads"])
        if key not in models:
            models.clear()
            models[key] = WhisperModel(
                key[0], device="cpu", compute_type="int8", cpu_threads=key[1], local_files_only=True
            )
        return _hear(models[key], request["path"], request["language"])

    child_loop.serve(answer, idle=IDLE)


def _hear(model: WhisperModel, path: str, language: str) -> child_loop.Answer:
    samples: Samples = numpy.fromfile(path, numpy.int16).astype(numpy.float32)
    samples /= SCALE
    if not samples.any():
        return {"language": language}, [b"[]"]
    is_known = language in model.supported_languages
    segments, about = model.transcribe(
        samples,
        language=language if is_known else None,
        beam_size=BEAMS,
        word_timestamps=True,
        vad_filter=True,  # else words are heard in silence
        condition_on_previous_text=False,  # else one mistake is repeated to the end
    )
    rows = [
        {
            "text": segment.text,
            "words": [
                (
                    _begin(samples, float(word.start), float(word.end)),
                    round(1000 * float(word.end)),
                    word.word,
                    round(float(word.probability), 3),
                )
                for word in segment.words or ()
            ],
        }
        for segment in segments
    ]
    return {"language": about.language}, [json.dumps(rows).encode()]


def _begin(samples: Samples, start: float, end: float) -> int:
    """Return the ms at which a word begins that Whisper hears between two times (seconds): it
    counts the silence before a word as part of it, and sometimes the end of the word before that.
    """
    first, last = int(start * RATE) // FRAME, int(end * RATE) // FRAME
    frames = samples[first * FRAME : last * FRAME].reshape(-1, FRAME)
    loudness = numpy.sqrt((frames**2).mean(axis=1))
    loud = numpy.flatnonzero(loudness > QUIET * loudness.max(initial=0.0))
    if not len(loud):
        return round(1000 * start)
    after_pauses = loud[1:][numpy.diff(loud) > PAUSE]
    begins = after_pauses[-1] if len(after_pauses) else loud[0]
    return int(first + begins) * FRAME * 1000 // RATE


if __name__ == "__main__":
    main()
