"""What nobody foresaw in a reader is an expected error of the file, with its cause in the log."""

import logging
from typing import NoReturn

import pytest

from transcripts import captions
from transcripts.adding import acquisition
from transcripts.captions.caption_errors import CaptionError, EmptyCaptions
from transcripts.captions.formats import CaptionKind
from transcripts.core.errors import InvalidInput, told_as
from transcripts.models import Collection, Job, Video

VTT = b"WEBVTT\n\n00:00.000 --> 00:02.000\nHello.\n"
SRT = b"1\n00:00:00,000 --> 00:00:02,000\nHello.\n"


@told_as(InvalidInput, "It cannot be read.", hint="Add another.")
def divide(by: float, error: Exception | None = None) -> float:
    if error:
        raise error
    return 1 / by


def test_an_unexpected_error_is_told_as_an_expected_one_and_its_cause_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert divide(2) == 0.5
    for _ in range(2):
        with pytest.raises(InvalidInput) as raised:
            divide(0)
        assert raised.value.problem() == {
            "code": "invalid_input",
            "detail": "It cannot be read.",
            "hint": "Add another.",
        }
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("error", [EmptyCaptions("It is empty."), OSError(28, "No space left")])
def test_expected_errors_and_those_of_the_machine_stay_what_they_are(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(type(error)) as raised:
        divide(1, error)
    assert raised.value is error
    assert not caplog.records


@pytest.fixture
def broken_vtt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of WebVTT that recurses without end."""

    def read(text: str) -> NoReturn:
        read(text)

    monkeypatch.setitem(captions._READERS, CaptionKind.VTT, read)


@pytest.mark.usefixtures("broken_vtt")
def test_captions_whose_reader_fails_are_refused_and_the_others_are_stored(
    collection: Collection, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(CaptionError, match="cannot be read"):
        captions.parse(VTT, name="a.vtt")
    job = acquisition.request_files(collection, [("a.vtt", VTT), ("b.srt", SRT)])
    acquisition.perform(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    (problem,) = job.problems
    assert (problem["name"], problem["code"]) == ("a.vtt", "bad_captions")
    assert "Convert them to SRT or WebVTT" in problem["hint"]
    assert Video.objects.get().key == "b"
    assert "RecursionError" in caplog.text
