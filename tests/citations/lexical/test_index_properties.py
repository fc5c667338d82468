"""Search by words over the library, after anything that may have been done to it: a random walk
beside one index over everything.
"""

from collections.abc import Iterator

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from citations import caches
from citations.lexical import index as lexical_index
from citations.lexical import merging
from citations.lexical.query import parse
from citations.library.filters import ResolvedFilter
from citations.models import Source
from tests.makers import make_document, replace_chunks
from transcripts.bm25 import Index
from transcripts.models import Collection

# Few words, so that they meet often; a script without blanks, of which single characters are found
# too; and a word that is longer than what is stored.
WORDS = (
    "to",
    "be",
    "or",
    "not",
    "that",
    "is",
    "the",
    "question",
    "猫が",
    "好き",
    "猫",
    "ที่นี่",
    "é" * 200,
    "é" * 199 + "è",
)
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), max_size=8)
QUERY = st.lists(st.sampled_from([*WORDS, "が", "好"]), min_size=1, max_size=5).map(" ".join)


class Library(RuleBasedStateMachine):
    """Sources come, change and go, and are merged at any time."""

    sources = Bundle("sources")

    @initialize()
    def begin(self) -> None:
        self.outer = transaction.atomic()
        self.outer.__enter__()
        self.collection = Collection.objects.create(name="Walk", slug="walk")
        self.texts: dict[int, list[str]] = {}

    def teardown(self) -> None:
        if hasattr(self, "outer"):
            transaction.set_rollback(True)
            self.outer.__exit__(None, None, None)
        caches.CACHE.clear()

    @rule(target=sources, texts=TEXTS)
    def add(self, texts: list[str]) -> Source:
        source = make_document(self.collection, texts)
        self.texts[source.pk] = texts
        return source

    @rule(source=sources, texts=TEXTS)
    def replace(self, source: Source, texts: list[str]) -> None:
        replace_chunks(source, texts)
        self.texts[source.pk] = texts

    @rule(source=consumes(sources))
    def delete(self, source: Source) -> None:
        del self.texts[source.pk]
        Source.objects.get(pk=source.pk).delete()

    @rule(spare=st.integers(0, 3))
    def merge(self, spare: int) -> None:
        merging.merge(spare=spare)

    @rule()
    def forget(self) -> None:
        caches.CACHE.clear()

    @rule(query=QUERY, limit=st.integers(1, 12))
    def search(self, query: str, limit: int) -> None:
        self.compare(query, limit)

    @invariant()
    def find_the_same_as_one_index(self) -> None:
        if hasattr(self, "texts"):
            self.compare("to be the 猫 question", 50)

    @rule(query=QUERY, pick=st.randoms(use_true_random=False))
    def narrow(self, query: str, pick: object) -> None:
        chosen = frozenset(pk for pk in self.texts if pick.random() < 0.5)
        everything = lexical_index.search(
            parse(query), limit=1000, resolved=ResolvedFilter(sources=None, chunks=1)
        )
        places = {
            place
            for pk in chosen
            for place in Source.objects.get(pk=pk).chunks.values_list("position", flat=True)
        }
        assert lexical_index.search(
            parse(query), limit=1000, resolved=ResolvedFilter(sources=chosen, chunks=1)
        ) == [hit for hit in everything if hit.position in places]

    def compare(self, query: str, limit: int) -> None:
        chunks = sorted(self.chunks())
        wanted = Index.build([text for _, text in chunks]).rank(query, limit=limit)
        found = lexical_index.search(
            parse(query), limit=limit, resolved=ResolvedFilter(sources=None, chunks=1)
        )
        assert [hit.position for hit in found] == [chunks[hit.position][0] for hit in wanted]
        assert [hit.score for hit in found] == pytest.approx(
            [hit.score for hit in wanted], rel=1e-9, abs=0
        )
        told = lexical_index.explain(parse(query), [hit.position for hit in found])
        assert {hit.position: hit.score for hit in found} == {
            place: sum(term.score for term in terms) for place, terms in told.items()
        }

    def chunks(self) -> Iterator[tuple[int, str]]:
        for pk, texts in self.texts.items():
            yield from zip(
                Source.objects.get(pk=pk)
                .chunks.order_by("ordinal")
                .values_list("position", flat=True),
                texts,
                strict=True,
            )


@pytest.mark.parametrize("pack", [1 << 16, 8])
def test_whatever_is_done_to_the_library_a_search_finds_what_one_index_over_all_of_it_would(
    db: None, pack: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("postings", "snapshot", "merging"):
        monkeypatch.setattr(f"citations.lexical.{module}.PACK", pack)
    for few in (
        "snapshot.INLINE",
        "merging.FEW",
        "scoring.FEW",
    ):  # what is done with many postings is done with more than two
        monkeypatch.setattr(f"citations.lexical.{few}", 2)
    run_state_machine_as_test(
        Library,
        settings=settings(
            max_examples=8,
            stateful_step_count=15,
            deadline=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
