"""Captions that build up: each word is read once."""

from transcripts.captions import parse
from transcripts.text.cues import Cue, Word


def cues(*texts: str) -> tuple[Cue, ...]:
    """Read subtitles with a cue of one second for each text."""
    blocks = (
        f"{n + 1}\n00:00:{n:02},000 --> 00:00:{n + 1:02},000\n{text}\n"
        for n, text in enumerate(texts)
    )
    return parse("\n".join(blocks).encode()).cues


def test_a_cue_that_grows_is_one_with_the_times_of_its_words() -> None:
    growing = ("it", "it rains", "it rains again", "so", "so we", "so we stay", "so we stay in")
    first, second = cues(*growing)
    assert (first.start, first.end, first.text) == (0, 3000, "it rains again")
    assert first.words == (Word(0, "it"), Word(1000, "rains"), Word(2000, "again"))
    assert (second.start, second.text) == (3000, "so we stay in")


def test_writing_without_blanks_grows_as_well() -> None:
    said = cues("水开", "水开了请", "水开了请放茶", "水开了请放茶叶")
    assert [cue.text for cue in said] == ["水开了请放茶叶"]


def test_words_carried_from_the_end_of_the_cue_before_are_cut() -> None:
    said = cues("it rains on the", "on the roof of", "roof of our house", "our house is old")
    assert " ".join(cue.text for cue in said) == "it rains on the roof of our house is old"


def test_what_is_sung_or_said_again_stays() -> None:
    for texts in (
        ["let it be", "let it be", "let it be", "whisper words"],
        ["no", "no no", "no no no", "yes"],
        ["I want", "I want to go", "home", "to see", "the sea", "and the", "sun", "there", "now"],
    ):
        assert [cue.text for cue in cues(*texts)] == texts
