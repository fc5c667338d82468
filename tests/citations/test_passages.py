"""How positions are written."""

import pytest

from citations.passages import Locator, covering, place, place_in
from transcripts.text.timecodes import milliseconds, seconds


@pytest.mark.parametrize(
    ("position", "written"),
    [
        ({}, ""),
        ({"page": 3}, "page 3"),
        ({"page": 3, "last_page": 3}, "page 3"),
        ({"page": 3, "last_page": 5}, "pages 3–5"),
        ({"page": 3, "is_slide": True}, "slide 3"),
        ({"page": 3, "last_page": 5, "is_slide": True}, "slides 3–5"),
        ({"start": 246_000, "end": 279_500}, "4:06–4:39"),
        ({"start": 62_000, "end": 62_900}, "1:02"),
        ({"start": 0}, "0:00"),
    ],
)
def test_a_position_is_written_as_times_pages_or_slides(
    position: dict[str, int], written: str
) -> None:
    assert place(Locator(span=(0, 1), **position)) == written


def test_a_hit_is_written_by_where_it_opens_and_what_that_is_in() -> None:
    assert place_in("0:36–1:40") == "0:36–1:40"
    assert place_in("0:01–1:40", "0:01–1:40") == "0:01–1:40"
    assert place_in("0:36–1:40", "0:01–1:40") == "0:36, in 0:01–1:40"
    assert place_in("pages 3–5", "pages 3–5") == "pages 3–5"


def test_an_extent_reaches_over_all_parts() -> None:
    assert covering(
        [Locator(span=(40, 90), page=4, last_page=5), Locator(span=(10, 40), page=3)]
    ) == Locator(span=(10, 90), page=3, last_page=5)
    assert covering(
        [Locator(span=(0, 9), start=1_000, end=2_000), Locator(span=(9, 20), start=2_000)]
    ) == Locator(span=(0, 20), start=1_000, end=2_000)
    slides = [Locator(span=(n, n + 1), page=n, is_slide=True) for n in (1, 2)]
    assert place(covering(slides)) == "slides 1–2"
    assert covering([Locator(span=(0, 9))]) == Locator(span=(0, 9))


def test_milliseconds_become_seconds() -> None:
    assert seconds(62_900) == 62.9
    assert seconds(0) == 0
    assert seconds(None) is None
    assert (milliseconds(62.9), milliseconds(0.0), milliseconds(None)) == (62_900, 0, None)
