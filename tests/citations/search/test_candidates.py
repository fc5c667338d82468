"""What a search lists as likely is the same on every door, and whatever its limit is."""

import pytest

from citations.models import Source, State
from citations.passages import SearchMode
from citations.search import pipeline as search_pipeline
from citations.search.candidates import CandidateHit
from tests.makers import embed, make_source, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

BEST, SECOND, LAST = TEXTS = (
    "A network: networks of a network.",
    "A network relays to another network over long lines.",
    "One network fails while ever so many of the other machines go on all day long.",
)


@pytest.fixture
def source(collection: Collection) -> Source:
    return make_source(make_video(collection), texts=TEXTS)


def judge(monkeypatch: pytest.MonkeyPatch, *likely: str) -> None:
    """Let the judge hold only these texts to be on the subject."""
    are_likely = property(lambda hit: hit.candidate.text in likely)
    monkeypatch.setattr(CandidateHit, "is_likely", are_likely)


def listed(scope: Scope, query: str, mode: SearchMode = SearchMode.WORDS) -> dict[str, bool]:
    results = search_pipeline.search(scope, query, mode=mode)
    assert results.nothing_relevant != any(row.is_likely for row in results.passages)
    return {passage.text: passage.is_likely for passage in results.passages}


@pytest.mark.parametrize(
    ("judged", "likely"),
    [((), []), ((BEST,), [BEST]), ((SECOND,), [BEST, SECOND]), ((LAST,), [BEST, SECOND, LAST])],
)
def test_what_ranks_above_a_likely_passage_is_likely(
    scope: Scope,
    source: Source,
    monkeypatch: pytest.MonkeyPatch,
    judged: tuple[str, ...],
    likely: list[str],
) -> None:
    source.change(state=State.READY)
    judge(monkeypatch, *judged)
    assert listed(scope, "network tax") == {text: text in likely for text in TEXTS}


def test_a_shorter_list_calls_the_same_passages_likely(
    scope: Scope, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.change(state=State.READY)
    judge(monkeypatch, LAST)
    results = search_pipeline.search(scope, "network tax", mode=SearchMode.WORDS, limit=1)
    (first,) = results.passages
    assert first.is_likely


@pytest.mark.parametrize(
    ("query", "likely"), [("network lines", [BEST, SECOND]), ("network tax", [])]
)
def test_all_words_are_enough_where_words_alone_are_compared(
    scope: Scope, source: Source, monkeypatch: pytest.MonkeyPatch, query: str, likely: list[str]
) -> None:
    judge(monkeypatch)
    embed(source)
    for state, mode in (
        (State.WORDS, SearchMode.BOTH),  # its vectors are not all there
        (State.WORDS, SearchMode.WORDS),
        (State.READY, SearchMode.WORDS),
    ):
        source.change(state=state)
        above = [text for text, is_likely in listed(scope, query, mode).items() if is_likely]
        assert set(above) <= {BEST, *likely}
        assert (SECOND in above) == (SECOND in likely)


@pytest.mark.parametrize(
    ("query", "likely"), [("lines network", {SECOND}), ("lines tax", set()), ("network", set())]
)
def test_two_words_that_stand_in_a_passage_are_never_denied(
    scope: Scope, source: Source, monkeypatch: pytest.MonkeyPatch, query: str, likely: set[str]
) -> None:
    judge(monkeypatch)
    embed(source)
    source.change(state=State.READY)
    by_text = listed(scope, query, SearchMode.BOTH)
    assert {text for text, is_likely in by_text.items() if is_likely} == likely
