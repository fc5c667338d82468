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
        ("H39Z_720T5s", "H39Z_720T5s"),
        ("my_talk-H39Z_720T5s", "my talk H39Z_720T5s"),
        ("Algorithms_Week_3_Quiz", "Algorithms Week 3 Quiz"),
        ("CS224_Lec_5_Graph", "CS224 Lec 5 Graph"),
        ("My talk [a_B3-x9_Qz7]", "My talk [a_B3-x9_Qz7]"),
        ("lecture_part_two_3d", "lecture part two 3d"),
    ],
)
def test_hyphens_and_underscores_become_blanks_where_they_stand_for_them(
    name: str, title: str
) -> None:
    assert readable(name) == title
