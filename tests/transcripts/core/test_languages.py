from collections.abc import Iterator

import pytest
from django.conf import settings
from django.conf.locale import LANG_INFO
from django.utils import translation

from transcripts.core.errors import InvalidInput
from transcripts.core.languages import MAX_LENGTH, choices, code_of, name_of, parse

PAGES = [code for code, _ in settings.LANGUAGES]


@pytest.fixture
def german() -> Iterator[None]:
    with translation.override("de"):
        yield


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("Deutsch", "de"),
        ("German", "de"),
        ("GERMAN", "de"),
        ("  deutsch ", "de"),
        ("Français", "fr"),
        ("Französisch", "fr"),
        ("Chinesisch", "zh"),
        ("Vereinfachtes Chinesisch", "zh-Hans"),
        ("brazilian  portuguese", "pt-BR"),
        ("Deutsch (AT)", "de-AT"),
        ("de", "de"),
        ("DE", "de"),
        ("pt_BR", "pt-BR"),
        ("la", "la"),
        ("es-419", "es-419"),
        ("", ""),
        (" ", ""),
    ],
)
def test_a_language_is_written_by_its_name_or_as_a_tag(german: None, text: str, tag: str) -> None:
    assert parse(text) == tag


def test_names_in_the_language_of_another_page_are_not_known() -> None:
    with pytest.raises(InvalidInput, match="No language is known as “Französisch”"):
        parse("Französisch")


@pytest.mark.parametrize(
    "text", ["Klingon", "d", "de AT", "de(AT)", "-", "e" * 40, "de\0\ud800x y"]
)
def test_what_is_no_language_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse(text)


def test_programs_keep_what_is_no_name() -> None:
    assert [code_of(text) for text in ("German", "en.auto", "xx-any", "")] == [
        *("de", "en.auto", "xx-any", "")
    ]


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("de", "Deutsch"),
        ("DE", "Deutsch"),
        ("pt-BR", "Brasilianisches Portugiesisch"),
        ("de-AT", "Deutsch (AT)"),
        ("zh-TW", "Chinesisch (TW)"),
        ("la", "la"),
        ("?", "?"),
        ("", ""),
    ],
)
def test_people_read_the_name_of_a_language_in_that_of_the_page(
    german: None, tag: str, name: str
) -> None:
    assert name_of(tag) == name


@pytest.mark.parametrize("page", PAGES)
def test_the_name_of_every_language_leads_back_to_it(page: str) -> None:
    with translation.override(page):
        tags = [*LANG_INFO, "zh", "de-AT", "zh-TW", "en-x-1", "es-419", "la", "tlh"]
        assert [parse(name_of(tag)).lower() for tag in tags] == [tag.lower() for tag in tags]
        assert max(len(name_of(tag)) for tag in tags) <= MAX_LENGTH


def test_the_languages_of_the_library_are_offered_first(german: None) -> None:
    offered = choices(["fr", "la", "", "de-AT", "pt-BR", "fr"])
    assert offered[:4] == [
        *(("Französisch", "fr"), ("la", "la"), ("Deutsch (AT)", "de-AT")),
        ("Brasilianisches Portugiesisch", "pt-BR"),
    ]
    others = [name for name, _ in offered[4:]]
    assert others == sorted(others, key=str.casefold)
    assert "Französisch" not in others
    assert "Brasilianisches Portugiesisch" not in others
    assert "Deutsch" in others
