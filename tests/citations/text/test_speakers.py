"""Who speaks at a place of a transcript."""

import re

import pytest

from citations.text.speakers import LABEL, Turns, begins_turn, label_length

TALK = (
    "Welcome. Ann Lee: What is a limit? PhD D: One thing: it is where a sequence goes. "
    "Ann Lee: And in other words: what is near? Note: nobody knows. PhD D: Yes. Ann Lee: I see. "
    ">> Who are you? PhD D: Nobody."
)


@pytest.mark.parametrize(
    ("words", "speaker"),
    [
        ("Welcome", ""),
        ("Ann Lee", "Ann Lee"),
        ("a sequence", "PhD D"),
        ("is near", "Ann Lee"),
        ("nobody knows", "Ann Lee"),
        ("Yes", "PhD D"),
        ("I see", "Ann Lee"),
        ("Who are you", ""),
        ("Nobody.", "PhD D"),
    ],
)
def test_whoever_was_named_last_speaks_until_somebody_else_begins(words: str, speaker: str) -> None:
    assert Turns(TALK).turn_at(TALK.index(words)).name == speaker


def test_a_name_may_have_a_small_word_within_it() -> None:
    talk = "Aaron van Wirdum: What is it? Bo: A fee. Aaron van Wirdum: Yes. Bo: So it is."
    assert Turns(talk).turn_at(0).name == "Aaron van Wirdum"


def test_a_title_is_part_of_a_name_and_the_sentence_before_is_not() -> None:
    talk = "Right Hon. Ann Lee: Yes. Okay. Bo: No. Right Hon. Ann Lee: Why? Okay. Bo: So."
    assert Turns(talk).turn_at(0).name == "Right Hon. Ann Lee"
    assert Turns(talk).turn_at(talk.index("No")).name == "Bo"
    assert Turns(talk).starts == [match.start() for match in re.finditer("Right Hon|Bo:", talk)]


def test_a_name_ends_in_the_cue_in_which_it_begins() -> None:
    talk = "Yes. So Ann: No. Bo: Why? So Ann: And? Bo: So."
    cues = [match.start() for match in re.finditer("Yes|So|Ann|Bo|And", talk)]
    assert {Turns(talk, cues).turn_at(start).name for start in cues} == {"", "Ann", "Bo"}
    assert Turns(talk).turn_at(talk.index("Ann")).name == "So Ann"


def test_a_cue_begins_a_turn_though_the_one_before_it_has_no_full_stop() -> None:
    talk = "Ann: It is Bo: No. Ann: Why? Bo: So. Bo: Well."
    assert Turns(talk).turn_at(talk.index("No")).name == "Ann"
    assert Turns(talk, [0, talk.index("Bo")]).turn_at(talk.index("No")).name == "Bo"


@pytest.mark.parametrize(
    "talk",
    [
        "Remember: it rains. Remember: it snows.",
        "Note: it rains. Another thing: it snows. Another thing: hail.",
        "Ann: it rains. Bo: it snows. Ann: hail.",
    ],
)
def test_where_no_two_people_speak_twice_nobody_is_named(talk: str) -> None:
    assert Turns(talk).turn_at(len(talk) - 1).name == ""


@pytest.mark.parametrize(
    "name",
    [
        "Ann",
        "ANN LEE",
        "Speaker 1",
        "MAN #2",
        "The Host",
        "Dr. Müller-Lüdenscheidt",
        "Prof. Anne d’Arcy",
        "Ludwig van Beethoven",
        "Élodie Durand",
        "Mr. J. R. O'Neill",
        "María de la Cruz",
        "Иван Петров",
        "Ελένη Παππά",
        "田中さん",
        "יעל",
    ],
)
def test_what_looks_like_a_name_is_one(name: str) -> None:
    label = LABEL.match(f"{name}: Yes.")
    assert label is not None
    assert label[0] == f"{name}:"
    assert label_length(f"{name}: Yes.", name) == len(name) + 2


@pytest.mark.parametrize(
    "clause",
    [
        "The reason is simple",
        "Here is the thing",
        "Step one",
        "Remember this",
        "In other words",
        "Three points follow",
        "So what happens next",
        "Une chose à part",
        "Die Frage ist älter",
        "Вопрос такой",
        "Ena ερώτημα",
    ],
)
def test_a_clause_before_a_colon_names_nobody(clause: str) -> None:
    assert LABEL.search(f"{clause}: it rains.") is None
    talk = f"{clause}: it rains. Ann: Yes. {clause}: it snows. Ann: No."
    assert Turns(talk).names == frozenset()


def test_what_two_people_say_is_of_none_of_them() -> None:
    turns = Turns(TALK)
    assert turns.has_single_speaker(TALK.index("What"), TALK.index("PhD"))
    assert not turns.has_single_speaker(TALK.index("What"), TALK.index("a sequence"))


def test_a_sentence_begins_a_turn_where_the_text_around_it_names_people() -> None:
    assert begins_turn("Bo: Why?", "Ann: It is. Bo: Why?")
    assert not begins_turn("Note: it rains.", "It is. Note: it rains.")
    assert not begins_turn("It is.", "Ann: It is. Bo: Why?")


@pytest.mark.parametrize(
    ("text", "speech"),
    [
        ("Ann Lee: And so on.", "And so on."),
        (">> Ann Lee: And so on.", "And so on."),
        ("Ann Leeds: And so on.", "Ann Leeds: And so on."),
        ("And Ann Lee: so on.", "And Ann Lee: so on."),
        ("Ann Lee:", "Ann Lee:"),
    ],
)
def test_the_label_before_a_speech_names_its_speaker(text: str, speech: str) -> None:
    assert text[label_length(text, "Ann Lee") :] == speech
    assert label_length(text, "") == 0
