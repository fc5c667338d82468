from collections.abc import Callable, Sequence
from importlib import import_module
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.providers import keywords, registry
from citations.providers.embedding import Embedder, HashEmbedder, Vectors
from citations.providers.keywords import Extractor

WINDOWS = (
    "Gradient descent follows the slope of the loss function downhill. If the learning rate is"
    " too large, the weights jump over the minimum. "
    "So we make the steps smaller as the training goes on.",
    "The mitochondria make most of the energy of a cell. They have their own DNA, which is"
    " inherited from the mother. Oxygen is used up on the way.",
    "A hash table looks a key up in constant time. When two keys fall into the same bucket we"
    " have a collision, and a linked list keeps both of them.",
)


class Counting(HashEmbedder):
    """Counts what it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return super().embed_documents(texts)


@pytest.fixture(scope="module")
def reference() -> Any:
    """KeyBERT itself, imported for the tests that need it alone: it loads torch."""
    return import_module("citations.providers.keybert_reference")


@pytest.fixture
def oracle(reference: Any) -> Callable[[Embedder, str], list[str]]:
    """KeyBERT's keywords of a text."""

    def keywords_of(model: Embedder, text: str) -> list[str]:
        pairs = reference.KeyBERT(model=reference.KeyBertBackend(model)).extract_keywords(
            text,
            keyphrase_ngram_range=(1, 2),
            stop_words="english",
            use_mmr=True,
            diversity=0.5,
            top_n=5,
        )
        return [term for term, _ in pairs]

    return keywords_of


def test_keywords_are_nearly_those_of_keybert(oracle: Any):
    model = registry.embedder("local")
    extractor = Extractor(model)
    extractor.warm(WINDOWS)

    shared = [len(set(extractor.extract(text)) & set(oracle(model, text))) for text in WINDOWS]

    assert sum(shared) >= 12  # of 15


def test_keywords_are_exactly_those_of_keybert_when_every_pair_is_looked_at(
    oracle: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(keywords, "NEAREST", 1_000)
    model = HashEmbedder()

    for text in WINDOWS:
        assert Extractor(model).extract(text) == oracle(model, text)


def test_a_vector_that_is_there_already_is_not_made_again_and_no_word_twice():
    model = Counting()
    extractor = Extractor(model)
    about = HashEmbedder().embed_query(WINDOWS[0])

    first = extractor.extract(WINDOWS[0], vector=about)
    made = len(model.embedded)
    second = extractor.extract(WINDOWS[0], vector=about)

    assert first == second == extractor.extract(WINDOWS[0])
    assert WINDOWS[0] not in model.embedded
    assert len(model.embedded) == made == len(set(model.embedded))


def test_words_of_texts_that_were_learnt_are_there():
    model = Counting()
    extractor = Extractor(model)

    extractor.warm(WINDOWS)
    known = set(model.embedded)
    extractor.extract(WINDOWS[1])

    assert {"mitochondria", "energy"} <= known
    assert all(" " in term for term in model.embedded[len(known) :])


def test_stop_words_of_the_language_are_no_keywords():
    german = Extractor(HashEmbedder()).extract(
        "Die Ableitung ist die Steigung der Tangente.", language="de"
    )
    assert not set(" ".join(german).split()) & {"die", "ist", "der"}


@pytest.mark.parametrize(
    "text", ["", "   ", "a b c", "the and of it", "!!! ???", "\udcff", "x" * 5_000]
)
def test_what_has_no_words_has_no_keywords(text):
    assert Extractor(HashEmbedder()).extract(text) == []


def test_a_word_or_two_are_enough_and_no_more_are_given_than_wanted():
    extractor = Extractor(HashEmbedder())

    assert extractor.extract("Entropy.") == ["entropy"]
    assert set(extractor.extract("Entropy grows.")) == {"entropy", "grows", "entropy grows"}
    assert len(extractor.extract(WINDOWS[0], count=2)) == 2
    assert extractor.extract(WINDOWS[0], count=0) == []


@given(st.text(max_size=300), st.integers(1, 8))
def test_keywords_are_words_of_the_text_and_none_is_given_twice(text, count):
    keywords = Extractor(HashEmbedder(dimensions=8)).extract(text, count=count)

    assert len(keywords) == len(set(keywords)) <= count
    assert all(word in text.lower() for term in keywords for word in term.split())


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keywords, "WORDS_KEPT", 10)
    extractor = Extractor(model := Counting())

    for number in range(30):
        extractor.extract(f"word{number} thing{number}")

    before = len(model.embedded)
    extractor.extract("word29 thing29", vector=np.ones(64, dtype=np.float32) / 8)
    assert len(model.embedded) == before
    extractor.extract("word0 thing0")
    assert {"word0", "thing0"} <= set(model.embedded[before:])


def test_several_threads_find_the_same():
    extractor = Extractor(HashEmbedder())
    results: list[list[list[str]]] = []
    threads = [
        Thread(target=lambda: results.append([extractor.extract(text) for text in WINDOWS]))
        for _ in range(4)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (
        [sorted(terms) for terms in results[0]]
        == [sorted(terms) for terms in results[1]]
        == [sorted(terms) for terms in results[3]]
    )


# The library itself


def test_the_library_itself_is_asked_where_it_is_chosen(
    fake_models: None, settings: Any, reference: Any, oracle: Any
):
    assert isinstance(registry.keywords(), Extractor)
    settings.LIVE_KEYWORDS = "keybert"
    chosen = registry.keywords()
    assert isinstance(chosen, reference.KeyBertKeywords)
    assert chosen is registry.keywords()
    model = HashEmbedder()
    for text in WINDOWS:
        assert (
            chosen.extract(text)
            == chosen.extract(text, vector=model.embed_query(text))
            == oracle(model, text)
        )
    settings.LIVE_KEYWORDS = "none"
    assert registry.keywords() is None


def test_the_library_s_keywords_keep_to_language_count_and_length(reference: Any):
    exact = reference.KeyBertKeywords(model := Counting())
    german = exact.extract("Die Ableitung ist die Steigung der Tangente.", language="de")
    assert german
    assert not set(" ".join(german).split()) & {"die", "ist", "der"}
    assert len(exact.extract(WINDOWS[0], count=2)) == 2
    assert (
        exact.extract(WINDOWS[0], count=0)
        == exact.extract("")
        == exact.extract("the and of it")
        == exact.extract("\udcff")
        == []
    )
    model.embedded.clear()
    exact.extract(" ".join(f"word{number}" for number in range(5_000)))
    assert len(model.embedded) <= 2 * keywords.MAX_WORDS + 1
