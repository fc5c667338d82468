"""Why a passage is a hit, as bars."""

from dataclasses import replace

import pytest

from citations.passages import Explanation, SignShare, TermScore
from citations.search import judge
from citations.search.judge import Relevance
from citations.templatetags.explanations import bars, reason
from tests.citations.search.test_signs import make_table


def names_of_bars(relevance: Relevance) -> list[str]:
    return [bar.name for bar in bars(Explanation(signs=relevance.shares))]


def test_a_passage_judged_by_meaning_has_bars_of_words_meaning_and_source() -> None:
    first, *_ = judge.trained("").judge(make_table(), model="")
    names = ["Words", "Meaning", "Meaning of the surrounding text", "The source as a whole"]
    assert names_of_bars(first) == names


@pytest.mark.parametrize(("value", "percent"), [(-1.0, 0), (0.5, 50), (7.0, 100)])
def test_bars_stay_within_0_and_100(value: float, percent: int) -> None:
    (bar,) = bars(Explanation(signs=(SignShare("words", value, 0.1),)))
    assert bar.percent == percent


def test_the_sentence_says_of_meaning_what_its_bar_shows() -> None:
    term = TermScore(term="steigung", frequency=1, idf=1.0, score=1.0)
    far = (SignShare("words", 1.0, 0.1), SignShare("closeness", 0.0, 0.0))
    near = (SignShare("words", 0.0, 0.0), SignShare("closeness", 0.9, 0.5))
    hit = Explanation(lexical_rank=1, vector_rank=26, cosine=0.407, terms=(term,), signs=far)
    assert [bar.percent for bar in bars(hit)] == [100, 0]
    assert reason(hit) == "It has the word “steigung”."
    other_words = replace(hit, lexical_rank=None, terms=())
    assert "nearer" in reason(other_words)
    assert "its meaning is near." in reason(replace(other_words, signs=near))
