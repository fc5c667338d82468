"""A text document of OpenDocument is read as it is once all changes are accepted."""

from pathlib import Path

from citations.readers.page import OutlineEntry
from tests.citations.readers.office.archives import odt, read, text_of

LISTS = (
    '<text:list-style style:name="N"><text:list-level-style-number text:level="1"'
    ' style:num-format="1"/><text:list-level-style-bullet text:level="2"/></text:list-style>'
)
OUTLINE = (
    '<text:outline-style><text:outline-level-style text:level="1" style:num-format="I"/>'
    '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
    "</text:outline-style>"
)


def item(*blocks: str) -> str:
    inner = "".join(block if block[0] == "<" else f"<text:p>{block}</text:p>" for block in blocks)
    return f"<text:list-item>{inner}</text:list-item>"


def test_headings_are_numbered_as_the_outline_says(tmp_path: Path) -> None:
    text = (
        '<text:h text:outline-level="1">Functions</text:h>'
        '<text:h text:outline-level="2">Limits</text:h><text:p>Words.</text:p>'
        '<text:h text:outline-level="1">Series</text:h>'
        "<text:table-of-content><text:index-body><text:p>Contents</text:p></text:index-body>"
        "</text:table-of-content>"
    )
    opened = read(odt(text, styles=OUTLINE), tmp_path)
    assert opened.facts.outline == (
        OutlineEntry(1, "I Functions", 1),
        OutlineEntry(2, "I.1 Limits", 1),
        OutlineEntry(1, "II Series", 1),
    )
    assert "Contents" not in text_of(opened)
    facts = opened.facts
    assert (facts.title, facts.author, facts.language) == ("On limits", "Ada", "en-GB")
    assert facts.published == "2024-02-03T10:00:00"


def test_lists_have_numbers_or_bullets_and_go_on_where_they_say_so(tmp_path: Path) -> None:
    inner = f"<text:list>{item('red')}</text:list>"
    text = (
        f'<text:list text:style-name="N">{item("apples", inner)}{item("pears", "and more")}'
        "</text:list><text:p>Between.</text:p>"
        f'<text:list text:style-name="N" text:continue-numbering="true">{item("plums")}</text:list>'
    )
    assert text_of(read(odt(text, automatic=LISTS), tmp_path)) == (
        "1. apples\n  • red\n2. pears\nand more\n\nBetween.\n\n3. plums"
    )


def test_items_are_counted_in_letters_where_the_style_says_so(tmp_path: Path) -> None:
    text = f'<text:list text:style-name="N">{item("ash")}{item("oak")}</text:list>'
    letters = LISTS.replace('style:num-format="1"', 'style:num-format="a"')
    assert text_of(read(odt(text, automatic=letters), tmp_path)) == "a. ash\nb. oak"


def test_words_notes_and_changes_are_read_as_they_are_shown(tmp_path: Path) -> None:
    bold = (
        '<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style>'
        '<style:style style:name="T" style:parent-style-name="Title"/>'
    )
    text = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>Gone.</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>"
        '<text:p text:style-name="T">Limits</text:p>'
        '<text:p>A<text:s text:c="2"/><text:span text:style-name="B">claim</text:span>'
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>See there."
        "</text:p></text:note-body></text:note><text:tab/>stands<text:line-break/>here"
        "<office:annotation><text:p>Really?</text:p></office:annotation>.</text:p>"
        '<text:section text:display="none"><text:p>Hidden.</text:p></text:section>'
    )
    opened = read(odt(text, automatic=bold), tmp_path)
    assert text_of(opened) == "Limits\n\nA claim[1] stands\nhere.\n\n[1] See there."
    assert "<strong>claim</strong>" in next(iter(opened.pages)).html
    assert opened.facts.note == "Comments that are not read: 1."


def test_tables_boxes_pictures_and_equations_are_read(tmp_path: Path) -> None:
    fraction = "<m:mfrac><m:mi>a</m:mi><m:mi>b</m:mi></m:mfrac>"
    about = 'xmlns:m="http://www.w3.org/1998/Math/MathML" m:display="block"'
    math = f"<m:math {about}>{fraction}</m:math>"
    chart = "<office:document-content xmlns:office='o' xmlns:c='c'><c:chart/>"
    text = (
        "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Tea"
        "</text:p></table:table-cell></table:table-row></table:table-header-rows><table:table-row>"
        "<table:table-cell><text:p>Green</text:p></table:table-cell></table:table-row>"
        "</table:table>"
        "<text:p>As <draw:frame><draw:object xlink:href='./Object 1'/></draw:frame></text:p>"
        "<text:p><draw:frame><draw:object xlink:href='./Object 1'/></draw:frame></text:p>"
        "<text:p><draw:frame><draw:text-box><text:p>In a box.</text:p></draw:text-box></draw:frame>"
        "<draw:custom-shape><text:p>In a shape.</text:p></draw:custom-shape></text:p>"
        "<text:p><draw:frame><draw:image/><svg:desc>A red fox</svg:desc></draw:frame>"
        "<draw:frame><draw:object xlink:href='./Object 2'/></draw:frame></text:p>"
    )
    parts = {
        "Object 1/content.xml": math,
        "Object 2/content.xml": f"{chart}</office:document-content>",
    }
    opened = read(odt(text, parts=parts), tmp_path)
    assert text_of(opened) == (
        "Tea\nGreen\n\nAs $\\frac{a}{b}$\n\n$$\\frac{a}{b}$$\n\nIn a box.\n\nIn a shape.\n\n"
        "A red fox"
    )
    assert "<th>" in next(iter(opened.pages)).html
    assert opened.facts.note == (
        "Pictures, of which only the descriptions are read: 1. Charts that are not read: 1."
    )


def test_hidden_words_are_not_read(tmp_path: Path) -> None:
    automatic = (
        '<style:style style:name="H" style:family="text">'
        '<style:text-properties text:display="none"/></style:style>'
    )
    text = (
        '<text:p>Shown <text:span text:style-name="H">hidden</text:span>'
        '<text:hidden-text text:is-hidden="true">secret</text:hidden-text>'
        '<text:hidden-text text:is-hidden="false">words</text:hidden-text></text:p>'
    )
    opened = read(odt(text, automatic=automatic), tmp_path)
    assert text_of(opened) == "Shown words"
    assert opened.facts.note == "Hidden texts that are not read: 2."


def test_words_that_are_struck_out_are_told_and_not_read(tmp_path: Path) -> None:
    automatic = (
        '<style:style style:name="S" style:family="text">'
        '<style:text-properties style:text-line-through-style="solid"/></style:style>'
    )
    text = '<text:p>It costs <text:span text:style-name="S">nine</text:span> seven</text:p>'
    opened = read(odt(text, automatic=automatic), tmp_path)
    assert text_of(opened) == "It costs seven"
    assert opened.facts.note == "Texts that are struck out and not read: 1."
