"""Which words are compounds with another one."""

import pytest

from transcripts.text.compounds import parts
from transcripts.text.terms import matched_spans, term_of


def holds(word: str, part: str, code: str) -> bool:
    return bool([*parts(term_of(part, code), f"\n{term_of(word, code)}\n")])


@pytest.mark.parametrize(
    ("word", "part", "code"),
    [
        ("Krankenversicherungskarte", "Versicherung", "de"),
        ("Krankenversicherungskarte", "Karte", "de"),
        ("Bahnhof", "Bahn", "de"),
        ("Hochhäuser", "Haus", "de"),
        ("fietsverzekering", "verzekering", "nl"),
        ("järnvägsstation", "station", "sv"),
        ("arbejdsmarked", "marked", "da"),
        ("barnehageplass", "barnehage", "no"),
        ("lentokenttä", "kenttä", "fi"),
    ],
)
def test_a_part_of_a_compound_is_found(word: str, part: str, code: str) -> None:
    assert holds(word.lower(), part.lower(), code)


@pytest.mark.parametrize(
    ("word", "part", "code"),
    [
        ("Versicherung", "Sicherung", "de"),
        ("Montag", "Tag", "de"),
        ("Temperaturen", "Temperatur", "de"),
        ("Schweinefleisch", "Wein", "de"),
        ("notebook", "book", "en"),
    ],
)
def test_what_only_sounds_like_a_part_is_none(word: str, part: str, code: str) -> None:
    assert not holds(word.lower(), part.lower(), code)


def test_a_compound_is_marked_where_its_part_is_looked_for() -> None:
    text = "Die Feuerwehr übte am Bahnhof."
    assert [text[a:b] for a, b in matched_spans(text, "Bahn", "de")] == ["Bahnhof"]
    assert matched_spans(text, "Bahn", "en") == []


def test_names_and_other_spellings_are_marked_as_they_are_written() -> None:
    text = "Das Café hat Wi-Fi, C++ und 030 1234567."
    for query, written in {
        "cafe": "Café",
        "wifi": "Wi-Fi",
        "c++": "C++",
        "0301234567": "030 1234567",
    }.items():
        assert [text[a:b] for a, b in matched_spans(text, query, "de")] == [written]
