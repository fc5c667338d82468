"""Letters come out of a file as they are meant, however many units its tables need for one."""

import zlib
from pathlib import Path

import pytest

from citations.errors import DocumentBroken, DocumentEncrypted
from citations.readers.pdf import reader
from tests.citations.readers.pdf.bombs import page
from tests.citations.readers.pdf.papers import paper, write
from transcripts.text.terms import matched_spans
from transcripts.text.tokenizer import tokenize

ITALIC = str.maketrans("forcem", "𝑓𝑜𝑟𝑐𝑒𝑚")
TABLE = (
    "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff>"
    " endcodespacerange %d beginbfchar %s endbfchar endcmap end"
)


def written(path: Path, said: str, table: dict[int, str]) -> Path:
    """Write a page whose font says what its codes mean."""
    chars = " ".join(
        f"<{code:02x}> <{letter.encode('utf-16-be').hex()}>" for code, letter in table.items()
    )
    stream = (TABLE % (len(table), chars)).encode()
    data = page(
        zlib.compress(f"BT /F 12 Tf 72 700 Td ({said}) Tj ET".encode()),
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
    )
    font = b"/BaseFont/Helvetica"
    path.write_bytes(data.replace(font, font + b"/ToUnicode 6 0 R"))
    return path


def test_letters_beyond_the_basic_plane_are_read_and_found_by_plain_ones(tmp_path: Path) -> None:
    italic = {code: chr(letter) for code, letter in ITALIC.items()}
    said = "The force on more mass is a force, too"
    path = written(tmp_path / "a.pdf", said, italic | {ord("!"): "🌧"})
    (read,) = reader.read(path, most_pages=1)
    assert read.text == said.translate(ITALIC)
    assert tokenize(read.text) == tokenize(said)
    first, last = matched_spans(read.text, "force")[0]
    assert read.text[first:last] == "𝑓𝑜𝑟𝑐𝑒"
    (box,) = reader.boxes(path, 1, first, last)
    assert 0 < box.width < 0.1


def test_an_emoji_is_one_letter(tmp_path: Path) -> None:
    (read,) = reader.read(written(tmp_path / "a.pdf", "Rain ! again", {0x21: "🌧"}), most_pages=1)
    assert read.text == "Rain 🌧 again"


def test_a_file_that_fails_without_a_reason_is_not_taken_for_locked_as_the_one_before(
    tmp_path: Path,
) -> None:
    locked = paper(tmp_path / "locked.pdf", [lambda canvas: write(canvas, "x")], password="secret")
    with pytest.raises(DocumentEncrypted):
        reader.describe(locked)
    odd = tmp_path / "odd.pdf"
    table = b"<</Type/XRef/Size 2/W[1 1 1]/Root 1 0 R/Filter/UnknownDecode/Length 3>>"
    odd.write_bytes(
        b"%PDF-2.0\n1 0 obj\n" + table + b"\nstream\nabc\nendstream\nendobj\nstartxref\n9\n%%EOF\n"
    )
    with pytest.raises(DocumentBroken):
        reader.describe(odd)
