"""Searching the library and listing its sources, over MCP."""

import re
from typing import Any

import pytest

from citations.models import Chunk, Document, EmbeddingSpace, Source
from citations.providers import weights
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import material
from tests.makers import LEARNING, make_document, make_source, make_two_talks, make_video
from transcripts.models import Job


@pytest.fixture
def talks(shelf: Shelf) -> list[Source]:
    return make_two_talks(shelf.collection)


def search(shelf: Shelf, query: str, **arguments: Any) -> str:
    return shelf.read("search_knowledge_base", query=query, **arguments)


def titles(answer: str) -> set[str]:
    return set(re.findall(r"^\d+\. “([^”]*)”", answer, re.MULTILINE))


def listed(shelf: Shelf, **arguments: Any) -> list[list[str]]:
    """Return the columns of each source in the list."""
    answer = shelf.read("list_sources", **arguments)
    return [line.split(" · ") for line in material(answer).splitlines()]


def test_passages_come_from_the_whole_library_with_the_link_to_their_second(
    shelf: Shelf, talks: list[Source]
) -> None:
    link = "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=10s"
    expected = f"1. “Learning” (videoId=dQw4w9WgXcQ) [0:10–0:20] {LEARNING[1]} ({link})"
    assert material(search(shelf, "missing page")) == expected
    assert titles(search(shelf, "network networks")) == {"Learning", "Baking"}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("missing page flow", "[0:10–0:30]"),
        ("mising page", "Did you mean “missing page”?"),
        ("zebra", "No passage answers. Next: search_knowledge_base with other words or fewer"),
        ("zebra", "list_sources"),
    ],
    ids=["the extent of neighbours", "another spelling", "that nothing is found", "what to try"],
)
def test_a_search_says(shelf: Shelf, talks: list[Source], query: str, words: str) -> None:
    assert words in search(shelf, query, mode="words")


def test_what_one_speaker_says_is_found_alone(shelf: Shelf, talks: list[Source]) -> None:
    talks[1].chunks.update(speaker="Ann Lee")
    for said in ("Ann Lee", ["Ann Lee", "Bo Chen"]):
        assert titles(search(shelf, "network networks", speaker=said)) == {"Baking"}
    assert titles(search(shelf, "network networks", speaker="Bo Chen")) == set()


def test_a_document_is_named_by_its_pages(shelf: Shelf) -> None:
    texts = ["Gradients vanish in deep networks.", "Pooling keeps what matters."]
    book = make_document(shelf.collection, texts, title="Deep Learning")
    Source.objects.filter(pk=book.pk).update(kind="pdf")
    about = {"name": "book.pdf", "media_type": "application/pdf", "size": 1, "digest": "d"}
    Document.objects.create(source=book, **about, page_count=412)
    for chunk, (page, last) in zip(book.chunks.order_by("ordinal"), [(3, 4), (9, 9)], strict=True):
        Chunk.objects.filter(pk=chunk.pk).update(page=page, last_page=last)
    for query, place, page in (("gradients vanish", "[pages 3–4]", 3), ("pooling", "[page 9]", 9)):
        result = search(shelf, query, mode="words")
        assert f"/sources/{book.uuid}/pages/{page}/?from=" in result
        assert f"(sourceId={book.uuid}) {place} " in result
    assert "pdf · 412 pages" in shelf.read("list_sources")


@pytest.mark.parametrize(
    ("narrowed", "expected"),
    [
        ({"videoId": "bread"}, {"Baking"}),
        ({"videoId": "https://youtu.be/dQw4w9WgXcQ"}, {"Learning"}),
        ({"sourceId": "BREAD"}, {"Baking"}),
        ({"channel": "ada"}, {"Learning"}),
        ({"collection": "lectures", "kind": "video", "language": "en"}, {"Baking", "Learning"}),
        ({"kind": "pdf"}, set()),
        ({"tag": "none"}, set()),
        ({"since": "2000-01-01"}, set()),
        ({"endTime": 5}, {"Learning"}),
        ({"startTime": 10, "endTime": 19}, {"Baking"}),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
def test_a_search_is_narrowed(
    shelf: Shelf, talks: list[Source], narrowed: dict[str, Any], expected: set[str]
) -> None:
    narrowed |= {"sourceId": str(talks[1].uuid)} if "sourceId" in narrowed else {}
    assert titles(search(shelf, "network networks learn", mode="words", **narrowed)) == expected


def test_an_explanation_adds_up(shelf: Shelf, talks: list[Source]) -> None:
    result = search(shelf, "network networks", mode="words", explain=True)
    lines = re.findall(r"words #(\d+), BM25 .* RRF (\S+) = (\S+) \+ (\S+)", result)
    assert [int(rank) for rank, *_ in lines] == list(range(1, len(lines) + 1))
    for _, rrf, lexical, vector in lines:
        assert float(rrf) == pytest.approx(float(lexical) + float(vector), abs=2e-5)


def test_what_is_said_again_elsewhere_is_named_with_its_link(
    shelf: Shelf, talks: list[Source]
) -> None:
    again = make_video(shelf.collection, key="again", title="Learning, again")
    make_source(again, texts=[LEARNING[1]])
    result = search(shelf, "missing page", mode="words")
    (title,) = titles(result)
    twin = re.search(r"Also said in “(.*)”, 0:\S+ \(http", result)
    assert twin is not None
    assert {title, twin[1]} == {"Learning", "Learning, again"}


def test_what_others_keep_to_themselves_is_not_found_counted_or_named_beside(
    shelf: Shelf, other: Shelf, talks: list[Source]
) -> None:
    video = make_video(other.collection, key="hidden", title="Hidden talk")
    hidden = make_source(video, texts=[LEARNING[1], "Errors are secrets."])
    for query in ("missing page", "errors secrets hidden"):
        result = search(shelf, query, explain=True, maxResults=50)
        assert "idden talk" not in result
        assert str(hidden.uuid) not in result
    sources = shelf.read("list_sources")
    assert (sources.startswith("2 sources"), "Hidden" in sources) == (True, False)
    for named in ({"sourceId": str(hidden.uuid)}, {"videoId": "hidden"}, {"collection": "secrets"}):
        refusal = shelf.read.refused("search_knowledge_base", query="page", **named)
        assert "Hidden" not in refusal


@pytest.mark.parametrize(
    ("arguments", "helps"),
    [
        ({"query": "   "}, "search_knowledge_base"),
        ({"sourceId": "nowhere"}, "list_sources"),
        ({"videoId": "nowhere"}, "list_sources"),
        ({"collection": "nowhere"}, "list_transcripts"),
        ({"mode": "meaning"}, "mode=words"),
        ({"startTime": 20, "endTime": 10}, "fewer filters"),
        ({"since": "2024-02-01", "until": "2024-01-01"}, "fewer filters"),
        ({"kind": "scroll"}, "it takes channel"),
        ({"since": "soon"}, "it takes channel"),
        ({"startTime": -1}, "it takes channel"),
        ({"maxResults": 51}, "it takes channel"),
        ({"query": "page\0"}, "it takes channel"),
    ],
    ids=str,
)
def test_an_error_names_the_next_useful_tool(
    shelf: Shelf, talks: list[Source], arguments: dict[str, Any], helps: str
) -> None:
    refusal = shelf.read.refused("search_knowledge_base", **{"query": "page", **arguments})
    assert helps in refusal.partition("Next: ")[2]


def test_sources_are_listed_with_how_far_they_are(shelf: Shelf, talks: list[Source]) -> None:
    make_source(make_video(shelf.collection, key="new", title="New talk"), state="pending")
    assert [(row[1], row[-1]) for row in listed(shelf)] == [
        ("New talk", "waiting"),
        ("Baking", "found by words and meaning"),
        ("Learning", "found by words and meaning"),
    ]
    head = "3 sources, newest first; 1 still being indexed."
    assert shelf.read("list_sources").startswith(head)
    assert [row[1] for row in listed(shelf, state="pending")] == ["New talk"]
    assert [row[1] for row in listed(shelf, query="bak", kind="video")] == ["Baking"]


def test_in_a_language_that_the_model_does_not_know_sources_are_found_by_words_alone(
    shelf: Shelf,
) -> None:
    EmbeddingSpace.objects.all().delete()
    about = {"provider": "local", "model": weights.MINILM, "dimensions": 384}
    EmbeddingSpace.objects.create(**about, state="active")
    make_document(shelf.collection, ["Moos"], language="de")
    video = make_video(shelf.collection, lang="de")
    make_source(video, language="de")
    Source.objects.update(state="ready")
    assert [row[-1] for row in listed(shelf)] == ["found by words alone"] * 2
    about = {"kind": "video", "target": "x", "state": "done", "video": video}
    job = Job.objects.create(collection=shelf.collection, **about)
    assert "by words alone." in shelf.read("get_job", jobId=job.pk)
