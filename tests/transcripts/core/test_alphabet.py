"""The alphabetical order, in PostgreSQL and in Python."""

import random

import pytest
from django.db import connection

from transcripts.core.alphabet import alphabet_key, alphabetical
from transcripts.models import Collection

ORDER = [
    "2 talks",
    "10 talks",
    "Äpfel",
    "äpfel und Birnen",
    "Arzt",
    "Ärzte",
    "Éclair",
    "Lecture 2",
    "lecture 10",
    "Lecture 10, part 0002",
    "Strasse 1",
    "Straße 2",
    "Übung",
    "Zelle",
    "Ωmega",
    "学习",
]


def test_letters_count_without_accents_and_case_and_numbers_by_their_value() -> None:
    mixed = random.Random(1).sample(ORDER, len(ORDER))
    assert sorted(mixed, key=alphabet_key) == ORDER


@pytest.mark.django_db
def test_postgresql_sorts_as_python_does() -> None:
    for name in random.Random(2).sample(ORDER, len(ORDER)):
        Collection.objects.create(name=name, slug=name)
    rows = Collection.objects.filter(slug__in=ORDER)
    assert list(rows.values_list("name", flat=True)) == ORDER, "as collections are listed"
    by_name = rows.order_by(alphabetical("name")).values_list("name", flat=True)
    assert list(by_name) == ORDER


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text", [*ORDER, "", "123456789012345", "a1b22c", "ẞ", "İ", "ﬁ", "Ａ", "̈", "n̈ 007", "🦭 9"]
)
def test_both_sort_by_the_same_key(text: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cuebase_alphabet(%s)", [text])
        assert cursor.fetchone()[0] == alphabet_key(text)
