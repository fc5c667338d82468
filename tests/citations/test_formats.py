"""A format of documents is one entry: whatever names formats has all of them."""

from inspect import signature
from typing import Any

import pytest
from django.test import Client
from django.utils.module_loading import import_string

from citations import formats
from citations.formats import FORMATS, KINDS, PICTURES, DocumentFormat
from citations.library.item import KINDS as SHOWN_KINDS
from citations.models import Source
from transcripts.models import Collection


@pytest.mark.parametrize("format", FORMATS.values(), ids=lambda format: format.name)
def test_the_reader_of_a_format_takes_a_file_and_the_pages_to_read(format: DocumentFormat) -> None:
    reader = import_string(format.reader)
    signature(reader).bind("file", most_pages=10, first=1)


def test_no_two_formats_share_a_name_an_ending_or_a_media_type_and_only_pictures_a_kind() -> None:
    endings = [suffix for format in FORMATS.values() for suffix in format.suffixes]
    assert len(set(endings)) == len(endings)
    assert all(ending == ending.casefold() and ending[0] == "." for ending in endings)
    for values in zip(*((entry.name, entry.media_type) for entry in FORMATS.values()), strict=True):
        assert len(set(values)) == len(FORMATS)
    others = [entry.kind for entry in FORMATS.values() if not entry.is_picture]
    assert len(set(others)) == len(others)
    assert {entry.kind for entry in PICTURES}.isdisjoint(others)


def test_a_kind_fits_into_its_column_and_has_a_label() -> None:
    column: Any = Source._meta.get_field("kind")
    assert [kind for kind, _ in column.choices] == [*KINDS]
    assert all(len(kind) <= column.max_length for kind in KINDS)
    assert {*KINDS} < set(dict(SHOWN_KINDS))


@pytest.mark.parametrize(
    ("kind", "type"), [("video", "motion_picture"), ("pdf", "document"), ("html", "webpage")]
)
def test_bibliographies_know_what_a_source_is(kind: str, type: str) -> None:
    assert formats.csl_type(kind) == type


def test_the_page_to_add_files_names_every_format_and_takes_its_files(
    browser: Client, collection: Collection
) -> None:
    html = browser.get("/add/").content.decode()
    for format in FORMATS.values():
        assert format.name in html
        if format.is_picture:  # else a folder's pictures would be chosen by their endings
            assert format.media_type in html
            assert not any(suffix in html for suffix in format.suffixes)
        else:
            assert all(suffix in html for suffix in format.suffixes)
