"""A passage's text is read once: its words, their stems and places, its sentences."""

import pytest

from citations.text.passage_text import read
from transcripts.text.tokenizer import matched_spans, tokenize


@pytest.mark.parametrize(
    ("text", "words", "language", "sentence"),
    [
        (
            "It is what it is for all of us. Engines are heated. It was there, and so it was.",
            "so what is it that heats an engine",
            "en",
            "Engines are heated.",
        ),
        (
            "Erst das Bild. Die Netze lernen es. Dann nichts.",
            "ein Netz lernt",
            "de",
            "Die Netze lernen es.",
        ),
        ("Nothing of it. Nor of that.", "photosynthesis", "", "Nothing of it."),
        ("", "anything", "", ""),
    ],
)
def test_the_nearest_sentence_has_most_of_the_words_in_any_form_not_the_most_common_ones(
    text: str, words: str, language: str, sentence: str
) -> None:
    start, stop = read(text, language).nearest_sentence(
        words, stops={"what", "is", "it", "that", "so", "an", "for", "all", "us"}
    )
    assert text[start:stop] == sentence


def test_a_character_of_a_script_without_blanks_is_found_in_its_sentence() -> None:
    text = "我喜欢狗。我有白猫和黑猫。"
    start, stop = read(text, "zh").nearest_sentence("猫")
    assert text[start:stop] == "我有白猫和黑猫。"


@pytest.mark.parametrize(
    ("text", "query", "language"),
    [("Networks connect. A network’s node", "network", "en"), ("Die Straße", "strasse", "de")],
)
def test_its_marks_are_those_of_its_text(text: str, query: str, language: str) -> None:
    passage = read(text, language)
    assert passage.marked(query) == matched_spans(text, query, language) != []
    assert passage.words == {*tokenize(text)}


def test_the_same_text_is_read_once_in_each_language() -> None:
    assert read("a passage", "en") is read("a passage", "en")
    assert read("notes", "en").stems != read("notes", "zh").stems
