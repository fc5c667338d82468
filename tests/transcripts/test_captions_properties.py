"""What holds for any caption file, however broken."""

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from transcripts.captions import (
    Captions,
    from_json,
    parse,
    parse_text,
    split_name,
    to_json,
    to_srt,
    to_txt,
    to_vtt,
    word_times_to_json,
)
from transcripts.captions.caption_errors import CaptionError
from transcripts.text.cues import Cue, Word

LAST = 72 * 3_600_000
NAMES = st.sampled_from(
    ["", "a.vtt", "a.srt", "a.sbv", "a.json", "a.json3", "a.srv3", "a.ttml", "a.txt", "a.pdf"]
)
WORDS = st.text(alphabet="abcdefgäñяж語'", min_size=1, max_size=8)
SPEECH = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
# Any text at all, in the form that a cue has: cleaned.
ANY_SPEECH = (
    st.text(max_size=80)
    .map(lambda text: "x" + text)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: not unsafe(text))
)


def unsafe(text: str) -> bool:
    return any(
        ord(character) < 32
        or 0x7F <= ord(character) < 0xA0
        or character in "\ufeff\u202a\u202b\u202c\u202d\u202e"
        for character in text
    ) or any(
        0x2066 <= ord(character) <= 0x2069 or 0xD800 <= ord(character) <= 0xDFFF
        for character in text
    )


@st.composite
def cue_lists(draw: st.DrawFn, speech: st.SearchStrategy[str] = SPEECH) -> tuple[Cue, ...]:
    """Cues as the parser promises them: in order, without overlap, no two equal at one moment."""
    spoken = draw(
        st.lists(
            st.tuples(st.integers(1, 9_000), st.integers(0, 9_000), speech), min_size=1, max_size=12
        )
    )
    cues, moment = [], draw(st.integers(0, 60 * 3_600_000))
    for pause, duration, text in spoken:
        moment += pause
        cues.append(Cue(moment, moment + duration, text))
        moment += duration
    return tuple(cues)


def rows(cues: Sequence[Cue]) -> list[tuple[int, int, str]]:
    return [(cue.start, cue.end, cue.text) for cue in cues]


def as_sbv(cues: Sequence[Cue]) -> str:
    return "\n".join(f"{_clock(cue.start)},{_clock(cue.end)}\n{cue.text}\n" for cue in cues)


def _clock(moment: int) -> str:
    hours, minutes, seconds = moment // 3_600_000, moment // 60_000 % 60, moment // 1000 % 60
    return f"{hours}:{minutes:02}:{seconds:02}.{moment % 1000:03}"


def as_json3(cues: Sequence[Cue]) -> str:
    events = [
        {"tStartMs": cue.start, "dDurationMs": cue.end - cue.start, "segs": [{"utf8": cue.text}]}
        for cue in cues
    ]
    return json.dumps({"events": events})


def as_rows(cues: Sequence[Cue]) -> str:
    return json.dumps(
        [
            {"text": cue.text, "start": cue.start / 1000, "duration": (cue.end - cue.start) / 1000}
            for cue in cues
        ]
    )


def as_object(cues: Sequence[Cue]) -> str:
    return json.dumps({"id": "a", "cues": json.loads(as_rows(cues))})


def as_srv3(cues: Sequence[Cue]) -> str:
    body = "".join(
        f'<p t="{cue.start}" d="{cue.end - cue.start}">{escape(cue.text)}</p>' for cue in cues
    )
    return f'<timedtext format="3"><body>{body}</body></timedtext>'


def as_srv1(cues: Sequence[Cue]) -> str:
    body = "".join(
        f'<text start="{cue.start / 1000}"'
        f' dur="{(cue.end - cue.start) / 1000}">{escape(cue.text)}</text>'
        for cue in cues
    )
    return f"<transcript>{body}</transcript>"


def as_ttml(cues: Sequence[Cue]) -> str:
    body = "".join(
        f"<p begin={quoteattr(_clock(cue.start))}"
        f" end={quoteattr(_clock(cue.end))}>{escape(cue.text)}</p>"
        for cue in cues
    )
    return f'<tt xmlns="http://www.w3.org/ns/ttml"><body><div>{body}</div></body></tt>'


WRITERS: list[Callable[[Sequence[Cue]], str]] = [
    to_vtt,
    to_srt,
    as_sbv,
    as_json3,
    as_rows,
    as_object,
    as_srv3,
    as_srv1,
    as_ttml,
]


def try_to_parse(data: bytes | str, name: str = "") -> Captions | None:
    """Parse; a CaptionError is an answer, too, and any other exception fails the test."""
    try:
        return parse_text(data, name=name) if isinstance(data, str) else parse(data, name=name)
    except CaptionError:
        return None


def assert_sound(captions: Captions) -> None:
    moment = 0
    assert captions.cues
    for cue in captions.cues:
        assert moment <= cue.start <= cue.end <= LAST
        assert cue.text == " ".join(cue.text.split())
        assert 0 < len(cue.text) <= 5000
        assert not unsafe(cue.text + "".join(word.text for word in cue.words))
        cue.text.encode()  # no lone surrogates
        assert [word.start for word in cue.words] == sorted(word.start for word in cue.words)
        assert all(cue.start <= word.start <= cue.end and word.text for word in cue.words)
        moment = cue.end


@given(st.binary(max_size=400), NAMES)
def test_no_bytes_bring_anything_but_captions_or_a_caption_error(data: bytes, name: str) -> None:
    if (captions := try_to_parse(data, name)) is not None:
        assert_sound(captions)


@given(st.text(alphabet=st.characters(), max_size=400), NAMES)
@example("\ud800", "")
@example("{\ud800", "a.json")
@example("<tt>\ud800", "a.ttml")
def test_no_text_brings_anything_but_captions_or_a_caption_error(text: str, name: str) -> None:
    if (captions := try_to_parse(text, name)) is not None:
        assert_sound(captions)


PIECES = st.sampled_from(
    [
        "WEBVTT",
        "\n",
        "\n\n",
        "\r\n",
        " \n",
        "00:00:01.000 --> 00:00:02.000",
        "00:01,5 --> 0:2:3",
        "0:00:01.000,0:00:02.000",
        "0:05",
        "0:07 hi",
        "7",
    ]
    + [
        "NOTE",
        "STYLE",
        "-->",
        "<c>",
        "</c>",
        "<00:00:01.500>",
        "&amp;",
        "&#0;",
        "&#xd800;",
        "&#x202e;",
        "{\\an8}",
        "<v Bob>",
        "[br]",
        "said",
    ]
    + [
        "1 minute, 5 seconds",
        "999:00:00.000 --> 00:00:00.000",
        "00:00:01.000 --> 00:00:01.010",
        "\0",
        "\u202e",
        "\ud83d",
        "\u2028",
        "\ufeff",
    ]
    + [
        "<tt>",
        "<p begin='1s' end='2s'>",
        "</p>",
        "</tt>",
        "<timedtext><body>",
        "<p t='1' d='2'>",
        "<s t='-5'>",
        "</s>",
        "</body></timedtext>",
    ]
    + [
        "<transcript>",
        "<text start='1' dur='nan'>",
        "</text>",
        "</transcript>",
        "<!DOCTYPE",
        "<?xml",
        "<!--",
        "<html",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join), NAMES)
def test_no_mixture_of_formats_brings_anything_but_captions_or_a_caption_error(
    text: str, name: str
) -> None:
    if (captions := try_to_parse(text, name)) is not None:
        assert_sound(captions)


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([0, 1.5, 3000, 10**400, "a b", "\u0000x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "events",
                    "cues",
                    "text",
                    "start",
                    "duration",
                    "segs",
                    "utf8",
                    "tStartMs",
                    "dDurationMs",
                    "tOffsetMs",
                    "id",
                    "lang",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(VALUES)
def test_no_json_brings_anything_but_captions_or_a_caption_error(value: Any) -> None:
    for wrapped in (
        value,
        [value],
        {"cues": [value]},
        {"events": [value, {"segs": [value], "tStartMs": 1}]},
    ):
        if (captions := try_to_parse(json.dumps(wrapped), "a.json")) is not None:
            assert_sound(captions)


@given(cue_lists(), st.sampled_from(WRITERS), st.data())
def test_no_damage_to_a_file_brings_anything_but_captions_or_a_caption_error(
    cues: tuple[Cue, ...], write: Callable[[Sequence[Cue]], str], data: st.DataObject
) -> None:
    whole = write(cues).encode()
    at = data.draw(st.integers(0, len(whole)))
    gone = data.draw(st.integers(0, 20))
    put = data.draw(st.binary(max_size=8))
    if (captions := try_to_parse(whole[:at] + put + whole[at + gone :])) is not None:
        assert_sound(captions)


@given(cue_lists(), st.sampled_from(WRITERS))
def test_every_format_gives_back_the_cues_that_were_written(
    cues: tuple[Cue, ...], write: Callable[[Sequence[Cue]], str]
) -> None:
    assert rows(parse(write(cues).encode()).cues) == rows(cues)


@given(cue_lists(ANY_SPEECH))
@example((Cue(0, 5, "x --> &amp;amp; <b> {\\an8} [br] &lt;i&gt; <00:00:01.000>"),))
def test_downloads_keep_any_text(cues: tuple[Cue, ...]) -> None:
    assert rows(parse(to_vtt(cues).encode()).cues) == rows(cues)
    assert rows(parse(to_srt(cues).encode()).cues) == rows(cues)


@given(cue_lists())
def test_plain_text_keeps_every_word_in_order(cues: tuple[Cue, ...]) -> None:
    captions = parse_text(to_txt(cues), name="a.txt")
    assert [word for cue in captions.cues for word in cue.text.split()] == [
        word for cue in cues for word in cue.text.split()
    ]


@given(
    st.permutations(range(8)),
    cue_lists(),
    st.sampled_from([to_srt, as_json3, as_srv3, as_ttml, as_rows]),
)
def test_the_order_in_the_file_does_not_matter(
    order: list[int], cues: tuple[Cue, ...], write: Callable[[Sequence[Cue]], str]
) -> None:
    shuffled = [cues[position] for position in order if position < len(cues)]
    assert rows(parse(write(shuffled).encode()).cues) == rows(
        sorted(shuffled, key=lambda cue: cue.start)
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 20_000), st.integers(-2_000, 20_000), SPEECH),
        min_size=1,
        max_size=10,
    )
)
def test_overlapping_cues_are_put_in_line_without_a_word_invented_or_doubled(
    cues: list[tuple[int, int, str]],
) -> None:
    written = [Cue(start, max(0, start + duration), text) for start, duration, text in cues]
    captions = parse(to_vtt(written).encode())
    assert_sound(captions)
    said = Counter(word for cue in captions.cues for word in cue.text.split())
    assert said <= Counter(word for cue in written for word in cue.text.split())
    assert {cue.text for cue in captions.cues} == {cue.text for cue in written}


@given(st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=2, max_size=10))
@example([["yes"], ["yes"], ["yes"]])
def test_rolled_lines_are_told_exactly_once_with_their_word_times(lines: list[list[str]]) -> None:
    captions = parse(rolled(lines).encode())
    assert [cue.text for cue in captions.cues] == [" ".join(line) for line in lines]
    assert [cue.start for cue in captions.cues] == [2000 * number for number in range(len(lines))]
    if any(len(line) > 1 for line in lines):
        wanted = [
            tuple(Word(2000 * number + 100 * at, word) for at, word in enumerate(line))
            for number, line in enumerate(lines)
        ]
        assert [cue.words for cue in captions.cues] == wanted


def rolled(lines: list[list[str]]) -> str:
    """Write lines as YouTube's automatic captions: below the previous one, then alone for 10 ms."""
    blocks = ["WEBVTT\nKind: captions\nLanguage: en"]
    above = " "
    for number, (first, *others) in enumerate(lines):
        start = 2000 * number
        timed = "".join(
            f"<{_stamp(start + 100 * at)}><c> {word}</c>" for at, word in enumerate(others, start=1)
        )
        blocks.append(f"{_stamp(start)} --> {_stamp(start + 1990)}\n{above}\n{first}{timed}")
        above = " ".join([first, *others])
        blocks.append(f"{_stamp(start + 1990)} --> {_stamp(start + 2000)}\n{above}\n ")
    return "\n\n".join(blocks) + "\n"


def _stamp(moment: int) -> str:
    return _clock(moment).rjust(12, "0")


@given(cue_lists(), st.booleans())
def test_storage_gives_back_the_cues(cues: tuple[Cue, ...], timed: bool) -> None:
    kept = tuple(
        Cue(
            cue.start,
            cue.end,
            cue.text,
            tuple(Word(cue.start, word) for word in cue.text.split()) if timed else (),
        )
        for cue in cues
    )
    stored = json.loads(json.dumps(to_json(kept)))
    word_times = json.loads(json.dumps(word_times_to_json(kept)))
    assert from_json(stored, word_times=word_times or None) == kept


@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_name_gives_an_id_that_can_be_stored(name: str) -> None:
    identity, language = split_name(name)
    identity.encode()
    assert not unsafe(identity)
    assert len(identity) <= 300
    assert language.isascii()


@given(
    st.text(alphabet=" <>&;:[]{}\\/#09abr.,-'\n\r\t\0é", min_size=1, max_size=6),
    st.sampled_from(["", "WEBVTT\n\n0:01.0 --> 0:02.0\n", "0:00\n", "<tt>", "["]),
)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_repeating_any_text_takes_linear_time(unit: str, before: str) -> None:
    text = before + unit * (150_000 // len(unit))
    began = time.process_time()
    try_to_parse(text)
    assert time.process_time() - began < 3
