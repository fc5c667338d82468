"""Program of the child process that recognises speech with faster-whisper.

``child_loop`` has the protocol: a request has the ``path`` of a file of 16-bit samples (16 kHz, one
channel), the folder of a ``model``, ``threads``, and a ``language`` or "". The answer has the
``language``; its blob is JSON: a list of segments, each with its ``text`` and ``words``, which are
[start and end in ms, text, probability].
"""

import json
import os
from typing import Any, Final

import numpy
from faster_whisper import WhisperModel

from citations.readers import child_loop

MEMORY: Final = 16 * 1024**3  # bytes of address space; the base model uses half of one
IDLE: Final = 120  # seconds: the model takes some hundred megabytes
BEAMS: Final = 5
NICENESS: Final = 10  # whoever waits for an answer goes before
SCALE: Final = 32_768


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
    samples = numpy.fromfile(path, numpy.int16).astype(numpy.float32) / SCALE
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
                    round(1000 * float(word.start)),
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


if __name__ == "__main__":
    main()
