"""Searching the library: from a question to passages."""

import math
import re
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from citations.errors import (
    EmbeddingMismatch,
    InvalidFilter,
    ModelMissing,
    ModelServerError,
    SourceNotFound,
)
from citations.lexical import index as lexical_index
from citations.library.filters import Filter
from citations.models import Chunk, EmbeddingSpace, Source, SpaceState, State
from citations.passages import Results, SearchMode
from citations.providers import registry, reranking_services
from citations.providers.prompts import Prompt
from citations.quotes import source_texts
from citations.search import candidates, judgments, query_expansion
from citations.search import pipeline as search_pipeline
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from citations.vectors.language_gap import LANGUAGE_NOTE
from tests.citations.talks import talk_in
from tests.citations.trusted_readers import trust_readers
from tests.makers import embed, make_document, make_source, make_user, make_video, replace_chunks
from tests.serving import until
from tests.text_server import TextServer
from transcripts.core import locks
from transcripts.core.errors import CollectionNotFound, EmptyQuery, InvalidInput, Unavailable
from transcripts.core.locks import Lock
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

TEXTS = (
    "Entropy is disorder.",
    "Enthalpy is the heat of a system.",
    "Entropy, and entropy again.",
    "A cat sat on the mat.",
)


@pytest.fixture
def document(collection: Collection) -> Source:
    """``TEXTS``, found by words."""
    return make_document(collection, TEXTS)


@pytest.fixture
def library(document: Source) -> EmbeddingSpace:
    """``TEXTS``, found by meaning, too."""
    return embed(document)


def by_words(scope: Scope, query: str, **options: Any) -> Results:
    return search_pipeline.search(scope, query, mode=SearchMode.WORDS, **options)


def texts(results: Results) -> list[str]:
    return [passage.text for passage in results.passages]


class Backwards:
    """A cross-encoder that likes the last candidate best."""

    name = "backwards"

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((query, list(texts)))
        return [(place + 1) / (len(texts) + 1) for place in range(len(texts))]


class Teller:
    """A language model that answers as it is told to."""

    name = "teller"

    def __init__(self, answer: Callable[[], str]) -> None:
        self.answer = answer
        self.prompts: list[str] = []

    def stream(self, prompt: Prompt, **_: Any) -> Generator[str, None, None]:
        self.prompts.append(prompt.text)
        yield self.answer()


def with_reranker(monkeypatch: pytest.MonkeyPatch, reranker: object) -> None:
    monkeypatch.setattr(registry, "reranker", lambda: reranker)


def with_llm(monkeypatch: pytest.MonkeyPatch, settings: Any, answer: Callable[[], str]) -> Teller:
    teller = Teller(answer)
    settings.LLM_PROVIDER = "openai"
    monkeypatch.setattr(registry, "llm", lambda: teller)
    query_expansion.pause.end()
    return teller


# What is found


def test_a_word_finds_the_passages_that_say_it(scope: Scope, document: Source) -> None:
    result = by_words(scope, "entropy")
    assert texts(result) == ["Entropy, and entropy again.", "Entropy is disorder."]
    assert result.mode == SearchMode.WORDS
    assert not result.notes


def test_a_search_by_meaning_finds_the_nearest_even_without_a_common_word(
    scope: Scope, library: EmbeddingSpace
) -> None:
    result = search_pipeline.search(scope, "a cat on a mat", mode=SearchMode.MEANING)
    assert len(result.passages) == len(TEXTS)
    assert result.passages[0].text == TEXTS[3]


def test_a_hybrid_search_is_ordered_by_the_judge_and_what_its_signs_add_makes_up_the_score(
    scope: Scope, library: EmbeddingSpace
) -> None:
    result = search_pipeline.search(scope, "entropy disorder", explain=True)
    signs = set()
    for passage in result.passages:
        how = passage.explanation
        assert how is not None
        assert how.rrf == pytest.approx(how.rrf_lexical + how.rrf_vector)
        assert how.rrf == pytest.approx(
            sum(1 / (60 + rank) for rank in (how.lexical_rank, how.vector_rank) if rank)
        )
        total = how.base + sum(sign.share for sign in how.signs)
        assert passage.score == pytest.approx(1 / (1 + math.exp(-total)))
        formula = re.fullmatch(r"(0\.\d{4}) = 1 / \(1 \+ exp\((-?\d+\.\d{4})\)\)", how.formula)
        assert formula is not None
        score, exponent = map(float, formula.groups())
        assert score == pytest.approx(passage.score, abs=1e-4)
        assert exponent == pytest.approx(-total, abs=1e-4)
        signs.add(exponent > 0)
    assert signs == {True, False}  # both, so that neither is written with two signs
    expected = sorted((passage.score for passage in result.passages), reverse=True)
    assert [passage.score for passage in result.passages] == expected


def test_a_passage_between_answers_is_lifted_above_one_that_stands_alone(
    scope: Scope, collection: Collection
) -> None:
    lecture = make_document(
        collection, ["entropy law", "entropy rises", "entropy law again"], title="Lecture"
    )
    embed(
        lecture, make_document(collection, ["weather", "entropy rises", "cooking"], title="Other")
    )
    titles = [
        passage.origin.title
        for passage in search_pipeline.search(scope, "entropy rises").passages
        if passage.text == "entropy rises"
    ]
    assert titles[0] == "Lecture"


def test_the_scores_of_the_words_add_up_to_the_bm25_score(scope: Scope, document: Source) -> None:
    (passage,) = by_words(scope, "enthalpy heat missing", explain=True).passages
    assert passage.explanation is not None
    assert {term.term for term in passage.explanation.terms} == {"enthalpy", "heat"}
    expected = pytest.approx(sum(term.score for term in passage.explanation.terms))
    assert passage.explanation.bm25 == expected
    assert passage.score == 1.0
    assert passage.explanation.vector_rank is None
    assert passage.explanation.cosine is None


def test_without_explain_nothing_is_explained(scope: Scope, document: Source) -> None:
    assert all(passage.explanation is None for passage in by_words(scope, "entropy").passages)


def test_the_same_search_gives_the_same_order_also_of_equals(
    scope: Scope, collection: Collection
) -> None:
    embed(
        *(
            make_document(collection, [f"entropy of case {chr(97 + number)}x"])
            for number in range(12)
        )
    )
    first, second = (texts(search_pipeline.search(scope, "entropy", limit=50)) for _ in range(2))
    assert first == second
    assert len(first) == 12


def test_no_more_passages_come_than_wanted_and_the_best_first(
    scope: Scope, collection: Collection
) -> None:
    embed(
        make_document(collection, [f"entropy {'filler ' * number}{number}" for number in range(30)])
    )
    full = texts(search_pipeline.search(scope, "entropy", limit=20))
    assert texts(search_pipeline.search(scope, "entropy", limit=3)) == full[:3]
    assert len(full) == 20


def test_the_real_model_finds_what_is_meant_without_a_common_word(
    scope: Scope, collection: Collection, settings: Any
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    embed(
        make_document(
            collection,
            [
                "The slope of the tangent line tells how fast the function changes at a point.",
                "Stir the onions in butter until they are golden, then add the stock.",
                "The court found that both parties had broken their agreement.",
            ],
        )
    )
    for query, beginning in (
        ("rate of change of a curve", "The slope"),
        ("recipe for soup", "Stir"),
        ("who violated a contract", "The court"),
    ):
        for mode in (SearchMode.MEANING, SearchMode.BOTH):
            (best, *_) = search_pipeline.search(scope, query, mode=mode).passages
            assert best.text.startswith(beginning)
    assert texts(by_words(scope, "who violated contracts")) == []


def test_what_is_not_in_the_library_is_said_not_to_be_there(
    scope: Scope, collection: Collection, settings: Any
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    embed(
        make_document(
            collection,
            [
                "The slope of the tangent line tells how fast the function changes at a point.",
                "An integral is the area under the curve of a function between two points.",
                "The chain rule gives the derivative of a function of a function.",
            ],
        )
    )
    known = search_pipeline.search(scope, "What does the slope of the tangent line tell?")
    assert not known.nothing_relevant
    assert known.passages[0].is_likely
    for query in ("asdkjhqwekjh zzzxq", "How long do I roast a chicken in the oven?"):
        result = search_pipeline.search(scope, query)
        assert result.nothing_relevant
        assert not any(passage.is_likely for passage in result.passages)
        assert all(0 <= (passage.relevance or 0) < 0.5 for passage in result.passages)


GERMAN = (
    "Die Steigung der Tangente sagt, wie schnell sich die Funktion an einer Stelle ändert.",
    "Ein Integral ist die Fläche unter dem Graphen einer Funktion zwischen zwei Stellen.",
    "Die Kettenregel gibt die Ableitung einer Funktion, in die eine andere eingesetzt ist.",
    "Eine Folge konvergiert, wenn ihre Glieder einem Grenzwert beliebig nahe kommen.",
)


@pytest.fixture
def german(fake_models: None, collection: Collection, settings: Any) -> None:
    """Passages in German, embedded by a model that knows English alone."""
    settings.EMBEDDING_PROVIDER = "local"
    embed(make_document(collection, GERMAN, language="de"))


def signs_of(results: Results) -> set[str]:
    return {sign.name for passage in results.passages for sign in passage.explanation.signs}


@pytest.mark.usefixtures("german")
def test_words_tell_what_answers_a_question_in_a_language_that_the_model_does_not_know(
    scope: Scope,
) -> None:
    question = "Was sagt die Steigung der Tangente?"
    results = search_pipeline.search(scope, question, explain=True)
    assert results.passages[0].text == GERMAN[0]
    assert results.passages[0].is_likely
    assert "closeness" in signs_of(results)


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    "question",
    [
        "Wie lange muss ein Huhn in den Ofen, bis die Haut knusprig wird?",
        "Welche Folgen hatte der Dreißigjährige Krieg für die Bauern?",
    ],
)
def test_in_such_a_language_too_it_is_said_that_nothing_is_relevant(
    scope: Scope, question: str
) -> None:
    assert search_pipeline.search(scope, question).nothing_relevant


@pytest.mark.usefixtures("german")
def test_questions_in_the_language_of_the_model_are_judged_by_meaning_wherever_the_words_are(
    scope: Scope,
) -> None:
    question = "What is the integral of a function?"
    results = search_pipeline.search(scope, question, explain=True)
    assert results.passages
    assert "closeness" in signs_of(results)


def test_a_short_question_is_judged_by_meaning_where_its_words_are_in_the_model_s_language(
    scope: Scope, collection: Collection, settings: Any
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    embed(make_document(collection, ["Momentum is mass times velocity.", *TEXTS], language="en"))
    assert "closeness" in signs_of(search_pipeline.search(scope, "Momentum", explain=True))


def test_who_asks_in_another_language_than_the_sources_is_advised_to_ask_in_theirs(
    scope: Scope, collection: Collection, settings: Any
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    embed(make_document(collection, ["Momentum is mass times velocity.", *TEXTS], language="en"))
    german = search_pipeline.search(scope, "Womit multipliziert man die Geschwindigkeit?")
    assert (german.nothing_relevant, LANGUAGE_NOTE in german.notes) == (True, True)
    english = search_pipeline.search(scope, "How long do I roast a chicken in the oven?")
    assert (english.nothing_relevant, LANGUAGE_NOTE in english.notes) == (True, False)


@pytest.mark.parametrize("query", ['"scratch my back"', "you scratch my back", "-word my back you"])
def test_what_stands_in_the_library_word_for_word_is_not_called_irrelevant(
    scope: Scope, collection: Collection, settings: Any, query: str
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    filler = "Nodes relay transactions to each other and keep those that pay enough for a block. "
    text = f"{filler * 5}It is a case of you scratch my back, I scratch yours. {filler * 5}"
    document = make_document(collection, [text, "An integral is the area under a curve."])
    embed(document)
    document.change(state=State.READY)
    results = search_pipeline.search(scope, query)
    best = results.passages[0]
    is_verbatim = not query.startswith("-")  # else the judge decides
    assert (best.relevance is None) == is_verbatim
    assert best.is_likely or not is_verbatim
    assert not (is_verbatim and results.nothing_relevant)


def test_nothing_is_called_irrelevant_where_the_embedding_model_is_not_known_to_the_judge(
    scope: Scope, library: EmbeddingSpace
) -> None:
    result = search_pipeline.search(scope, "asdkjhqwekjh zzzxq")
    assert not result.nothing_relevant
    assert [passage.relevance for passage in result.passages] == [None] * len(TEXTS)


# What is shown of it


def test_a_passage_of_a_video_opens_at_its_second_on_youtube_and_here(
    scope: Scope, collection: Collection
) -> None:
    video = make_video(collection, key="abcdefghijk", title="Physics")
    video.youtube_id = "abcdefghijk"
    video.save()
    make_source(video, author="MIT", texts=[*("filler" for _ in range(24)), "Entropy is disorder."])
    (passage,) = by_words(scope, "entropy").passages
    assert passage.link == f"/videos/{video.pk}/?t=240s&lang=en"
    assert passage.timestamp_link == "https://www.youtube.com/watch?v=abcdefghijk&t=240s"
    assert (passage.locator.start, passage.locator.end) == (240_000, 250_000)
    hits = (passage.origin.title, passage.origin.author, passage.origin.key, passage.origin.kind)
    assert hits == ("Physics", "MIT", "abcdefghijk", "video")
    assert passage.origin.collection == "lectures"
    assert passage.origin.video_pk == video.pk


def test_a_passage_of_an_uploaded_recording_opens_here(
    scope: Scope, collection: Collection
) -> None:
    video = make_video(collection, key="own")
    make_source(video, texts=["Entropy is disorder."])
    (passage,) = by_words(scope, "entropy").passages
    assert passage.timestamp_link == passage.link == f"/videos/{video.pk}/?t=0s&lang=en"


def test_the_words_of_the_query_are_marked_but_not_those_excluded(
    scope: Scope, collection: Collection
) -> None:
    make_document(collection, ["Heat, and the heat of a system."])
    (passage,) = by_words(scope, "heat -entropy").passages
    assert [passage.text[start:end] for start, end in passage.spans] == ["Heat", "heat"]


@pytest.mark.parametrize(
    ("query", "marked"),
    [("what is the heat of an engine?", ["heat", "engine"]), ("what is the", ["the"])],
)
def test_stop_words_are_marked_only_where_nothing_else_is_searched_for(
    scope: Scope, collection: Collection, query: str, marked: list[str]
) -> None:
    make_document(collection, ["And the heat of an engine."])
    (passage,) = by_words(scope, query).passages
    assert [passage.text[start:end] for start, end in passage.spans] == marked


def test_near_duplicates_are_told_under_the_best_of_them(
    scope: Scope, collection: Collection
) -> None:
    said = (
        "the quick brown fox jumps over one lazy dog while seven other animals watch it"
        " closely from far away"
    )
    make_document(collection, [said, "a fox in a hole"], title="First")
    make_document(collection, [f"{said} now"], title="Second")
    result = by_words(scope, "quick fox")
    assert len(result.passages) == 2
    best = result.passages[0]
    (duplicate,) = best.duplicates
    assert {best.origin.title, duplicate.origin.title} == {"First", "Second"}
    assert duplicate.similarity >= 0.9
    assert duplicate.link


def test_neighbouring_passages_become_one_that_reaches_over_them(
    scope: Scope, collection: Collection
) -> None:
    video = make_video(collection, key="abcdefghijk")
    said = ["Entropy.", "Entropy, entropy and entropy.", "A cat.", "Entropy of cats."]
    make_source(video, texts=said)
    result = by_words(scope, "entropy", for_readers=True, explain=True)
    joined, alone = result.passages
    assert (joined.text, [part.text for part in joined.parts]) == (said[1], said[:1])
    assert joined.extent is not None
    assert (joined.extent.start, joined.extent.end) == (0, 20_000)
    assert (joined.locator.start, joined.locator.end) == (10_000, 20_000)
    assert joined.link == f"/videos/{video.pk}/?t=10s&lang=en"
    assert joined.parts[0].link == f"/videos/{video.pk}/?t=0s&lang=en"
    assert (alone.text, alone.parts, alone.extent) == (said[3], (), None)
    single = by_words(scope, "entropy", explain=True)
    expected = next(passage.explanation for passage in single.passages if passage.text == said[1])
    assert joined.explanation == expected


def test_hits_that_overlap_are_shown_apart(scope: Scope, collection: Collection) -> None:
    said = [f"Entropy of the {number}th kind grows on its own." for number in range(80)]
    source = talk_in(collection, said=said)
    whole = by_words(scope, "entropy", limit=50)
    chunks = Chunk.objects.in_bulk()
    for passage in whole.passages:
        row = chunks[passage.chunk]
        assert passage.locator.span == (row.span_start, row.span_end)
        assert passage.text == row.text
    shown = by_words(scope, "entropy", limit=50, for_readers=True)
    assert len(whole.passages) > len(shown.passages) > 2
    assert {passage.chunk for passage in shown.passages} <= {*chunks}
    extents = [passage.extent or passage.locator for passage in shown.passages]
    extents.sort(key=lambda extent: extent.span)
    for first, second in pairwise(extents):
        assert first.span[1] <= second.span[0]
        assert (first.end or 0) <= (second.start or 0)
    text = source_texts.of(source).text
    for passage in shown.passages:
        assert passage.text == text[slice(*passage.locator.span)].strip()
        assert all(passage.text[slice(*span)] == "Entropy" for span in passage.spans)
        assert passage.spans
        assert passage.locator.start is not None
        assert passage.opens_at is not None
        assert passage.locator.start <= passage.opens_at < (passage.locator.end or 0)


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_no_passage_is_lost_or_repeated_by_joining(
    scope: Scope, collection: Collection, limit: int
) -> None:
    for number in range(3):
        make_document(
            collection, [f"entropy {chr(97 + place) * (number + 2)}" for place in range(7)]
        )
    whole = by_words(scope, "entropy", limit=50, for_readers=True)
    ids = [
        chunk
        for passage in whole.passages
        for chunk in (passage.chunk, *(part.chunk for part in passage.parts))
    ]
    assert len(ids) == len(set(ids)) == 21
    result = by_words(scope, "entropy", limit=limit, for_readers=True)
    assert result.passages == whole.passages[:limit]


def test_a_reader_is_offered_the_query_with_words_corrected_that_occur_nowhere(
    scope: Scope, document: Source
) -> None:
    for mode in (SearchMode.BOTH, SearchMode.WORDS):
        result = search_pipeline.search(scope, "entorpy disorder", mode=mode, for_readers=True)
        assert result.suggestion == "entropy disorder"
        assert "spell" in [stage.name for stage in result.stages]
    known = search_pipeline.search(scope, "entropy disorder", for_readers=True)
    assert known.suggestion == ""
    assert "spell" not in [stage.name for stage in known.stages]
    assert search_pipeline.search(scope, "entorpy").suggestion == ""


def test_a_common_word_of_the_query_s_own_language_is_not_corrected(
    collection: Collection, scope: Scope
) -> None:
    make_document(collection, ["The coating of the mirror stays warm and is expensive."])
    question = "warum ist die Beschichtung des Spiegels so teuer"
    assert search_pipeline.search(scope, question, for_readers=True).suggestion == ""
    misspelt = search_pipeline.search(scope, "a warmn mirror", for_readers=True)
    assert misspelt.suggestion == "a warm mirror"


def test_what_the_caller_marked_is_told(scope: Scope, document: Source) -> None:
    ada, bob = make_user("ada"), make_user("bob")
    first, second = by_words(scope, "entropy").passages
    judgments.mark(scope, ada, "entropy", first.chunk, right=True)
    judgments.mark(scope, ada, " entropy ", second.chunk, right=False)
    expected = [True, False]
    assert [passage.mark for passage in by_words(scope, "entropy", user=ada).passages] == expected
    hits = [passage.mark for passage in by_words(scope, "entropy", user=bob).passages]
    assert hits == [None, None]
    assert [passage.mark for passage in by_words(scope, "entropy again", user=ada).passages] == [
        None,
        None,
    ]


# What may be found


def test_nothing_is_found_outside_the_scope(scope: Scope, collection: Collection) -> None:
    other = Collection.objects.create(name="Private", slug="private")
    embed(make_document(collection, ["Entropy here."]), make_document(other, ["Entropy there."]))
    for mode in SearchMode:
        assert texts(search_pipeline.search(scope, "entropy", mode=mode)) == ["Entropy here."]
        assert texts(search_pipeline.search(NOTHING, "entropy", mode=mode)) == []


def test_a_source_that_leaves_the_scope_during_a_search_is_not_shown(
    scope: Scope, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = Collection.objects.create(name="Private", slug="private")
    source = make_document(collection, ["Entropy moves."])
    make_document(collection, ["Entropy stays."])
    look_up = lexical_index.find

    def search_then_move(*arguments: Any, **options: Any) -> Any:
        rows = look_up(*arguments, **options)
        Source.objects.filter(pk=source.pk).update(collection=hidden)
        return rows

    monkeypatch.setattr(lexical_index, "find", search_then_move)
    assert texts(by_words(scope, "entropy")) == ["Entropy stays."]


def test_a_source_that_is_cut_anew_during_a_search_is_looked_for_again(
    scope: Scope, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make_document(collection, ["Entropy, old."])
    look_up, turns = lexical_index.find, iter([True])

    def search_then_cut(*arguments: Any, **options: Any) -> Any:
        rows = look_up(*arguments, **options)
        if next(turns, False):
            replace_chunks(source, ["Entropy, new."])
        return rows

    monkeypatch.setattr(lexical_index, "find", search_then_cut)
    result = by_words(scope, "entropy")
    assert texts(result) == ["Entropy, new."]
    assert [stage.name for stage in result.stages].count("lexical") == 1


@pytest.mark.parametrize("mode", list(SearchMode))
def test_filters_hold_in_every_mode(scope: Scope, collection: Collection, mode: SearchMode) -> None:
    wanted = make_source(
        make_video(collection, key="one", title="One"),
        author="MIT",
        texts=["Entropy of one.", "Entropy late."],
    )
    embed(
        wanted,
        make_source(
            make_video(collection, key="two", title="Two"), author="NYU", texts=["Entropy of two."]
        ),
    )
    by_channel = search_pipeline.search(
        scope, "entropy", mode=mode, filter=Filter(channels=("mit",))
    )
    assert {passage.origin.title for passage in by_channel.passages} == {"One"}
    late = search_pipeline.search(
        scope, "entropy", mode=mode, filter=Filter(sources=(str(wanted.uuid),), start=12)
    )
    assert texts(late) == ["Entropy late."]
    assert (
        texts(search_pipeline.search(scope, "entropy", mode=mode, filter=Filter(kinds=("pdf",))))
        == []
    )


@pytest.mark.parametrize(
    ("filter", "error"),
    [
        ({"kinds": ["film"]}, InvalidFilter),
        ({"colour": "red"}, InvalidFilter),
        ({"tags": ["x"] * 101}, InvalidFilter),
        ({"start": -1}, InvalidFilter),
        ({"sources": ["nothing"]}, SourceNotFound),
        ({"collections": ["nowhere"]}, CollectionNotFound),
    ],
)
def test_a_filter_that_names_nothing_is_refused(
    scope: Scope, filter: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        by_words(scope, "entropy", filter=Filter(**filter))


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_search_for_what_a_speaker_says_finds_nothing_else(
    scope: Scope, collection: Collection, mode: SearchMode
) -> None:
    talk = make_source(
        make_video(collection, key="talk"),
        texts=["Entropy grows.", "Entropy is a count.", "Entropy of both."],
    )
    for ordinal, name in enumerate(("Ann Lee", "Bo Chen")):
        talk.chunks.filter(ordinal=ordinal).update(speaker=name)
    embed(talk, make_source(make_video(collection, key="other"), texts=["Entropy elsewhere."]))

    def said_by(*names: str, **more: Any) -> list[str]:
        filter = Filter(speakers=names, **more)
        return sorted(texts(search_pipeline.search(scope, "entropy", mode=mode, filter=filter)))

    assert said_by("ann lee") == ["Entropy grows."]
    assert said_by("Ann Lee", "Bo Chen") == ["Entropy grows.", "Entropy is a count."]
    assert said_by("Ann Lee", sources=("other",)) == []
    assert said_by("Ann") == []


def test_a_search_for_a_speaker_says_that_passages_of_several_are_left_out(
    scope: Scope, collection: Collection
) -> None:
    talk = make_source(make_video(collection, key="talk"), texts=["Entropy.", "Entropy of both."])
    talk.chunks.filter(ordinal=0).update(speaker="Ann Lee")

    def notes(**filter: Any) -> tuple[str, ...]:
        return by_words(scope, "entropy", filter=Filter(**filter), limit=1 + bool(filter)).notes

    assert search_pipeline.SPEAKER_NOTE in notes(speakers=("Ann Lee",))
    assert search_pipeline.SPEAKER_NOTE not in notes()


@pytest.mark.parametrize("mode", list(SearchMode))
def test_phrases_and_exclusions_hold_in_every_mode(
    scope: Scope, collection: Collection, mode: SearchMode
) -> None:
    embed(
        make_document(
            collection,
            [
                "the mean value theorem",
                "the theorem of mean value",
                "the mean value theorem of Cauchy",
                *TEXTS,
            ],
        )
    )
    hits = texts(search_pipeline.search(scope, '"mean value theorem" -cauchy', mode=mode))
    assert hits == ["the mean value theorem"]


def test_a_phrase_is_found_by_meaning_far_behind_the_first_candidates(
    scope: Scope, collection: Collection
) -> None:
    near = [f"alpha beta gamma number{number}" for number in range(70)]
    embed(
        make_document(collection, [*near, "beta gamma of quite different other things and alpha"])
    )
    hits = texts(search_pipeline.search(scope, 'alpha "different other"', mode=SearchMode.MEANING))
    assert hits == ["beta gamma of quite different other things and alpha"]


@pytest.mark.parametrize("limit", [0, 51, -1])
def test_a_limit_out_of_bounds_is_refused(scope: Scope, limit: int) -> None:
    with pytest.raises(InvalidInput, match="1 to 50"):
        search_pipeline.search(scope, "entropy", limit=limit)


@pytest.mark.parametrize("query", ["", "  ", '""', "-entropy", "?!", "\0"])
def test_a_search_for_nothing_is_refused(scope: Scope, query: str) -> None:
    with pytest.raises(EmptyQuery):
        search_pipeline.search(scope, query)


def test_a_query_that_is_too_long_is_refused(scope: Scope) -> None:
    with pytest.raises(InvalidInput, match="1,000"):
        search_pipeline.search(scope, "x" * 1_001)


@pytest.mark.parametrize(
    "query",
    [
        "\ud800 entropy",
        "entropy\0",
        "' OR 1=1 --",
        '"entropy',
        "%s entropy",
        "𝔈ntropy",
        "エントロピー",
        "C++",
    ],
)
def test_no_text_breaks_a_search(scope: Scope, library: EmbeddingSpace, query: str) -> None:
    for mode in SearchMode:
        search_pipeline.search(scope, query, mode=mode, explain=True)


# Models that are not there


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Let no query be embedded."""

    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(registry, "embedder", fail)
    monkeypatch.setattr(registry, "identity", lambda _: ("fake", "words", 64))


def test_before_anything_is_embedded_a_hybrid_search_goes_by_words_and_says_so(
    scope: Scope, document: Source
) -> None:
    result = search_pipeline.search(scope, "entropy")
    assert len(result.passages) == 2
    (note,) = result.notes
    assert note.startswith("Found by words only: nothing is embedded yet.")
    with pytest.raises(Unavailable, match="embedded"):
        search_pipeline.search(scope, "entropy", mode=SearchMode.MEANING)


@pytest.mark.parametrize(
    "error",
    [ModelMissing("The model is not here."), ModelServerError("The server is down.", hint="Wait.")],
)
def test_where_the_query_cannot_be_embedded_a_hybrid_search_goes_by_words_and_says_why(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    failing(monkeypatch, error)
    result = search_pipeline.search(scope, "entropy")
    assert texts(result) == ["Entropy, and entropy again.", "Entropy is disorder."]
    assert str(error) in result.notes[0]
    assert result.passages[0].score == 1.0
    with pytest.raises(type(error)):
        search_pipeline.search(scope, "entropy", mode=SearchMode.MEANING)


def test_an_embedding_that_takes_too_long_is_not_waited_for(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()

    class Slow:
        def embed_query(self, text: str) -> Any:
            release.wait(10)
            return np.ones(64, np.float32) / 8

    monkeypatch.setattr(registry, "identity", lambda _: ("fake", "words", 64))
    monkeypatch.setattr(registry, "embedder", lambda *_, **__: Slow())
    monkeypatch.setattr(query_expansion, "EMBED_SECONDS", 0.05)
    try:
        result = search_pipeline.search(scope, "entropy")
    finally:
        release.set()
    assert len(result.passages) == 2
    assert "took more than" in result.notes[0]


CALCULUS = (
    "The slope of the tangent line tells how fast the function changes at a point.",
    "An integral is the area under the curve of a function between two points.",
    "The chain rule gives the derivative of a function of a function.",
    "A series converges when its terms come as near to a limit as you like.",
)


def late(monkeypatch: pytest.MonkeyPatch) -> SearchMode:
    released = threading.Event()
    monkeypatch.setattr(registry, "identity", lambda _: ("fake", "words", 64))
    monkeypatch.setattr(registry, "embedder", lambda *_, **__: released.wait(0.2))
    monkeypatch.setattr(query_expansion, "EMBED_SECONDS", 0.02)
    return SearchMode.BOTH


def down(monkeypatch: pytest.MonkeyPatch) -> SearchMode:
    failing(monkeypatch, ModelServerError("The server is down."))
    return SearchMode.BOTH


def missing(monkeypatch: pytest.MonkeyPatch) -> SearchMode:
    failing(monkeypatch, ModelMissing("The model is not here."))
    return SearchMode.BOTH


def nothing_embedded(_: pytest.MonkeyPatch) -> SearchMode:
    EmbeddingSpace.objects.all().delete()
    return SearchMode.BOTH


def not_wanted(_: pytest.MonkeyPatch) -> SearchMode:
    return SearchMode.WORDS


@pytest.mark.parametrize("without", [late, down, missing, nothing_embedded, not_wanted])
@pytest.mark.parametrize(
    ("query", "is_answered"),
    [
        ("What does the slope of the tangent line tell?", True),
        ("slope", True),
        ("areas and curves", True),
        ("How long do I roast a chicken in the oven until its skin changes?", False),
        ("asdkjhqwekjh zzzxq function vbnmqwe", False),
        ("Wie lange muss ein Huhn in den Ofen, bis point und line knusprig sind?", False),
    ],
)
def test_where_meaning_is_not_compared_words_tell_whether_anything_answers(
    scope: Scope,
    collection: Collection,
    monkeypatch: pytest.MonkeyPatch,
    without: Callable[[pytest.MonkeyPatch], SearchMode],
    query: str,
    is_answered: bool,
) -> None:
    embed(make_document(collection, CALCULUS, language="en"))
    results = search_pipeline.search(scope, query, mode=without(monkeypatch))
    assert results.passages[0].score == 1.0, "the order of the words, as before"
    expected = (is_answered, not is_answered)
    assert (results.passages[0].is_likely, results.nothing_relevant) == expected
    assert all(passage.relevance is not None for passage in results.passages)
    assert is_answered or search_pipeline.BY_WORDS_NOTE in results.notes


def test_another_model_than_the_library_is_locked_to_fails_at_once_but_not_a_search_by_words(
    scope: Scope, library: EmbeddingSpace, settings: Any
) -> None:
    settings.EMBEDDING_MODEL = "other"
    registry.reset()
    for mode in (SearchMode.BOTH, SearchMode.MEANING):
        with pytest.raises(EmbeddingMismatch):
            search_pipeline.search(scope, "entropy", mode=mode)
    assert len(by_words(scope, "entropy").passages) == 2


def test_an_empty_library_finds_nothing_without_an_error(scope: Scope) -> None:
    assert search_pipeline.search(scope, "entropy").passages == ()


# Hypothetical answers


def test_a_hypothetical_answer_is_looked_for_by_meaning_and_the_query_itself_by_words(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    teller = with_llm(monkeypatch, settings, lambda: "A cat sat on the mat.")
    result = search_pipeline.search(scope, "entropy -heat", explain=True)
    assert result.hypothesis == "A cat sat on the mat."
    by_meaning = next(
        passage
        for passage in result.passages
        if passage.explanation and passage.explanation.vector_rank == 1
    )
    assert by_meaning.text == TEXTS[3]
    assert by_meaning.explanation is not None
    assert by_meaning.explanation.lexical_rank is None
    assert len(teller.prompts) == 1
    assert "entropy" in teller.prompts[0]
    assert "expand" in [stage.name for stage in result.stages]


def test_a_search_by_words_asks_no_language_model(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    teller = with_llm(monkeypatch, settings, lambda: "anything")
    assert by_words(scope, "entropy").hypothesis == ""
    assert not teller.prompts


def test_hypothetical_answers_can_be_switched_off(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    teller = with_llm(monkeypatch, settings, lambda: "anything")
    settings.DISABLE_HYDE = True
    assert search_pipeline.search(scope, "entropy").hypothesis == ""
    assert not teller.prompts


def test_a_language_model_that_fails_costs_a_note_and_nothing_else(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    plain = search_pipeline.search(scope, "entropy")

    def fail() -> str:
        raise ModelServerError("The language model is down.")

    with_llm(monkeypatch, settings, fail)
    result = search_pipeline.search(scope, "entropy")
    assert texts(result) == texts(plain)
    assert result.notes == (
        "No hypothetical answer: The language model is down. The question itself was searched for.",
    )


def test_a_language_model_that_is_slow_is_not_waited_for(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    plain = search_pipeline.search(scope, "entropy")
    release = threading.Event()

    def hang() -> str:
        release.wait(10)
        return "late"

    monkeypatch.setattr(query_expansion, "HYDE_SECONDS", 0.05)
    teller = with_llm(monkeypatch, settings, hang)
    try:
        result = search_pipeline.search(scope, "entropy")
        again = search_pipeline.search(scope, "entropy")
    finally:
        release.set()
    assert texts(result) == texts(again) == texts(plain)
    assert "took more than" in result.notes[0]
    assert "too slow before" in again.notes[0]
    assert len(teller.prompts) == 1


def test_no_more_questions_are_out_to_a_language_model_than_a_few(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    teller = with_llm(monkeypatch, settings, lambda: "anything")
    with ExitStack() as turns:
        for _ in range(query_expansion.HYDE_AT_ONCE):
            turns.enter_context(query_expansion.hyde_turns)
        assert "busy" in search_pipeline.search(scope, "entropy").notes[0]
    assert not teller.prompts


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_a_language_model_writes(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    of_the_search = connections["default"]
    is_held: list[bool] = []

    def tell() -> str:
        until(lambda: of_the_search.connection is None or is_held)
        return "A cat sat on the mat."

    with_llm(monkeypatch, settings, tell)
    monkeypatch.setattr(query_expansion, "HYDE_SECONDS", 60.0)
    assert search_pipeline.search(scope, "entropy").hypothesis
    with locks.hold(Lock.SPACE, 1):  # as a migration that compares searches does
        is_held.append(True)
        assert search_pipeline.search(scope, "heat").hypothesis
        assert locks.is_held(Lock.SPACE, 1)


# Re-ranking


def test_a_cross_encoder_reads_the_candidates_with_their_context_against_the_query(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust_readers(monkeypatch)
    Chunk.objects.filter(text=TEXTS[0]).update(context="From a lecture.")
    fused = texts(search_pipeline.search(scope, "entropy"))
    reranker = Backwards()
    with_reranker(monkeypatch, reranker)
    result = search_pipeline.search(scope, "entropy")
    assert texts(result) == fused[::-1]
    assert result.reranked
    assert reranker.asked[0][0] == "entropy"
    assert f"From a lecture.\n\n{TEXTS[0]}" in reranker.asked[0][1]
    assert search_pipeline.search(scope, "entropy", rerank=False).reranked is False


def test_what_a_cross_encoder_says_is_a_sign_among_the_judges(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = search_pipeline.search(scope, "entropy", explain=True)
    with_reranker(monkeypatch, Backwards())
    result = search_pipeline.search(scope, "entropy", explain=True)
    assert texts(result)[0] == texts(judged)[0]  # it is far the best for the judge
    for passage in result.passages:
        how = passage.explanation
        assert how is not None
        assert (how.signs[-1].name, how.signs[-1].value) == ("cross-encoder", how.rerank_score)
        total = how.base + sum(sign.share for sign in how.signs)
        assert passage.score == pytest.approx(1 / (1 + math.exp(-total)))
        assert how.signs[-1].share <= 0
    worst = next(each for each in result.passages if each.text == texts(judged)[-1]).explanation
    assert worst is not None
    assert worst.signs[-1].share == 0  # of those read, the best


def test_the_numbers_of_the_search_take_effect_at_once(
    scope: Scope, collection: Collection, settings: Any
) -> None:
    others = [f"Entropy is disorder {number}." for number in range(12)]
    embed(make_document(collection, [*TEXTS, *others]))
    first = search_pipeline.search(scope, "entropy disorder", explain=True)
    assert "1/(60 + 1)" in str(by_words(scope, "entropy", explain=True).passages[0].explanation)
    settings.DUPLICATE_SIMILARITY, settings.RRF_K, settings.SEARCH_CANDIDATES = 0.7, 5, 10
    result = search_pipeline.search(scope, "entropy disorder", explain=True)
    assert len(result.passages) < len(first.passages)
    assert result.passages[0].duplicates
    how = result.passages[0].explanation
    assert how is not None
    assert how.lexical_rank is not None
    assert how.rrf_lexical == pytest.approx(1 / (5 + how.lexical_rank))
    counts = {stage.name: stage.count for stage in result.stages}
    assert (counts["lexical"], counts["vector"], counts["fuse"]) == (10, 10, 10)
    lexical = by_words(scope, "entropy", explain=True)
    assert "1/(5 + 1)" in str(lexical.passages[0].explanation)


def test_only_the_first_candidates_are_read_and_the_others_follow(
    scope: Scope, collection: Collection, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    trust_readers(monkeypatch)
    settings.RERANK_CANDIDATES = 2
    embed(make_document(collection, TEXTS))
    fused = texts(search_pipeline.search(scope, "entropy"))
    reranker = Backwards()
    with_reranker(monkeypatch, reranker)
    result = search_pipeline.search(scope, "entropy", explain=True)
    assert texts(result)[0] == fused[1]
    assert {*texts(result)[2:]} == {*fused[2:]}
    read = [passage.explanation.rerank_score for passage in result.passages if passage.explanation]
    assert [score is not None for score in read] == [True, True, *[False] * (len(fused) - 2)]
    scores = [passage.score for passage in result.passages]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    settings.RERANK_CANDIDATES = 20
    search_pipeline.search(scope, "entropy", reads=1)
    assert [len(read) for _, read in reranker.asked] == [2, 1]


def test_a_cross_encoder_reads_no_more_than_its_time_allows(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Backwards):
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            return super().score(query, texts)[:2]

    with_reranker(monkeypatch, Slow())
    result = search_pipeline.search(scope, "entropy", explain=True)
    read = [passage.explanation.rerank_score for passage in result.passages if passage.explanation]
    assert len(read) > sum(score is not None for score in read) == 2


def test_a_cross_encoder_that_is_absent_or_fails_leaves_the_fused_order_and_only_failure_a_note(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    fused = texts(search_pipeline.search(scope, "entropy"))
    assert search_pipeline.search(scope, "entropy").notes == ()  # switched off: nothing is missing
    settings.RERANKER = "cross-encoder/some-model"
    with_reranker(monkeypatch, None)
    result = search_pipeline.search(scope, "entropy")
    assert (texts(result), result.reranked) == (fused, False)
    assert result.notes == ()  # as after installing; `kb doctor` says so once

    class Broken:
        name = "broken"

        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            raise ModelServerError("Out of order.")

    with_reranker(monkeypatch, Broken())
    result = search_pipeline.search(scope, "entropy")
    assert (texts(result), result.reranked) == (fused, False)
    assert result.notes == ("The best passages were not read again: Out of order.",)


def test_a_reranking_server_orders_the_candidates_and_one_that_is_late_or_fails_is_noted(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    trust_readers(monkeypatch)
    fused = texts(search_pipeline.search(scope, "entropy"))
    settings.RERANKER = "own-reranker"
    with TextServer() as server:
        settings.RERANKER_BASE_URL = server.url
        server.ranking = lambda scores: [n - 8.0 for n, _ in enumerate(scores)]
        result = search_pipeline.search(scope, "entropy", explain=True)
        assert (texts(result), result.reranked, result.notes) == (fused[::-1], True, ())
        assert all(0 <= passage.score <= 1 for passage in result.passages)
        server.refuse = lambda body: (503, {"error": "Loading model"})
        result = search_pipeline.search(scope, "entropy")
        assert (texts(result), result.reranked) == (fused, False)
        assert "not read again: own-reranker has a problem (503): “Loading" in result.notes[0]
        server.refuse, server.delay = lambda body: None, 5.0
        monkeypatch.setattr(reranking_services, "RERANK_SECONDS", 0.1)
        for reason in ("took more than 0.1 seconds", "was too slow before"):
            result = search_pipeline.search(scope, "entropy")
            assert (texts(result), result.reranked) == (fused, False)
            assert reason in result.notes[0]
            assert result.milliseconds < 3_000


# Stages


def test_every_stage_is_timed(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_reranker(monkeypatch, Backwards())
    result = search_pipeline.search(scope, "entropy")
    assert [stage.name for stage in result.stages] == [
        "embed",
        "lexical",
        "vector",
        "fuse",
        "fetch",
        "judge",
        "rerank",
        "deduplicate",
        "enrich",
    ]
    assert all(stage.milliseconds >= 0 for stage in result.stages)
    assert result.milliseconds >= sum(
        stage.milliseconds for stage in result.stages if stage.name != "embed"
    )
    counts = {stage.name: stage.count for stage in result.stages}
    assert (counts["lexical"], counts["vector"], counts["fetch"], counts["enrich"]) == (2, 4, 4, 4)


def test_a_search_asks_the_database_the_same_few_times_however_much_there_is(
    scope: Scope, collection: Collection
) -> None:
    counts = []
    for size in (3, 40):
        embed(
            *(make_document(collection, [f"entropy {number} of {size}"]) for number in range(size))
        )
        search_pipeline.search(scope, "entropy", limit=5)
        with CaptureQueriesContext(connection) as queries:
            search_pipeline.search(scope, "entropy", limit=5)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[1] <= 10


def test_quick_results_leave_out_what_is_slow_and_the_full_ones_follow(
    scope: Scope, library: EmbeddingSpace, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    assert search_pipeline.slow_stages() == ()
    teller = with_llm(monkeypatch, settings, lambda: "A cat sat on the mat.")
    with_reranker(monkeypatch, Backwards())
    assert search_pipeline.slow_stages() == ("expand", "rerank")
    assert search_pipeline.slow_stages(mode=SearchMode.WORDS) == ()
    quick = search_pipeline.search(scope, "entropy", quick=True)
    assert not teller.prompts
    assert (quick.reranked, quick.hypothesis) == (False, "")
    full = search_pipeline.search(scope, "entropy")
    assert (full.reranked, full.hypothesis) == (True, "A cat sat on the mat.")


def test_quick_results_do_not_wait_for_a_remote_embedding(
    scope: Scope, library: EmbeddingSpace, settings: Any
) -> None:
    settings.EMBEDDING_PROVIDER = "voyage"
    assert search_pipeline.slow_stages() == ("embed",)
    assert len(search_pipeline.search(scope, "entropy", quick=True).passages) == 2


# Another space


def test_another_space_can_be_searched_than_the_active_one(
    scope: Scope, collection: Collection
) -> None:
    source = make_document(collection, TEXTS)
    embed(source)
    other = EmbeddingSpace.objects.create(
        provider="fake", model="other", dimensions=32, state=SpaceState.BUILDING
    )
    list(
        vector_store.make(
            other,
            vector_space.embedder_of(other),
            vector_store.in_batches(vector_store.missing(other)),
        )
    )
    assert (
        search_pipeline.search(scope, TEXTS[3], mode=SearchMode.MEANING, space=other)
        .passages[0]
        .text
        == TEXTS[3]
    )


def test_a_switch_to_another_space_during_a_search_mixes_nothing(
    scope: Scope, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = embed(make_document(collection, TEXTS))
    new = EmbeddingSpace.objects.create(
        provider="fake", model="words", dimensions=32, state=SpaceState.BUILDING
    )
    look_up = vector_space.nearest

    def switch_first(vector: Any, *, space: EmbeddingSpace, **options: Any) -> Any:
        EmbeddingSpace.objects.filter(pk=old.pk).update(state=SpaceState.RETIRED)
        EmbeddingSpace.objects.filter(pk=new.pk).update(state=SpaceState.ACTIVE)
        return look_up(vector, space=space, **options)

    monkeypatch.setattr(vector_space, "nearest", switch_first)
    hits = search_pipeline.search(scope, TEXTS[3], mode=SearchMode.MEANING).passages[0].text
    assert hits == TEXTS[3]


def test_candidates_know_their_indexed_text(scope: Scope, document: Source) -> None:
    chunk = Chunk.objects.get(text=TEXTS[0])
    chunk.context = "From a lecture."
    chunk.save()
    (candidate,) = candidates.fetch(scope, [chunk.position]).values()
    assert candidate.indexed_text == chunk.indexed_text
    assert replace(candidate.locator, start=1).start == 1
