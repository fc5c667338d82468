"""Reading a transcript: range, chunk, whole, preview."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transcripts.core.errors import ChunkNotFound, InvalidTime
from transcripts.text.cues import Cue
from transcripts.text.reading import (
    HINTS,
    Reading,
    ReadingLimits,
    ReadingMode,
    chunks,
    full_text,
    page_text,
    read,
)

LIMITS = ReadingLimits()
SHORT = [Cue(number * 60_000, number * 60_000 + 5_000, f"minute {number}") for number in range(12)]
LONG = [
    Cue(number * 1000, number * 1000 + 1000, f"second {number:05} of a long talk")
    for number in range(2000)
]


def reading(cues: list[Cue] = SHORT, **wanted: Any) -> Reading:
    """Read with the default limits."""
    return read(cues, limits=LIMITS, **wanted)


# Which way it is cut


def test_a_short_transcript_is_given_whole() -> None:
    result = reading()
    assert (result.mode, result.text, result.cues, result.warning, result.hints) == (
        ReadingMode.FULL,
        full_text(SHORT),
        tuple(SHORT),
        "",
        (),
    )
    assert (result.start, result.end, result.mode) == (0.0, 665.0, ReadingMode.FULL)


def test_a_transcript_of_exactly_the_limit_is_given_whole_and_one_character_more_is_not() -> None:
    text = "x" * 50
    assert (
        read([Cue(0, 1, text)], limits=ReadingLimits(max_full_transcript_length=50)).mode
        is ReadingMode.FULL
    )
    assert (
        read([Cue(0, 1, text)], limits=ReadingLimits(max_full_transcript_length=49)).mode
        is ReadingMode.PREVIEW
    )


def test_a_long_transcript_is_previewed_with_hints_and_its_size() -> None:
    result = reading(LONG)
    assert result.mode is ReadingMode.PREVIEW
    assert result.hints == HINTS
    assert (result.total_characters, result.total_chunks, result.chunk_size) == (
        len(full_text(LONG)),
        7,
        300,
    )
    assert result.mode is not ReadingMode.FULL


def test_a_preview_is_the_beginning_cut_after_a_word() -> None:
    result = reading(LONG)
    beginning = result.text.removesuffix("…")
    assert result.text.endswith("…")
    assert 480 < len(beginning) <= 500
    assert full_text(LONG).startswith(beginning + " ")
    assert full_text(result.cues).startswith(beginning)


def test_a_preview_of_a_script_without_blanks_is_cut_anywhere() -> None:
    result = read(
        [Cue(0, 1, "a " + "水" * 2000)], limits=ReadingLimits(max_full_transcript_length=10)
    )
    assert len(result.text) == 501


def test_a_preview_that_shows_everything_has_no_ellipsis() -> None:
    result = read([Cue(0, 1, "all there is")], limits=ReadingLimits(max_full_transcript_length=5))
    assert (result.mode, result.text) == (ReadingMode.PREVIEW, "all there is")


def test_a_large_full_text_that_is_asked_for_comes_with_a_warning() -> None:
    result = reading(LONG, include_full=True)
    assert (result.mode, result.text) == (ReadingMode.FULL, full_text(LONG))
    assert f"{len(full_text(LONG)):,}" in result.warning


def test_a_short_full_text_that_is_asked_for_comes_without_a_warning() -> None:
    assert reading(include_full=True).warning == ""


def test_a_time_range_comes_before_a_chunk_and_before_the_full_text() -> None:
    result = reading(start=60.0, end=125.0, chunk_index=0, include_full=True)
    assert (result.mode, result.text) == (ReadingMode.RANGE, "minute 1 minute 2")


def test_a_chunk_comes_before_the_full_text() -> None:
    assert reading(chunk_index=1, include_full=True).mode is ReadingMode.CHUNK


def test_a_start_of_zero_is_a_time_range_and_a_chunk_index_of_zero_a_chunk() -> None:
    assert reading(LONG, start=0).mode is ReadingMode.RANGE
    assert reading(LONG, start=0).cues == tuple(LONG)
    assert reading(LONG, chunk_index=0).mode is ReadingMode.CHUNK


# Time ranges


def test_a_range_holds_every_cue_that_is_spoken_in_it() -> None:
    result = reading(start=62.0, end=120.0)
    assert result.text == "minute 1"
    assert (result.start, result.end) == (60.0, 65.0)


def test_a_range_holds_neither_what_ends_at_its_start_nor_what_starts_at_its_end() -> None:
    assert reading(start=65.0, end=120.0).cues == ()


def test_an_open_range_reaches_to_the_end_or_from_the_beginning() -> None:
    assert reading(start=600.0).text == "minute 10 minute 11"
    assert reading(end=61.0).text == "minute 0 minute 1"


def test_a_cue_without_length_is_in_the_range_that_starts_with_it() -> None:
    assert (
        read(
            [Cue(5000, 5000, "blink"), Cue(6000, 7000, "next")], limits=LIMITS, start=5.0, end=6.0
        ).text
        == "blink"
    )


@pytest.mark.parametrize(
    "wanted",
    [
        {"start": -1.0},
        {"end": -0.001},
        {"start": math.nan},
        {"end": math.nan},
        {"start": math.inf},
        {"end": math.inf},
        {"start": -math.inf},
        {"start": 10**400},
        {"end": 10**400},
        {"start": 5.0, "end": 5.0},
        {"start": 6.0, "end": 5.0},
        {"end": 0.0},
        {"chunk_size": 9},
        {"chunk_size": 86_401},
        {"chunk_size": -300},
        {"chunk_index": 0, "chunk_size": 0},
    ],
)
def test_a_time_that_makes_no_sense_is_refused(wanted: dict[str, Any]) -> None:
    with pytest.raises(InvalidTime) as caught:
        reading(**wanted)
    assert caught.value.hint


def test_a_start_behind_the_end_is_refused_and_the_length_is_named() -> None:
    with pytest.raises(InvalidTime) as caught:
        reading(start=665.0)
    assert "11:05" in caught.value.message
    assert "665" in caught.value.hint


def test_the_length_is_that_of_the_cue_that_ends_last() -> None:
    overlapping = [Cue(0, 90_000, "a long sign"), Cue(1000, 2000, "speech")]
    assert read(overlapping, limits=LIMITS, start=60.0).text == "a long sign"


# Chunks


def test_a_chunk_names_its_place_and_its_neighbours() -> None:
    first, second, last = (reading(chunk_index=index).chunk for index in range(3))
    assert first is not None
    assert second is not None
    assert last is not None
    assert (first.index, first.count, first.previous, first.next) == (0, 3, None, 1)
    assert (second.index, second.start, second.end, second.previous, second.next) == (
        1,
        300.0,
        545.0,
        0,
        2,
    )
    assert (last.previous, last.next, last.text) == (1, None, "minute 10 minute 11")


def test_the_size_of_chunks_can_be_asked_for() -> None:
    result = reading(chunk_index=3, chunk_size=120)
    assert (result.text, result.chunk_size, result.total_chunks) == ("minute 6 minute 7", 120, 6)


@pytest.mark.parametrize("index", [3, -1, 10**30])
def test_a_chunk_that_is_not_there_is_refused_and_the_valid_ones_are_named(index: int) -> None:
    with pytest.raises(ChunkNotFound, match="0 to 2"):
        reading(chunk_index=index)


@given(
    starts=st.lists(st.integers(0, 4_000_000), max_size=50).map(sorted), size=st.integers(10, 900)
)
def test_the_chunks_put_together_are_the_transcript(starts: list[int], size: int) -> None:
    cues = [Cue(start, start + 500, f"at {start}") for start in starts]
    pages = chunks(cues, seconds=size)
    assert [cue for page in pages for cue in page.cues] == cues
    assert " ".join(page.text for page in pages) == full_text(cues)
    assert [page.next for page in pages[:-1]] == [page.index for page in pages[1:]]
    assert [page.previous for page in pages[1:]] == [page.index for page in pages[:-1]]
    for page in pages:
        assert read(cues, limits=LIMITS, chunk_index=page.index, chunk_size=size).chunk == page


# A transcript of nothing


def test_an_empty_transcript_is_read_as_nothing() -> None:
    result = reading([])
    assert (
        result.mode,
        result.text,
        result.cues,
        result.total_characters,
        result.total_chunks,
    ) == (ReadingMode.FULL, "", (), 0, 0)
    assert reading([], start=0.0).text == ""
    assert chunks([], seconds=300) == []


def test_an_empty_transcript_has_no_chunk_and_no_later_moment() -> None:
    with pytest.raises(ChunkNotFound, match="empty"):
        reading([], chunk_index=0)
    with pytest.raises(InvalidTime):
        reading([], start=1.0)


# Pages of a text


@given(text=st.text(alphabet="ab \n水", max_size=200), size=st.integers(-3, 40))
def test_the_pages_put_together_are_the_text_and_none_is_too_long(text: str, size: int) -> None:
    pieces: list[str] = []
    offset: int | None = 0
    while offset is not None:
        before = offset
        piece, offset = page_text(text, before, size)
        assert len(piece) <= max(1, size)
        assert offset is None or offset > before
        pieces.append(piece)
    assert "".join(pieces) == text


def test_a_page_ends_after_a_word() -> None:
    assert page_text("one two three", 0, 9) == ("one two ", 8)
    assert page_text("one two three", 8, 9) == ("three", None)


def test_a_page_ends_after_a_line_rather_than_after_a_word() -> None:
    assert page_text("first line\nand the next", 0, 16) == ("first line\n", 11)


def test_a_page_does_not_end_early_for_a_line_at_its_beginning() -> None:
    assert page_text("a\nbb cc dd ee ff gg", 0, 12) == ("a\nbb cc dd ", 11)


def test_a_word_longer_than_a_page_is_cut() -> None:
    assert page_text("abcdefgh", 0, 3) == ("abc", 3)


def test_an_offset_outside_the_text_gives_an_empty_last_page_or_the_first() -> None:
    assert page_text("abc", 99, 5) == ("", None)
    assert page_text("abc", -5, 5) == ("abc", None)
