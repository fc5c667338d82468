"""Pages and letters of any size, at any place, are read or refused by a typed error."""

import math
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citations.readers.pdf import reader
from tests.citations.readers.pdf.bombs import page
from tests.citations.readers.pdf.test_bombs import outcome
from transcripts.core.errors import KnowledgeBaseError

SAID = b"(Still read here) Tj 0 -14 Td (and a second line.) Tj"
SHORT = b"".join(b"1 0 0 1 72 %d Tm (ab) Tj " % y for y in (700, 690, 680))
# Numbers that geometry divides by, or that overflow; "NaN" and "inf" are no numbers of PDF.
ODD = ("0", "-0", "1", "-1", "0.0001", "-0.2", "0.1", "3.5", "12", "90", "612", "1e9", "NaN", "inf")
HUGE = ("999999", "1000000000", "-1000000000", "3.5e38", "9" * 41)

numbers = st.sampled_from(ODD + HUGE) | st.integers(-900, 900).map(str)
upright = st.sampled_from(("1 0 0 1", "0 1 -1 0", "-1 0 0 -1", "0 -1 1 0", "1 0 0 0", "0 0 0 0"))
sizes = st.sampled_from(("0", "0.0001", "0.1", "-0.2", "12", "-9", "1e9", "NaN"))
places = st.integers(0, 700).map(str) | numbers
turns = st.just("1 0 0 1") | upright | st.lists(numbers, min_size=4, max_size=4).map(" ".join)
words = st.sampled_from(("a", "ab", "Still read", "i" * 300, "- -", "\\336", "Ann. Then it ends-"))


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Write a text at a place, in a size, turned, and repeated at the same place or near it."""
    size, turn, x, y, word = (draw(each) for each in (sizes, turns, places, places, words))
    spaced = draw(st.sampled_from(("", "0 Tz", "-100 Tz", "1e9 Tc", "-50 Tw", "1e9 Ts", "3 Tr")))
    step, times = draw(places), draw(st.sampled_from((1, 2, 7)))
    again = f"0 {step} Td ({word}) Tj " * (times - 1)
    return f"BT {spaced} /F {size} Tf {turn} {x} {y} Tm ({word}) Tj {again}ET ".encode()


@st.composite
def entries(draw: st.DrawFn) -> bytes:
    """Write the boxes of a page, its rotation and its unit; any of them may be missing."""
    names = draw(st.lists(st.sampled_from(("MediaBox", "CropBox")), max_size=2, unique=True))
    boxes = (
        f"/{name}[{' '.join(draw(st.lists(places, min_size=3, max_size=5)))}]" for name in names
    )
    whole = draw(st.sampled_from(("", "/MediaBox[0 0 612 792]")))
    turned = draw(st.sampled_from(("", "/Rotate 90", "/Rotate 180", "/Rotate -90", "/Rotate 45")))
    unit = draw(st.sampled_from(("", "/UserUnit 72", "/UserUnit 0", "/UserUnit -1e9")))
    return (whole + "".join(boxes) + turned + unit).encode()


def written(folder: Path, content: bytes, boxes: bytes = b"/MediaBox[0 0 612 792]") -> Path:
    data = page(zlib.compress(content), boxes=boxes)
    path = folder / f"{zlib.crc32(data)}.pdf"
    path.write_bytes(data)
    return path


def is_on_page(*shares: float) -> bool:
    return all(math.isfinite(share) and 0 <= share <= 1 for share in shares)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents=st.lists(texts(), min_size=1, max_size=3), boxes=entries())
def test_any_geometry_is_read_or_refused(
    tmp_path: Path, contents: list[bytes], boxes: bytes
) -> None:
    path = written(tmp_path, b"".join(contents), boxes)
    read = outcome(lambda: list(reader.read(path, most_pages=1)))
    if isinstance(read, KnowledgeBaseError):
        assert read.hint
        return
    (only,) = read
    located = reader.boxes(path, 1, 0, len(only.text))
    located += [box for *_, box in reader.text_lines(path, 1)]
    assert all(is_on_page(box.left, box.top, box.width, box.height) for box in located)
    assert only.text.isprintable() or "\n" in only.text
    assert isinstance(outcome(lambda: reader.render(path, 1, width=50)), bytes | KnowledgeBaseError)
    path.unlink()


@pytest.mark.parametrize(
    "boxes",
    [
        b"",
        b"/MediaBox[0 0 0 0]",
        b"/MediaBox[0 0 612 0]",
        b"/MediaBox[0 0]",
        b"/MediaBox[0 0 NaN NaN]",
        b"/MediaBox[612 792 0 0]",
        b"/MediaBox[0 0 1000000000 1000000000]",
        b"/MediaBox[-1000000000 -1000000000 1000000000 1000000000]",
        b"/MediaBox[0 0 612 792]/CropBox[0 100 612 100]",
        b"/MediaBox[0 0 612 792]/CropBox[2000 2000 2600 2700]",
        b"/MediaBox[0 0 612 792]/CropBox[612 0 1000 792]",
        b"/MediaBox[0 0 612 792]/Rotate 45",
        b"/MediaBox[0 0 612 792]/Rotate -90",
        b"/MediaBox[0 0 612 792]/UserUnit 0",
    ],
)
def test_the_text_of_a_page_with_unusable_boxes_is_read_located_and_drawn(
    tmp_path: Path, boxes: bytes
) -> None:
    path = written(tmp_path, b"BT /F 12 Tf 72 700 Td " + SAID + b" ET", boxes)
    (read,) = reader.read(path, most_pages=1)
    assert read.text == "Still read here and a second line."
    (first, _) = reader.boxes(path, 1, 0, len(read.text))
    assert is_on_page(first.left, first.top, first.width, first.height)
    assert first.height > 0
    assert reader.render(path, 1, width=200).startswith(b"RIFF")


@pytest.mark.parametrize("size", ["0.2", "0.1", "0.001", "1e-9", "-0.1"])
def test_lines_of_letters_without_height_are_read(tmp_path: Path, size: str) -> None:
    path = written(tmp_path, f"BT /F {size} Tf ".encode() + SHORT + b"ET")
    (read,) = reader.read(path, most_pages=1)
    assert set("".join(read.text.split())) <= {"a", "b"}


def test_letters_of_no_size_do_not_take_those_of_another_size_along(tmp_path: Path) -> None:
    content = b"BT /F 0 Tf 72 720 Td (gone) Tj /F 12 Tf 0 -20 Td " + SAID + b" ET"
    (read,) = reader.read(written(tmp_path, content), most_pages=1)
    assert "Still read here and a second line." in read.text


def test_thousands_of_tiny_letters_over_each_other_are_read(tmp_path: Path) -> None:
    places = b"".join(b"1 0 0 1 %f 700 Tm (x) Tj " % (n / 20) for n in range(5_000))
    (read,) = reader.read(written(tmp_path, b"BT /F 0.1 Tf " + places + b"ET"), most_pages=1)
    assert read.text.count("x") > 1_000
