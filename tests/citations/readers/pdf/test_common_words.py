"""What counts as read of what another program prints."""

import pytest

from tests.citations.readers.pdf.common_words import (
    AGREEING,
    BEST,
    by_reference,
    longest_common,
    shared,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Soft\u00adly, ﬁnd it", ["softly", "find", "it"]),
        ("漢字 and かな", ["漢", "字", "and", "か", "な"]),
    ],
)
def test_words_are_those_that_a_search_would_take(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_a_file_counts_by_the_reference_that_agrees_best() -> None:
    own = words_of("one two three four five six seven eight")
    whole, apart, none = (shared(own, words_of(text)) for text in (" ".join(own), "o n e " * 3, ""))
    few = shared(own, own[:2])
    files = [[whole, none], [none, apart], [few, apart], [none, none]]
    columns = by_reference(["a", "b"], files)
    assert {name: [shares.words for shares in rows] for name, rows in columns.items()} == {
        "`a`": [1],
        "`b`": [0, 0],
        BEST: [1, 0, 0],
        AGREEING: [1, 0],
    }


@pytest.mark.parametrize(
    ("own", "theirs", "length"),
    [("a b c d", "a c b d", 3), ("a b", "", 0), ("a a b", "b a a a", 2), ("c d a b", "a b c d", 2)],
)
def test_the_longest_words_in_the_same_order_are_found(own: str, theirs: str, length: int) -> None:
    assert longest_common(own.split(), theirs.split()) == length
