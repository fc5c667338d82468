"""Which language tags mean the same, and which are near."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transcripts.text.language_tags import distance


@pytest.mark.parametrize(
    ("requested", "offered", "expected"),
    [
        ("en", "en", 0),
        ("pt-br", "pt-BR", 0),
        ("he", "iw", 1),
        ("in-ID", "id-ID", 1),
        ("zh-TW", "zh-Hant-TW", 1),
        ("en-US", "en", 2),
        ("en", "en-GB", 2),
        ("zh-TW", "zh-Hant", 2),
        ("zh-CN", "zh-Hans", 2),
        ("zh", "zh-Hans", 1),
        ("pt-PT", "pt-BR", 3),
        ("es-MX", "es-419", 3),
        ("zh-HK", "zh-TW", 3),
        ("zh", "zh-Hant", 4),
        ("sr", "sr-Latn", 4),
        ("zh-TW", "zh-Hans", None),
        ("zh-Hant", "zh", None),
        ("sr-Latn", "sr", None),
        ("en", "eo", None),
        ("", "en", None),
        ("en", "", None),
    ],
)
def test_tags_are_as_near_as_their_languages(
    requested: str, offered: str, expected: int | None
) -> None:
    assert distance(requested, offered) == expected


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_texts_have_a_distance_or_none(requested: str, offered: str) -> None:
    assert distance(requested, requested) == 0
    assert distance(requested, offered) in {None, 0, 1, 2, 3, 4}
