"""What a search lists as likely is the same on every door."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from citations.models import Source, State
from citations.passages import Passage, SearchMode
from citations.search import likely_passages
from citations.search import pipeline as search_pipeline
from tests.makers import make_source, make_video
from transcripts.models import Collection
from transcripts.scope import Scope

pytestmark = pytest.mark.django_db

TEXTS = ("Networks relay.", "A network of nodes, and a second network.", "Networks fail.")


@pytest.fixture
def source(collection: Collection) -> Source:
    return make_source(make_video(collection), texts=TEXTS)


def hits(scope: Scope, likely: Sequence[bool]) -> list[Passage]:
    """Return the three passages on networks, of which some are likely."""
    passages = search_pipeline.search(scope, "network", mode=SearchMode.WORDS).passages
    return [
        replace(passage, is_likely=is_likely)
        for passage, is_likely in zip(passages, likely, strict=True)
    ]


@pytest.mark.parametrize(
    ("judged", "listed"),
    [
        ([False, True, False], [True, True, False]),
        ([True, False, False], [True, False, False]),
        ([False, False, False], [False, False, False]),
    ],
)
def test_what_ranks_above_a_likely_passage_is_likely(
    scope: Scope, source: Source, judged: list[bool], listed: list[bool]
) -> None:
    source.change(state=State.READY)
    marked = likely_passages.mark(hits(scope, judged), "network")
    assert [passage.is_likely for passage in marked] == listed


@pytest.mark.parametrize(("words", "is_likely"), [("network relays", True), ("network tax", False)])
def test_all_words_are_enough_while_a_source_is_searched_by_words_alone(
    scope: Scope, source: Source, words: str, *, is_likely: bool
) -> None:
    source.change(state=State.WORDS)
    marked = likely_passages.mark(hits(scope, [False] * 3), words)
    assert [passage.is_likely for passage in marked if passage.text == TEXTS[0]] == [is_likely]
    source.change(state=State.READY)  # now the judge knows its meaning
    marked = likely_passages.mark(hits(scope, [False] * 3), words)
    assert not any(passage.is_likely for passage in marked)
