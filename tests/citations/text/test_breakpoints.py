from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import pytest

from citations.providers.word_vectors import HashedWordVectors
from citations.text import breakpoints
from citations.text.breakpoints import Ids, Vectors, distances

hashed = HashedWordVectors()


class Letters:
    """A word is a letter; each has a direction of its own."""

    def ids(self, texts: Sequence[str]) -> Iterator[Ids]:
        for text in texts:
            yield np.array([ord(letter) - 97 for letter in text if letter.isalpha()], np.int64)

    def rows(self, ids: Ids) -> Vectors:
        return np.eye(26, dtype=np.float32)[ids]


def test_the_subject_changes_most_where_the_words_do() -> None:
    topics = ["abc", "def", "ghi", "jkl"]
    sentences = [f"{topic[n % 3]} {topic[n % 2]}." for topic in topics for n in range(12)]
    (measured,) = distances([sentences], Letters())
    assert sorted(np.argsort(measured)[-3:]) == [11, 23, 35]


def test_words_that_all_sentences_have_tell_nothing() -> None:
    plain = [["a b.", "b c.", "c d.", "d e.", "e f.", "f a."] * 4]
    common = [[f"x y {sentence}" for sentence in section] for section in plain]
    (without,), (with_common,) = distances(plain, Letters()), distances(common, Letters())
    assert with_common == pytest.approx(without, abs=0.1)


def test_sentences_of_another_section_are_not_looked_at() -> None:
    first, second = ["a b.", "b c.", "c a."], ["d e.", "e f."]
    measured = [*distances([first, second], Letters())]
    assert [*map(len, measured)] == [2, 1]
    assert [*distances([first, ["d d."], second], Letters())][1] == []


@pytest.mark.parametrize("sections", [[], [[]], [["", " ", ""]], [["a.", "", "a."]]])
def test_where_no_word_tells_nothing_changes(sections: list[list[str]]) -> None:
    assert not any(chain.from_iterable(distances(sections, Letters())))


def test_distances_do_not_depend_on_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"step {n} of {n * 7 % 13} says {n % 5} and {n // 9}" for n in range(60)]
    sections = [texts[:40], texts[40:]]
    whole = [*distances(sections, hashed)]
    monkeypatch.setattr(breakpoints, "BATCH", 7)
    assert [*distances(sections, hashed)] == whole
