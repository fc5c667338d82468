"""Embedding models behind an API, against the stand-in over real HTTP."""

import numpy as np
import pytest

from citations import conf
from citations.errors import InvalidProvider, ModelMissing, ModelRefused, ModelServerError
from citations.providers import embedding_services, registry
from citations.providers.embedding_services import HostedEmbedder
from citations.providers.text_requests import RequestLimits
from tests.model_standin import Fault, ModelStandIn

USUAL = [
    ("voyage", "voyage-3-large", 1024),
    ("openai", "text-embedding-3-large", 3072),
    ("ollama", "mxbai-embed-large", 1024),
]
PROVIDERS = [provider for provider, _, _ in USUAL]
TEXTS = ["the cat sat on the mat", "a dog in the park", "stock markets fell on Monday"]
GARBLED = {
    Fault.COUNT: "gave 2 vectors for 3 texts",
    Fault.LENGTH: "gives vectors of 7 numbers, not 8",
}


@pytest.fixture
def embedder(model_server: ModelStandIn) -> HostedEmbedder:
    return embedding_services.embedder("openai", "tiny", 8)


@pytest.mark.parametrize(("provider", "model", "dimensions"), USUAL)
def test_each_provider_has_its_usual_model(
    model_server: ModelStandIn, provider: str, model: str, dimensions: int
) -> None:
    embedder = embedding_services.embedder(provider)
    assert (embedder.provider, embedder.model, embedder.dimensions) == (provider, model, dimensions)
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.shape == (3, dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert model_server.requests[0].body["model"] == model


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_text_gets_its_own_vector(model_server: ModelStandIn, provider: str) -> None:
    embedder = embedding_services.embedder(provider)
    together = embedder.embed_documents(TEXTS)
    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
    assert np.array_equal(together, alone)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_query_is_near_the_text_that_answers_it(
    model_server: ModelStandIn, provider: str
) -> None:
    embedder = embedding_services.embedder(provider)
    assert (
        np.argmax(
            embedder.embed_documents(TEXTS) @ embedder.embed_query("where did the cat sit on a mat")
        )
        == 0
    )


def test_voyage_is_told_which_are_queries(model_server: ModelStandIn) -> None:
    embedder = embedding_services.embedder("voyage")
    embedder.embed_documents(["a"])
    embedder.embed_query("b")
    kinds = [
        (request.body["input_type"], request.body["output_dtype"])
        for request in model_server.requests
    ]
    assert kinds == [("document", "float"), ("query", "float")]


def test_ollama_gets_the_instruction_of_its_model_before_queries_only(
    model_server: ModelStandIn,
) -> None:
    embedder = embedding_services.embedder("ollama")
    embedder.embed_documents(["a word"])
    embedder.embed_query("a word")
    expected = [["a word"], ["Represent this sentence for searching relevant passages: a word"]]
    assert [request.body["input"] for request in model_server.requests] == expected


def test_a_model_may_have_an_instruction_for_both(model_server: ModelStandIn) -> None:
    embedder = embedding_services.embedder("ollama", "nomic-embed-text:latest")
    embedder.embed_documents(["a word"])
    embedder.embed_query("a word")
    expected = [["search_document: a word"], ["search_query: a word"]]
    assert [request.body["input"] for request in model_server.requests] == expected


@pytest.mark.parametrize(
    ("provider", "name"),
    [("openai", "dimensions"), ("voyage", "output_dimension"), ("ollama", "dimensions")],
)
def test_other_dimensions_than_the_usual_are_asked_for(
    model_server: ModelStandIn, provider: str, name: str
) -> None:
    assert embedding_services.embedder(provider, "", 256).embed_query("a").shape == (256,)
    embedding_services.embedder(provider).embed_query("a")
    assert [request.body.get(name) for request in model_server.requests] == [256, None]


def test_an_unknown_model_needs_its_dimensions() -> None:
    with pytest.raises(
        InvalidProvider, match="The length of the vectors of my-model is not known"
    ) as raised:
        embedding_services.identity("ollama", "my-model")
    assert "EMBEDDING_DIMENSIONS" in raised.value.hint
    assert embedding_services.identity("ollama", "my-model", 77) == ("my-model", 77)


@pytest.mark.parametrize(
    ("model", "identity"),
    [
        ("", ("mxbai-embed-large", 1024)),
        ("mxbai-embed-large:latest", ("mxbai-embed-large", 1024)),
        ("mxbai-embed-large:335m", ("mxbai-embed-large:335m", 1024)),
    ],
)
def test_a_tag_does_not_make_a_model_unknown(model: str, identity: tuple[str, int]) -> None:
    assert embedding_services.identity("ollama", model) == identity


def test_the_usual_service_needs_a_key(settings) -> None:
    settings.VOYAGE_BASE_URL, settings.VOYAGE_API_KEY = "https://api.voyageai.com/v1", ""
    with pytest.raises(InvalidProvider, match="VOYAGE_API_KEY is empty"):
        embedding_services.embedder("voyage")


def test_a_server_of_ones_own_may_do_without_a_key(model_server: ModelStandIn, settings) -> None:
    settings.OPENAI_API_KEY = model_server.key = ""
    embedding_services.embedder("openai").embed_query("a")
    assert "Authorization" not in model_server.requests[0].headers


def test_many_texts_go_in_batches(model_server: ModelStandIn) -> None:
    vectors = embedding_services.embedder("ollama", "tiny", 8).embed_documents(
        [f"word {number}" for number in range(40)]
    )
    assert vectors.shape == (40, 8)
    assert [len(request.body["input"]) for request in model_server.requests] == [16, 16, 8]


def test_requests_keep_the_limits_and_the_order(
    embedder: HostedEmbedder, model_server: ModelStandIn
) -> None:
    texts = ["é" * 30, "a" * 50, "b" * 60, "c" * 10, "d", "e", "f"]
    embedder._requests.limits = RequestLimits(texts=3, together=100, each=100)
    embedder.embed_documents(texts)
    batches = [request.body["input"] for request in model_server.requests]
    assert [text for batch in batches for text in batch] == texts
    assert all(
        len(batch) <= 3 and sum(len(text.encode()) for text in batch) <= 100 for batch in batches
    )
    assert len(batches) == 4


def test_no_texts_are_not_asked_about(model_server: ModelStandIn) -> None:
    assert embedding_services.embedder("openai").embed_documents([]).shape == (0, 3072)
    assert model_server.requests == []


def test_a_text_beyond_the_model_is_cut(
    embedder: HostedEmbedder, model_server: ModelStandIn
) -> None:
    embedder.embed_documents(["é" * 20_000])
    assert model_server.requests[0].body["input"] == ["é" * 16_000]


@pytest.mark.parametrize("text", ["", "  ", "\x00\x01", "\ud800"])
def test_a_text_of_nothing_is_embedded_as_a_point(
    embedder: HostedEmbedder, model_server: ModelStandIn, text: str
) -> None:
    assert embedder.embed_query(text).shape == (8,)
    assert model_server.requests[0].body["input"] == ["."]


def test_what_ollama_does_not_cut_is_cut_for_it(model_server: ModelStandIn) -> None:
    model_server.longest = 60
    embedder = embedding_services.embedder("ollama", "tiny", 8)
    vectors = embedder.embed_documents(["short", "x" * 200])
    assert np.array_equal(vectors[0], embedder.embed_documents(["short"])[0])
    assert np.array_equal(vectors[1], embedder.embed_documents(["x" * 50])[0])
    assert vectors.cut == {1}


def test_queries_are_remembered(embedder: HostedEmbedder, model_server: ModelStandIn) -> None:
    first = embedder.embed_query("the same")
    assert embedder.embed_query("the same") is first
    assert len(model_server.requests) == 1
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 5


def test_a_failure_is_not_remembered(embedder: HostedEmbedder, model_server: ModelStandIn) -> None:
    model_server.fail(Fault.REFUSED)
    with pytest.raises(ModelRefused):
        embedder.embed_query("a")
    assert embedder.embed_query("a").shape == (8,)


def test_a_search_is_not_kept_waiting_as_long_as_an_ingest(
    embedder: HostedEmbedder, model_server: ModelStandIn
) -> None:
    model_server.fail(*[Fault.FAILING] * 3)
    with pytest.raises(ModelServerError):
        embedder.embed_query("a")
    assert len(model_server.requests) == 3
    model_server.fail(*[Fault.FAILING] * 4)
    assert embedder.embed_documents(["a"]).shape == (1, 8)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("fault", "message"), GARBLED.items())
def test_vectors_are_checked(
    model_server: ModelStandIn, provider: str, fault: Fault, message: str
) -> None:
    model_server.fail(*[fault] * 3)
    with pytest.raises(ModelServerError, match=message):
        embedding_services.embedder(provider, "tiny", 8).embed_documents(TEXTS)
    assert len(model_server.requests) <= 2


@pytest.mark.parametrize("provider", ["voyage", "openai"])
def test_vectors_have_to_say_whose_they_are(model_server: ModelStandIn, provider: str) -> None:
    embedder = embedding_services.embedder(provider, "tiny", 8)
    right = embedder.embed_documents(TEXTS)
    model_server.fail(Fault.INDEXES)
    assert np.array_equal(embedder.embed_documents(TEXTS), right)
    assert len(model_server.requests) > 3  # smaller ones, until no vector is in doubt


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", [Fault.OTHER, Fault.DEEP, Fault.BROKEN, Fault.CUT])
def test_an_answer_that_is_none_is_told(
    model_server: ModelStandIn, provider: str, fault: Fault
) -> None:
    model_server.fail(*[fault] * 5)
    with pytest.raises(ModelServerError):
        embedding_services.embedder(provider, "tiny", 8).embed_documents(TEXTS)
    assert len(model_server.requests) == 5


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_fails_is_tried_again_and_told(
    model_server: ModelStandIn, provider: str
) -> None:
    model_server.fail(*[Fault.FAILING] * 6)
    with pytest.raises(ModelServerError, match="has a problem"):
        embedding_services.embedder(provider, "tiny", 8).embed_documents(TEXTS)
    assert len(model_server.requests) == 6, "the last one asks whether it takes any text"


@pytest.mark.parametrize("fault", [Fault.NAN, Fault.ZERO])
def test_a_vector_without_direction_is_left_out(
    embedder: HostedEmbedder, model_server: ModelStandIn, fault: Fault
) -> None:
    model_server.fail(fault)
    vectors = embedder.embed_documents(TEXTS)
    assert (vectors.shape, list(vectors.faults)) == ((2, 8), [0])


def test_a_model_that_was_not_pulled_is_told_with_the_command(model_server: ModelStandIn) -> None:
    with pytest.raises(ModelMissing, match="Ollama does not have the model bge-m3") as raised:
        embedding_services.embedder("ollama", "bge-m3").embed_query("a")
    assert raised.value.hint == "`ollama pull bge-m3` gets it."


def test_another_server_is_not_taken_for_an_ollama_without_the_model(
    model_server: ModelStandIn, settings
) -> None:
    settings.OLLAMA_BASE_URL += "/v1"
    with pytest.raises(ModelRefused, match="Ollama is not what answers") as raised:
        embedding_services.embedder("ollama").embed_query("a")
    assert "OLLAMA_BASE_URL" in raised.value.hint


def test_what_ollama_has_is_listed(model_server: ModelStandIn) -> None:
    assert embedding_services.ollama_models()["mxbai-embed-large"] == 669_615_493


def test_an_embedder_names_itself(embedder: HostedEmbedder) -> None:
    assert repr(embedder) == "<openai:tiny>"


@pytest.mark.parametrize(("provider", "model", "dimensions"), USUAL)
def test_the_settings_lead_to_it(
    model_server: ModelStandIn, settings, provider: str, model: str, dimensions: int
) -> None:
    settings.EMBEDDING_PROVIDER = provider
    assert registry.identity(conf.embedding()) == (provider, model, dimensions)
    assert model_server.requests == []
    assert registry.configured_embedder().embed_query("a").shape == (dimensions,)
    assert registry.configured_embedder() is registry.embedder(provider)


def test_an_identity_needs_no_key(settings) -> None:
    settings.EMBEDDING_PROVIDER, settings.VOYAGE_API_KEY = "voyage", ""
    assert registry.identity(conf.embedding()) == ("voyage", "voyage-3-large", 1024)


def test_no_server_is_asked_only_to_be_warm(model_server: ModelStandIn, settings) -> None:
    settings.EMBEDDING_PROVIDER = "voyage"
    registry.warm()
    assert model_server.requests == []
