"""Speech as the real engine hears it: words, their times, and their language."""

from pathlib import Path

import pytest

from citations.errors import SpeechFailed
from citations.readers.speech import decoder, whisper
from tests.speech.speaker import TEXT, require_whisper, speak


def test_spoken_words_are_heard_with_their_times_and_their_language(tmp_path: Path) -> None:
    model = require_whisper(tmp_path / "model")
    part = decoder.part_at(speak(TEXT, tmp_path / "said.wav"), 0)
    language, segments = whisper.hear(part.samples, model=model, threads=2, language="")
    assert language == "en"
    words = [word for segment in segments for word in segment["words"]]
    heard = "".join(word[2] for word in words).lower()
    for spoken in ("library", "second shelf", "history", "mountains and rivers"):
        assert spoken in heard
    times = [time for word in words for time in word[:2]]
    assert times == sorted(times)
    assert part.end - 1_500 < times[-1] <= part.end
    assert all(0 <= word[3] <= 1 for word in words)
    assert whisper.hear(bytes(32_000), model=model, threads=1, language="") == ("", [])


def test_a_folder_that_is_no_model_is_told(tmp_path: Path) -> None:
    require_whisper(tmp_path / "model")
    (tmp_path / "model" / "model.bin").write_bytes(b"nothing")
    with pytest.raises(SpeechFailed):
        whisper.hear(b"\1\2" * 16_000, model=tmp_path / "model", threads=1, language="")
