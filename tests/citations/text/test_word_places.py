"""Words of a search in one sentence."""

from citations.text import occurrences, word_places

TEXT = "A slope is steep. The slope of a line, or its slope. A line ends."
TERMS = occurrences.split_terms("slope line")


def words_of(fewest: int) -> list[list[str]]:
    places = word_places.places(TEXT, TERMS, fewest=fewest)
    return [[TEXT[first:last] for first, last in place] for place in places]


def test_a_place_has_the_words_of_a_sentence_with_enough_of_them() -> None:
    assert words_of(2) == [["slope", "line", "slope"]]
    assert words_of(1) == [["slope"], ["slope"], ["line"], ["slope"], ["line"]]
    assert words_of(3) == []


def test_the_most_words_in_one_sentence_count() -> None:
    assert word_places.most_together(["A slope.", "A line.", TEXT], TERMS) == 2
    assert word_places.most_together(["A slope. A line."], TERMS) == 1
    assert word_places.most_together(["Nothing."], TERMS) == 0
