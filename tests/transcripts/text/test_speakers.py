"""Other names before what is said in captions."""

import pytest

from transcripts.text.cues import Cue, Word, named, renamed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Speaker 0: Hello.", "Ada: Hello."),
        (">> Speaker 0: Hello.", ">> Ada: Hello."),
        ("Thank you. Speaker 0: Well.", "Thank you. Ada: Well."),
        ("Speaker 0:", "Ada:"),
        ("Speaker 01: Hello.", "Speaker 01: Hello."),
        ("Ask Speaker 0: who else?", "Ask Speaker 0: who else?"),
        ("Speaker 0 said so.", "Speaker 0 said so."),
        ("at 10:30 Speaker 0:30", "at 10:30 Speaker 0:30"),
    ],
)
def test_only_the_name_before_what_is_said_changes(text: str, expected: str) -> None:
    (cue,) = named([Cue(0, 1000, text)], {"Speaker 0": "Ada"})
    assert cue == Cue(0, 1000, expected)


def test_names_are_exchanged_at_once() -> None:
    cues = [Cue(0, 1, "Ann: Yes. Bob: No."), Cue(1, 2, "Bob: Yes.")]
    texts = [cue.text for cue in named(cues, {"Ann": "Bob", "Bob": "Ann"})]
    assert texts == ["Bob: Yes. Ann: No.", "Ann: Yes."]


def test_a_name_is_no_pattern() -> None:
    (cue,) = named([Cue(0, 1, "Dr. A: So. Drs A: No.")], {"Dr. A": r"\1 A"})
    assert cue.text == r"\1 A: So. Drs A: No."


def test_the_words_of_a_name_have_no_times_any_more_and_the_others_keep_theirs() -> None:
    words = (Word(0, "Speaker "), Word(10, "0: "), Word(20, "Hello "), Word(30, "all."))
    cue = Cue(0, 1000, "Speaker 0: Hello all.", words)
    (other,) = named([cue], {"Speaker 0": "Ada"})
    assert other == Cue(0, 1000, "Ada: Hello all.", words[2:])
    untimed = Cue(0, 1000, "Speaker 0: Hello all.", words[2:])
    assert named([untimed], {"Speaker 0": "Ada"}) == [other]


def test_names_are_kept_by_the_labels_of_the_file() -> None:
    names = renamed({}, "Speaker 0", "Ada")
    assert names == {"Speaker 0": "Ada"}
    assert renamed(names, "Ada", "Ada Lovelace") == {"Speaker 0": "Ada Lovelace"}
    assert renamed(names, "Ada", "Speaker 0") == {}
    joined = renamed(names, "Speaker 1", "Ada")
    assert joined == {"Speaker 0": "Ada", "Speaker 1": "Ada"}
    assert renamed(joined, "Ada", "Bob") == {"Speaker 0": "Bob", "Speaker 1": "Bob"}
