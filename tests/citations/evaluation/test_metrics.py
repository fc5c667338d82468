import importlib.util
import json
import random
from dataclasses import asdict
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.evaluation.gold import Gold, parse
from citations.evaluation.metrics import GoldLocation, Scores, compare, is_relevant, mean, score


@pytest.mark.parametrize(
    ("start", "end", "relevant"),
    [
        (10, 20, True),
        (12, 13, True),
        (0, 100, True),
        (5, 15, True),
        (5, 14.9, False),
        (0, 14, False),
        (20, 30, False),
        (19, 20.5, True),
        (12, 12, False),
    ],
)
def test_a_passage_answers_with_half_of_itself_or_half_of_the_range(start, end, relevant):
    gold = Gold(query="q", source="abc", ranges=((10, 20), (200, 300)))

    assert is_relevant(GoldLocation(source="abc", start=start, end=end), gold) is relevant
    assert not is_relevant(GoldLocation(source="other", start=start, end=end), gold)


@pytest.mark.parametrize(
    ("page", "last", "relevant"),
    [
        (3, 3, True),
        (3, None, True),
        (2, 3, True),
        (1, 3, False),
        (4, 9, True),
        (5, 9, False),
        (8, 8, False),
        (None, None, False),
    ],
)
def test_pages_count_as_wholes(page, last, relevant):
    assert (
        is_relevant(
            GoldLocation(source="abc", page=page, last_page=last),
            Gold(query="q", source="abc", pages=((3, 5),) if page != 5 else ((3, 4),)),
        )
        is relevant
    )


def test_a_place_without_times_answers_no_ranges():
    assert not is_relevant(
        GoldLocation(source="abc", page=3), Gold(query="q", source="abc", ranges=((0, 10),))
    )


def test_scores_of_a_ranking():
    scores = score([False, True, False, True], 3)

    assert scores.ndcg10 == pytest.approx((0.63093 + 0.43068) / (1 + 0.63093 + 0.5), abs=1e-4)
    assert (scores.hit1, scores.hit5, scores.mrr10) == (0.0, 1.0, 0.5)
    assert scores.recall5 == scores.recall10 == pytest.approx(2 / 3)
    assert score([True] * 3, 3) == Scores(1, 1, 1, 1, 1, 1)
    assert score([], 3) == Scores(0, 0, 0, 0, 0, 0)
    with pytest.raises(ValueError, match="nothing is relevant"):
        score([True], 0)


def test_the_mean_weighs_every_query_alike():
    assert mean([Scores(1, 1, 1, 0, 1, 1), Scores(0, 0, 1, 0, 0.5, 0)]) == Scores(
        0.5, 0.5, 1, 0, 0.75, 0.5
    )
    assert mean([]) == Scores(0, 0, 0, 0, 0, 0)


def test_a_difference_is_a_loss_only_beyond_chance():
    before = [0.5 + 0.01 * (number % 7) for number in range(40)]

    worse = compare(
        before, [value - 0.1 - 0.01 * (number % 3) for number, value in enumerate(before)]
    )
    assert worse.is_loss
    assert worse.low <= worse.mean <= worse.high < 0
    assert not compare(
        before, [value + (0.2 if number % 2 else -0.21) for number, value in enumerate(before)]
    ).is_loss
    assert compare(before, before) == compare([], [])
    assert compare(before, list(reversed(before))) == compare(before, list(reversed(before)))


@pytest.fixture(scope="module")
def evalkit(real_data) -> ModuleType:
    spec = importlib.util.spec_from_file_location("evalkit", real_data / "tools" / "evalkit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_rule_and_the_scores_are_those_of_the_published_kit(evalkit, real_data):
    chance = random.Random(7)
    text = (real_data / "dev" / "gold" / "bitcoin_headings.jsonl").read_text()
    rows = [json.loads(written) for written in text.splitlines()]
    for gold, row in zip(parse(text).lines, rows, strict=True):
        for _ in range(20):
            start = max(0.0, row["gold"][0][0] + chance.uniform(-100, 100))
            end = start + chance.choice([0, 5, 30, 60, 300])
            video = chance.choice([row["video"], row["video"], "other"])
            assert is_relevant(
                GoldLocation(source=video, start=start, end=end), gold
            ) == evalkit.relevant((video, start, end), row)


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 40))
def test_scores_lie_between_none_and_all(relevances, more):
    scores = score(relevances, sum(relevances) + more)

    assert all(0 <= value <= 1 for value in asdict(scores).values())
    assert scores.recall5 <= scores.recall10 < 1
    assert scores.hit1 <= scores.mrr10 <= scores.ndcg10 * 10
    assert (scores.mrr10 > 0) == any(relevances[:10])


def test_scores_agree_with_the_published_kit(evalkit):
    chance = random.Random(3)
    for _ in range(300):
        relevances = [chance.random() < 0.2 for _ in range(chance.randrange(1, 30))]
        relevant = sum(relevances) + chance.randrange(1, 5)
        theirs = evalkit.score(relevances, relevant)
        for name, value in asdict(score(relevances, relevant)).items():
            assert value == pytest.approx(theirs[name])
