"""Lists keep the rows that have all words, and are cut into pages."""

from uuid import uuid4

import pytest

from citations.errors import CitationNotFound, SourceNotFound
from citations.models import Source
from tests.makers import make_source, make_video
from transcripts.core.lists import MAX_WORDS, containing, page_of, row_of, tagged
from transcripts.models import Collection, Video

pytestmark = pytest.mark.django_db


@pytest.fixture
def videos(collection: Collection) -> list[Video]:
    titles = ("Entropy of gases", "Entropy of words", "Gases")
    return [make_video(collection, key=f"talk-{n}", title=title) for n, title in enumerate(titles)]


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("", ["talk-0", "talk-1", "talk-2"]),
        ("ENTROPY", ["talk-0", "talk-1"]),
        ("gas entropy", ["talk-0"]),
        ("talk-2 gases", ["talk-2"]),  # each word in a field of its own
        ("entropy enthalpy", []),
        ("entropy " * MAX_WORDS + "enthalpy", ["talk-0", "talk-1"]),
        ("gases\0", ["talk-0", "talk-2"]),
    ],
)
def test_every_word_is_in_one_of_the_fields(
    videos: list[Video], words: str, keys: list[str]
) -> None:
    rows = containing(Video.objects.order_by("pk"), words, "title", "key")
    assert [row.key for row in rows] == keys


@pytest.mark.parametrize(
    ("tag", "keys"),
    [
        ("NLP", ["talk-0", "talk-1"]),
        ("nlp", ["talk-0", "talk-1"]),
        ("nl", []),
        ('the "new" one', ["talk-2"]),
        ('"new"', []),
        ("ÉTÉ_1", ["talk-1"]),
        ("ét%", []),
    ],
)
def test_a_tag_is_the_same_in_capitals(videos: list[Video], tag: str, keys: list[str]) -> None:
    for video, tags in zip(
        videos, (["moss", "NLP"], ["nlp", "été_1"], ['the "new" one']), strict=True
    ):
        Video.objects.filter(pk=video.pk).update(tags=tags)
    rows = Video.objects.filter(tagged(tag)).order_by("pk")
    assert [row.key for row in rows] == keys


def test_a_page_says_where_the_next_one_begins(videos: list[Video]) -> None:
    rows = Video.objects.order_by("pk")
    assert page_of(rows, 0, 2) == ((videos[0], videos[1]), 2)
    assert page_of(rows, 2, 2) == ((videos[2],), None)
    assert page_of(rows, 1, 2) == ((videos[1], videos[2]), None)
    assert page_of(rows, 9, 2) == ((), None)


def test_a_row_is_found_by_its_id_or_is_missing_as_the_caller_says(videos: list[Video]) -> None:
    source = make_source(videos[0])
    assert row_of(Source.objects.all(), str(source.uuid), SourceNotFound) == source
    with pytest.raises(CitationNotFound, match="There is no such citation"):
        row_of(Source.objects.all(), uuid4(), CitationNotFound)
    with pytest.raises(SourceNotFound):
        row_of(Source.objects.all(), "no id", SourceNotFound)
