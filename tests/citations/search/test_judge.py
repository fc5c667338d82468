"""The judge of relevance: one for each embedding model that it was trained with."""

from dataclasses import replace

import numpy as np
import pytest

from citations.providers.embedding import LOCAL
from citations.providers.weights import MINILM
from citations.search import judge
from citations.search.judge import CROSS_ENCODER, ReaderWeights, Relevance, TreeEnsemble
from citations.search.signs import SIGNS, SIZES, CandidateTable
from tests.citations.search.test_signs import make_table

RECOMMENDED = ("local", "e5-small")  # the built-in model, and the one for other languages
RELATED = {"local": 0.6, "e5-small": 0.88}  # a cosine of texts on the same subject
FOREIGN = {"local": 0.1, "e5-small": 0.77}  # one of texts that have nothing to do with each other


@pytest.mark.parametrize("provider", RECOMMENDED)
def test_each_recommended_embedding_model_has_a_judge_of_its_own(provider: str) -> None:
    model = LOCAL[provider].model
    assert judge.trained(model).model == model


@pytest.mark.parametrize("provider", RECOMMENDED)
@pytest.mark.parametrize("is_live", [False, True])
def test_a_judge_knows_the_scale_of_its_model_s_cosines(provider: str, is_live: bool) -> None:
    model = LOCAL[provider].model

    def likely(cosine: float, *, has_words: bool) -> list[bool]:
        table = make_table(
            has_word=np.full((3, 2), has_words),
            near_word=np.full((3, 2), has_words),
            cosine=np.full(3, cosine),
            neighbour_cosine=np.full((3, 2), cosine),
        )
        judged = judge.trained(model).judge(table, model=model, is_live=is_live)
        return [relevance.is_likely for relevance in judged]

    assert likely(RELATED[provider], has_words=True) == [True] * 3
    assert likely(FOREIGN[provider], has_words=False) == [False] * 3


def test_in_a_small_library_the_best_of_few_passages_may_be_less_near() -> None:
    def likelihood(chunks: int) -> float:
        table = make_table(cosine=np.full(3, 0.35), chunks=chunks)
        return judge.trained(MINILM).judge(table, model=MINILM)[0].likelihood or 0.0

    few, more, many, most = map(likelihood, (SIZES[0], 300, SIZES[1], 1_000_000))
    assert few > more > many == most
    assert likelihood(1) == few


def test_a_cross_encoder_takes_most_from_what_it_has_not_read_and_nothing_from_the_best() -> None:
    weights = ReaderWeights(closeness=0.2, rank=0.8)
    shares = weights.shares([0.5, 0.9, 0.1])
    assert shares[1] == 0
    assert 0 > shares[0] > shares[2] > weights.least == -1
    assert weights.shares([0.3])[0] == 0
    head = replace(judge.trained(MINILM).search, reader=weights)
    judged = judge.trained(MINILM).judge(make_table(), model=MINILM)
    read = head.read(judged, [0.2, 0.7])
    assert [own.signs[-1] for own in read] == [CROSS_ENCODER] * 3
    assert [own.values[-1] for own in read] == [0.2, 0.7, 0.0]
    assert read[1].order == judged[1].order
    assert [own.likelihood for own in read] == [own.likelihood for own in judged]


@pytest.mark.parametrize("model", ["BAAI/bge-m3", "words", "", "/a/folder/of/weights"])
def test_any_other_model_gets_an_order_and_no_likelihood(model: str) -> None:
    own = judge.trained(model)
    assert own.model == MINILM
    judged = own.judge(make_table(), model=model)
    assert [(verdict.likelihood, verdict.is_likely) for verdict in judged] == [(None, True)] * 3
    assert judged[0].order > judged[2].order


def test_a_folder_with_the_name_of_a_known_model_is_not_taken_for_it() -> None:
    folder = "/models/multilingual-e5-small"
    judged = judge.trained(folder).judge(make_table(), model=folder)
    assert {verdict.likelihood for verdict in judged} == {None}


def by_words(table: CandidateTable) -> list[Relevance]:
    judged = judge.trained("").judge(table, model="")
    again = judge.trained("").judge(table, model="", by_words=True)
    assert [verdict.order for verdict in again] == [verdict.order for verdict in judged]
    return again


def test_the_floor_of_words_reads_no_cosine() -> None:
    near = make_table(cosine=np.full(3, 0.9), neighbour_cosine=np.full((3, 2), 0.9))
    far = make_table(cosine=np.array([0.1, 0.0, 0.2]), neighbour_cosine=np.zeros((3, 2)))
    verdicts = [[verdict.likelihood for verdict in by_words(table)] for table in (near, far)]
    assert verdicts[0] == verdicts[1]


def test_the_floor_of_words_calls_unlikely_what_has_hardly_a_word_of_the_query() -> None:
    many, none = (np.full((3, 2), has_words) for has_words in (True, False))
    covered, bare = (
        by_words(make_table(has_word=words, near_word=words, bm25=scores))
        for words, scores in ((many, np.full(3, 4.0)), (none, np.full(3, 0.01)))
    )
    assert [verdict.is_likely for verdict in covered] == [True] * 3
    assert [verdict.is_likely for verdict in bare] == [False] * 3


# Trees

# One split on sign 1 at 0.5; below it another one on sign 0 at 2. The second tree is a leaf.
STORED = {
    "signs": SIGNS[:2],
    "roots": [0, 5],
    "sign": [1, 0, 0, 0, 0, 0],
    "threshold": [0.5, 2.0, 0, 0, 0, 0],
    "left": [1, 2, 2, 3, 4, 5],
    "right": [4, 3, 2, 3, 4, 5],
    "value": [0.1, 0.2, -1.0, 1.0, 3.0, 0.25],
    "depth": 2,
}
ROWS = np.array([[1.0, 0.5], [2.5, 0.0], [9.0, 0.6]])


def test_a_row_gets_the_sum_of_one_leaf_of_each_tree_shared_out_among_its_signs() -> None:
    trees = TreeEnsemble.from_json(STORED)
    shares = trees.shares(ROWS)
    assert (trees.base + shares.sum(axis=1)).tolist() == pytest.approx([-0.75, 1.25, 3.25])
    assert shares[2].tolist() == pytest.approx([0.0, 2.9]), "only sign 1 was looked at"


def test_no_rows_have_no_predictions() -> None:
    assert TreeEnsemble.from_json(STORED).shares(np.zeros((0, 2))).shape == (0, 2)
