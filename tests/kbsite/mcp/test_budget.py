"""Answers keep to their token budget, and cursors lead through all of it."""

import re
from typing import Any

import pytest

from kbsite.mcp.budget import fitting, longest, tokens
from kbsite.mcp.render_transcript import transcript_text
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, cursor, material, reply, text
from tests.makers import make_cues, make_video

CHINESE = (
    "神经网络是一串简单的函数。",
    "反向传播把误差从末端带回开端。",
    "“引号”和换行\\n也要算进去。",
)


@pytest.mark.parametrize(
    ("written", "count"), [("", 0), ("abcd", 1), ("abcde", 2), ("神经", 2), ("über", 2)]
)
def test_tokens_are_counted_on_the_large_side(written: str, count: int) -> None:
    assert tokens(written) == count


@pytest.mark.parametrize(
    "written", ["word " * 300, "神经网络" * 300, 'a "quoted" \\ line\n' * 100, "añb神" * 200]
)
def test_the_longest_piece_fits_and_one_more_character_would_not(written: str) -> None:
    size = longest(written, 7, room=50)
    assert tokens(written[7 : 7 + size]) <= 50 < tokens(written[7 : 7 + size + 1])


def test_one_row_is_given_even_where_none_fits() -> None:
    assert fitting([900, 5], room=100) == 1
    assert fitting([50, 50, 1], room=100) == 2
    assert fitting([], room=100) == 0


@pytest.mark.parametrize(
    "sentences", [("Plain words that are said.", "And some more of them."), CHINESE]
)
@pytest.mark.parametrize("times", ["15s", "none"])
@pytest.mark.parametrize("budget", [500, 2_000])
def test_the_pages_of_a_whole_transcript_put_together_are_the_transcript(
    endpoint: Endpoint, shelf: Shelf, sentences: Any, budget: int, times: str
) -> None:
    cues = make_cues(600, sentences=sentences)
    make_video(shelf.collection, cues=cues, title="A title " * 30)
    pages = list(
        _pages(
            endpoint,
            shelf.token,
            "get_transcript",
            videoId="lecture-1",
            includeFullTranscript=True,
            times=times,
            maxTokens=budget,
        )
    )
    bodies = [material(page).partition("\n\n")[2] for page in pages]
    whole = transcript_text(cues, times=times)
    assert "".join(" ".join(bodies).split()) == "".join(whole.split())
    assert len(pages) > 1
    assert all(tokens(page) <= budget for page in pages)
    for number, page in enumerate(pages, start=1):
        assert f"\nWhole transcript, page {number} of {len(pages)}, http" in page


def test_a_page_of_a_large_transcript_does_not_claim_to_be_all_of_it(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    make_video(shelf.collection, cues=make_cues(2_000))
    everything = {"videoId": "lecture-1", "includeFullTranscript": True}
    first = reply(endpoint.call(shelf.token, "get_transcript", **everything, maxTokens=600))
    assert "This is the whole transcript" not in first
    assert re.search(r"\nWhole transcript, page 1 of \d\d+, http", first)
    assert "More follows: repeat this call" in first
    whole = reply(endpoint.call(shelf.token, "get_transcript", **everything, maxTokens=100_000))
    assert "This is the whole transcript" in whole
    assert "page 1" not in whole


def test_a_large_transcript_asked_for_whole_comes_with_a_warning(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    make_video(shelf.collection, cues=make_cues(1_000))
    result = endpoint.call(
        shelf.token, "get_transcript", videoId="lecture-1", includeFullTranscript=True
    )
    assert "may exceed" in text(result)
    assert tokens(text(result)) <= 20_000


def test_the_budget_of_the_settings_holds_where_none_is_given(
    endpoint: Endpoint, shelf: Shelf, settings: Any
) -> None:
    settings.MCP_MAX_TOKENS = 600
    make_video(shelf.collection, cues=make_cues(400))
    result = endpoint.call(shelf.token, "get_transcript", videoId="lecture-1")
    assert tokens(text(result)) <= 600
    assert cursor(text(result))


def test_the_pages_of_a_list_put_together_are_the_list(endpoint: Endpoint, shelf: Shelf) -> None:
    for number in range(40):
        make_video(
            shelf.collection,
            key=f"video-{number}",
            title=f"Number {number} of a series about something",
            cues=make_cues(2),
        )
    pages = list(_pages(endpoint, shelf.token, "list_transcripts", maxTokens=600))
    listed = re.findall(r"^- (video-\d+) ", "\n".join(pages), re.MULTILINE)
    assert listed == [f"video-{number}" for number in reversed(range(40))]
    assert len(pages) > 1
    assert all(tokens(page) <= 600 and page.startswith("40 videos") for page in pages)


def test_the_pages_of_a_search_put_together_are_the_search(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    make_video(shelf.collection, cues=make_cues(200))
    whole = reply(
        endpoint.call(
            shelf.token, "search_transcript", videoId="lecture-1", query="gradient", maxResults=50
        )
    )
    pages = list(
        _pages(
            endpoint,
            shelf.token,
            "search_transcript",
            videoId="lecture-1",
            query="gradient",
            maxResults=4,
            maxTokens=500,
        )
    )
    hits = [material(page).splitlines() for page in pages]
    assert [hit for page in hits for hit in page] == material(whole).splitlines()
    assert all(len(page) <= 4 for page in hits)
    assert all(tokens(page) <= 500 for page in pages)


def test_a_single_endless_segment_does_not_burst_the_budget(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    make_video(shelf.collection, cues=make_cues(1, sentences=["needle " + "hay " * 20_000]))
    result = endpoint.call(
        shelf.token, "search_transcript", videoId="lecture-1", query="needle", maxTokens=500
    )
    assert tokens(text(result)) <= 500
    assert "] needle hay" in text(result)


def test_a_cursor_answers_only_the_question_it_was_given_for(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    make_video(shelf.collection, cues=make_cues(400))
    make_video(shelf.collection, key="lecture-2", cues=make_cues(400))
    arguments = {"videoId": "lecture-1", "includeFullTranscript": True, "maxTokens": 500}
    mark = cursor(reply(endpoint.call(shelf.token, "get_transcript", **arguments)))
    for changed in (
        {"videoId": "lecture-2"},
        {"includeFullTranscript": False},
        {"cursor": mark[:-1] + ("A" if mark[-1] != "A" else "B")},
    ):
        result = endpoint.call(
            shelf.token, "get_transcript", **{**arguments, "cursor": mark, **changed}
        )
        assert result.is_error
        assert "cursor" in text(result)
    assert not endpoint.call(
        shelf.token, "get_transcript", **{**arguments, "cursor": mark, "maxTokens": 900}
    ).is_error


def test_a_cursor_of_a_transcript_that_changed_meanwhile_is_refused(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    make_video(shelf.collection, cues=make_cues(400))
    arguments = {"videoId": "lecture-1", "includeFullTranscript": True, "maxTokens": 500}
    mark = cursor(reply(endpoint.call(shelf.token, "get_transcript", **arguments)))
    make_video(shelf.collection, cues=make_cues(390))
    result = endpoint.call(shelf.token, "get_transcript", **arguments, cursor=mark)
    assert result.is_error
    assert "changed" in text(result)


def test_a_cursor_opens_nothing_to_whoever_it_is_passed_on_to(
    endpoint: Endpoint, shelf: Shelf, other: Shelf
) -> None:
    make_video(shelf.collection, cues=make_cues(400))
    arguments = {"videoId": "lecture-1", "includeFullTranscript": True, "maxTokens": 500}
    mark = cursor(reply(endpoint.call(shelf.token, "get_transcript", **arguments)))
    result = endpoint.call(other.token, "get_transcript", **arguments, cursor=mark)
    assert result.is_error
    assert "no recording" in text(result)


def _pages(endpoint: Endpoint, token: str, tool: str, **arguments: Any) -> Any:
    mark = ""
    for _ in range(200):
        page = reply(endpoint.call(token, tool, **arguments, cursor=mark))
        yield page
        if not (mark := cursor(page)):
            return
    pytest.fail("the cursors do not come to an end")
