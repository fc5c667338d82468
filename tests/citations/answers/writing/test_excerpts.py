"""Excerpts: a sentence, and what makes it understood."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from citations.answers.answer import Evidence
from citations.answers.writing.excerpts import MAX_EXCERPT
from tests.citations.answers.writing.conftest import extract_part, passage, pick_texts

WEATHER = f"{'There was much talk of the weather ' * 11}then."


def test_what_follows_on_a_sentence_is_told_with_it() -> None:
    text = (
        f"Entropy measures something very simple. It is how much disorder there is in a gas. "
        f"{WEATHER}"
    )
    assert pick_texts(passage(text)) == [text[:82]]


def test_the_sentence_that_one_leans_on_is_told_with_it() -> None:
    text = (
        f"{WEATHER} A gas may be in many states. So entropy measures how many they are, on a "
        f"scale of logarithms, for which Boltzmann is known. {WEATHER}"
    )
    assert pick_texts(passage(text))[0] == text[len(WEATHER) + 1 : -len(WEATHER) - 1]


def test_what_is_called_by_a_name_is_told_with_it() -> None:
    text = f"{WEATHER} Each pause is twice as long. This doubling is called backoff. {WEATHER}"
    (quote,) = pick_texts(passage(text), question="What is backoff?")
    assert quote.startswith("Each pause is twice as long. This doubling is called backoff.")


def test_speech_with_few_full_stops_is_lost_to_no_answer() -> None:
    text = (
        "There is nobody here. He has fun. Okay so today we have Ada Lovelace she's a mathematician"
        " at large working mostly on engines she's been there for three years and before she was a"
        " student so why don't we give a round of applause to the speaker if we have time"
    )
    (quote,) = pick_texts(passage(text), question="Who is Ada Lovelace?")
    assert quote.startswith("Okay so today we have Ada Lovelace she's a mathematician")


def test_what_is_too_long_for_a_sentence_is_cited_in_parts() -> None:
    speech = "and then it goes on with something else that was said there " * 14
    text = f"{WEATHER * 4} so entropy measures the disorder of a gas {speech}"
    (quote, *_) = pick_texts(passage(text))
    assert "entropy measures" in quote


def test_an_excerpt_goes_on_where_its_passage_ends() -> None:
    text = (
        "Much was said before. Entropy measures three things. Disorder is the first. "
        "Ignorance is the second.\n\nLunch was served."
    )
    cut = passage(text[:52])
    assert pick_texts(cut) == ["Entropy measures three things."]
    assert pick_texts(cut, read=lambda _: (0, text)) == [text[22:100]]


def test_an_excerpt_has_three_sentences_at_most_of_which_one_answers() -> None:
    text = (
        "It was a long day. Entropy measures the disorder. It grows. It never falls. It is large."
    )
    (pick,) = extract_part(passage(text)).picks
    assert pick.text == "Entropy measures the disorder. It grows. It never falls."
    assert pick.answer == "Entropy measures the disorder."
    (alone,) = extract_part(passage("Entropy measures the disorder.")).picks
    assert alone.answer == ""


def test_an_excerpt_ends_with_its_paragraph() -> None:
    text = "Entropy measures the disorder.\n\nThe next speaker was late. Nobody minded."
    assert pick_texts(passage(text))[0] == "Entropy measures the disorder."


def spoken(text: str) -> Evidence:
    """Make a passage of a recording."""
    written = passage(text)
    return replace(written, locator=replace(written.locator, start=0, end=60_000))


def test_an_excerpt_ends_where_somebody_else_goes_on_unless_that_answers() -> None:
    turn = "Ann Lee: Entropy measures the disorder in a gas."
    text = f"Bob: Hello. {turn} Bob: Another thing that I was wondering about. {WEATHER}"
    assert pick_texts(spoken(text))[0] == turn
    text = f"{turn} Bob: Another thing that I was wondering about. {WEATHER}"  # each named once
    assert pick_texts(spoken(text))[0] == turn
    text = f"Bob: Hello. {turn} But why is that so? Bob: Because gases mix. {WEATHER}"
    assert pick_texts(spoken(text))[0] == f"{turn} But why is that so? Bob: Because gases mix."


def test_in_a_document_no_word_before_a_colon_ends_an_excerpt() -> None:
    text = "Example: Entropy measures the disorder in a gas. Note: It grows. Note: It never falls."
    assert pick_texts(passage(text))[0] == text


def test_a_colon_behind_other_words_than_a_name_ends_no_excerpt() -> None:
    text = "Entropy measures the disorder. In other words: it counts states. Note: it grows."
    assert pick_texts(passage(f"{text}\n\nIn other words: no. {WEATHER}"))[0] == text


def test_an_excerpt_does_not_end_with_a_question() -> None:
    text = "Entropy measures the disorder. Why? Because gases mix. But what is a gas?"
    assert pick_texts(passage(text))[0] == "Entropy measures the disorder. Why? Because gases mix."


def test_where_the_text_was_changed_the_sentence_stands_alone() -> None:
    text = "Entropy measures the disorder. Nobody knows why."
    assert pick_texts(passage(text), read=lambda _: (0, f"Now {text}")) == [
        "Entropy measures the disorder."
    ]


def test_two_excerpts_share_no_sentence() -> None:
    text = (
        "Entropy measures disorder in gases. Engineers measure entropy in turbines, too. "
        "Entropy is measured by nobody in a library."
    )
    picks = extract_part(passage(text)).picks
    assert all(
        pick.span[1] <= other.span[0] or other.span[1] <= pick.span[0]
        for pick in picks
        for other in picks
        if pick is not other
    )


@given(st.text(alphabet="ab. \n?So", max_size=900), st.integers(0, 400), st.integers(1, 400))
def test_an_excerpt_stands_in_the_source_word_for_word_and_is_short(
    text: str, start: int, length: int
) -> None:
    own = text[start : start + length]
    if own:
        for pick in extract_part(passage(own, start=start), read=lambda _: (0, text)).picks:
            assert text[slice(*pick.span)] == pick.text
            assert len(pick.text) <= MAX_EXCERPT or own.find(pick.text) >= 0


def test_a_question_behind_an_excerpt_comes_with_its_long_answer() -> None:
    answer = f"It means {'that one sends it again, ' * 14}and pays more."
    text = f"This thing is called entropy. What does it mean? What is entropy? {answer}"
    (first, *_) = pick_texts(passage(text), question="What is entropy?")
    assert first.endswith("and pays more.")
