"""Stems: one for all forms of a word, in every language and thread."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transcripts.text.stemming import ALGORITHMS, primary_language, stem, stems
from transcripts.text.tokenizer import tokenize


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("en", "connect connected connection connections"),
        ("de", "netz netze netzes"),
        ("fr", "apprentissage apprentissages"),
        ("es", "red redes"),
        ("pt-BR", "rede redes"),
        ("it", "rete reti"),
        ("nl", "netwerk netwerken"),
        ("ru", "сеть сети сетью"),
        ("ar", "كتاب الكتاب"),
        ("nb_NO", "nettverk nettverket"),
    ],
)
def test_forms_of_a_word_have_one_stem(language: str, forms: str) -> None:
    assert len({*stems(tokenize(forms), language)}) == 1


@pytest.mark.parametrize(
    ("language", "word"),
    [("ru", "networks"), ("en", "сети"), ("zh", "networks"), ("uk", "мережі"), ("de", "404")]
    + [("en", "猫が"), ("tlh", "networks")],
)
def test_words_that_no_stemmer_of_the_language_is_for_stay(language: str, word: str) -> None:
    assert stem(word, language) == word


def test_an_unknown_language_is_taken_for_english() -> None:
    assert stem("networks", "") == stem("networks", "en-GB") == "network"


def test_a_language_is_found_in_its_tag() -> None:
    assert [primary_language(tag) for tag in ("pt-BR", "zh_CN", "nn", "EN")] == [
        *("pt", "zh", "no", "en")
    ]


@given(st.text(max_size=60), st.sampled_from([*ALGORITHMS]))
def test_any_word_has_a_stem(text: str, language: str) -> None:
    assert all(stems(tokenize(text), language))


def test_threads_get_the_same_stems() -> None:
    words = [f"{letter}connections{number}ing" for letter in "abcdef" for number in range(300)]
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda _: stems(words, "en"), range(4)))
    assert results == [stems(words, "en")] * 4
