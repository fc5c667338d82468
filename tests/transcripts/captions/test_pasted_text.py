"""Text with times, as recognisers print it and people copy it."""

import pytest

from transcripts.captions import parse_text

SAID = ["The rain has stopped.", "We can go out now.", "Take a coat."]


def rows(text: str) -> list[tuple[int, str]]:
    return [(cue.start, cue.text) for cue in parse_text(text).cues]


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("[00:01.000 --> 00:02.500]  {}\n[00:03.000 --> 01:02.000]   {}", (1000, 3000)),
        ("[1.00s -> 2.50s] {}\n[3.00s -> 4.00s] {}", (1000, 3000)),
        ("1.5\t2.5\t{}\n3.25\t4.0\t{}", (1500, 3250)),
        ("0.5 --> 2.0 {}\n3 --> 4.5 {}", (500, 3000)),
        ("0m5s {}\n1h2m3s {}", (5000, 3_723_000)),
        ("5s: {}\n1m 10s: {}", (5000, 70_000)),
        ("00:00:05,250 {}\n1:02:03.5 - {}", (5250, 3_723_500)),
        ("[00:05.20]{}\n[00:10.00]{}", (5200, 10_000)),
        ("0:05 - 0:09\n{}\n0:10 – 0:12\n{}", (5000, 10_000)),
        ("9:05:00 AM {}\n1:00:00 PM {}", (32_700_000, 46_800_000)),
    ],
)
def test_times_are_understood_in_every_notation(text: str, starts: tuple[int, int]) -> None:
    assert rows(text.format(*SAID)) == [*zip(starts, SAID, strict=False)]


def test_ends_are_kept_where_they_are_written() -> None:
    captions = parse_text("[00:01.000 --> 00:02.500] Yes.\n[00:05.000 --> 00:07.000] No.")
    assert [(cue.start, cue.end) for cue in captions.cues] == [(1000, 2500), (5000, 7000)]


@pytest.mark.parametrize(
    "text",
    [
        "[Ada Lee] 0:01\n{}\n\n[Bo Ek] 0:09\n{}\n\n[Ada Lee] 0:20\n{}",
        "Ada Lee  0:01\n{}\n\nBo Ek  0:09\n{}\n\nAda Lee  0:20\n{}",
        "Ada Lee (00:01):\n{}\n\nBo Ek (00:09):\n{}\n\nAda Lee (00:20):\n{}",
        "Ada Lee: (00:01)\n{}\nBo Ek: (00:09)\n{}\nAda Lee: (00:20)\n{}",
        "Ada Lee [0:01] {}\nBo Ek [0:09] {}\nAda Lee [0:20] {}",
        "[0:01] Ada Lee: {}\n[0:09] Bo Ek: {}\n[0:20] Ada Lee: {}",
        "0:00:01 Ada Lee\n{}\n\n0:00:09 Bo Ek\n{}\n\n0:00:20 Ada Lee\n{}",
        "0:01 Ada Lee:\n{}\n0:09 Bo Ek:\n{}\n0:20 Ada Lee:\n{}",
        "Ada Lee\n0 minutes 1 second\n{}\nBo Ek\n0 Minuten 9 Sekunden\n{}\n"
        "Ada Lee\n0 minutes 20 secondes\n{}",
        "Ada Lee\n0:01\n{}\n\nBo Ek\n0:09\n{}\n\nAda Lee\n0:20\n{}",
        "0:01\nAda Lee\n{}\n\n0:09\nBo Ek\n{}\n\n0:20\nAda Lee\n{}",
        "0:0:1.0 --> 0:0:8.0\nAda Lee\n{}\n0:0:9.0 --> 0:0:12.0\nBo Ek\n{}\n"
        "0:0:20.0 --> 0:0:21.0\nAda Lee\n{}",
    ],
)
def test_each_says_what_stands_under_their_name(text: str) -> None:
    assert rows(text.format(*SAID)) == [
        (1000, f"Ada Lee: {SAID[0]}"),
        (9000, f"Bo Ek: {SAID[1]}"),
        (20_000, f"Ada Lee: {SAID[2]}"),
    ]


def test_recognised_speakers_get_readable_names() -> None:
    text = "[00:01.000 --> 00:02.000] [SPEAKER_00]: Yes.\n[00:03.000 --> 00:04.000] SPEAKER_01: No."
    assert rows(text) == [(1000, "Speaker 0: Yes."), (3000, "Speaker 1: No.")]


def test_lyrics_with_several_times_are_sung_again() -> None:
    text = "[ti:Rain]\n[offset:500]\n[00:05.00][00:20.00]It rains\n[00:10.00]on us"
    assert parse_text(text).title == "Rain"
    assert rows(text) == [(4500, "It rains"), (9500, "on us"), (19_500, "It rains")]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("{} [0:04]\n{} [0:09]\n{} [0:15]", [(0, 4000), (4000, 9000), (9000, 15_000)]),
        ("{} (0:00)\n{} (0:04)\n{} (0:09)", [(0, 4000), (4000, 9000), (9000, 19_000)]),
        ("{} #00:00:04-5#\n\n{} #00:00:09-0#", [(0, 4500), (4500, 9000)]),
        ("#00:04-5# {} #00:07-0#\n#00:09-0# {} #00:12-0#", [(4500, 7000), (9000, 12_000)]),
        (
            "00:00:03:00 - 00:00:08:12\n{}\n00:00:09:05 - 00:00:14:00\n{}",
            [(3000, 8480), (9200, 14_000)],
        ),
    ],
)
def test_lines_may_end_with_their_times_and_times_with_frames(
    text: str, times: list[tuple[int, int]]
) -> None:
    cues = parse_text(text.format(*SAID)).cues
    assert [(cue.start, cue.end) for cue in cues] == times
    assert " ".join(cue.text for cue in cues).startswith(" ".join(SAID[:2]))


def test_times_that_end_in_frames_are_a_guess_that_is_told() -> None:
    captions = parse_text("00:00:03:00 - 00:00:08:12\nYes.\n00:00:09:05 - 00:00:14:00\nNo.")
    assert [warning.code for warning in captions.warnings] == ["unsure_frame_rate"]


def test_the_hour_of_a_meeting_is_no_time_in_its_recording() -> None:
    head = "Meeting\nMay 4, 2026, 9:00AM\n\n"
    panel = parse_text(head + "Ada Lee   0:03\nYes.\n\nBo Ek   0:09\nNo.\n\nAda Lee   0:15\nWhy?")
    assert [cue.start for cue in panel.cues] == [3000, 9000, 15_000]
    assert "left out: 2" in panel.warnings[0].message


@pytest.mark.parametrize(
    "text",
    [
        "Lunch 12:00\nTalk 13:30\nEnd 15:00",
        "We met at (10:30) and left.\nThen it was 11:30.",
        "[1] A paper.\n[2] Another paper.\n[3] A third.",
        "2:1 odds are good.\n3:2 odds are better.",
        "1.0 - 2.0 changes\n2.0 - 3.0 more changes",
        "A long verse that takes its time to be read (3:16)\nand one that is nearly as long (3:17)",
        "Bread\n1 cup, 2 spoons\nmix\n2 cups, 3 spoons\nbake",
    ],
)
def test_agendas_prose_and_references_are_no_captions(text: str) -> None:
    assert parse_text(text).format == "txt"


def test_what_a_panel_has_beside_its_lines_is_told() -> None:
    (warning,) = parse_text("0:00\nhello\n0:02\nworld\nChapter 2\n0:05\nbye").warnings
    assert warning.code == "untimed_text"
    assert "Chapter 2" in warning.message


def test_what_stands_above_the_first_time_is_told() -> None:
    panel = parse_text("Ada Example\n0:01\nThe kettle boils.\n\nBen\n0:14\nThen it rests.\n")
    assert [warning.code for warning in panel.warnings] == ["untimed_text"]
    assert "“Ada Example”" in panel.warnings[0].message
    assert [cue.text for cue in panel.cues] == ["The kettle boils.", "Then it rests."]
