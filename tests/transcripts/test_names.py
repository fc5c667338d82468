"""Names of files as titles."""

import pytest

from transcripts.names import readable


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("openstax-calculus-1", "openstax calculus 1"),
        ("my_notes", "my notes"),
        ("well-known_facts", "well-known facts"),
        ("Set theory - an introduction", "Set theory - an introduction"),
        ("COVID-19-report", "COVID-19 report"),
        ("2024-05-01-minutes", "2024-05-01 minutes"),
        ("--", "--"),
        ("", ""),
    ],
)
def test_hyphens_and_underscores_become_blanks_where_they_stand_for_them(
    name: str, title: str
) -> None:
    assert readable(name) == title
