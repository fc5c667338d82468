"""Words and phrases on the pages of a document, and the way from match to match."""

import pytest

from citations.documents import page_search
from citations.documents.page_search import Closeness, MatchPlace, PageMatches
from citations.documents.pages import show_page, span_of_page
from citations.models import Page, Source
from tests.makers import make_paper
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = pytest.mark.django_db

FIRST = "Gradients point uphill. We walk\ndownhill instead, step by step."
SECOND = "The step is the learning rate. A learning rate that is too large overshoots."
THIRD = "100 % of all C++ (and more) is_here; nothing else. It’s what one does."


@pytest.fixture
def paper(collection: Collection) -> Source:
    return make_paper(collection, [FIRST, SECOND, THIRD])


def search(scope: Scope, paper: Source, words: str) -> PageMatches:
    return page_search.find_pages(scope, paper.uuid, words)


def pages_with(scope: Scope, paper: Source, words: str) -> list[int]:
    """Return the numbers of the pages that words are found on."""
    return [hit.number for hit in search(scope, paper, words).hits]


def test_pages_with_all_words_are_found_in_any_case(scope: Scope, paper: Source) -> None:
    assert pages_with(scope, paper, "STEP") == [1, 2]
    assert pages_with(scope, paper, "step RATE") == [2]
    assert pages_with(scope, paper, "What is the rate?") == [2]


def test_where_no_page_has_all_words_those_with_some_are_found(scope: Scope, paper: Source) -> None:
    matches = search(scope, paper, "zebra rate")
    assert [hit.number for hit in matches.hits] == [2]
    assert matches.closeness == Closeness.NONE
    assert pages_with(scope, paper, "zebra") == []


def test_words_are_found_where_they_stand_as_close_as_anywhere(
    scope: Scope, collection: Collection
) -> None:
    paper = make_paper(
        collection,
        [
            "The derivative of a sum. The limit of a derivative, and a limit of a function.",
            "A function has a derivative. A function. Another page has a slope.",
            "Find the derivative\nof a function. The derivative of the other function.",
        ],
    )

    def places_of(words: str) -> tuple[str, int, list[tuple[int, int]]]:
        matches = search(scope, paper, words)
        places = [(hit.number, hit.count) for hit in matches.hits]
        return matches.closeness, matches.fewest, places

    assert places_of("derivative of a function") == ("phrase", 1, [(3, 1)])
    assert places_of("function derivative") == ("sentence", 2, [(1, 1), (2, 1), (3, 2)])
    assert places_of("sum function") == ("page", 1, [(1, 2)])
    assert places_of("sum limit slope derivative") == ("none", 2, [(1, 2)])
    assert places_of("slope zebra") == ("none", 1, [(2, 1)])
    assert places_of('"derivative of the" function') == ("sentence", 2, [(3, 1)])


def test_a_phrase_is_found_across_a_line_break_and_only_in_its_order(
    scope: Scope, paper: Source
) -> None:
    assert pages_with(scope, paper, '"we walk downhill"') == [1]
    assert pages_with(scope, paper, "“downhill walk”") == []
    assert pages_with(scope, paper, "downhill walk") == [1]


def test_marks_are_found_as_they_are_written(scope: Scope, paper: Source) -> None:
    for words in ("%", "C++", "(and", "is_here", "100 %"):
        assert pages_with(scope, paper, words) == [3]
    for words in ("i%e", ".*", "\\", "[a-z]"):
        assert pages_with(scope, paper, words) == []


@pytest.mark.parametrize("words", ["", "   ", '""', "\0", "\ud800"])
def test_nothing_is_found_when_nothing_is_looked_for(
    scope: Scope, paper: Source, words: str
) -> None:
    assert search(scope, paper, words).hits == ()


def test_a_hit_shows_whole_words_around_the_first_place_and_counts_all(
    scope: Scope, collection: Collection
) -> None:
    paper = make_paper(collection, ["wordy " * 40 + "needle " + "wordy " * 40 + "needle"])
    result = search(scope, paper, "needle")
    (hit,) = result.hits
    assert (hit.count, result.count, result.is_cut) == (2, 2, False)
    assert set(hit.snippet.split()) == {"wordy", "needle"}
    assert [hit.snippet[first:last] for first, last in hit.spans] == ["needle"]
    assert 60 < len(hit.snippet) < 140


def test_of_very_many_pages_the_first_are_named(scope: Scope, collection: Collection) -> None:
    paper = make_paper(collection, ["again and again"] * (page_search.MAX_PAGES + 5))
    result = search(scope, paper, "again")
    assert result.is_cut
    assert [hit.number for hit in result.hits] == list(range(1, page_search.MAX_PAGES + 1))


def test_a_word_is_found_from_its_beginning_as_it_is_typed(scope: Scope, paper: Source) -> None:
    assert pages_with(scope, paper, "grad") == [1]
    assert pages_with(scope, paper, "hill") == []
    assert pages_with(scope, paper, "it's") == [3]


def test_other_forms_count_where_no_page_has_the_words_as_typed(
    scope: Scope, paper: Source
) -> None:
    for words, numbers, has_forms in (
        ("steps", [1, 2], True),
        ("steps walking", [1], True),
        ("step overshooting", [2], True),
        ("rate walking", [2], False),  # no page has both in any form
        ("rate", [2], False),
    ):
        matches = search(scope, paper, words)
        assert [hit.number for hit in matches.hits] == numbers
        assert matches.has_forms is has_forms


def test_matches_are_passed_one_after_another_from_page_to_page(
    scope: Scope, paper: Source
) -> None:
    matches = search(scope, paper, "step")
    first, second, third = (MatchPlace(1, 1), MatchPlace(1, 2), MatchPlace(2, 1))
    assert [matches.number_of(place) for place in (first, second, third)] == [1, 2, 3]
    assert [matches.next(place) for place in (first, second, third)] == [second, third, None]
    assert [matches.previous(place) for place in (first, second, third)] == [None, first, second]


def test_from_where_no_match_is_those_before_and_after_are_next(
    scope: Scope, paper: Source
) -> None:
    matches = search(scope, paper, "step")
    assert matches.number_of(MatchPlace(3, 0)) is None
    assert matches.previous(MatchPlace(3, 0)) == MatchPlace(2, 1)
    assert matches.next(MatchPlace(3, 0)) is None
    assert matches.next(MatchPlace(2, 0)) == MatchPlace(2, 1)
    assert matches.previous(MatchPlace(1, 0)) is None


def test_headers_and_footers_are_found_on_their_pages_and_are_no_part_of_the_source(
    scope: Scope, paper: Source
) -> None:
    page = Page.objects.get(document=paper.pk, number=2)
    page.text += "\n\nThe Hiker’s Almanac\n\n2"
    page.save()
    assert pages_with(scope, paper, "hiker’s almanac") == [2]
    first, last = span_of_page(paper, 2)
    assert last - first == len(SECOND)
    view = show_page(scope, paper.uuid, 2, quote=(first, last + 40))
    assert view.quote == ((0, len(SECOND)),)
