"""A passage's text: its words, stems and sentences are read once, and a snippet shows of it whole
words, 100 to 200 characters, where most of what is looked for stands.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.text.passage_text import MAX_LENGTH, MIN_LENGTH, read, snippet
from transcripts.text.terms import matched_spans
from transcripts.text.tokenizer import tokenize


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
    assert read("notes", "en").terms != read("notes", "zh").terms


FILLER = "This sentence says nothing of any use to anybody. "
WORDS = st.lists(
    st.sampled_from(
        [
            "entropy",
            "is",
            "a",
            "measure",
            "of",
            "disorder.",
            "Heat",
            "engines",
            "pay!",
            "…",
            "日本語。",
            "x" * 90,
        ]
    ),
    max_size=120,
)


def test_a_short_passage_is_shown_whole_on_one_line() -> None:
    assert snippet("Entropy\nis  disorder.") == "Entropy is disorder."
    assert snippet("") == ""


def test_it_begins_with_the_sentence_that_has_the_words_and_ends_with_one() -> None:
    text = (
        FILLER
        * 5
        + "Entropy is the disorder of a system, and in a closed one entropy never falls by"
        " itself, whatever you do. " + FILLER * 5
    )
    excerpt = snippet(text, "entropy disorder")
    assert excerpt.startswith("Entropy is the disorder")
    assert excerpt.endswith(".")


@pytest.mark.parametrize(
    ("filler", "sentence", "query", "language"),
    [
        ("هذه جملة لا تقول شيئا مهما؟ ", "الشبكات تتعلم من البيانات؟ ", "شبكة", "ar"),
        ("这句话没有说什么重要的事情。", "神经网络从数据中学习。", "神经网络", "zh"),
        ("Cette phrase ne dit rien. ", "Les réseaux apprennent. ", "réseau", "fr"),
    ],
)
def test_it_begins_with_a_sentence_that_has_a_form_of_the_word_in_its_language(
    filler: str, sentence: str, query: str, language: str
) -> None:
    excerpt = snippet(filler * 12 + sentence + filler * 24, query, language)
    assert excerpt.startswith(sentence.strip())


def test_without_words_it_is_the_beginning() -> None:
    text = FILLER * 9
    assert snippet(text, "photosynthesis") == (FILLER * 4).strip()


def test_words_deep_in_a_text_without_sentences_are_found() -> None:
    text = "and then we go on " * 40 + "until entropy is there " + "and then we go on " * 40
    assert "entropy" in snippet(text, "entropy")


def test_a_passage_without_blanks_is_cut() -> None:
    assert MIN_LENGTH <= len(snippet("熵" * 900, "熵")) <= MAX_LENGTH
    assert MIN_LENGTH <= len(snippet("x" * 900)) <= MAX_LENGTH


@given(WORDS, st.sampled_from(["", "entropy", "heat engines", "\ud800 x"]))
def test_it_is_always_a_piece_of_the_text_of_the_right_length_and_whole_words(
    parts: list[str], words: str
) -> None:
    line = " ".join(parts)
    excerpt = snippet(line, words)
    assert excerpt in line
    assert len(excerpt) <= MAX_LENGTH
    assert len(excerpt) >= MIN_LENGTH - 1 or len(line) <= MAX_LENGTH or len(excerpt) == len(line)
    place = f" {line} ".find(f" {excerpt} ")
    assert place >= 0 or not line


def test_it_survives_any_text() -> None:
    for text in ("\x00" * 500, "\ud800 " * 300, "a\u0301" * 400, " " * 500 + "a"):
        assert len(snippet(text, "a \ud800")) <= MAX_LENGTH
