"""Reading caption files, however they were written, and writing them."""

import json
import time
from typing import Any

import pytest

from transcripts.captions import (
    MAX_BYTES,
    Captions,
    from_json,
    parse,
    parse_text,
    split_name,
    split_video_id,
    to_json,
    to_srt,
    to_txt,
    to_vtt,
    word_times_to_json,
)
from transcripts.captions.caption_errors import (
    BadEncoding,
    BadJson,
    BadXml,
    CaptionError,
    CaptionsTooLarge,
    EmptyCaptions,
    HtmlPage,
    LiveChat,
    UnknownFormat,
)
from transcripts.text.cues import Cue, Word

HOUR = 3_600_000

ROLLING = """WEBVTT
Kind: captions
Language: en

00:00:00.000 --> 00:00:02.000 align:start position:0%
 
so<00:00:00.500><c> we</c><00:00:01.000><c> agree</c>

00:00:02.000 --> 00:00:02.010 align:start position:0%
so we agree
 

00:00:02.010 --> 00:00:03.000 align:start position:0%
so we agree
yes

00:00:03.000 --> 00:00:03.010 align:start position:0%
yes
 

00:00:03.010 --> 00:00:04.000 align:start position:0%
yes
yes

00:00:04.000 --> 00:00:04.010 align:start position:0%
yes
 

00:00:04.010 --> 00:00:06.000 align:start position:0%
yes
good<00:00:05.000><c> then</c>
"""


def rows(captions: Captions) -> list[tuple[int, int, str]]:
    return [(cue.start, cue.end, cue.text) for cue in captions.cues]


def texts(captions: Captions) -> list[str]:
    return [cue.text for cue in captions.cues]


def vtt(*blocks: str) -> bytes:
    return "\n\n".join(["WEBVTT", *blocks]).encode()


def with_one_cue(text: str) -> bytes:
    return vtt(f"00:01.000 --> 00:02.000\n{text}")


def json_rows(*rows: dict[str, Any]) -> bytes:
    return json.dumps(list(rows)).encode()


def json3(*events: Any) -> bytes:
    return json.dumps({"wireMagic": "pb3", "events": list(events)}).encode()


# Nothing in it, or not captions


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \r\n\t",
        b"\xef\xbb\xbf",
        b"WEBVTT\n\n",
        b"WEBVTT\n\n00:01.000 --> 00:02.000\n \n",
        b"[]",
        b'{"events": []}',
    ],
)
def test_a_file_in_which_nothing_is_said_is_empty(data: bytes) -> None:
    with pytest.raises(EmptyCaptions) as failure:
        parse(data, name="a.vtt")
    assert failure.value.code == "empty"
    assert failure.value.hint


CHAT = json.dumps({"replayChatItemAction": {"actions": [{"addChatItemAction": {}}]}}) + "\n"
ENTITIES = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a %s>]><tt><p begin="1s">&a;</p></tt>'


@pytest.mark.parametrize(
    ("error", "name", "data"),
    [
        (HtmlPage, "a.vtt", b"<!DOCTYPE html><html><body>Sorry"),
        (HtmlPage, "a.vtt", b" \n<html lang='en'>"),
        (
            HtmlPage,
            "a.vtt",
            b"<?xml version='1.0'?>\n<!-- a --><!-- b -->\n<!DOCTYPE HTML PUBLIC ''>",
        ),
        (LiveChat, "talk.live_chat.json", CHAT.encode() * 2),
        (UnknownFormat, "talk.txt", b"%PDF-1.7 and so on"),
        (UnknownFormat, "talk.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0"),
        (UnknownFormat, "talk.txt", b"\0" * 100),
        (UnknownFormat, "talk.srt", b"just some words"),
        (BadEncoding, "", with_one_cue("x").replace(b"x", b"\x81\x8d\xe9 and so on")),
        (BadJson, "a.json", b"[" * 200_000),
        (BadJson, "a.json", b'{"events": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
        (BadJson, "a.json", b'[{"text": "a", "start": ' + b"9" * 10_000 + b"}]"),
        (BadJson, "a.json", b'[{"text": "a", "start"'),
        (BadJson, "a.json", b'{"_type": "video", "id": "x"}'),
        (BadJson, "a.json", b"[{}, 5]"),
        (BadJson, "a.json3", b"not json"),  # believed when nothing else fits
        (BadXml, "", ENTITIES % b'"ha"><!ENTITY b "&a;&a;&a;&a;"'),
        (BadXml, "", ENTITIES % b'SYSTEM "file:///etc/passwd"'),
        (BadXml, "", b"<tt><p begin='1s'>cut off"),
        (BadXml, "", b"<?xml version='1.0'?><rss/>"),
        (BadXml, "", b"<tt><p begin='1s'>" + b"<b>" * 200_000),
        (EmptyCaptions, "", json_rows({"text": "\u200b\ufeff \u2060", "start": 0, "duration": 1})),
    ],
)
def test_a_broken_hostile_or_foreign_file_is_told_as_what_it_is(
    error: type[CaptionError], name: str, data: bytes
) -> None:
    with pytest.raises(error):
        parse(data, name=name)


def test_captions_that_speak_of_chat_actions_are_no_chat() -> None:
    text = 'the key is "replayChatItemAction": right?'
    assert texts(parse(json_rows({"text": text, "start": 0, "duration": 1}))) == [text]


def test_more_bytes_than_the_limit_are_refused_unread() -> None:
    with pytest.raises(CaptionsTooLarge):
        parse(b"a" * (MAX_BYTES + 1))
    with pytest.raises(CaptionsTooLarge):
        parse_text("a" * (MAX_BYTES + 1))


@pytest.mark.parametrize("text", ["0:01\n" * 2_000_000, "a. " * 400_000, "0:01\n" * 300_001])
def test_more_lines_or_cues_than_any_video_has_are_refused(text: str) -> None:
    with pytest.raises(CaptionsTooLarge):
        parse_text(text)


# Encodings


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_subtitles_are_decoded(encoding: str) -> None:
    srt = (
        "1\n00:00:01,000 --> 00:00:02,000\nça va “bien”\n\n2\n00:00:02,000 -->"
        " 00:00:03,000\nà bientôt\n"
    )
    assert texts(parse(srt.encode(encoding), name="a.srt")) == ["ça va “bien”", "à bientôt"]


def test_utf16_without_a_mark_is_told_by_its_time_lines() -> None:
    srt = "".join(
        f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n本课程旨在带您了解\n\n" for n in range(1, 6)
    )
    assert texts(parse(srt.encode("utf-16-le"))) == ["本课程旨在带您了解"] * 5


# Lines under times


DEEP = (
    b"<tt>"
    + b"<div>" * 200_000
    + b"<p begin='1s' end='2s'>deep</p>"
    + b"</div>" * 200_000
    + b"</tt>"
)
ZERO = b'<tt xmlns:p="urn:p" p:frameRate="0" p:tickRate="0"><p begin="30f" end="60t">a</p></tt>'
OLD = (
    b'<transcript><text start="1.5" dur="2">it&amp;#39;s &lt;i&gt;3&lt;/i&gt; &amp;lt; 4</text>'
    b"<text>no time</text></transcript>"
)
ROWS = json_rows(
    {"text": "a\nb", "start": 5.85, "duration": 1.863},
    {"text": "<i>c</i>", "start": 8, "duration": 2},
)


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (
            "\ufeffWEBVTT - a talk\r\n\r\n00:01.000 --> 00:02.500\r\nhéllo world\r\n".encode(),
            [(1000, 2500, "héllo world")],
        ),
        (b"0:0:1.5 --> 00:00:02,25\nHi\n", [(1500, 2250, "Hi")]),
        (
            vtt("71:00:00.000 --> 999:00:00.000\nlong", "100:00:00.000 --> 100:00:01.000\nnever"),
            [(71 * HOUR, 72 * HOUR, "long")],
        ),
        (ROWS, [(5850, 7713, "a b"), (8000, 10_000, "<i>c</i>")]),
        (b'[[{"text": "a", "start": 0, "duration": 1}]]', [(0, 1000, "a")]),
        (OLD, [(1500, 3500, "it's 3 < 4")]),
        (b'<timedtext><text t="1500" d="2000">a</text></timedtext>', [(1500, 3500, "a")]),
        (ZERO, [(1000, 60_000, "a")]),
        (DEEP, [(1000, 2000, "deep")]),
        (
            "本课程旨在带您了解。好".encode(),
            [(0, 2200, "本课程旨在带您了解。"), (2200, 2600, "好")],
        ),
    ],
    ids=[
        *("a byte order mark and Windows line ends", "sloppy times without a header"),
        *("times beyond three days", "rows of text, start and duration", "rows of one video"),
        *("text that is escaped twice", "timed text", "a frame rate of zero", "deep XML"),
        "writing without blanks",
    ],
)
def test_times_and_texts_are_read(data: bytes, wanted: list[tuple[int, int, str]]) -> None:
    assert rows(parse(data)) == wanted


SAID = ["one two", "two three", "three four", "four five", "five six"]
UNFLUSHED = vtt(
    *(
        f"00:0{n}.000 --> 00:0{n + 1}.000\n{above}\n{below}"
        for n, (above, below) in enumerate(zip([" ", *SAID], SAID, strict=False))
    )
)
STAYING = (
    f"{ROLLING}\n00:00:06.000 --> 00:00:06.010\ngood then\n \n\n"
    "00:00:06.010 --> 00:00:20.000\ngood then\n \n"
)
MANUAL = vtt(
    "00:01.000 --> 00:02.000\nla la\nla la",
    "00:02.000 --> 00:03.000\nla la\nla la",
    "00:03.000 --> 00:04.000\nla la\noh",
    "00:04.000 --> 00:05.000\noh",
    "00:05.000 --> 00:06.000\nthe end",
)
UNFIT = (
    rb'[{"text": "a\u0000b\ud83d\u202ec\u2066d\u0007 \ud83d\ude00 e\u2028f", "start": 0,'
    rb' "duration": 1}]'
)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(
            "WEBVTT\n\n00:01.000 --> 00:02.000\nhallo é".encode()[:-1],
            ["hallo"],
            id="what came before a character that is cut off",
        ),
        pytest.param(
            with_one_cue("über \x01 die Brücke").replace(b"\x01", b"\xff"),
            ["über \ufffd die Brücke"],
            id="UTF-8 around a broken byte",
        ),
        pytest.param(
            with_one_cue("&#99999999999; &#x110000;a"),
            ["&#99999999999; a"],
            id="a huge character reference",
        ),
        pytest.param(
            vtt(
                "00:01.000 --> 00:02.000\n\nspoken",
                "7\n00:02.000 --> 00:03.000",
                "8\n00:03.000 --> 00:04.000\nmore",
            ),
            ["spoken", "more"],
            id="text below an empty line",
        ),
        pytest.param(
            b"1\n00:00:01,000 --> 00:00:02,000\nhello\n2\n00:00:02,000 --> 00:00:03,000\n1984\n"
            b"3\n00:00:03,000 --> 00:00:04,000\nbye",
            ["hello", "1984", "bye"],
            id="numbered subtitles without blank lines, but for their numbers",
        ),
        pytest.param(
            b"00:00:01,000 --> 00:00:02,000\n1984\n00:00:02,000 --> 00:00:03,000\nbye",
            ["1984", "bye"],
            id="a number where cues are not numbered",
        ),
        pytest.param(UNFLUSHED, SAID, id="rolling lines without flushes, once"),
        pytest.param(
            STAYING.encode(),
            ["so we agree", "yes", "yes", "good then"],
            id="a line that stays while nobody speaks, once",
        ),
        pytest.param(
            MANUAL,
            ["la la la la", "la la la la", "la la oh", "oh", "the end"],
            id="lines that manual captions repeat",
        ),
        pytest.param(UNFIT, ["abcd 😀 e f"], id="characters but those that nothing can store"),
        pytest.param(
            b"so this is it\n0:05 and then\n0:07 the end",
            ["so this is it", "and then", "the end"],
            id="words before the first time on a line",
        ),
        pytest.param(
            b"Intro\n0:00\nhello\n0:02\nworld\nChapter 2: Depth\n1:05\nbye\n1:08\nnow",
            ["hello", "world", "bye", "now"],
            id="a panel without its headings",
        ),
        pytest.param(
            b"0:00\nwait for\n0:05\n5 seconds\n0:09\n7 seconds\nor more",
            ["wait for", "5 seconds", "7 seconds"],
            id="a time that was really said",
        ),
        pytest.param(
            b"0:00\na\nb\nc\n5:00\nd\ne\n", ["a b c", "d e"], id="paragraphs under sparse times"
        ),
    ],
)
def test_what_is_said_is_read(data: bytes, said: list[str]) -> None:
    assert texts(parse(data)) == said


def test_times_and_text_may_share_a_line() -> None:
    captions = parse_text("0:00 hello\nand welcome\n[0:05] - to this\n(1:00) talk")
    assert [(cue.start, cue.text) for cue in captions.cues] == [
        (0, "hello and welcome"),
        (5000, "to this"),
        (60_000, "talk"),
    ]


def test_notes_styles_and_regions_are_no_speech() -> None:
    data = vtt(
        "NOTE this is for editors\nnot said",
        "STYLE\n::cue { color: red }",
        "REGION\nid:fred",
        "intro\n00:01.000 --> 00:02.000 line:0 position:20%\n<v Bob>Hi</v>",
        "NOTE",
        "NOTE without a line between\n00:03.000 --> 00:04.000\nkept",
        "STYLE\n00:05.000 --> 00:06.000\nthis, too",
    )
    assert rows(parse(data)) == [
        (1000, 2000, "Bob: Hi"),
        (3000, 4000, "kept"),
        (5000, 6000, "this, too"),
    ]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Q&amp;A &#39;til &#x2014; &lrm;late &nope; AT&T", "Q&A 'til — \u200elate &nope; AT&T"),
        ("3 < 4 > 2", "3 < 4 > 2"),
        ("a List<String> and the <s> token", "a List<String> and the <s> token"),
        (r"{\an8}up here", "up here"),
        (r"the set {\alpha} and {0,1}", r"the set {\alpha} and {0,1}"),
        ("&lt;script&gt;", "<script>"),
        ("&amp;lt;", "&lt;"),
        ("<script>x</script>", "x"),
        ('<c.yellow.bg>a</c> <i>b</i>c<br/>d <font color="#fff">e</font>', "a bc d e"),
        ("<lang en>a</lang> <ruby>b<rt>c</rt></ruby> <00:00:01.500>d", "a bc d"),
    ],
)
def test_markup_goes_and_what_was_said_stays(written: str, said: str) -> None:
    assert texts(parse(with_one_cue(written))) == [said]


def test_cues_are_sorted_clipped_and_told_once() -> None:
    data = vtt(
        "00:05.000 --> 00:09.000\nlater",
        "00:01.000 --> 00:06.000\nfirst",
        "00:01.000 --> 00:06.000\nfirst",
        "00:12.000 --> 00:11.000\nbackwards",
    )
    assert rows(parse(data)) == [
        (1000, 5000, "first"),
        (5000, 9000, "later"),
        (12_000, 12_000, "backwards"),
    ]


def talk(name: str, *, seconds: int = 200) -> list[Cue]:
    """Make a cue of 20 s every 20 s, from the first second on."""
    starts = range(1000, seconds * 1000, 20_000)
    return [
        Cue(start, start + 20_000, f"{name} {number}.", (Word(start, name),))
        for number, start in enumerate(starts)
    ]


def test_a_clock_that_starts_again_makes_parts_that_follow_one_another() -> None:
    first, second = talk("first"), talk("second")
    captions = parse(to_srt([*first, *second]).encode())
    assert texts(captions) == [cue.text for cue in (*first, *second)]
    assert [cue.start for cue in captions.cues[:2]] == [1000, 21_000]
    assert captions.cues[len(first)].start == first[-1].end + second[0].start
    (warning,) = captions.warnings
    assert "2 parts" in warning.message


def test_the_words_of_a_later_part_move_with_it() -> None:
    rows_ = [
        {"tStartMs": cue.start, "dDurationMs": 20_000, "segs": [{"utf8": cue.text, "acAsrConf": 0}]}
        for cue in (*talk("first"), *talk("second"))
    ]
    for cue in parse(json.dumps({"events": rows_}).encode()).cues:
        assert {word.start for word in cue.words} == {cue.start}


def test_cues_that_are_merely_out_of_order_are_sorted() -> None:
    spoken = talk("word")
    credits = [Cue(0, 900, "Captions by"), Cue(900, 1000, "a friend.")]
    overlap = [*spoken[:5], *spoken[3:5], *spoken[2:]]  # as broadcasters leave it
    middle_last = [*spoken[:4], *spoken[7:], *spoken[4:7]]
    for written in (overlap, middle_last, [*spoken, *credits], [*credits, *spoken]):
        captions = parse(to_srt(written).encode())
        assert not captions.warnings
        assert [cue.text for cue in captions.cues if cue not in credits] == [
            cue.text for cue in sorted({*written} - {*credits}, key=lambda cue: cue.start)
        ]


def test_parts_of_more_than_three_days_are_refused_and_not_cut() -> None:
    days = [Cue(hour * HOUR, hour * HOUR + 1000, f"hour {hour}") for hour in range(70)]
    again = [Cue(cue.start, cue.end, f"again {cue.text}") for cue in days]
    with pytest.raises(CaptionsTooLarge, match="72 hours"):
        parse(to_srt([*days, *again]).encode())


def test_a_blank_line_is_content_and_an_empty_one_ends_a_cue() -> None:
    data = vtt("00:01.000 --> 00:02.000\none\n \ntwo", "stray words")
    captions = parse(data)
    assert texts(captions) == ["one two"]
    assert "stray words" in captions.warnings[0].message


@pytest.mark.parametrize(
    "tail", ["2", "2\n00:00:02,0", "2\n00:00:02,000 -->", "2\n00:00:02,000 --> 00:00:03,000\n"]
)
def test_a_truncated_tail_leaves_the_cues_before_it(tail: str) -> None:
    assert texts(
        parse(f"1\n00:00:01,000 --> 00:00:02,000\nhello\n\n{tail}".encode(), name="a.srt")
    ) == ["hello"]


def test_youtubes_subviewer_is_read() -> None:
    captions = parse(
        b"0:00:00.030,0:00:01.170\nOK, so[br]first\n\n0:00:01.170,0:00:06.029\nof all\n"
    )
    assert captions.format == "sbv"
    assert rows(captions) == [(30, 1170, "OK, so first"), (1170, 6029, "of all")]


@pytest.mark.parametrize(
    ("data", "name", "caption_format"),
    [
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\na", "a.srt", "vtt"),
        (b"1\n00:00:01,000 --> 00:00:02,000\na", "a.txt", "srt"),
        (b"00:00:01.000 --> 00:00:02.000\na", "", "vtt"),
        (b"00:00:01.000 --> 00:00:02.000\na", "a.srt", "srt"),
        (b'[{"text": "a", "start": 0, "duration": 1}]', "a.vtt", "json"),
        (b"<transcript><text start='0' dur='1'>a</text></transcript>", "a.txt", "srv3"),
        (b"[Music] welcome", "a.txt", "txt"),
        (b"0:00\nwelcome", "a.txt", "panel"),
    ],
)
def test_the_content_tells_the_format_and_the_name_breaks_ties(
    data: bytes, name: str, caption_format: str
) -> None:
    assert parse(data, name=name).format == caption_format


def test_the_header_tells_the_language() -> None:
    assert parse(ROLLING.encode()).language == "en"
    assert parse(with_one_cue("Language: fr")).language == ""


def test_the_header_tells_the_title() -> None:
    for header, title in (
        ("WEBVTT - Translated by Ada", ""),  # a comment
        ("WEBVTT\nTitle:" + " " * 100_000 + "Tides", ""),  # more blanks than a title has characters
        ("WEBVTT\nKind: captions\nTitle: Waves and tides ", "Waves and tides"),
        ("WEBVTT", ""),
        ("WEBVTT FILE", ""),
    ):
        parsed = parse(f"{header}\n\n00:01.000 --> 00:02.000\nTitle: not this\n".encode())
        assert parsed.title == title
    assert parse(with_one_cue("Title: not this")).title == ""


# Rolling automatic captions


def test_a_rolling_caption_is_not_doubled_and_a_word_said_twice_stays() -> None:
    captions = parse(ROLLING.encode())
    assert rows(captions) == [
        (0, 2000, "so we agree"),
        (2010, 3000, "yes"),
        (3010, 4000, "yes"),
        (4010, 6000, "good then"),
    ]


def test_the_times_of_words_are_kept() -> None:
    first, *middle, last = parse(ROLLING.encode()).cues
    assert first.words == (Word(0, "so"), Word(500, "we"), Word(1000, "agree"))
    assert [cue.words for cue in middle] == [(Word(2010, "yes"),), (Word(3010, "yes"),)]
    assert last.words == (Word(4010, "good"), Word(5000, "then"))


def test_rolling_captions_turned_into_subtitles_are_not_doubled() -> None:
    blocks = ROLLING.replace(" align:start position:0%", "").split("\n\n")[1:]
    plain = "\n\n".join(f"{number}\n{block}" for number, block in enumerate(blocks, start=1))
    for tag in ("<00:00:00.500>", "<00:00:01.000>", "<00:00:05.000>", "<c>", "</c>"):
        plain = plain.replace(tag, "")
    for data in (plain, plain.replace("\n \n", "\n")):
        assert texts(parse(data.encode(), name="a.srt")) == [
            "so we agree",
            "yes",
            "yes",
            "good then",
        ]


# JSON


def test_json3_gives_words_with_their_times() -> None:
    captions = parse(
        json3(
            {"tStartMs": 0, "dDurationMs": 90_000, "id": 1, "wpWinPosId": 1},
            {
                "tStartMs": 160,
                "dDurationMs": 4000,
                "wWinId": 1,
                "segs": [{"utf8": "so", "acAsrConf": 0}, {"utf8": " yes", "tOffsetMs": 320}],
            },
            {"tStartMs": 2300, "wWinId": 1, "aAppend": 1, "segs": [{"utf8": "\n"}]},
            {"tStartMs": 2310, "dDurationMs": 3000, "segs": [{"utf8": "yes", "acAsrConf": 0}]},
        )
    )
    assert captions.format == "json3"
    assert captions.cues == (
        Cue(160, 2310, "so yes", (Word(160, "so"), Word(480, "yes"))),
        Cue(2310, 5310, "yes", (Word(2310, "yes"),)),
    )


def test_a_manual_json3_track_has_no_word_times() -> None:
    captions = parse(
        json3({"tStartMs": 1000, "dDurationMs": 1000, "segs": [{"utf8": "3 < 4 & 5\nsecond line"}]})
    )
    assert captions.cues == (Cue(1000, 2000, "3 < 4 & 5 second line"),)


def test_json3_events_that_make_no_sense_are_left_out() -> None:
    segs = [{"utf8": "x"}]
    odd: list[Any] = [
        None,
        5,
        [],
        {},
        {"tStartMs": 1},
        {"tStartMs": 1, "segs": None},
        {"tStartMs": 1, "segs": [None, {"utf8": None}, {}]},
    ]
    starts: list[Any] = [True, -5, "10", None, [], 1e300, 10**400]
    events = odd + [{"tStartMs": start, "dDurationMs": 10, "segs": segs} for start in starts]
    assert rows(parse(json3(*events, {"tStartMs": 7, "dDurationMs": "?", "segs": segs}))) == [
        (7, 10_007, "x")
    ]


def test_an_object_says_whose_its_cues_are() -> None:
    about = {
        "id": "talk-1",
        "title": "A\u0000 talk\n",
        "lang": "en-GB",
        "youtube_id": "dQw4w9WgXcQ",
        "cues": [{"text": "a", "start": 0, "duration": 1}],
    }
    assert parse(json.dumps(about).encode()) == Captions(
        (Cue(0, 1000, "a"),), "json", "en-GB", "talk-1", "A talk", "dQw4w9WgXcQ"
    )


def test_what_an_object_says_of_itself_is_not_trusted() -> None:
    about = {
        "id": ["x"],
        "title": 5,
        "lang": "<b>",
        "youtube_id": "../../etc",
        "cues": [{"text": "a", "start": 0, "duration": 1}],
    }
    assert parse(json.dumps(about).encode()) == Captions((Cue(0, 1000, "a"),), "json")
    assert len(parse(json.dumps({**about, "title": "t" * 10_000}).encode()).title) == 300


@pytest.mark.parametrize(
    "start", ["true", "-1", '"soon"', "null", "NaN", "Infinity", "1e999", "-1e999", "[]"]
)
def test_rows_without_a_usable_start_are_left_out(start: str) -> None:
    data = (
        f'[{{"text": "a", "start": {start}, "duration": 1}}, {{"text": "b", "start": 1,'
        f' "duration": 1}}]'
    )
    captions = parse(data.encode())
    assert texts(captions) == ["b"]
    assert [warning.code for warning in captions.warnings] == ["untimed_text"]


# XML


def test_srv3_gives_words_with_their_times() -> None:
    captions = parse(
        b'<?xml version="1.0" encoding="utf-8" ?><timedtext format="3"><head/><body><w t="0"'
        b' id="1"/>'
        b'<p t="160" d="4000" w="1"><s ac="0">so</s><s t="320" ac="0"> yes</s></p><p t="2300"'
        b' w="1" a="1">\n</p>'
        b'<p t="2310" d="1000">3 &lt; 4 &amp; 5</p><p t="x">dropped</p></body></timedtext>'
    )
    assert captions.format == "srv3"
    assert captions.cues == (
        Cue(160, 2310, "so yes", (Word(160, "so"), Word(480, "yes"))),
        Cue(2310, 3310, "3 < 4 & 5"),
    )


def test_ttml_is_read_with_all_its_ways_to_write_a_time() -> None:
    captions = parse(
        b'<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter"'
        b' xml:lang="nl" ttp:frameRate="25" ttp:tickRate="100">'
        b'<head><styling/></head><body><div><p begin="00:00:01.500"'
        b' end="00:00:02,5">een<br/><span>twee</span></p>'
        b'<p begin="3s" dur="500ms">drie</p><p begin="00:00:04:05" end="125f">vier</p><p'
        b' begin="600t" end="0.5m">vijf</p>'
        b'<p><span begin="40s" end="41s">zes</span><span begin="?">geen</span></p><p begin="1h"'
        b' end="61m"> </p></div></body></tt>'
    )
    assert (captions.format, captions.language) == ("ttml", "nl")
    assert rows(captions) == [
        (1500, 2500, "een twee"),
        (3000, 3500, "drie"),
        (4200, 5000, "vier"),
        (6000, 30_000, "vijf"),
        (40_000, 41_000, "zes"),
    ]


# Pasted panels and plain text


def test_a_pasted_panel_is_read() -> None:
    captions = parse_text(
        "Transcript\n\n0:00\nhello and welcome\n0:03\nto this talk\n1:02:05\nbye\n"
    )
    assert captions.format == "panel"
    assert rows(captions) == [
        (0, 3000, "hello and welcome"),
        (3000, 13_000, "to this talk"),
        (3_725_000, 3_735_000, "bye"),
    ]


@pytest.mark.parametrize(
    "read_out",
    [
        ("0 seconds", "1 minute, 5 seconds", "1 hour, 2 seconds"),
        ("0 Sekunden", "1 Minute und 5 Sekunden", "1 Stunde, 0 Minuten, 2 Sekunden"),
    ],
)
def test_times_read_out_for_the_blind_are_no_speech(read_out: tuple[str, str, str]) -> None:
    first, second, third = read_out
    assert texts(
        parse_text(f"0:00\n{first}\nhello\n1:05\n{second}\n5 seconds\n1:00:02\n{third}\nbye")
    ) == ["hello", "5 seconds", "bye"]


def test_prose_with_clock_times_is_no_panel() -> None:
    captions = parse_text("We met twice.\n10:30 was the first time.\n9:15 was the second.")
    assert captions.format == "txt"


def test_words_without_times_are_spread_at_the_pace_of_speech() -> None:
    captions = parse_text("One two three. Four five!\nA new line")
    assert captions.format == "txt"
    assert rows(captions) == [
        (0, 1200, "One two three."),
        (1200, 2000, "Four five!"),
        (2000, 3200, "A new line"),
    ]


def test_more_words_than_fit_in_three_days_are_spoken_faster() -> None:
    captions = parse_text("word " * 700_000)
    assert captions.cues[-1].end == 72 * HOUR
    assert sum(len(cue.text.split()) for cue in captions.cues) == 700_000


def test_text_without_punctuation_is_cut_at_blanks() -> None:
    captions = parse_text("word " * 500)
    assert max(len(text) for text in texts(captions)) <= 240
    assert " ".join(texts(captions)).split() == ["word"] * 500


# Size


@pytest.mark.parametrize(
    "unit", ["a", "word ", "‹", "<", "<b", "<b ", "&", "&amp", "{\\an8", "[br", "<br ", " "]
)
def test_a_huge_cue_becomes_segments_in_time(unit: str) -> None:
    data = with_one_cue("x" + unit * (2_000_000 // len(unit)) + "x")
    began = time.process_time()
    captions = parse(data)
    assert time.process_time() - began < 5
    assert max(len(text) for text in texts(captions)) <= 5000


def test_a_long_cue_is_cut_at_blanks_and_shares_its_time() -> None:
    captions = parse(vtt(f"00:00.000 --> 00:10.000\n{'word ' * 2000}"))
    assert texts(captions) == ["word " * 999 + "word", "word " * 999 + "word"]
    assert [(cue.start, cue.end) for cue in captions.cues] == [(0, 5000), (5000, 10_000)]


def test_a_hundred_thousand_cues_are_read_in_time() -> None:
    blocks = [
        f"{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}.000 -->"
        f" {n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}.900\nhello {n}"
        for n in range(100_000)
    ]
    data = vtt(*blocks)
    began = time.process_time()
    assert len(parse(data).cues) == 100_000
    assert time.process_time() - began < 6


# Writing and storing

SPOKEN = (
    Cue(0, 1500, "3 < 4 & 5 --> 6", (Word(0, "3"), Word(700, "<"))),
    Cue(1500, 1500, r"&amp; <b>bold</b> {\an8} [br] <00:00:01.000>"),
    Cue(2000, 71 * HOUR, "1984"),
)


def test_downloads_are_read_back_as_they_were() -> None:
    wanted = [(cue.start, cue.end, cue.text) for cue in SPOKEN]
    assert rows(parse(to_vtt(SPOKEN).encode())) == wanted
    assert rows(parse(to_srt(SPOKEN).encode())) == wanted


def test_vtt_is_escaped_and_subtitles_stay_readable() -> None:
    assert (
        to_vtt(SPOKEN[:1]) == "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n3 &lt; 4 &amp; 5 --&gt; 6\n"
    )
    assert to_srt([Cue(0, 1500, "3 < 4 & 5")]) == "1\n00:00:00,000 --> 00:00:01,500\n3 < 4 & 5\n"


def test_text_is_written_a_line_a_cue() -> None:
    assert to_txt(SPOKEN[::2]) == "3 < 4 & 5 --> 6\n1984\n"


def test_cues_survive_storage_with_and_without_their_words() -> None:
    stored = json.loads(json.dumps([to_json(SPOKEN), word_times_to_json(SPOKEN)]))
    assert from_json(stored[0], word_times=stored[1]) == SPOKEN
    assert [cue.words for cue in from_json(stored[0])] == [(), (), ()]


def test_cues_without_word_times_store_none() -> None:
    assert word_times_to_json(SPOKEN[1:]) == []


# Names


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("hf-00-00GKzGyWFEs.en.srt", ("hf-00-00GKzGyWFEs", "en")),
        ("folder/sub/hf-00.zh-CN.srt", ("hf-00", "zh-CN")),
        (r"C:\talks\a.en.vtt", ("a", "en")),
        ("Title [dQw4w9WgXcQ].en-GB.vtt", ("dQw4w9WgXcQ", "en-GB")),
        ("Title [dQw4w9WgXcQ].en-orig.json3", ("dQw4w9WgXcQ", "en")),
        ("Title [dQw4w9WgXcQ].en-eEY6OEpapPo.vtt", ("dQw4w9WgXcQ", "en")),
        ("Title [dQw4w9WgXcQ].json3", ("dQw4w9WgXcQ", "")),
        ("x.zh-Hans-CN.vtt", ("x", "zh-Hans-CN")),
        ("x.es-419.vtt", ("x", "es-419")),
        ("x.fil.vtt", ("x", "fil")),
        ("talk.auto.vtt", ("talk", "")),
        ("x.en.auto.vtt", ("x", "en")),
        ("x.auto.en.vtt", ("x", "en")),
        ("talk.transcript.txt", ("talk", "")),
        ("x.Transcript.en.vtt", ("x", "en")),
        ("x.en.transcript.vtt", ("x", "en")),
        ("Title [dQw4w9WgXcQ].transcript.vtt", ("dQw4w9WgXcQ", "")),
        ("A title (kCc8FmEb1nY).srt", ("kCc8FmEb1nY", "")),
        ("Doku [Deutschland].vtt", ("Doku [Deutschland]", "")),
        ("transcript.vtt", ("transcript", "")),
        ("Mr. It.txt", ("Mr. It", "")),
        ("Mr.It.txt", ("Mr.It", "")),
        ("talk v1.2.txt", ("talk v1.2", "")),
        ("example.com.txt", ("example.com", "")),
        ("lecture", ("lecture", "")),
        ("en.srt", ("en", "")),
        (".en.srt", (".en", "")),
        ("", ("", "")),
        ("a\x00b\u202e.de.srt", ("ab", "de")),
    ],
)
def test_a_name_tells_id_and_language(name: str, wanted: tuple[str, str]) -> None:
    assert split_name(name) == wanted


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Title [dQw4w9WgXcQ].en-GB.vtt", ("Title", "dQw4w9WgXcQ")),
        ("Title-dQw4w9WgXcQ.de.srt", ("Title", "dQw4w9WgXcQ")),
        ("A title (kCc8FmEb1nY).srt", ("A title", "kCc8FmEb1nY")),
        ("talk_-X9a_b2C3dE.vtt", ("talk", "-X9a_b2C3dE")),
        ("dQw4w9WgXcQ.vtt", ("", "dQw4w9WgXcQ")),
        ("Doku [Deutschland].vtt", ("Doku [Deutschland]", "")),
        ("review-iPhone15Pro.vtt", ("review-iPhone15Pro", "")),
        ("Week_3_Quiz.vtt", ("Week_3_Quiz", "")),
        ("Lecture2024.en.vtt", ("Lecture2024", "")),
        ("interview-transcripts.vtt", ("interview-transcripts", "")),
    ],
)
def test_a_download_is_named_by_a_title_and_the_id_of_its_video(
    name: str, wanted: tuple[str, str]
) -> None:
    assert split_video_id(name) == wanted


def test_a_name_is_never_longer_than_a_label() -> None:
    assert len(split_name("x" * 5000 + ".srt")[0]) == 300
