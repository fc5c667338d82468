"""Searching the library and listing its sources, over MCP."""

import re
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ResourceTemplateReference, TextResourceContents

from citations.models import Chunk, Document, EmbeddingSpace, Source
from citations.providers import weights
from kbsite.mcp import resources
from kbsite.mcp.budget import tokens
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, cursor, material, reply, text
from tests.makers import LEARNING, make_cues, make_document, make_source, make_two_talks, make_video
from transcripts.models import Job


@pytest.fixture
def talks(shelf: Shelf) -> list[Source]:
    return make_two_talks(shelf.collection)


def search(endpoint: Endpoint, shelf: Shelf, query: str, **arguments: Any) -> str:
    return reply(endpoint.call(shelf.reading, "search_knowledge_base", query=query, **arguments))


def titles(answer: str) -> set[str]:
    return set(re.findall(r"^\d+\. “([^”]*)”", answer, re.MULTILINE))


def test_passages_come_from_the_whole_library_with_the_link_to_their_second(
    endpoint: Endpoint, shelf: Shelf, talks: list[Source]
) -> None:
    result = endpoint.call(shelf.reading, "search_knowledge_base", query="missing page")
    link = "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=10s"
    expected = f"1. “Learning” (videoId=dQw4w9WgXcQ) [0:10–0:20] {LEARNING[1]} ({link})"
    assert material(reply(result)) == expected
    assert titles(search(endpoint, shelf, "network networks")) == {"Learning", "Baking"}


def test_neighbouring_passages_are_one_with_its_extent(
    endpoint: Endpoint, shelf: Shelf, talks: list[Source]
) -> None:
    result = endpoint.call(shelf.reading, "search_knowledge_base", query="missing page flow")
    assert "[0:10–0:30]" in reply(result)


def test_what_one_speaker_says_is_found_alone(
    endpoint: Endpoint, shelf: Shelf, talks: list[Source]
) -> None:
    talks[1].chunks.update(speaker="Ann Lee")
    for said in ("Ann Lee", ["Ann Lee", "Bo Chen"]):
        assert titles(search(endpoint, shelf, "network networks", speaker=said)) == {"Baking"}
    assert titles(search(endpoint, shelf, "network networks", speaker="Bo Chen")) == set()


def test_another_spelling_is_offered(endpoint: Endpoint, shelf: Shelf, talks: list[Source]) -> None:
    result = endpoint.call(shelf.reading, "search_knowledge_base", query="mising page")
    assert "Did you mean “missing page”?" in text(result)


def test_a_document_is_named_by_its_pages(endpoint: Endpoint, shelf: Shelf) -> None:
    book = make_document(
        shelf.collection,
        ["Gradients vanish in deep networks.", "Pooling keeps what matters."],
        title="Deep Learning",
    )
    Source.objects.filter(pk=book.pk).update(kind="pdf")
    about = {
        "name": "book.pdf",
        "media_type": "application/pdf",
        "size": 1,
        "digest": "d",
        "page_count": 412,
    }
    Document.objects.create(source=book, **about)
    for chunk, (page, last) in zip(book.chunks.order_by("ordinal"), [(3, 4), (9, 9)], strict=True):
        Chunk.objects.filter(pk=chunk.pk).update(page=page, last_page=last)
    for query, place, page in (("gradients vanish", "[pages 3–4]", 3), ("pooling", "[page 9]", 9)):
        result = endpoint.call(shelf.reading, "search_knowledge_base", query=query, mode="words")
        assert f"/sources/{book.uuid}/pages/{page}/?from=" in reply(result)
        assert f"(sourceId={book.uuid}) {place} " in text(result)
    listed = endpoint.call(shelf.reading, "list_sources")
    assert "pdf · 412 pages" in text(listed)


def test_a_search_is_narrowed(endpoint: Endpoint, shelf: Shelf, talks: list[Source]) -> None:
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"videoId": "bread"}, {"Baking"}),
        ({"videoId": "https://youtu.be/dQw4w9WgXcQ"}, {"Learning"}),
        ({"sourceId": str(talks[1].uuid)}, {"Baking"}),
        ({"channel": "ada"}, {"Learning"}),
        ({"collection": "lectures", "kind": "video", "language": "en"}, {"Baking", "Learning"}),
        ({"kind": "pdf"}, set()),
        ({"tag": "none"}, set()),
        ({"since": "2000-01-01"}, set()),
        ({"endTime": 5}, {"Learning"}),
        ({"startTime": 10, "endTime": 19}, {"Baking"}),
    ]
    for narrowed, expected in cases:
        result = search(endpoint, shelf, "network networks learn", mode="words", **narrowed)
        assert titles(result) == expected, narrowed


def test_an_explanation_adds_up(endpoint: Endpoint, shelf: Shelf, talks: list[Source]) -> None:
    result = endpoint.call(
        shelf.reading, "search_knowledge_base", query="network networks", mode="words", explain=True
    )
    lines = re.findall(r"words #(\d+), BM25 .* RRF (\S+) = (\S+) \+ (\S+)", reply(result))
    assert [int(rank) for rank, *_ in lines] == list(range(1, len(lines) + 1))
    for _, rrf, lexical, vector in lines:
        assert float(rrf) == pytest.approx(float(lexical) + float(vector), abs=2e-5)


def test_what_is_said_again_elsewhere_is_named_with_its_link(
    endpoint: Endpoint, shelf: Shelf, talks: list[Source]
) -> None:
    make_source(
        make_video(shelf.collection, key="again", title="Learning, again"), texts=[LEARNING[1]]
    )
    result = endpoint.call(
        shelf.reading, "search_knowledge_base", query="missing page", mode="words"
    )
    (title,) = titles(reply(result))
    twin = re.search(r"Also said in “(.*)”, 0:\S+ \(http", reply(result))
    assert twin is not None
    assert {title, twin[1]} == {"Learning", "Learning, again"}


def test_what_others_keep_to_themselves_is_not_found_counted_or_named_beside(
    endpoint: Endpoint, shelf: Shelf, other: Shelf, talks: list[Source]
) -> None:
    hidden = make_source(
        make_video(other.collection, key="hidden", title="Hidden talk"),
        texts=[LEARNING[1], "Errors are secrets."],
    )
    for query in ("missing page", "errors secrets hidden"):
        result = endpoint.call(
            shelf.reading, "search_knowledge_base", query=query, explain=True, maxResults=50
        )
        assert "idden talk" not in reply(result)
        assert str(hidden.uuid) not in reply(result)
    listed = endpoint.call(shelf.reading, "list_sources")
    assert (reply(listed).startswith("2 sources"), "Hidden" in text(listed)) == (True, False)
    for named in ({"sourceId": str(hidden.uuid)}, {"videoId": "hidden"}, {"collection": "secrets"}):
        refused = endpoint.call(shelf.reading, "search_knowledge_base", query="page", **named)
        assert refused.is_error
        assert "Hidden" not in text(refused)


def test_nothing_found_is_an_answer_that_says_what_to_try(
    endpoint: Endpoint, shelf: Shelf, talks: list[Source]
) -> None:
    result = endpoint.call(shelf.reading, "search_knowledge_base", query="zebra", mode="words")
    assert reply(result).startswith("No passage answers.")
    assert "list_sources" in text(result)


def test_an_error_names_the_next_useful_tool(
    endpoint: Endpoint, shelf: Shelf, talks: list[Source]
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"query": "   "}, "search_knowledge_base"),
        ({"query": "page", "sourceId": "nowhere"}, "list_sources"),
        ({"query": "page", "videoId": "nowhere"}, "list_sources"),
        ({"query": "page", "collection": "nowhere"}, "list_transcripts"),
        ({"query": "page", "mode": "meaning"}, "mode=words"),
        ({"query": "page", "startTime": 20, "endTime": 10}, "fewer filters"),
        ({"query": "page", "since": "2024-02-01", "until": "2024-01-01"}, "fewer filters"),
        ({"query": "page", "kind": "scroll"}, "it takes channel"),
        ({"query": "page", "since": "soon"}, "it takes channel"),
        ({"query": "page", "startTime": -1}, "it takes channel"),
        ({"query": "page", "maxResults": 51}, "it takes channel"),
        ({"query": "page\0"}, "it takes channel"),
    ]
    for arguments, helps in cases:
        result = endpoint.call(shelf.reading, "search_knowledge_base", **arguments)
        assert result.is_error, arguments
        assert helps in text(result).partition("Next: ")[2]


@pytest.mark.parametrize(
    "sentence",
    [
        "About networks, number {}, with a few more words to fill it.",
        "神经网络是一串简单的函数，第{}个句子，networks 还有一些别的话。",
    ],
)
def test_the_pages_of_a_search_keep_to_the_budget_and_put_together_are_the_search(
    endpoint: Endpoint, shelf: Shelf, sentence: str
) -> None:
    for number in range(3):
        video = make_video(
            shelf.collection, key=f"talk-{number}", title="长标题 title " * 20, cues=make_cues(2)
        )
        make_source(
            video,
            author="作者" * 40,
            texts=[(sentence.format(10 * number + n) + " ") * 6 for n in range(5)],
        )
    arguments = {"query": "networks", "mode": "words", "explain": True}
    whole = _places(search(endpoint, shelf, maxResults=50, maxTokens=20_000, **arguments))
    collected: list[str] = []
    mark = ""
    for _ in range(40):
        page = search(endpoint, shelf, maxResults=4, maxTokens=700, cursor=mark, **arguments)
        places = _places(page)
        collected += places
        assert tokens(page) <= 700
        assert 1 <= len(places) <= 4
        if not (mark := cursor(page)):
            break
    assert collected == whole


def test_a_cursor_answers_only_the_question_it_was_given_for(
    endpoint: Endpoint, shelf: Shelf, talks: list[Source]
) -> None:
    arguments = {"query": "network networks error", "mode": "words", "maxResults": 1}
    mark = cursor(search(endpoint, shelf, **arguments))
    assert titles(search(endpoint, shelf, **arguments, cursor=mark))
    for changed in ({"query": "error"}, {"channel": "Ada"}, {"maxResults": 2}):
        refused = endpoint.call(
            shelf.reading, "search_knowledge_base", **{**arguments, "cursor": mark, **changed}
        )
        assert refused.is_error
        assert "another question" in text(refused)


def test_sources_are_listed_with_how_far_they_are(
    endpoint: Endpoint, shelf: Shelf, talks: list[Source]
) -> None:
    make_source(make_video(shelf.collection, key="new", title="New talk"), state="pending")
    result = endpoint.call(shelf.reading, "list_sources")
    rows = [line.split(" · ") for line in material(reply(result)).splitlines()]
    assert [(row[1], row[-1]) for row in rows] == [
        ("New talk", "waiting"),
        ("Baking", "found by words and meaning"),
        ("Learning", "found by words and meaning"),
    ]
    assert text(result).startswith("3 sources, newest first; 1 still being indexed.")
    for narrowed, title in (
        ({"state": "pending"}, "New talk"),
        ({"query": "bak", "kind": "video"}, "Baking"),
    ):
        listed = material(reply(endpoint.call(shelf.reading, "list_sources", **narrowed)))
        assert [line.split(" · ")[1] for line in listed.splitlines()] == [title]


def test_the_pages_of_the_sources_put_together_are_the_sources(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    for number in range(25):
        make_source(
            make_video(
                shelf.collection,
                key=f"talk-{number}",
                title=f"Number {number} of a series",
                cues=make_cues(1),
            )
        )
    collected: list[str] = []
    mark = ""
    for _ in range(40):
        page = reply(endpoint.call(shelf.reading, "list_sources", maxTokens=600, cursor=mark))
        collected += re.findall(r"Number \d+ of a series", page)
        assert tokens(page) <= 600
        if not (mark := cursor(page)):
            break
    assert collected == [f"Number {number} of a series" for number in reversed(range(25))]


def test_a_job_says_whether_what_it_brought_is_found_yet(endpoint: Endpoint, shelf: Shelf) -> None:
    video = make_video(shelf.collection)
    job = Job.objects.create(
        collection=shelf.collection, kind="video", target="x", state="done", video=video
    )
    assert "finds it" not in reply(endpoint.call(shelf.reading, "get_job", jobId=job.pk))
    source = make_source(video, state="words", texts=["One."])
    result = endpoint.call(shelf.reading, "get_job", jobId=job.pk)
    assert f"finds it (en, sourceId={source.uuid}) by words, not yet by" in reply(result)
    Source.objects.update(state="ready")
    result = endpoint.call(shelf.reading, "get_job", jobId=job.pk)
    assert f"finds it (en, sourceId={source.uuid}) by words and meaning." in reply(result)


def test_in_a_language_that_the_model_does_not_know_sources_are_found_by_words_alone(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    EmbeddingSpace.objects.all().delete()
    EmbeddingSpace.objects.create(
        provider="local", model=weights.MINILM, dimensions=384, state="active"
    )
    make_document(shelf.collection, ["Moos"], language="de")
    video = make_video(shelf.collection, lang="de")
    make_source(video, language="de")
    Source.objects.update(state="ready")
    listed = material(reply(endpoint.call(shelf.reading, "list_sources")))
    assert [line.split(" · ")[-1] for line in listed.splitlines()] == ["found by words alone"] * 2
    job = Job.objects.create(
        collection=shelf.collection, kind="video", target="x", state="done", video=video
    )
    assert "by words alone." in reply(endpoint.call(shelf.reading, "get_job", jobId=job.pk))


def _places(answer: str) -> list[str]:
    """Return the title, id and times of each passage."""
    return re.findall(r"^\d+\. (“[^\n]*?”? \(videoId=\S+\) \[[\d:–]+\])", answer, re.MULTILINE)


# The resource


def test_the_text_of_a_source_is_read_with_times(endpoint: Endpoint, shelf: Shelf) -> None:
    source = make_source(make_video(shelf.collection, cues=make_cues(12)), author="Ada")
    lines = _read(endpoint, shelf.reading, f"source://{source.uuid}").splitlines()
    assert lines[:2] == ["Lecture 1", "Ada"]
    assert [line.partition(" ")[0] for line in lines if line.startswith("[")] == [
        "[0:00]",
        "[0:30]",
    ]


def test_the_pages_of_a_text_keep_to_the_budget_and_put_together_are_the_text(
    endpoint: Endpoint, shelf: Shelf, settings: Any
) -> None:
    source = make_source(make_video(shelf.collection, cues=make_cues(300)))
    settings.MCP_MAX_TOKENS = 100_000
    whole = _read(endpoint, shelf.reading, f"source://{source.uuid}").partition("\n\n")[2]
    settings.MCP_MAX_TOKENS = 800
    uri, pages = f"source://{source.uuid}", []
    while uri:
        page = _read(endpoint, shelf.reading, uri)
        assert tokens(page) <= 800
        body, _, rest = page.partition("\n\n")[2].partition("\n\n(… the text goes on: ")
        pages.append(body)
        uri = rest.removesuffix(")")
    assert len(pages) > 3
    assert "".join(pages).replace("\n", "") == whole.replace("\n", "")


def test_what_is_not_there_is_not_found(endpoint: Endpoint, shelf: Shelf) -> None:
    for uri in (
        "source://nowhere",
        "source://..",
        "source://a%00b",
        "source://",
        "source://%2e%2e%2fsecret",
    ):
        with pytest.raises(MCPError) as caught:
            _read(endpoint, shelf.reading, uri)
        assert caught.value.error.code == INVALID_PARAMS


def test_an_offset_that_is_none_is_refused(endpoint: Endpoint, shelf: Shelf) -> None:
    source = make_source(make_video(shelf.collection, cues=make_cues(2)))
    for offset in ("soon", "-1", "9" * 30, "999999", "%00", "²"):
        with pytest.raises(MCPError):
            _read(endpoint, shelf.reading, f"source://{source.uuid}?offset={offset}")


def test_the_text_of_others_is_not_there(endpoint: Endpoint, shelf: Shelf, other: Shelf) -> None:
    source = make_source(make_video(shelf.collection))
    absent = f"source://{source.uuid}".replace(str(source.uuid)[:8], "00000000")
    errors = []
    for uri in (f"source://{source.uuid}", absent):
        with pytest.raises(MCPError) as caught:
            _read(endpoint, other.reading, uri)
        errors.append(
            (
                caught.value.error.code,
                caught.value.error.message.replace(uri.removeprefix("source://"), ""),
            )
        )
    assert errors[0] == errors[1]


def test_a_document_without_a_text_says_so(endpoint: Endpoint, shelf: Shelf) -> None:
    source = make_document(shelf.collection, ["One."], title="Notes on whales")
    assert "Its text is not there" in _read(endpoint, shelf.reading, f"source://{source.uuid}")


def test_ids_are_completed_from_what_the_caller_may_see(
    endpoint: Endpoint, shelf: Shelf, other: Shelf, talks: list[Source]
) -> None:
    hidden = make_source(make_video(other.collection, key="hidden", title="Learning in secret"))
    assert _completed(endpoint, shelf, "") == [str(talks[1].uuid), str(talks[0].uuid)]
    assert _completed(endpoint, shelf, "learn") == [str(talks[0].uuid)]
    assert _completed(endpoint, shelf, str(talks[1].uuid)[:9]) == [str(talks[1].uuid)]
    assert _completed(endpoint, shelf, str(hidden.uuid)) == []
    assert _completed(endpoint, shelf, "x\0" * 300) == []


def _read(endpoint: Endpoint, token: str, uri: str) -> str:
    result = endpoint.talk(token, lambda client: client.read_resource(uri))
    (content,) = result.contents
    assert isinstance(content, TextResourceContents)
    return content.text


def _completed(endpoint: Endpoint, shelf: Shelf, value: str) -> list[str]:
    async def complete(client: Any) -> Any:
        return await client.complete(
            ResourceTemplateReference(uri=resources.SOURCE), {"name": "id", "value": value}
        )

    return list(endpoint.talk(shelf.reading, complete).completion.values)
