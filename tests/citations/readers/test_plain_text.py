"""Plain text: what is said of an encoding that is a guess."""

from pathlib import Path

import pytest

from citations.formats import HTML, MARKDOWN, TEXT, DocumentFormat
from citations.readers.pagination import open_document


@pytest.mark.parametrize("format", [TEXT, MARKDOWN, HTML], ids=lambda format: format.kind)
def test_a_guessed_encoding_is_told_unless_it_is_sure(
    tmp_path: Path, format: DocumentFormat
) -> None:
    file = tmp_path / "note"
    for text, encoding, is_told in (("A señor.", "cp1252", True), ("A señor.", "utf-8", False)):
        file.write_bytes(text.encode(encoding))
        note = open_document(file, format, most_pages=10).facts.note
        assert ("which is a guess" in note) is is_told
