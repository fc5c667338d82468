"""A presentation is read slide by slide, each with its title and its notes."""

from pathlib import Path

from citations.readers.page import OutlineEntry
from tests.citations.readers.office.archives import SLIDES, pptx, read, shape, slide

TABLE = (
    '<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/>'
    "<a:tr><a:tc><a:txBody><a:p><a:r><a:t>Tea</a:t></a:r></a:p></a:txBody></a:tc></a:tr>"
    "<a:tr><a:tc><a:txBody><a:p><a:r><a:t>Green</a:t></a:r></a:p></a:txBody></a:tc></a:tr>"
    "</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
)
PICTURE = '<p:pic><p:nvPicPr><p:cNvPr id="2" descr="A red fox"/><p:nvPr/></p:nvPicPr></p:pic>'


def test_a_slide_is_a_page_and_a_section_with_its_title_first(tmp_path: Path) -> None:
    opened = read(
        pptx(
            [
                slide(shape("A talk", kind="subTitle"), shape("Learning", kind="ctrTitle")),
                slide(shape("Errors", kind="title"), shape("flow", "back", kind="")),
                slide(shape("Errors", kind="title"), shape("again")),
                slide(shape("No title at all")),
            ]
        ),
        tmp_path,
    )
    pages = [*opened.pages]
    assert [page.text for page in pages] == [
        "Learning\n\nA talk",
        "Errors\n\n• flow\n• back",
        "Errors\n\nagain",
        "No title at all",
    ]
    assert [page.blocks[0].boundary for page in pages] == [True] * 4
    assert [page.blocks[-1].heading for page in pages] == ["Learning", "Errors", "Errors", ""]
    assert opened.facts.outline[2] == OutlineEntry(1, "Errors", 3)
    assert opened.facts.page_count == 4


def test_notes_stand_below_their_slide_and_its_number_and_footer_nowhere(tmp_path: Path) -> None:
    opened = read(
        pptx(
            [slide(shape("Errors", kind="title"), shape("12", kind="sldNum"))],
            notes={1: "Say this slowly."},
        ),
        tmp_path,
    )
    [page] = opened.pages
    assert page.text == "Errors\n\nSay this slowly."
    assert "<blockquote><p>Say this slowly.</p></blockquote>" in page.html
    assert opened.facts.note == "The speaker notes are set off below their slides."


def test_hidden_slides_are_read_and_told(tmp_path: Path) -> None:
    hidden = slide(shape("Backup", kind="title"), about='show="0"')
    opened = read(pptx([slide(shape("Shown", kind="title")), hidden]), tmp_path)
    assert [page.text for page in opened.pages] == ["Shown", "Backup"]
    assert opened.facts.note == (
        "Slides that are hidden when it is shown, and read all the same: 2."
    )


def test_tables_and_descriptions_of_pictures_are_read_and_charts_are_told(tmp_path: Path) -> None:
    group = f"<p:grpSp>{PICTURE}</p:grpSp>"
    chart = "<p:graphicFrame><a:graphic><c:chart/></a:graphic></p:graphicFrame>"
    opened = read(pptx([slide(TABLE, group, chart), slide()]), tmp_path)
    first, second = opened.pages
    assert first.text == "Tea\nGreen\n\nA red fox"
    assert "<th>Tea</th>" in first.html
    assert (second.text, second.is_blank, second.number) == ("", True, 2)
    assert opened.facts.note == (
        "Pictures, of which only the descriptions are read: 1. Charts that are not read: 1."
    )


def test_reading_goes_on_at_any_slide(tmp_path: Path) -> None:
    data = pptx([slide(shape(f"Slide {n}", kind="title")) for n in range(5)])
    assert read(data, tmp_path).facts.title == "On limits"
    assert [page.number for page in read(data, tmp_path).pages] == [1, 2, 3, 4, 5]


def test_a_field_that_only_shows_a_number_or_a_day_is_left_out(tmp_path: Path) -> None:
    texts = (
        "<a:p><a:r><a:t>Stays</a:t></a:r><a:fld type='slidenum'><a:t>7</a:t></a:fld>"
        "<a:br/><a:fld type='other'><a:t>too</a:t></a:fld></a:p>"
    )
    own = f"<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody>{texts}</p:txBody></p:sp>"
    [page] = read(
        pptx([f"<p:sld {SLIDES}><p:cSld><p:spTree>{own}</p:spTree></p:cSld></p:sld>"]), tmp_path
    ).pages
    assert page.text == "Stays\ntoo"


def test_an_equation_is_tex_whichever_form_a_program_wraps_it_in(tmp_path: Path) -> None:
    symbols = "<m:sSup><m:e><m:r><m:t>a</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup>"
    equation = f"<m:oMath>{symbols}</m:sSup></m:oMath>"
    texts = (
        f"<a:p><a:r><a:t>As </a:t></a:r><mc:AlternateContent><mc:Choice><a14:m>{equation}</a14:m>"
        "</mc:Choice><mc:Fallback><a:r><a:t>[picture]</a:t></a:r></mc:Fallback>"
        f"</mc:AlternateContent></a:p><a:p><a14:m><m:oMathPara>{equation}</m:oMathPara></a14:m>"
        "</a:p>"
    )
    own = f"<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody>{texts}</p:txBody></p:sp>"
    names = 'xmlns:m="m" xmlns:a14="a14" xmlns:mc="mc"'
    [page] = read(
        pptx([f"<p:sld {SLIDES} {names}><p:cSld><p:spTree>{own}</p:spTree></p:cSld></p:sld>"]),
        tmp_path,
    ).pages
    assert page.text == "As $a^{2}$\n\n$$a^{2}$$"


def test_a_shape_that_is_not_shown_is_not_read(tmp_path: Path) -> None:
    hidden = shape("Not shown").replace("name='x'", "name='x' hidden='1'")
    opened = read(pptx([slide(shape("Shown"), hidden)]), tmp_path)
    assert [page.text for page in opened.pages] == ["Shown"]
    assert opened.facts.note == "Hidden texts that are not read: 1."


def test_words_that_are_struck_out_are_told_and_not_read(tmp_path: Path) -> None:
    price = shape("It costs nine seven").replace(
        "<a:t>It costs nine seven</a:t></a:r>",
        "<a:t>It costs </a:t></a:r><a:r><a:rPr strike='sngStrike'/><a:t>nine</a:t></a:r>"
        "<a:r><a:rPr strike='noStrike'/><a:t>seven</a:t></a:r>",
    )
    opened = read(pptx([slide(price)]), tmp_path)
    assert [page.text for page in opened.pages] == ["It costs seven"]
    assert opened.facts.note == "Texts that are struck out and not read: 1."


def test_raised_and_lowered_figures_are_told_from_the_line(tmp_path: Path) -> None:
    figures = shape("H2O").replace(
        "<a:t>H2O</a:t></a:r>",
        "<a:t>H</a:t></a:r><a:r><a:rPr baseline='-25000'/><a:t>2</a:t></a:r><a:r>"
        "<a:rPr baseline='0'/><a:t>O in 10</a:t></a:r>"
        "<a:r><a:rPr baseline='30%'/><a:t>3</a:t></a:r>",
    )
    assert [page.text for page in read(pptx([slide(figures)]), tmp_path).pages] == ["H₂O in 10³"]
