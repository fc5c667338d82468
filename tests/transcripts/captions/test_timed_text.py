"""Lines of times that are unusual, broken or missing."""

import pytest

from transcripts.captions import parse


def test_text_beside_the_times_is_read() -> None:
    srt = b"00:00:01,000 --> 00:00:02,000 beside\n\n00:00:03,000 --> 00:00:04,000 X1:5 X2:9\nbelow"
    assert [cue.text for cue in parse(srt).cues] == ["beside", "below"]


def test_other_arrows_are_arrows() -> None:
    srt = "00:00:01,000 -> 00:00:02,000\na\n\n00:00:03,000 → 00:00:04,000\nb"
    assert [cue.start for cue in parse(srt.encode()).cues] == [1000, 3000]


def test_text_below_broken_times_is_counted_and_told() -> None:
    srt = (
        b"1\n00:00:01,000 --> 00:00:02,000\nkept\n\n2\n00:0x:03,000 --> 00:00:04,000\nlost\n\n"
        b"3\n00:00:05,000 --> 00:00:06,000\nkept, too\n"
    )
    captions = parse(srt)
    assert [cue.text for cue in captions.cues] == ["kept", "kept, too"]
    assert captions.warnings[0].message == (
        "Passages without a time that can be read were left out: 1. The first is “lost”."
    )


@pytest.mark.parametrize(
    ("text", "said", "first"),
    [
        (
            "Subtitles by Ada\nand Bo\n\n1\n00:00:01,000 --> 00:00:02,000\nkept\n",
            ["kept"],
            "Subtitles by Ada and Bo",
        ),
        ("WEBVTT\nKind: captions\n\nlost\n\n00:01.000 --> 00:02.000\nkept\n", ["kept"], "lost"),
        (
            "1\n00:00:01,000 --> 00:00:02,000\nkept\n\n1984\n\n2\n00:00:03,000 --> 0:00:04,0\nx\n",
            ["kept", "x"],
            "1984",
        ),
    ],
    ids=["above subtitles", "below the header of WebVTT", "that is a bare number"],
)
def test_text_without_times_is_counted_and_told(text: str, said: list[str], first: str) -> None:
    captions = parse(text.encode())
    assert [cue.text for cue in captions.cues] == said
    assert captions.warnings[0].message == (
        f"Passages without a time that can be read were left out: 1. The first is “{first}”."
    )


def test_a_number_above_an_empty_line_and_times_is_theirs() -> None:
    captions = parse(b"1\n\n00:00:01,000 --> 00:00:02,000\none\n\n2\n\n00:00:03,000 --> 0:0:4\ntwo")
    assert ([cue.text for cue in captions.cues], captions.warnings) == (["one", "two"], ())


def test_settings_may_stand_directly_behind_the_times() -> None:
    (cue,) = parse(b"WEBVTT\n\n00:01.000 --> 00:02.000line:40% size:40%\none\n").cues
    assert (cue.start, cue.end, cue.text) == (1000, 2000, "one")


def test_a_second_paragraph_under_the_times_of_subtitles_is_read() -> None:
    srt = b"1\n00:00:01,000 --> 00:00:02,000\none\n\ntwo\n\n2\n00:00:03,000 --> 00:00:04,000\nthree"
    assert [cue.text for cue in parse(srt).cues] == ["one two", "three"]


def test_a_start_without_an_end_begins_a_cue() -> None:
    sbv = b"0:00:01.000,0:00:02.000\none\n\n0:00:03.000\ntwo\n\n0:00:05.000,0:00:06.000\nthree"
    assert [(cue.start, cue.text) for cue in parse(sbv).cues] == [
        (1000, "one"),
        (3000, "two"),
        (5000, "three"),
    ]


def test_a_line_with_an_arrow_is_no_text_of_webvtt() -> None:
    vtt = b"WEBVTT\n\nfoo-->\n00:01.000 --> 00:02.000\none\n-->\n00:03.000 --> 00:04.000\ntwo\n"
    assert [cue.text for cue in parse(vtt).cues] == ["one", "two"]


def test_a_lost_character_of_webvtt_is_shown_as_such() -> None:
    vtt = b"WEBVTT\n\n00:01.000 --> 00:02.000\x00 align:end\nso\x00me\n"
    assert [cue.text for cue in parse(vtt).cues] == ["so\ufffdme"]
