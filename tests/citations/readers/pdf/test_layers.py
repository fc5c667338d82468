"""Words on layers that are switched off are not read, and told."""

from pathlib import Path

import pytest

from citations.readers.page import Survey
from citations.readers.pdf import reader
from tests.citations.readers.pdf.papers import layered

OFF = "German words are on a layer that is off."


def line(words: str, y: int, *, about: str = "") -> str:
    return f"BT {about} /F 12 Tf 50 {y} Td ({words}) Tj ET"


def on_layer(name: str, content: str) -> str:
    return f"/OC /{name} BDC {content} EMC"


@pytest.mark.parametrize(
    ("content", "forms"),
    [
        (on_layer("Off", line(OFF, 660)), ()),
        (on_layer("Off", "/X0 Do"), [("", line(OFF, 660))]),
        ("/X0 Do", [("", on_layer("Off", line(OFF, 660)))]),
        ("/X0 Do", [("/OC 7 0 R", line(OFF, 660))]),
    ],
    ids=["on the page", "a form on it", "in a form", "named by a form"],
)
def test_words_on_a_layer_that_is_off_are_told_and_not_read(
    tmp_path: Path, content: str, forms: list[tuple[str, str]]
) -> None:
    shown = line("Always here.", 700) + on_layer("On", line("English words.", 680))
    path = layered(tmp_path / "a.pdf", f"{shown} {content}", forms=forms)
    survey = Survey()
    [page] = reader.read(path, most_pages=1)
    survey.add(page)
    assert page.text.split() == ["Always", "here.", "English", "words."]
    assert survey.note() == (
        "Layers that are switched off on page 1 of 1 have words that are not read."
    )


@pytest.mark.parametrize("about", ["1 1 1 rg", "3 Tr"], ids=["white", "invisible"])
def test_words_that_are_hardly_seen_on_a_layer_that_is_on_are_read(
    tmp_path: Path, about: str
) -> None:
    content = on_layer("On", line("Read by OCR.", 700, about=about))
    [page] = reader.read(layered(tmp_path / "a.pdf", content), most_pages=1)
    assert page.text == "Read by OCR."
    assert not page.has_layers_off
