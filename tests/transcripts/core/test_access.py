"""Levels of access include those before them."""

import pytest

from transcripts.core.access import AccessLevel, needed_by, needs

READ, WRITE, MANAGE = AccessLevel


@pytest.mark.parametrize(
    ("scopes", "level"),
    [
        ("", READ),
        ("read", READ),
        ("write read", WRITE),
        ("write", WRITE),
        ("read manage", READ),  # which includes writing, and that was not named
        ("manage write read", MANAGE),
        ("read WRITE admin", READ),
    ],
)
def test_scopes_name_a_level(scopes: str, level: AccessLevel) -> None:
    assert AccessLevel.of_scopes(scopes) == level


def test_a_level_covers_those_before_it_and_is_narrowed_by_them() -> None:
    levels = (READ, WRITE, MANAGE)
    for position, level in enumerate(levels):
        assert level.scopes == levels[: position + 1]
        for other in levels:
            assert level.covers(other) == (other in level.scopes)
            assert level.at_most(other) == levels[min(position, levels.index(other))]


def test_what_has_no_level_is_open_to_nobody() -> None:
    @needs(WRITE)
    def known() -> None: ...
    def unknown() -> None: ...

    assert needed_by(known) == WRITE
    with pytest.raises(KeyError):
        needed_by(unknown)
