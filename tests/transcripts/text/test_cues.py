"""Grouping cues by time."""

from hypothesis import given
from hypothesis import strategies as st

from transcripts.text.cues import Cue, group_by_time


def cues_at(*starts: int) -> list[Cue]:
    """Make cues of one second that start at these milliseconds and say their own number."""
    return [Cue(start, start + 1000, f"w{number}") for number, start in enumerate(starts)]


MANY_CUES = (
    st.lists(st.integers(0, 600_000), max_size=60).map(sorted).map(lambda starts: cues_at(*starts))
)


def test_no_cues_make_no_group() -> None:
    assert group_by_time([], 30) == []


def test_a_cue_belongs_to_a_group_while_it_starts_within_its_time() -> None:
    groups = group_by_time(cues_at(0, 29_999, 30_000), 30)
    assert [group.text for group in groups] == ["w0 w1", "w2"]


def test_a_group_starts_at_its_first_cue_and_not_on_the_clock() -> None:
    groups = group_by_time(cues_at(10_000, 39_000, 41_000, 70_000), 30)
    assert [(group.start, group.end, group.first, group.count) for group in groups] == [
        (10_000, 40_000, 0, 2),
        (41_000, 71_000, 2, 2),
    ]


def test_a_long_pause_makes_no_empty_group() -> None:
    groups = group_by_time(cues_at(0, 3_600_000), 30)
    assert [group.text for group in groups] == ["w0", "w1"]


@given(cues=MANY_CUES, seconds=st.integers(1, 120))
def test_every_cue_is_in_exactly_one_group_in_order(cues: list[Cue], seconds: int) -> None:
    groups = group_by_time(cues, seconds)
    assert [
        cue for group in groups for cue in cues[group.first : group.first + group.count]
    ] == cues
    assert " ".join(group.text for group in groups) == " ".join(cue.text for cue in cues)


@given(cues=MANY_CUES, seconds=st.integers(1, 120))
def test_groups_last_as_long_as_asked_and_never_share_a_span(cues: list[Cue], seconds: int) -> None:
    groups = group_by_time(cues, seconds)
    for group in groups:
        assert cues[group.first + group.count - 1].start < group.start + seconds * 1000
    for before, after in zip(groups, groups[1:], strict=False):
        assert after.start >= before.start + seconds * 1000
