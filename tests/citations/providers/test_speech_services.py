"""Servers that recognise speech: what they are sent, and what is read of their answers."""

import io
import wave
from collections.abc import Iterator
from typing import Any

import pytest

from citations.conf import Remote
from citations.errors import ModelRefused, ModelServerError, SpeechMissing
from citations.listening import recognition
from citations.providers import http
from citations.providers.speech_services import SpeechReply, SpeechServer
from tests.speech.server_standin import SpeechStandIn

SAMPLES = b"\1\2" * 32_000  # two seconds
KEY = "speech-key-0123456789"


@pytest.fixture
def standin(monkeypatch: pytest.MonkeyPatch) -> Iterator[SpeechStandIn]:
    monkeypatch.setattr(http, "RETRY_POLICY", http.HttpRetryPolicy(tries=2, first=0, pause=0))
    with SpeechStandIn() as server:
        yield server


def server_of(standin: SpeechStandIn) -> SpeechServer:
    return SpeechServer(Remote(base_url=standin.url, key=KEY, timeout=5), "whisper-1")


def heard(reply: dict[str, Any]) -> list[tuple[str, list[tuple[int, int, str, float]]]]:
    timed = SpeechReply.model_validate(reply).timed(2_000)
    return [(segment["text"], segment["words"]) for segment in timed]


def test_a_part_is_sent_as_a_wav_file_with_the_model_and_the_language(
    standin: SpeechStandIn,
) -> None:
    standin.replies = [{"text": "Hello there.", "language": "german"}]
    standin.replies += [{"text": "Hello.", "language": "gibberish of somebody"}]
    server = server_of(standin)
    assert server.hear(SAMPLES, "")[0] == "de"
    assert server.hear(SAMPLES, "de-AT")[0] == "de-AT"
    sent = standin.requests[1]
    assert (sent["model"], sent["language"]) == (["whisper-1"], ["de"])
    assert sent["timestamp_granularities[]"] == ["segment", "word"]
    with wave.open(io.BytesIO(sent["file"][0])) as file:
        assert (file.getframerate(), file.getnchannels()) == (16_000, 1)
        assert file.readframes(32_000) == SAMPLES
    assert standin.keys == [f"Bearer {KEY}"] * 2
    assert "language" not in standin.requests[0]


def test_words_with_times_are_taken_however_the_server_gives_them() -> None:
    words = [{"word": " Hello", "start": 0.1, "end": 0.5}, {"word": "you.", "start": 0.6, "end": 9}]
    expected = [("Hello you.", [(100, 500, " Hello", 1.0), (600, 2_000, "you.", 1.0)])]
    segment = {"text": "Hello you.", "start": 0.0, "end": 2.0}
    assert heard({"text": "x", "segments": [segment], "words": words}) == expected
    assert heard({"text": "x", "segments": [{**segment, "words": words}]}) == expected
    assert heard({"text": "Hello you.", "words": words}) == expected
    unsure = [{**words[0], "probability": 0.2}, {"word": "you"}, "nonsense"]
    assert heard({"text": "x", "words": unsure})[0][1] == [(100, 500, " Hello", 0.2)]


def test_what_has_no_times_gets_them_by_its_length() -> None:
    segment = {"text": "aaaa bbbb", "start": 1, "end": 2}
    assert heard({"text": "x", "segments": [segment]}) == [
        ("aaaa bbbb", [(1_000, 1_500, "aaaa", 1.0), (1_500, 2_000, "bbbb", 1.0)])
    ]
    assert [text for text, _ in heard({"text": "One here. Two there"})] == [
        "One here.",
        "Two there",
    ]
    assert heard({"text": "One here. Two there"})[1][1][-1][:2] == (1_375, 2_000)
    assert heard({"text": ""}) == []


def test_a_server_that_knows_only_texts_is_asked_for_them_from_then_on(
    standin: SpeechStandIn,
) -> None:
    unknown = (400, {"error": {"message": "response_format 'verbose_json' is not supported"}})
    standin.replies = [unknown, unknown, {"text": "Hello."}, {"text": "Again."}]
    server = server_of(standin)
    assert server.hear(SAMPLES, "")[1][0]["text"] == "Hello."
    assert server.hear(SAMPLES, "")[1][0]["text"] == "Again."
    assert [sent["response_format"] for sent in standin.requests][-2:] == [["json"], ["json"]]


def test_a_refusal_is_told_in_the_words_of_the_server(standin: SpeechStandIn) -> None:
    refusal = {"error": {"message": "The model whisper-9 does not exist."}}
    standin.replies = [(404, refusal), (401, {"error": {"message": KEY}}), (200, {"no": "text"})]
    standin.replies += [{"no": "text"}]
    server = server_of(standin)
    with pytest.raises(ModelRefused, match="whisper-9 does not exist"):
        server.hear(SAMPLES, "")
    with pytest.raises(ModelRefused) as refused:
        server.hear(SAMPLES, "")
    assert KEY not in refused.value.message
    with pytest.raises(ModelServerError):
        server.hear(SAMPLES, "")


def test_the_settings_choose_the_server(standin: SpeechStandIn, settings: Any) -> None:
    settings.SPEECH_PROVIDER, settings.SPEECH_MODEL = "openai", "large"
    settings.SPEECH_BASE_URL = f"{standin.url}/audio/transcriptions"
    recognizer = recognition.recognizer()
    standin.replies = [{"text": "Hello."}]
    assert (recognizer.name, recognizer.hear(SAMPLES, "")[1][0]["text"]) == ("large", "Hello.")
    settings.SPEECH_BASE_URL = "no address"
    assert not recognition.is_available()
    settings.SPEECH_PROVIDER = "none"
    with pytest.raises(SpeechMissing):
        recognition.recognizer()
