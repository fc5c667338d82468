"""A pace is told by what was indexed, and the time that is left by what is left to do."""

import pytest

from citations.ingest.time_left import (
    MIN_CHARACTERS,
    IndexedText,
    TextInWork,
    characters_per_second,
    rounded,
)


def indexed(characters: int, began: float, ended: float) -> IndexedText:
    return IndexedText(characters=characters, began=began, ended=ended)


def test_a_pace_is_that_of_the_time_in_which_something_was_worked_on() -> None:
    talk, book = indexed(60_000, 0, 30), indexed(240_000, 1_000, 1_070)
    assert characters_per_second([book, talk]) == 3_000


def test_what_was_indexed_at_the_same_time_counts_once_as_time() -> None:
    book, between, after = (
        indexed(200_000, 0, 100),
        indexed(50_000, 20, 40),
        indexed(50_000, 90, 120),
    )
    assert characters_per_second([between, after, book]) == 2_500


@pytest.mark.parametrize(
    "texts", [[], [indexed(MIN_CHARACTERS - 1, 0, 10)], [indexed(MIN_CHARACTERS, 5, 5)]]
)
def test_too_little_tells_no_pace(texts: list[IndexedText]) -> None:
    assert characters_per_second(texts) is None


@pytest.mark.parametrize(
    ("step", "done", "left"),
    [
        ("", 0, 1_000),
        ("reading pages", 90, 1_000),
        ("adding full stops", 0, 1_000),
        ("finding where the subject changes", 0, 1_000),
        ("finding where the subject changes", 50, 625),
        ("finding where the subject changes", 100, 250),
        ("embedding", 0, 250),
        ("embedding", 50, 125),
        ("embedding", 120, 0),
    ],
)
def test_of_a_text_in_work_a_part_is_left(step: str, done: int, left: float) -> None:
    assert TextInWork(characters=1_000, step=step, done=done, total=100).left == left


def test_where_nothing_finds_changes_of_subject_embedding_is_all_the_work() -> None:
    text = TextInWork(
        characters=1_000, step="embedding", done=50, total=100, is_split_by_meaning=False
    )
    assert text.left == 500


@pytest.mark.parametrize(
    ("seconds", "time"),
    [
        (0, ("minute", 0)),
        (49, ("minute", 0)),
        (50, ("minute", 1)),
        (89, ("minute", 1)),
        (240, ("minute", 4)),
        (9.4 * 60, ("minute", 9)),
        (12 * 60, ("minute", 10)),
        (43 * 60, ("minute", 45)),
        (50 * 60, ("hour", 1)),
        (100 * 60, ("hour", 2)),
        (20 * 3_600, ("day", 1)),
        (80 * 3_600, ("day", 3)),
    ],
)
def test_a_time_is_told_as_people_tell_it(seconds: float, time: tuple[str, int]) -> None:
    assert rounded(seconds) == time
