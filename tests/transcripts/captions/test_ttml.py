"""TTML's timing."""

import pytest

from transcripts.captions import Captions, parse
from transcripts.captions.caption_errors import EmptyCaptions
from transcripts.text.cues import Word


def ttml(body: str, about: str = "") -> Captions:
    return parse(f'<tt xmlns="http://www.w3.org/ns/ttml" {about}>{body}</tt>'.encode())


def times(captions: Captions) -> list[tuple[int, int, str]]:
    return [(cue.start, cue.end, cue.text) for cue in captions.cues]


def test_times_are_inherited_and_relative_to_what_contains_them() -> None:
    captions = ttml(
        '<body begin="10s"><div begin="5s" end="9s"><p begin="1s" end="2s">a</p>'
        '<p begin="3s" dur="60s">b</p></div><div begin="30s" end="31s"><p>c</p></div></body>'
    )
    assert times(captions) == [(16_000, 17_000, "a"), (18_000, 19_000, "b"), (40_000, 41_000, "c")]


def test_absolute_times_are_seen_by_what_the_standard_would_never_show() -> None:
    captions = ttml(
        '<body dur="3:00"><div begin="20.5" end="40"><p begin="20.5" end="23">a</p>'
        '<p begin="30" end="31.5">b</p></div></body>'
    )
    assert times(captions) == [(20_500, 23_000, "a"), (30_000, 31_500, "b")]


def test_a_paragraph_without_an_end_lasts_as_long_as_its_parts() -> None:
    parts = '<span end="1s">a</span> <span begin="1s" end="2.5s">b</span>'
    assert times(ttml(f'<body><p begin="5s">{parts}</p></body>')) == [(5000, 7500, "a b")]
    open_end = ttml(f'<body><p begin="5s">{parts} c</p></body>')
    assert open_end.cues[0].end > 7500


def test_one_follows_another_in_a_sequence() -> None:
    captions = ttml(
        '<body><div timeContainer="seq"><p dur="2s">a</p><p begin="1s" dur="3s">b</p></div></body>'
    )
    assert times(captions) == [(0, 2000, "a"), (3000, 6000, "b")]


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("9.764", 9764),
        ("1:02.500", 62_500),
        ("00:01:00:12", 60_500),
        ("12f", 500),
        ("0.5m", 30_000),
        ("0.001h", 3600),
        ("250ms", 250),
    ],
)
def test_every_notation_of_a_time_is_understood(written: str, moment: int) -> None:
    captions = ttml(
        f'<body><p begin="{written}">a</p></body>',
        'xmlns:ttp="http://www.w3.org/ns/ttml#parameter" ttp:frameRate="24"',
    )
    assert captions.cues[0].start == moment


def test_the_rate_of_frames_has_a_multiplier() -> None:
    about = 'xmlns:p="urn:p" p:frameRate="30" p:frameRateMultiplier="1000 1001"'
    assert ttml('<body><p begin="300f">a</p></body>', about).cues[0].start == 10_010


def test_spans_with_times_time_the_words_of_their_paragraph() -> None:
    (cue,) = ttml(
        '<body><p begin="10s" end="14s"><span begin="0s">It </span>'
        '<span begin="1.5s"><span>rains</span></span></p></body>'
    ).cues
    assert (cue.text, cue.words) == ("It rains", (Word(10_000, "It"), Word(11_500, "rains")))


def test_paragraphs_without_a_time_that_can_be_read_are_told() -> None:
    captions = ttml('<body><p begin="1s">a</p><p>b</p><p begin="soon">c</p></body>')
    assert [cue.text for cue in captions.cues] == ["a"]
    assert "left out: 2" in captions.warnings[0].message
    with pytest.raises(EmptyCaptions, match="None of its times"):
        ttml("<body><p>b</p></body>")
