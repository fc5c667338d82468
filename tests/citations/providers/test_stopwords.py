"""Small words of languages."""

import pytest

from citations.providers.stopwords import seems


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The error of a network is carried back to its start.", "en"),
        ("The error of a network is carried back to its start.", ""),
        ("Der Fehler eines Netzes wird an seinen Anfang getragen.", "de-AT"),
        ("L'erreur est ramenée au début de la chaîne.", "fr"),
    ],
)
def test_a_text_seems_to_be_in_the_language_of_its_small_words(text: str, language: str) -> None:
    assert seems(text, language)
    assert not seems(text, "fi")


@pytest.mark.parametrize(
    "text",
    ["", "Gradients!", "梯度下降", "Der Fehler eines Netzes wird in seinen Anfang getragen."],
)
def test_what_has_no_small_words_of_it_or_more_of_another_language_does_not(text: str) -> None:
    assert not seems(text, "en")
