"""Who speaks at a place of a transcript."""

from citations.text.speakers import Turns

TALK = (
    "Welcome. Ann Lee: What is a limit? PhD D: One thing: it is where a sequence goes.\n"
    "Ann Lee: And in other words: what is near? Note: nobody knows. PhD D: Nobody."
)


def test_whoever_was_named_last_speaks() -> None:
    turns = Turns(TALK)
    assert turns.speaker_at(TALK.index("Welcome")) == ""
    assert turns.speaker_at(TALK.index("Ann Lee")) == "Ann Lee"
    assert turns.speaker_at(TALK.index("a sequence")) == "PhD D"
    assert turns.speaker_at(TALK.index("is near")) == "Ann Lee"
    assert turns.speaker_at(len(TALK) - 1) == "PhD D"


def test_a_name_may_have_a_small_word_within_it() -> None:
    talk = (
        "Aaron van Wirdum: What is it? Sjors Provoost: A fee. Aaron van Wirdum: Sjors Provoost: A"
    )
    assert Turns(talk).speaker_at(0) == "Aaron van Wirdum"


def test_words_before_a_colon_that_come_once_or_without_capitals_name_nobody() -> None:
    assert (
        Turns("Note: it rains. Another thing: it snows. Another thing: hail.").speaker_at(60) == ""
    )
