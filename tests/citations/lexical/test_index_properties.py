"""Search by words over the library, after anything that may have been done to it: a random walk
beside the bare formula.
"""

from collections.abc import Iterator, Set
from dataclasses import replace

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
from citations.lexical import merging, postings
from citations.lexical.index import ChunkScore
from citations.lexical.query import parse
from citations.library.filters import Filter, ResolvedFilter, resolve
from citations.models import Source
from tests.citations.lexical import naive
from tests.citations.lexical.naive import Text
from tests.makers import make_document, replace_chunks
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.tokenizer import TOKENIZER_VERSION

# Few words, so that they meet often; forms of one, which languages treat differently; a script
# without blanks, of which single characters are found too; and a word that is longer than what is
# stored.
WORDS = (
    "résumé",
    "resume",
    "C++",
    "to",
    "be",
    "or",
    "not",
    "that",
    "is",
    "the",
    "question",
    "questions",
    "questioning",
    "fragen",
    "frage",
    "猫が",
    "好き",
    "猫",
    "ที่นี่",
    "é" * 200,
    "é" * 199 + "è",
)
LANGUAGES = ("", "en-GB", "de", "ru", "zh")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), max_size=8)
QUERY = st.lists(st.sampled_from([*WORDS, "が", "好"]), min_size=1, max_size=5).map(" ".join)


EVERYWHERE = ResolvedFilter(sources=None, chunks=1)


class Library(RuleBasedStateMachine):
    """Sources come, change and go, and are merged at any time."""

    sources = Bundle("sources")

    @initialize()
    def begin(self) -> None:
        self.outer = transaction.atomic()
        self.outer.__enter__()
        self.shelves = [
            Collection.objects.create(name=name, slug=name) for name in ("open", "secret")
        ]
        self.reader = Scope(readable=frozenset({self.shelves[0].pk}))
        self.texts: dict[int, list[Text]] = {}
        self.secret: set[int] = set()

    def teardown(self) -> None:
        if hasattr(self, "outer"):
            transaction.set_rollback(True)
            self.outer.__exit__(None, None, None)
        caches.CACHE.clear()

    @rule(target=sources, texts=TEXTS, language=st.sampled_from(LANGUAGES), is_secret=st.booleans())
    def add(self, texts: list[str], language: str, *, is_secret: bool) -> Source:
        source = make_document(self.shelves[is_secret], texts, language=language)
        self.texts[source.pk] = [Text(text, language) for text in texts]
        self.secret |= {source.pk} if is_secret else set()
        return source

    @rule(source=sources)
    def move(self, source: Source) -> None:
        self.secret ^= {source.pk}
        shelf = self.shelves[source.pk in self.secret]
        Source.objects.filter(pk=source.pk).update(collection=shelf)

    @rule(source=sources, texts=TEXTS)
    def replace(self, source: Source, texts: list[str]) -> None:
        replace_chunks(source, texts)
        self.texts[source.pk] = [Text(text, source.language) for text in texts]

    @rule(source=sources)
    def age(self, source: Source) -> None:
        with pytest.MonkeyPatch.context() as before:
            before.setattr(postings, "counted", naive.words_before)
            before.setattr(lexical_index, "TOKENIZER_VERSION", TOKENIZER_VERSION - 1)
            replace_chunks(source, [text.text for text in self.texts[source.pk]])
        self.texts[source.pk] = [text._replace(is_outdated=True) for text in self.texts[source.pk]]

    @rule()
    def renew(self) -> None:
        lexical_index.renew()
        for pk, texts in self.texts.items():
            self.texts[pk] = [text._replace(is_outdated=False) for text in texts]

    @rule(source=consumes(sources))
    def delete(self, source: Source) -> None:
        del self.texts[source.pk]
        self.secret.discard(source.pk)
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
    def find_the_same_as_the_formula(self) -> None:
        if hasattr(self, "texts"):
            self.compare("to be the 猫 questions", 50)

    @rule(query=QUERY, pick=st.randoms(use_true_random=False))
    def narrow(self, query: str, pick: object) -> None:
        chosen = frozenset(pk for pk in self.texts if pick.random() < 0.5)
        for reach, seen in self.reaches():
            places = {place for place, _ in self.chunks(chosen & seen)}
            narrowed = replace(reach, sources=chosen & seen, narrows_sources=True)
            expected = [hit for hit in hits_of(query, reach) if hit.position in places]
            assert hits_of(query, narrowed) == expected

    def compare(self, query: str, limit: int) -> None:
        for reach, seen in self.reaches():
            chunks = sorted(self.chunks(seen))
            wanted = naive.ranked([text for _, text in chunks], query, limit=limit)
            hits = hits_of(query, reach, limit=limit)
            assert [hit.position for hit in hits] == [chunks[number][0] for number, _ in wanted]
            expected = pytest.approx([score for _, score in wanted], rel=1e-09, abs=0)
            assert [hit.score for hit in hits] == expected
            shares = lexical_index.explain(
                parse(query), [place for place, _ in self.chunks({*self.texts})], resolved=reach
            )
            assert {hit.position: hit.score for hit in hits}.items() <= {
                place: sum(term.score for term in terms) for place, terms in shares.items()
            }.items()
            assert {*shares} <= {place for place, _ in chunks}

    def reaches(self) -> Iterator[tuple[ResolvedFilter, set[int]]]:
        """Yield what may be searched by who reads everything, and by who reads one collection."""
        yield EVERYWHERE, {*self.texts}
        reach = resolve(self.reader, Filter())
        if not reach.is_empty:
            yield reach, {*self.texts} - self.secret

    def chunks(self, sources: Set[int]) -> Iterator[tuple[int, Text]]:
        for pk in sources:
            yield from zip(
                Source.objects.get(pk=pk)
                .chunks.order_by("ordinal")
                .values_list("position", flat=True),
                self.texts[pk],
                strict=True,
            )


def hits_of(query: str, reach: ResolvedFilter, *, limit: int = 1000) -> list[ChunkScore]:
    return lexical_index.search(parse(query), limit=limit, resolved=reach)


@pytest.mark.parametrize(("pack", "dead_share"), [(1 << 16, 0.5), (8, 0.1), (8, 0.5)])
def test_whatever_is_done_to_the_library_a_search_finds_what_the_formula_says(
    db: None, pack: int, dead_share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "DEAD_SHARE", dead_share)
    for module in ("postings", "segments", "merging"):
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
