"""The section that the last minutes were in: its passages are preferred to equal ones elsewhere."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from citations.lectures import pipeline as lecture_pipeline
from citations.lectures import sessions, window_analysis
from citations.lectures.window_analysis import RecentCitation
from citations.models import LectureSession, Source, Window
from citations.providers.weights import MINILM
from citations.search.chunk_rows import Candidate
from citations.search.judge import Relevance
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from tests.makers import make_document
from transcripts.core.scope import Scope
from transcripts.models import Collection

SAID = "The sum of the first numbers is half of the last one times the one after it."
GAUSS = "Gauss found the sum of the first numbers by the last one, a boy in school at the time."
LAST = RecentCitation(age=1, source=1, ordinal=10, heading="Sums › Proof")
UNLIKELY = Relevance(
    order=0.5,
    likelihood=0.4,
    is_likely=False,
    base=-1.0,
    signs=("words",),
    values=(1.0,),
    added=(1.0,),
)


@pytest.fixture
def at(fake_models: None) -> Callable[..., Candidate]:
    """Make a candidate at a place of a source."""

    def make(source: int = 1, ordinal: int = 10, heading: str = "") -> Candidate:
        columns: dict[str, Any] = dict.fromkeys(Candidate._fields)
        return Candidate(**{**columns, "source": source, "ordinal": ordinal, "heading": heading})

    return make


def test_a_passage_is_near_to_what_was_cited_beside_it_or_in_its_section(
    at: Callable[..., Candidate],
) -> None:
    assert window_analysis.nearness(at(ordinal=12), [LAST]) == 1.0
    assert window_analysis.nearness(at(ordinal=13), [LAST]) == 0.0
    assert window_analysis.nearness(at(ordinal=99, heading="Sums › Proof"), [LAST]) == 0.5
    assert window_analysis.nearness(at(source=2), [LAST]) == 0.0
    assert window_analysis.nearness(at(), []) == 0.0


def test_a_source_without_headings_is_not_one_section(at: Callable[..., Candidate]) -> None:
    assert window_analysis.nearness(at(ordinal=99), [LAST._replace(heading="")]) == 0.0


def test_what_was_cited_longer_ago_counts_less_and_the_nearest_counts(
    at: Callable[..., Candidate],
) -> None:
    older = LAST._replace(age=3, ordinal=20)
    assert window_analysis.nearness(at(ordinal=20), [older]) == pytest.approx(0.64)
    assert window_analysis.nearness(at(ordinal=20), [older, LAST._replace(ordinal=21)]) == 1.0


def test_nearness_lifts_a_passage_over_the_floor_and_its_parts_add_up() -> None:
    preference = window_analysis.preferred(UNLIKELY, 1.0, model=MINILM)
    assert preference.is_likely
    assert preference.likelihood == pytest.approx(0.931, abs=1e-3)  # 3 more in log-odds
    assert preference.order == pytest.approx(0.731, abs=1e-3)  # the logistic function of 1
    assert preference.sum == pytest.approx(1.0)
    assert not window_analysis.preferred(UNLIKELY, 0.0, model=MINILM).is_likely


def test_what_is_about_something_else_stays_below_the_floor() -> None:
    assert not window_analysis.preferred(
        replace(UNLIKELY, likelihood=0.1), 1.0, model=MINILM
    ).is_likely
    assert not window_analysis.preferred(
        replace(UNLIKELY, likelihood=0.0), 1.0, model=MINILM
    ).is_likely


def test_a_likelihood_that_is_not_known_stays_so() -> None:
    preference = window_analysis.preferred(
        replace(UNLIKELY, likelihood=None, is_likely=True), 1.0, model=MINILM
    )
    assert (preference.likelihood, preference.is_likely) == (None, True)


@pytest.fixture
def books(fake_models: None, collection: Collection) -> dict[str, Source]:
    """Two sources that say the same, the second after a passage that only it has."""
    texts = {"First": [SAID], "Second": [GAUSS, SAID]}
    made = {title: make_document(collection, said, title=title) for title, said in texts.items()}
    space = vector_space.claim()
    for source in made.values():
        wanted = vector_store.in_batches(vector_store.missing(space, source=source.pk))
        list(vector_store.make(space, vector_space.embedder_of(space), wanted))
    return made


def cite(lecture: LectureSession, *texts: str, first: int = 0) -> list[str]:
    """Cite windows in a row; return the titles that they cite first."""
    made = [
        Window.objects.create(session=lecture, index=index, text=text)
        for index, text in enumerate(texts, start=first)
    ]
    cited = lecture_pipeline.cite(made)
    return [window.citations[0].source.title for window in cited if window.citations]


def test_of_two_equal_passages_the_one_beside_what_was_just_cited_is_cited_first(
    scope: Scope, collection: Collection, books: dict[str, Source]
) -> None:
    lecture = sessions.start(scope, None, title="Sums", collection=collection)
    spoken = (GAUSS, SAID)
    assert cite(lecture, *spoken) == ["Second", "Second"]
    assert cite(lecture, SAID, first=20) == ["First"]  # that was long ago
    other = sessions.start(scope, None, title="Other", collection=collection)
    assert cite(other, SAID) == ["First"]  # that was another lecture
