"""Rerankers of servers score passages in time, in whatever form and scale, or not at all."""

import json
import threading
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from citations import conf
from citations.errors import InvalidProvider, ModelRefused, ModelServerError
from citations.providers import http, registry, reranking_services
from citations.providers.inventory import ModelEntry, configured_models, models_to_fetch
from citations.providers.reranking_services import RankingReply, ServedReranker
from tests.text_server import TextServer, ranked
from transcripts.core.errors import InvalidInput

QUERY = "why do rivers bend"
TEXTS = ["a recipe for bread", "why rivers bend so", "rivers in spring", "why do rivers bend"]
ORDER = [3, 1, 2, 0]


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[TextServer]:
    """A reranking server of one's own, which the settings name."""
    policy = http.HttpRetryPolicy(tries=3, first=0.001, pause=0.005, total=5.0)
    monkeypatch.setattr(http, "RETRY_POLICY", policy)
    registry.reset()
    with TextServer() as own:
        settings.RERANKER, settings.RERANKER_API_KEY = "own-reranker", "key-0123"
        settings.RERANKER_BASE_URL = f"{own.url}/v1"
        yield own


@pytest.fixture
def reranker(server: TextServer) -> ServedReranker:
    """The model of the settings."""
    model = registry.reranker()
    assert isinstance(model, ServedReranker)
    return model


def order(scores: list[float]) -> list[int]:
    """Return the numbers of texts, best first."""
    assert all(0 <= score <= 1 for score in scores)
    return sorted(range(len(scores)), key=lambda number: -scores[number])


def test_texts_are_sent_with_the_model_and_the_key(
    reranker: ServedReranker, server: TextServer
) -> None:
    assert order(reranker.score(QUERY, TEXTS)) == ORDER
    expected = {"model": "own-reranker", "query": QUERY, "documents": TEXTS}
    assert server.requests == [{**expected, "top_n": 4, "return_documents": False}]
    assert server.keys == ["Bearer key-0123"]
    assert reranker.score(QUERY, []) == []


FORMS: list[Callable[[Any], Any]] = [
    ranked,
    lambda scores: {"results": [{"index": n, "score": s} for n, s in enumerate(scores)]},
    lambda scores: {"data": ranked(scores)["results"], "object": "list", "model": "x"},
    lambda scores: [{"index": n, "score": s, "text": "…"} for n, s in enumerate(scores)],
    lambda scores: {"results": [{"index": str(n), "score": str(s)} for n, s in enumerate(scores)]},
    lambda scores: list(scores),
    lambda scores: {"scores": list(scores)},
    lambda scores: ranked([100 * score - 250 for score in scores]),
    lambda scores: ranked([score / 10 for score in scores]),
    lambda scores: ranked([-20 + 10 * score for score in scores]),
]


@pytest.mark.parametrize("form", FORMS)
def test_scores_of_any_form_and_scale_order_the_texts(
    reranker: ServedReranker, server: TextServer, form: Callable[[Any], Any]
) -> None:
    server.ranking = form
    assert order(reranker.score(QUERY, TEXTS)) == ORDER


def test_probabilities_are_kept_and_logits_become_some(
    reranker: ServedReranker, server: TextServer
) -> None:
    server.ranking = lambda scores: ranked([0.25, 0.5])
    assert reranker.score(QUERY, TEXTS[:2]) == [0.25, 0.5]
    server.ranking = lambda scores: ranked([-3.0, 0.0])
    assert reranker.score(QUERY, TEXTS[:2]) == pytest.approx([0.0474, 0.5], abs=1e-4)
    server.ranking = lambda scores: ranked([0.0, 0.5])  # which are logits, too
    assert reranker.score(QUERY, TEXTS[:2]) == pytest.approx([0.5, 0.6225], abs=1e-4)


def test_texts_that_get_no_score_come_last(
    reranker: ServedReranker, server: TextServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.ranking = lambda scores: {
        "results": [{"index": 3, "score": 0.9}, {"index": 1, "score": None}]
    }
    assert order(reranker.score(QUERY, TEXTS))[0] == 3
    assert "no score for 3 of 4 texts" in caplog.text


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ({"results": []}, "cannot be understood"),
        ({"results": "none"}, "cannot be understood"),
        ({"results": [{"index": 0, "score": 1}, {"index": 0, "score": 2}]}, "cannot be understood"),
        ({"results": [{"score": 1}]}, "cannot be understood"),
        ({"results": [{"index": 9, "score": 1}]}, "scored the text 9 of 4"),
        ({"results": [{"index": -1, "score": 1}]}, "scored the text -1 of 4"),
        ([{"index": 0, "score": "NaN"}], "no number"),
        (b"<html>", "cannot be understood"),
    ],
)
def test_what_gives_no_order_is_told(
    reranker: ServedReranker, server: TextServer, reply: Any, fault: str
) -> None:
    server.ranking = lambda scores: reply
    with pytest.raises(ModelServerError, match=fault):
        reranker.score(QUERY, TEXTS)


@pytest.mark.parametrize(
    ("status", "reply"),
    [
        (413, {"error": "batch size 12 > maximum allowed batch size 5", "type": "Validation"}),
        (422, {"detail": "too many documents"}),
        (400, b""),
    ],
)
def test_many_texts_go_in_requests_that_the_server_takes(
    reranker: ServedReranker, server: TextServer, status: int, reply: Any
) -> None:
    server.refuse = lambda body: (status, reply) if len(body["documents"]) > 5 else None
    assert order(reranker.score(QUERY, TEXTS * 3))[:3] == [3, 7, 11]
    server.requests.clear()
    reranker.score(QUERY, TEXTS * 3)
    assert max(server.sizes()) <= 5


@pytest.mark.parametrize("field", ["top_n", "return_documents"])
def test_fields_that_a_server_does_not_know_are_left_out(
    reranker: ServedReranker, server: TextServer, field: str
) -> None:
    server.refuse = lambda body: (400, {"error": f"unknown {field}"}) if field in body else None
    assert order(reranker.score(QUERY, TEXTS)) == ORDER


def test_a_server_may_call_them_texts(reranker: ServedReranker, server: TextServer) -> None:
    missing = (422, b"Failed to deserialize the JSON body: missing field `texts`")
    server.refuse = lambda body: None if "texts" in body else missing
    assert order(reranker.score(QUERY, TEXTS)) == ORDER
    server.requests.clear()
    reranker.score(QUERY, TEXTS)
    assert ["texts" in body for body in server.requests] == [True]


def test_a_text_beyond_the_model_is_cut(reranker: ServedReranker, server: TextServer) -> None:
    message = {"error": {"message": "input is too long: at most 512 tokens"}}
    server.refuse = lambda body: (
        (400, message) if any(len(text) > 2_000 for text in body["documents"]) else None
    )
    scores = reranker.score(QUERY, [*TEXTS, "why do rivers bend " * 300])
    assert order(scores)[0] in (3, 4)


def test_a_late_answer_delays_no_search_by_more_than_its_budget(
    reranker: ServedReranker, server: TextServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reranking_services, "RERANK_SECONDS", 0.2)
    server.delay = 5.0
    started = perf_counter()
    with pytest.raises(ModelServerError, match="took more than 0.2 seconds") as raised:
        reranker.score(QUERY, TEXTS)
    assert "RERANK_CANDIDATES" in raised.value.hint
    with pytest.raises(ModelServerError, match="too slow before"):
        reranker.score(QUERY, TEXTS)
    assert perf_counter() - started < 2
    assert len(server.requests) == 1


def test_searches_beyond_those_that_wait_do_without(
    reranker: ServedReranker, server: TextServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.delay = 0.5
    threads = [
        threading.Thread(target=reranker.score, args=(QUERY, TEXTS))
        for _ in range(reranking_services.AT_ONCE)
    ]
    for thread in threads:
        thread.start()
    with pytest.raises(ModelServerError, match="is busy"):
        reranker.score(QUERY, TEXTS)
    for thread in threads:
        thread.join()
    assert order(reranker.score(QUERY, TEXTS)) == ORDER


def test_a_refusal_is_told_in_the_servers_own_words(
    reranker: ServedReranker, server: TextServer
) -> None:
    server.refuse = lambda body: (401, {"error": {"message": "no"}})
    with pytest.raises(ModelRefused, match="did not accept the key") as raised:
        reranker.score(QUERY, TEXTS)
    assert "RERANKER_API_KEY" in raised.value.hint
    server.refuse = lambda body: (400, {"error": {"message": "No such model."}})
    with pytest.raises(ModelRefused, match="No such model"):
        reranker.score(QUERY, TEXTS)
    assert all(body["model"] == "own-reranker" for body in server.requests)


def test_an_error_that_comes_as_a_success_is_told(
    reranker: ServedReranker, server: TextServer
) -> None:
    server.ranking = lambda scores: {"error": {"message": "The model is loading."}}
    with pytest.raises(ModelServerError, match="The model is loading"):
        reranker.score(QUERY, TEXTS)


def test_lectures_have_it_where_they_name_the_same_model(
    reranker: ServedReranker, settings: Any
) -> None:
    settings.LIVE_RERANKER = "own-reranker"
    assert registry.live_reranker() is reranker
    settings.LIVE_RERANKER = "another/model"
    assert registry.live_reranker() is None


def test_no_server_is_asked_before_a_search(server: TextServer) -> None:
    registry.warm()
    uses = ("reranking",)
    assert ModelEntry(model="own-reranker", provider="server", uses=uses) in configured_models()
    with pytest.raises(InvalidInput):
        models_to_fetch(["reranker"])
    assert server.requests == []


@pytest.mark.parametrize("address", ["ftp://host", "http://user:pass@host", "nonsense"])
def test_an_invalid_address_is_told_and_searches_do_without(
    server: TextServer, settings: Any, address: str
) -> None:
    settings.RERANKER_BASE_URL = address
    assert registry.reranker() is None
    remote = conf.served_reranker()
    assert remote
    with pytest.raises(InvalidProvider, match="The address of own-reranker is not valid") as raised:
        ServedReranker("own-reranker", remote)
    assert "RERANKER_BASE_URL" in raised.value.hint


def test_the_whole_address_of_the_request_may_be_given(settings: Any) -> None:
    settings.RERANKER_BASE_URL = "https://rerank.example/v1/rerank/"
    remote = conf.served_reranker()
    assert remote
    assert remote.base_url == "https://rerank.example/v1"


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["results", "data", "scores", "index", "score"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_comes_is_scores_or_refused(value: Any) -> None:
    try:
        reply = RankingReply.model_validate_json(json.dumps(value))
    except ValidationError:
        return
    assert all(isinstance(index, int) for index in reply.scores)
