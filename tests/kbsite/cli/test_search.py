"""search."""

from typing import Any

import pytest

from citations.models import Source
from tests.kbsite.cli.conftest import Kb
from tests.makers import LEARNING, make_cues, make_source, make_two_talks, make_video
from transcripts.models import Collection

KEYS = {"source_id", "title", "kind", "text", "start", "end", "page", "timestamp_link", "score"}


@pytest.fixture
def talks(library: Collection) -> list[Source]:
    return make_two_talks(library)


def search(kb: Kb, *arguments: object, **options: Any) -> Any:
    return kb("search", *arguments, "--json", **options).json["passages"]


def test_the_whole_library_is_searched_best_first(kb: Kb, talks: list[Source]) -> None:
    hits = search(kb, "network networks")
    assert {hit["title"] for hit in hits} == {"Learning", "Baking"}
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert set(hits[0]) >= KEYS


def test_a_passage_says_where_it_is_said_and_leads_there(kb: Kb, talks: list[Source]) -> None:
    (hit,) = search(kb, "missing page")
    assert (hit["source_id"], hit["title"]) == (str(talks[0].uuid), "Learning")
    assert (hit["kind"], hit["video_id"]) == ("video", "dQw4w9WgXcQ")
    assert (hit["text"], hit["start"], hit["end"], hit["page"]) == (LEARNING[1], 10.0, 20.0, None)
    assert hit["timestamp_link"].endswith("&t=10s")
    assert "?t=10s" in hit["link"]
    assert hit["link"].startswith("http")
    assert 0 < hit["score"] <= 1
    assert [hit["text"][start:end] for start, end in hit["spans"]] == ["missing", "page"]


@pytest.mark.parametrize(
    ("narrowed", "titles"),
    [
        (["--in", "bread"], ["Baking"]),
        (["--in", "ID"], ["Baking"]),
        (["--in", "https://youtu.be/dQw4w9WgXcQ"], ["Learning"]),
        (["--in", "bread", "--in", "dQw4w9WgXcQ"], ["Baking", "Learning"]),
        (["--channel", "ADA"], ["Learning"]),
        (["--kind", "video"], ["Baking", "Learning"]),
        (["--kind", "pdf"], []),
        (["--speaker", "Ann Lee"], ["Baking"]),
        (["--speaker", "Nobody"], []),
        (["--collection", "library"], ["Baking", "Learning"]),
        (["--tag", "none"], []),
        (["--language", "en"], ["Baking", "Learning"]),
        (["--lang", "de"], []),
        (["--since", "2000-01-01"], []),
        (["--to", "0:05"], ["Learning"]),
        (["--from", "10"], ["Baking"]),
        (["--limit", "1"], ["Learning"]),
    ],
)
def test_a_search_is_narrowed(
    kb: Kb, talks: list[Source], narrowed: list[str], titles: list[str]
) -> None:
    talks[1].chunks.update(speaker="Ann Lee")
    narrowed = [talks[1].uuid if part == "ID" else part for part in narrowed]
    hits = search(kb, "network networks learn", "--mode", "words", *narrowed)
    assert sorted(hit["title"] for hit in hits) == titles


def test_hits_are_shown_by_source_with_time_link_and_the_words_marked(
    kb: Kb, talks: list[Source]
) -> None:
    result = kb("search", "errors error", "--mode", "words")
    lines = result.out.splitlines()
    assert lines[0].startswith("Learning  Ada")
    assert lines[1].startswith(" 1. 0:")
    assert "watch?v=" in lines[1]
    assert "Baking" not in result.out


def test_neighbouring_passages_are_shown_as_one_with_links_to_each(
    kb: Kb, talks: list[Source]
) -> None:
    output = kb("search", "missing page flow").out
    assert "0:10–0:30" in output
    assert "with 0:10–0:20" in output or "with 0:20–0:30" in output
    assert "&t=10s" in output
    assert "&t=20s" in output


def test_another_spelling_is_offered(kb: Kb, talks: list[Source]) -> None:
    assert "Did you mean “missing page”?" in kb("search", "mising page").out
    assert "Did you mean" not in kb("search", "missing page").out


def test_an_explanation_adds_up(kb: Kb, talks: list[Source]) -> None:
    hits = search(kb, "network networks", "--mode", "words", "--explain")
    for rank, hit in enumerate(hits, start=1):
        how = hit["explanation"]
        assert how["lexical_rank"] == rank
        assert how["bm25"] == pytest.approx(sum(term["score"] for term in how["terms"]), abs=1e-3)
        assert how["rrf"] == pytest.approx(how["rrf_lexical"] + how["rrf_vector"])
    output = kb("search", "network networks", "--mode", "words", "--explain").out
    for expected in ("How the scores came about", "Stages", "Search by words", "#1", "BM25"):
        assert expected in output


def test_an_explanation_names_what_is_not_listed_and_why(kb: Kb, talks: list[Source]) -> None:
    options = ("--mode", "words", "--limit", 1, "--explain")
    dropped = kb("search", "network networks", *options, "--json").json["dropped"]
    assert dropped
    assert {hit["rule"] for hit in dropped} <= {"limit", "floor", "neighbour"}
    output = kb("search", "network networks", *options).out
    assert "Found, but not listed" in output
    assert "below the last passage that is listed" in output


def test_one_passage_is_looked_for(kb: Kb, talks: list[Source]) -> None:
    words = " ".join(LEARNING[1].split()[:4])
    output = kb("search", "missing page", "--mode", "words", "--find", words).out
    assert "It is number 1 of the list." in output
    assert "by words #1" in output
    output = kb("search", "bread", "--mode", "words", "--find", words).out
    assert "It is not listed: too far down by words and by meaning to be compared." in output
    assert "Neither words nor meaning find it" in output
    assert kb("search", "bread", "--find", "words of nobody", code=3).err


def test_nothing_found_succeeds_and_says_so(kb: Kb, talks: list[Source]) -> None:
    assert search(kb, "zebra", "--mode", "words") == []
    assert "zebra" in kb("search", "zebra", "--mode", "words").out


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["   "], 2, "nothing to search"),
        (["word", "--in", "nowhere"], 3, "nowhere"),
        (["word", "--collection", "nowhere"], 3, "nowhere"),
        (["word", "--kind", "scroll"], 2, "markdown"),
        (["word", "--since", "soon"], 2, "soon"),
        (["word", "--since", "2024-02-01", "--until", "2024-01-01"], 2, "first day"),
        (["word", "--from", "soon"], 2, "not a time"),
        (["word", "--from", "20", "--to", "10"], 2, "before it starts"),
        (["word", "--limit", "51"], 2, "50"),
        (["word", "--mode", "magic"], 2, "both"),
        (["word", "--mode", "meaning"], 8, "embedded"),
        (["w" * 2_000], 2, "1,000"),
    ],
)
def test_what_cannot_be_searched_ends_with_a_message_and_its_code(
    kb: Kb, talks: list[Source], arguments: list[str], code: int, expected: str
) -> None:
    failed = kb("search", *arguments, code=code)
    assert expected in failed.err
    assert not failed.out


def test_what_a_terminal_would_obey_is_not_printed(kb: Kb, library: Collection) -> None:
    make_source(
        make_video(library, title="A \x1b[31mred\x1b[0m title"),
        texts=["A red \x1b]0;owned\x07 word."],
    )
    result = kb("search", "red", "--mode", "words")
    assert "\x1b" not in result.out
    assert "\x07" not in result.out


def test_a_video_that_is_not_indexed_yet_is_searched_by_the_words_of_its_transcript(
    kb: Kb, library: Collection
) -> None:
    make_video(library, key="talk", cues=make_cues(60))
    ran = kb("search", "backpropagation gradient", "--in", "talk", "--limit", 3, "--json")
    assert "not indexed yet" in ran.err
    hits = ran.json["hits"]
    assert len(hits) == 3
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    printed = kb("search", "backpropagation gradient", "--in", "talk").out
    assert hits[0]["timestamp_link"] in printed
    times = ("--from", "2:00", "--to", "3:00")
    late = kb("search", "backpropagation", "--in", "talk", *times, "--json").json["hits"]
    assert late
    assert all(hit["end"] > 120 and hit["start"] < 180 for hit in late)
    assert kb("search", "zebra", "--in", "talk", "--json").json["hits"] == []


def test_a_source_without_chunks_is_not_indexed_yet(kb: Kb, library: Collection) -> None:
    source = make_source(make_video(library, key="talk", cues=make_cues(60)), state="pending")
    assert "not indexed yet" in kb("search", "gradient", "--in", source.uuid).err


def test_a_day_is_written_as_in_a_calendar(kb: Kb, talks: list[Source]) -> None:
    error = kb("search", "networks", "--since", "yesterday", code=2).err
    assert "“yesterday” is no day" in error
    assert "Value error" not in error
    assert search(kb, "networks", "--since", "2099-01-31") == []
