"""A book is read in the order of its spine, and its chapters are called as in its navigation."""

from pathlib import Path

import pytest

from citations.readers.page import OutlineEntry
from tests.citations.readers.office.archives import epub, read, text_of

NAV = (
    '<nav epub:type="toc"><ol><li><a href="one.xhtml">Loomings</a><ol>'
    '<li><a href="one.xhtml#b">The bag</a></li></ol></li>'
    '<li><a href="two.xhtml">The whale</a></li></ol></nav>'
    '<nav epub:type="landmarks"><a epub:type="cover" href="cover.xhtml">Cover</a></nav>'
)
NCX = (
    "<navPoint><navLabel><text>Loomings</text></navLabel><content src='one.xhtml'/>"
    "<navPoint><navLabel><text>The bag</text></navLabel><content src='one.xhtml#b'/></navPoint>"
    "</navPoint>"
    "<navPoint><navLabel><text>The whale</text></navLabel><content src='two.xhtml'/></navPoint>"
)
CHAPTERS = {
    "cover.xhtml": "<p>Cover words</p>",
    "one.xhtml": "<p>Call me Ishmael.</p><div id='b'><p>I stuffed a shirt.</p></div>",
    "two.xhtml": "<h2>THE WHALE</h2><p>It was white.</p><h3>Its tail</h3><p>Large.</p>",
}


@pytest.mark.parametrize("navigation", [{"nav": NAV}, {"ncx": NCX}], ids=["EPUB 3", "EPUB 2"])
def test_chapters_are_called_as_in_the_navigation(
    navigation: dict[str, str], tmp_path: Path
) -> None:
    guide = '<reference type="cover" href="cover.xhtml"/>'
    opened = read(epub(CHAPTERS, guide=guide, **navigation), tmp_path)
    assert opened.facts.outline == (
        OutlineEntry(1, "Loomings", 1),
        OutlineEntry(2, "The bag", 1),
        OutlineEntry(1, "THE WHALE", 1),
        OutlineEntry(2, "Its tail", 1),
    )
    assert text_of(opened) == (
        "Loomings\n\nCall me Ishmael.\n\nThe bag\n\nI stuffed a shirt.\n\nTHE WHALE\n\n"
        "It was white.\n\nIts tail\n\nLarge."
    )
    facts = opened.facts
    assert (facts.title, facts.author) == ("On limits", "Ada, Grace")
    assert (facts.language, facts.published) == ("en-GB", "2024")


def test_without_navigation_the_chapters_have_their_own_headings(tmp_path: Path) -> None:
    chapters = {"b.xhtml": "<h1>Second</h1><p>Two.</p>", "a.xhtml": "<h1>First</h1><p>One.</p>"}
    opened = read(epub(chapters), tmp_path)
    assert [entry.title for entry in opened.facts.outline] == ["Second", "First"]


def test_a_title_that_stands_in_a_paragraph_is_the_heading_and_not_repeated(tmp_path: Path) -> None:
    chapters = {"one.xhtml": "<p class='t'>Loomings</p><p>Call me Ishmael.</p>"}
    opened = read(epub(chapters, nav=NAV), tmp_path)
    assert text_of(opened) == "Loomings\n\nCall me Ishmael."
    assert next(iter(opened.pages)).blocks[-1].heading == "Loomings"


def test_notes_have_marks_and_printed_page_numbers_are_left_out(tmp_path: Path) -> None:
    body = (
        '<p>White<a epub:type="noteref" href="#n">1</a> and <span epub:type="pagebreak" id="p">12'
        '</span>large.<a id="x"/><img src="w.png" alt="A whale"/></p>'
        '<aside epub:type="footnote" id="n"><p>1. Or grey.</p></aside>'
        "<p><math><mi>a</mi><mo>+</mo><mspace width='1px'/><mi>b</mi></math></p>"
        '<p xmlns:m="http://www.w3.org/1998/Math/MathML"><m:math><m:msqrt><m:mi>c</m:mi></m:msqrt>'
        "</m:math></p><p><math><mlongdiv><mn>7</mn></mlongdiv></math></p>"
    )
    opened = read(epub({"one.xhtml": body}), tmp_path)
    assert (
        text_of(opened)
        == "White[1] and large. A whale\n\n1. Or grey.\n\n$a+b$\n\n$\\sqrt{c}$\n\n$\\text{7}$"
    )
    assert opened.facts.note == (
        "Pictures, of which only the descriptions are read: 1."
        " Equations of which some parts are read as words alone: 1."
    )


def test_a_fixed_layout_is_told(tmp_path: Path) -> None:
    about = '<meta property="rendition:layout">pre-paginated</meta>'
    assert read(epub({"a.xhtml": "<p>A</p>"}, metadata=about), tmp_path).facts.note == (
        "This book fixes where its words stand on pages, and is read without its layout."
    )


def test_a_file_that_the_spine_names_and_the_book_lacks_is_told(tmp_path: Path) -> None:
    package = "".join(
        (
            "<package><manifest><item id='a' href='a.xhtml' media-type='text/html'/>",
            "<item id='b' href='b.xhtml' media-type='text/html'/></manifest>",
            "<spine><itemref idref='a'/><itemref idref='b'/></spine></package>",
        )
    )
    opened = read(epub({"a.xhtml": "<p>A</p>"}, parts={"OEBPS/book.opf": package}), tmp_path)
    assert text_of(opened) == "A"
    assert opened.facts.note == "Files that this book names, and that it does not have: 1."
