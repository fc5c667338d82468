"""Two captions of one recording: how many words differ, and where most of them do."""

from citations.reading.comparison import compare
from transcripts.text.cues import Cue

TALK = [Cue(0, 900, "The dough rises."), Cue(70_000, 70_900, "Then it is baked in the oven.")]


def test_words_that_are_others_missing_or_added_are_counted_where_they_are() -> None:
    heard = [Cue(0, 900, "the dough rises"), Cue(70_100, 70_900, "Then it is naked in oven, too.")]
    result = compare(heard, TALK)
    assert (result.words, result.differing, result.worst) == (10, 3, 60_000)
    assert result.percent == 30


def test_marks_and_capitals_are_no_difference_and_nothing_differs_from_nothing() -> None:
    shouted = [Cue(cue.start, cue.end, cue.text.upper().strip(".")) for cue in TALK]
    assert not compare(TALK, shouted).differing
    assert compare([], []).percent == 0
