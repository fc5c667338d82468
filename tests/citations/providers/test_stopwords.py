from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from citations.providers.stopwords import stop_words


def test_english_stop_words_are_those_that_keybert_uses() -> None:
    assert stop_words("en-GB") == stop_words("") == ENGLISH_STOP_WORDS


def test_stop_words_are_those_of_the_language() -> None:
    assert {"der", "und"} < stop_words("de-AT")
    assert stop_words("pt_BR") == stop_words("pt")
    assert stop_words("nb") == stop_words("no") > {"ikke"}
    assert stop_words("tlh") == frozenset()
