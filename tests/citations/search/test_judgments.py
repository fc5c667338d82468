"""Marking hits as right or wrong: anchored to the text, one verdict a person, place and query."""

import pytest

from citations.errors import PassageNotFound
from citations.models import Chunk, Mark, Source
from citations.search import judgments
from citations.search.candidates import fetch
from tests.makers import make_document, make_source, make_user, make_video, replace_chunks
from transcripts.core.errors import EmptyQuery
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection

pytestmark = pytest.mark.django_db


def only_chunk(source: Source) -> Chunk:
    return Chunk.objects.get(source=source)


def verdicts(scope: Scope, source: Source, query: str, *, of: str = "ada") -> list[bool | None]:
    """Return the verdicts on a source's chunks, in their order."""
    chunks = list(Chunk.objects.filter(source=source).order_by("ordinal"))
    user = (
        make_user(of) if not (mark := Mark.objects.filter(user__username=of).first()) else mark.user
    )
    known = judgments.marks_of(
        user, query, fetch(scope, [chunk.position for chunk in chunks]).values()
    )
    return [known.get(chunk.pk) for chunk in chunks]


def test_a_mark_keeps_the_place_in_text_and_time(scope: Scope, collection: Collection) -> None:
    source = make_source(make_video(collection), texts=["filler", "Entropy is disorder."])
    chunk = Chunk.objects.get(source=source, ordinal=1)
    judgments.mark(scope, make_user(), "  what is\nentropy ", chunk.pk, right=True)
    mark = Mark.objects.get()
    assert (mark.query, mark.right, mark.source) == ("what is entropy", True, source)
    expected = (chunk.span_start, chunk.span_end, 10000, 20000)
    assert (mark.span_start, mark.span_end, mark.start, mark.end) == expected


def test_a_verdict_can_be_changed_and_taken_back(scope: Scope, collection: Collection) -> None:
    source, ada = make_document(collection, ["Entropy is disorder."]), make_user()
    for verdict in (True, False, False, True):
        judgments.mark(scope, ada, "entropy", only_chunk(source).pk, right=verdict)
        assert verdicts(scope, source, "entropy") == [verdict]
        assert Mark.objects.count() == 1
    judgments.mark(scope, ada, "entropy", only_chunk(source).pk, right=None)
    assert not Mark.objects.exists()


def test_a_mark_survives_cutting_the_source_anew(scope: Scope, collection: Collection) -> None:
    source, ada = (
        make_document(collection, ["Entropy is disorder, they say.", "Something else."]),
        make_user(),
    )
    judgments.mark(
        scope, ada, "entropy", Chunk.objects.get(source=source, ordinal=0).pk, right=True
    )
    replace_chunks(source, ["Entropy is disorder,", "they say. Something else."])
    assert verdicts(scope, source, "entropy") == [True, None]


def test_a_new_verdict_replaces_the_one_on_the_same_place_cut_otherwise(
    scope: Scope, collection: Collection
) -> None:
    source, ada = (
        make_document(collection, ["Entropy is disorder, they say.", "Something else."]),
        make_user(),
    )
    judgments.mark(
        scope, ada, "entropy", Chunk.objects.get(source=source, ordinal=0).pk, right=True
    )
    replace_chunks(source, ["Entropy is disorder,", "they say. Something else."])
    judgments.mark(
        scope, ada, "entropy", Chunk.objects.get(source=source, ordinal=0).pk, right=False
    )
    assert [mark.right for mark in Mark.objects.all()] == [False]


def test_people_and_queries_have_verdicts_of_their_own(
    scope: Scope, collection: Collection
) -> None:
    source, ada, bob = (
        make_document(collection, ["Entropy is disorder."]),
        make_user("ada"),
        make_user("bob"),
    )
    judgments.mark(scope, ada, "entropy", only_chunk(source).pk, right=True)
    judgments.mark(scope, bob, "entropy", only_chunk(source).pk, right=False)
    judgments.mark(scope, ada, "disorder", only_chunk(source).pk, right=False)
    assert verdicts(scope, source, "entropy") == [True]
    assert verdicts(scope, source, "entropy", of="bob") == [False]
    assert verdicts(scope, source, "disorder") == [False]
    assert verdicts(scope, source, "heat") == [None]


def test_a_passage_that_is_gone_or_out_of_reach_cannot_be_marked(
    scope: Scope, collection: Collection
) -> None:
    chunk, ada = only_chunk(make_document(collection, ["Entropy is disorder."])), make_user()
    for reach, pk in ((scope, chunk.pk + 1), (scope, 2**63), (NOTHING, chunk.pk)):
        with pytest.raises(PassageNotFound):
            judgments.mark(reach, ada, "entropy", pk, right=True)
    assert not Mark.objects.exists()


@pytest.mark.parametrize("query", ["", " \n", "\0"])
def test_a_verdict_needs_a_query(scope: Scope, collection: Collection, query: str) -> None:
    chunk = only_chunk(make_document(collection, ["Entropy is disorder."]))
    with pytest.raises(EmptyQuery):
        judgments.mark(scope, make_user(), query, chunk.pk, right=True)


@pytest.mark.parametrize(
    ("first", "other", "same"),
    [
        ((0, 100), (0, 100), True),
        ((0, 100), (50, 150), True),
        ((0, 100), (51, 151), False),
        ((0, 100), (90, 110), True),
        ((0, 1000), (10, 20), True),
        ((0, 100), (100, 200), False),
    ],
)
def test_spans_mean_one_place_when_they_share_half_of_either(
    first: tuple[int, int], other: tuple[int, int], same: bool
) -> None:
    assert judgments.overlaps(first, other) is same
    assert judgments.overlaps(other, first) is same
