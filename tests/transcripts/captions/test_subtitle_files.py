"""Subtitles of players and tables of recognisers."""

import pytest

from transcripts.captions import Captions, parse
from transcripts.captions.caption_errors import CaptionError

ASS = """[Script Info]
Title: Rain

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,for editors
Dialogue: 0,0:00:01.00,0:00:02.50,Default,Ada,0,0,0,,{\\i1}It rains,{\\i0}\\Nat last
Dialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,{\\p1}m 0 0 l 9 9{\\p0}
Dialogue: 0,0:00:05.00,0:00:06.00,Default,Bo,0,0,0,,Good.
"""


def rows(captions: Captions) -> list[tuple[int, int, str]]:
    return [(cue.start, cue.end, cue.text) for cue in captions.cues]


def test_substation_is_read_without_styles_comments_and_drawings() -> None:
    captions = parse(ASS.encode(), name="rain.ass")
    assert (captions.format, captions.title) == ("ass", "Rain")
    assert rows(captions) == [(1000, 2500, "Ada: It rains, at last"), (5000, 6000, "Bo: Good.")]


def test_words_beside_a_drawing_are_read() -> None:
    ass = ASS.replace(",,Good.", r",,{\an8}Good {\p1}m 0 0 l 9 9 b 1{\p0}\Nmorning")
    assert parse(ass.encode()).cues[-1].text.split() == ["Bo:", "Good", "morning"]


def test_columns_of_events_are_read_in_the_order_of_their_format_line() -> None:
    ordered = (
        ASS.replace("Layer, Start, End, Style, Name,", "Start, End, Name, Layer, Style,")
        .replace("0,0:00:00.00,0:00:01.00,Default,,", "0:00:00.00,0:00:01.00,,0,Default,")
        .replace("0,0:00:01.00,0:00:02.50,Default,Ada,", "0:00:01.00,0:00:02.50,Ada,0,Default,")
        .replace("0,0:00:05.00,0:00:06.00,Default,Bo,", "0:00:05.00,0:00:06.00,Bo,0,Default,")
        .replace("0,0:00:03.00,0:00:04.00,Default,,", "0:00:03.00,0:00:04.00,,0,Default,")
    )
    assert rows(parse(ordered.encode())) == rows(parse(ASS.encode()))


def test_events_without_a_column_of_names_are_said_by_nobody() -> None:
    ass = b"[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,It rains, here\n"
    assert rows(parse(ass)) == [(1000, 2000, "It rains, here")]


def test_events_without_a_column_of_text_are_told() -> None:
    with pytest.raises(CaptionError, match="Format line"):
        parse(ASS.replace("Effect, Text", "Effect").encode())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{1}{1}25\n{25}{50}It|rains\n{100}{150}again\n", "microdvd"),
        ("[10][20]It|rains\n[40][60]/again\n", "mpl2"),
        ("start\tend\ttext\n1000\t2000\tIt rains\n4000\t6000\tagain\n", "tsv"),
        ("start,end,text\n1.0,2.0,It rains\n4.0,6.0,again\n", "tsv"),
    ],
)
def test_frames_tenths_and_columns_are_times(text: str, wanted: str) -> None:
    captions = parse(text.encode())
    assert captions.format == wanted
    assert rows(captions) == [(1000, 2000, "It rains"), (4000, 6000, "again")]


def test_a_guessed_frame_rate_is_told() -> None:
    captions = parse(b"{25}{50}It rains\n{100}{150}again\n", name="a.sub")
    assert rows(captions)[0] == (1000, 2000, "It rains")
    assert [warning.code for warning in captions.warnings] == ["unsure_frame_rate"]


def test_sami_cues_last_until_the_next() -> None:
    sami = b"<SAMI><BODY><SYNC Start=1000><P>It<br>rains\n<SYNC Start=4000><P>again</BODY></SAMI>"
    assert rows(parse(sami, name="a.smi"))[0] == (1000, 4000, "It rains")


def test_a_quotation_mark_between_tabs_is_text() -> None:
    tsv = b'start\tend\ttext\n0\t9000\tit is "so\n9000\t12000\twe stay\n'
    assert [cue.text for cue in parse(tsv).cues] == ['it is "so', "we stay"]


def test_subtitles_that_their_format_does_not_allow_are_told() -> None:
    with pytest.raises(CaptionError, match="timestamp"):
        parse(ASS.replace("0:00:05.00", "soon").encode())
