"""Answers keep to their token budget, and cursors lead through all of it."""

import re
from typing import Any

import pytest

from kbsite.mcp.answer_text import fitting, longest, tokens
from kbsite.mcp.render_transcript import transcript_text
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import cursor, material
from tests.makers import make_cues, make_source, make_two_talks, make_video
from transcripts.models import Job

CHINESE = (
    "神经网络是一串简单的函数。",
    "反向传播把误差从末端带回开端。",
    "“引号”和换行\\n也要算进去。",
)
WHOLE = {"videoId": "lecture-1", "includeFullTranscript": True}


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


@pytest.mark.parametrize(("costs", "count"), [([900, 5], 1), ([50, 50, 1], 2), ([], 0)])
def test_one_row_is_given_even_where_none_fits(costs: list[int], count: int) -> None:
    assert fitting(costs, room=100) == count


@pytest.mark.parametrize(
    "sentences", [("Plain words that are said.", "And some more of them."), CHINESE]
)
@pytest.mark.parametrize("times", ["15s", "none"])
@pytest.mark.parametrize("budget", [500, 2_000])
def test_the_pages_of_a_whole_transcript_put_together_are_the_transcript(
    shelf: Shelf, sentences: Any, budget: int, times: str
) -> None:
    cues = make_cues(600, sentences=sentences)
    make_video(shelf.collection, cues=cues, title="A title " * 30)
    pages = shelf.write.pages("get_transcript", **WHOLE, times=times, maxTokens=budget)
    bodies = [material(page).partition("\n\n")[2] for page in pages]
    whole = transcript_text(cues, times=times)
    assert "".join(" ".join(bodies).split()) == "".join(whole.split())
    assert len(pages) > 1
    assert all(tokens(page) <= budget for page in pages)
    for number, page in enumerate(pages, start=1):
        assert f"\nWhole transcript, page {number} of {len(pages)}, http" in page


def test_a_page_of_a_large_transcript_does_not_claim_to_be_all_of_it(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(2_000))
    first = shelf.write("get_transcript", **WHOLE, maxTokens=600)
    assert "This is the whole transcript" not in first
    assert re.search(r"\nWhole transcript, page 1 of \d\d+, http", first)
    assert "More follows: repeat this call" in first
    whole = shelf.write("get_transcript", **WHOLE, maxTokens=100_000)
    assert "This is the whole transcript" in whole
    assert "page 1" not in whole


def test_a_large_transcript_asked_for_whole_comes_with_a_warning(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(1_000))
    result = shelf.write("get_transcript", **WHOLE)
    assert "may exceed" in result
    assert tokens(result) <= 20_000


def test_the_budget_of_the_settings_holds_where_none_is_given(shelf: Shelf, settings: Any) -> None:
    settings.MCP_MAX_TOKENS = 600
    make_video(shelf.collection, cues=make_cues(400))
    result = shelf.write("get_transcript", videoId="lecture-1")
    assert tokens(result) <= 600
    assert cursor(result)


SERIES = [f"Number {number} of a series about something" for number in reversed(range(40))]
HEADS = {  # and how the first row is written
    "list_transcripts": ("40 videos, newest first.", "- video-39 · Number 39 of a series"),
    "list_sources": ("40 sources, newest first.", " · Number 39 of a series"),
    "get_job": ("40 problems:", "- Number 39 of a series about something: It is empty."),
}


@pytest.mark.parametrize("tool", HEADS)
def test_the_pages_of_a_list_put_together_are_the_list(shelf: Shelf, tool: str) -> None:
    empty = {"code": "empty", "message": "It is empty.", "hint": ""}
    problems = [{"name": title, **empty} for title in SERIES]
    about = {"kind": "files", "target": "40 files", "state": "done", "problems": problems}
    job = Job.objects.create(collection=shelf.collection, **about)
    for number, title in enumerate(reversed(SERIES)):
        key = f"video-{number}"
        make_source(make_video(shelf.collection, key=key, title=title, cues=make_cues(2)))
    arguments = {"jobId": job.pk} if tool == "get_job" else {}
    pages = shelf.write.pages(tool, **arguments, maxTokens=600)
    assert re.findall(r"Number \d+ of a series about \w+", "\n".join(pages)) == SERIES
    head, row = HEADS[tool]
    assert len(pages) > 1
    assert row in pages[0]
    assert all(tokens(page) <= 600 and head in page for page in pages)


def test_the_pages_of_a_search_put_together_are_the_search(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(200))
    query = {"videoId": "lecture-1", "query": "gradient"}
    whole = shelf.write("search_transcript", **query, maxResults=50)
    pages = shelf.write.pages("search_transcript", **query, maxResults=4, maxTokens=500)
    hits = [material(page).splitlines() for page in pages]
    assert [hit for page in hits for hit in page] == material(whole).splitlines()
    assert all(len(page) <= 4 for page in hits)
    assert all(tokens(page) <= 500 for page in pages)


@pytest.mark.parametrize(
    "sentence",
    [
        "About networks, number {}, with a few more words to fill it.",
        "神经网络是一串简单的函数，第{}个句子，networks 还有一些别的话。",
    ],
)
def test_the_pages_of_a_search_of_the_library_keep_to_the_budget_and_are_the_search(
    shelf: Shelf, sentence: str
) -> None:
    def places(answer: str) -> list[str]:
        return re.findall(r"^\d+\. (“[^\n]*?”? \(videoId=\S+\) \[[\d:–]+\])", answer, re.MULTILINE)

    for number in range(3):
        title, texts = "长标题 title " * 20, [sentence.format(10 * number + n) for n in range(5)]
        video = make_video(shelf.collection, key=f"talk-{number}", title=title, cues=make_cues(2))
        make_source(video, author="作者" * 40, texts=[f"{text} " * 6 for text in texts])
    query = {"query": "networks", "mode": "words", "explain": True}
    whole = shelf.read("search_knowledge_base", maxResults=50, maxTokens=20_000, **query)
    pages = shelf.read.pages("search_knowledge_base", maxResults=4, maxTokens=700, **query)
    assert all(tokens(page) <= 700 and 1 <= len(places(page)) <= 4 for page in pages)
    assert [place for page in pages for place in places(page)] == places(whole)


def test_a_single_endless_segment_does_not_burst_the_budget(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(1, sentences=["needle " + "hay " * 20_000]))
    result = shelf.write("search_transcript", videoId="lecture-1", query="needle", maxTokens=500)
    assert tokens(result) <= 500
    assert "] needle hay" in result


def test_a_cursor_answers_only_the_question_it_was_given_for(shelf: Shelf, other: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(400))
    make_video(shelf.collection, key="lecture-2", cues=make_cues(400))
    call = {**WHOLE, "maxTokens": 500}
    call["cursor"] = mark = cursor(shelf.write("get_transcript", **call))
    forged = mark[:-1] + ("A" if mark[-1] != "A" else "B")
    for changed, reason in (
        ({"videoId": "lecture-2"}, "another question"),
        ({"includeFullTranscript": False}, "another question"),
        ({"cursor": forged}, "cursor was not made"),
    ):
        assert reason in shelf.write.refused("get_transcript", **{**call, **changed})
    assert "no recording" in other.write.refused("get_transcript", **call)
    assert shelf.write("get_transcript", **{**call, "maxTokens": 900})
    make_video(shelf.collection, cues=make_cues(390))
    assert "changed" in shelf.write.refused("get_transcript", **call)


def test_a_cursor_of_a_search_answers_that_search_alone(shelf: Shelf) -> None:
    make_two_talks(shelf.collection)
    call = {"query": "network networks error", "mode": "words", "maxResults": 1}
    call["cursor"] = cursor(shelf.read("search_knowledge_base", **call))
    assert "2. “" in shelf.read("search_knowledge_base", **call)
    for changed in ({"query": "error"}, {"channel": "Ada"}, {"maxResults": 2}):
        refusal = shelf.read.refused("search_knowledge_base", **{**call, **changed})
        assert "another question" in refusal
