from importlib import import_module

import pytest

from citations.providers.languages import guess, is_in, probabilities, stop_words, telling_words


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The error of a network is carried back to its start.", "en"),
        ("THE ERROR OF A NETWORK IS\nCARRIED BACK TO ITS START.", "en-GB"),
        ("Der Fehler eines Netzes wird an seinen Anfang getragen.", "de-AT"),
        ("L'erreur est ramenée au début de la chaîne.", "fr"),
        ("Vi lærer nettverket å kjenne igjen bilder av katter.", "nb"),
        ("Błąd sieci jest przenoszony z powrotem na początek.", "pl"),
    ],
)
def test_a_text_is_in_its_language(text: str, language: str) -> None:
    assert is_in(text, language)
    assert not is_in(text, "fi")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Gradients!",
        "梯度下降",
        "\udcff",
        "Der Fehler eines Netzes wird in seinen Anfang getragen.",
    ],
)
def test_a_text_of_another_language_or_too_few_words_is_not_english(text: str) -> None:
    assert not is_in(text, "en")


ENGLISH = "The error of a network is carried back to where it started, step by step. " * 20
GERMAN = "Der Fehler eines Netzes wird Schritt für Schritt an seinen Anfang getragen. " * 20


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        (ENGLISH + GERMAN, ""),
        ("The error of a network is carried back to its start.", "en"),
        ("Mötet på måndag flyttas till den stora salen, och alla får kaffe.", "sv"),
        ("AB-1234-XZ 030 1234567 978-3-16-148410-0 x 12", ""),
        ("Der Fehler", ""),
        ("\udcff0 1 2 " * 100, ""),
        ("", ""),
    ],
)
def test_a_language_is_guessed_only_of_a_text_that_is_clearly_all_in_it(
    text: str, code: str
) -> None:
    assert guess(text) == code


def test_languages_come_in_the_order_of_their_probability() -> None:
    ranked = probabilities("Worum geht es in den Quellen?")
    assert next(iter(ranked)) == "de"
    assert list(ranked.values()) == sorted(ranked.values(), reverse=True)


def test_english_stop_words_are_those_that_keybert_uses() -> None:
    text = import_module("sklearn.feature_extraction.text")  # takes long; only this test needs it
    assert stop_words("en-GB") == stop_words("") == text.ENGLISH_STOP_WORDS


def test_stop_words_are_those_of_the_language() -> None:
    assert {"der", "und"} < stop_words("de-AT")
    assert {"außer", "ausser"} < stop_words("de")
    assert {"总的来说", "来说"} < stop_words("zh-CN")
    assert stop_words("pt_BR") == stop_words("pt")
    assert stop_words("nb") == stop_words("no") > {"ikke"}
    assert stop_words("tlh") == frozenset()


def test_auxiliary_verbs_tell_nothing_of_where_a_query_is_answered() -> None:
    assert telling_words("What does the tokenizer do?", "en") == "tokenizer"
    assert telling_words("Why did it?", "en") == "why did it"
