"""Neighbouring hits become one."""

from hypothesis import given
from hypothesis import strategies as st

from citations.passages import Locator
from citations.search.fusion import apart
from citations.search.fusion import join_neighbours as join

PLACES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12)), unique=True, max_size=26)


def test_hits_side_by_side_become_one_in_the_place_of_the_better() -> None:
    assert join([("a", 3), ("b", 7), ("a", 4), ("a", 2)]) == [(0, 2, 3), (1,)]


def test_a_hit_between_two_links_them() -> None:
    assert join([("a", 1), ("b", 2), ("a", 3), ("a", 2)]) == [(0, 2, 3), (1,)]


def test_hits_of_other_sources_or_farther_away_stay_apart() -> None:
    assert join([("a", 1), ("b", 2), ("a", 3)]) == [(0,), (1,), (2,)]


def test_a_hit_beside_a_full_run_begins_another() -> None:
    assert join([("a", 1), ("a", 2), ("a", 3), ("a", 4)]) == [(0, 1, 2), (3,)]
    assert join([("a", 1), ("a", 2), ("a", 4), ("a", 3)], most=3) == [(0, 1, 3), (2,)]


@given(PLACES, st.integers(1, 4))
def test_every_hit_is_in_one_run_of_neighbours_and_the_best_lead(
    places: list[tuple[str, int]], most: int
) -> None:
    runs = join(places, most=most)
    assert sorted(index for run in runs for index in run) == list(range(len(places)))
    assert [run[0] for run in runs] == sorted(min(run) for run in runs)
    for run in runs:
        ordinals = sorted(places[index][1] for index in run)
        assert len({places[index][0] for index in run}) == 1
        assert ordinals == list(range(ordinals[0], ordinals[0] + len(run)))
        assert len(run) <= most


def at(first: int, last: int) -> Locator:
    """A place whose characters are said one each second."""
    return Locator(span=(first, last), start=1000 * first, end=1000 * last)


def test_what_a_better_hit_has_is_left_out_at_either_end() -> None:
    assert apart(at(10, 20), [at(15, 30)]) == at(10, 15)
    assert apart(at(10, 20), [at(0, 12), at(18, 25)]) == at(12, 18)
    assert apart(at(10, 20), [at(0, 10), at(20, 30)]) == at(10, 20)


def test_a_hit_within_a_better_one_stays_whole() -> None:
    assert apart(at(10, 20), [at(5, 25)]) == at(10, 20)
    assert apart(at(10, 20), [at(10, 20)]) == at(10, 20)


def test_pages_have_no_times() -> None:
    rest = apart(Locator(span=(10, 20), page=2), [Locator(span=(0, 15), page=1)])
    assert rest == Locator(span=(15, 20), page=2)
