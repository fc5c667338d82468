"""A Word document is read as it is once all changes are accepted."""

from pathlib import Path

import pytest

from citations.readers.markup.mathml import set_formulas
from citations.readers.page import OutlineEntry
from tests.citations.readers.office.archives import (
    STYLES,
    WORD,
    docx,
    paragraph,
    read,
    relationships,
    run,
    text_of,
)

NUMBERING = f"""<w:numbering {WORD}>
<w:abstractNum w:abstractNumId="1">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="2">
<w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="x"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%2."/></w:lvl>
<w:lvl w:ilvl="2"><w:numFmt w:val="lowerRoman"/><w:lvlText w:val="(%3)"/></w:lvl>
</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>
<w:abstractNum w:abstractNumId="3">
<w:lvl w:ilvl="0"><w:numFmt w:val="none"/><w:lvlText w:val="%1"/></w:lvl>
</w:abstractNum>
<w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="3"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="1"/>
<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>
</w:numbering>"""
BOX = "<w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent>"


def in_list(text: str, level: int, of: int = 2, style: str = "") -> str:
    numbers = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{of}"/></w:numPr>'
    return paragraph(text, style, numbers)


def test_headings_are_those_of_styles_in_any_language_and_of_styles_based_on_them(
    tmp_path: Path,
) -> None:
    body = "".join(
        (
            paragraph("Limits of functions", "Title"),
            paragraph("Contents .... 3", "TOC1"),
            paragraph("First", "berschrift1"),
            paragraph("Said below it."),
            paragraph("Second", "Own"),
            paragraph("Third", "", '<w:outlineLvl w:val="2"/>'),
        )
    )
    opened = read(docx(body, parts={"word/styles.xml": STYLES}), tmp_path)
    assert opened.facts.outline == (
        OutlineEntry(1, "Limits of functions", 1),
        OutlineEntry(1, "First", 1),
        OutlineEntry(2, "Second", 1),
        OutlineEntry(3, "Third", 1),
    )
    assert text_of(opened) == "Limits of functions\n\nFirst\n\nSaid below it.\n\nSecond\n\nThird"


def test_the_properties_tell_the_title_the_author_the_language_and_the_day(tmp_path: Path) -> None:
    facts = read(docx(paragraph("Words.")), tmp_path).facts
    assert (facts.title, facts.author, facts.language) == ("On limits", "Ada", "en-GB")
    assert facts.published == "2024-02-03T10:00:00Z"


def test_without_properties_the_title_is_the_one_in_the_text(tmp_path: Path) -> None:
    parts = {"word/styles.xml": STYLES, "docProps/core.xml": "<x/>"}
    data = docx(paragraph("Limits", "Title") + paragraph("One", "berschrift1"), parts=parts)
    assert read(data, tmp_path).facts.title == "Limits"


def test_built_in_styles_are_known_where_a_converter_does_not_define_them(tmp_path: Path) -> None:
    body = paragraph("Limits .... 3", "TOC1") + paragraph("Limits", "Heading2") + paragraph("Said.")
    opened = read(docx(body), tmp_path)
    assert opened.facts.outline == (OutlineEntry(2, "Limits", 1),)
    assert text_of(opened) == "Limits\n\nSaid."


def test_headings_and_items_have_the_numbers_that_word_counts(tmp_path: Path) -> None:
    body = "".join(
        (
            in_list("Functions", 0, of=1, style="berschrift1"),
            in_list("Limits", 1, of=1, style="H2"),
            in_list("Series", 1, of=1, style="H2"),
            in_list("apples", 0),
            in_list("red", 1),
            in_list("green", 1),
            in_list("small", 2),
            in_list("pears", 0),
        )
    )
    parts = {"word/styles.xml": STYLES, "word/numbering.xml": NUMBERING}
    opened = read(docx(body, parts=parts), tmp_path)
    assert [entry.title for entry in opened.facts.outline] == [
        *("1 Functions", "1.1 Limits", "1.2 Series")
    ]
    items = "• apples\n  3. red\n  4. green\n    • (i) small\n• pears"
    assert text_of(opened).endswith(items)
    assert "<ul><li>" in next(iter(opened.pages)).html


def test_a_list_may_have_a_start_of_its_own_or_no_numbers(tmp_path: Path) -> None:
    body = (
        in_list("Bare", 0, of=3, style="berschrift1"),
        in_list("seven", 0, of=4),
        in_list("eight", 0, of=4),
    )
    parts = {"word/styles.xml": STYLES, "word/numbering.xml": NUMBERING}
    text = text_of(read(docx("".join(body), parts=parts), tmp_path))
    assert text == "Bare\n\n7. seven\n8. eight"


def test_a_large_initial_belongs_to_its_word(tmp_path: Path) -> None:
    initial = "<w:p><w:pPr><w:framePr w:dropCap='drop' w:lines='3'/></w:pPr>" + run("O") + "</w:p>"
    assert text_of(read(docx(initial + paragraph("nce upon a time.")), tmp_path)) == (
        "Once upon a time."
    )


def test_insertions_are_read_and_deletions_are_not(tmp_path: Path) -> None:
    body = (
        "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>"
        f"{run('It is ')}<w:ins>{run('much ')}</w:ins><w:del><w:r><w:delText>too </w:delText></w:r>"
        f"</w:del></w:p>{paragraph('warmer.')}"
        f"<w:p><w:moveFrom>{run('Gone.')}</w:moveFrom><w:moveTo>{run('Come.')}</w:moveTo></w:p>"
        f"<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc>{paragraph('Old row')}</w:tc></w:tr></w:tbl>"
    )
    assert text_of(read(docx(body), tmp_path)) == "It is much warmer.\n\nCome."


def test_notes_stand_below_the_paragraph_that_refers_to_them(tmp_path: Path) -> None:
    body = (
        f"<w:p>{run('A claim')}<w:r><w:footnoteReference w:id='2'/></w:r>{run(' and more')}"
        f"<w:r><w:endnoteReference w:id='2'/></w:r></w:p>{paragraph('Next.')}"
    )
    parts = {
        f"word/{kind}s.xml": f"<w:{kind}s {WORD}><w:{kind} w:id='2'>{paragraph(f'See {kind}.')}"
        f"</w:{kind}></w:{kind}s>"
        for kind in ("footnote", "endnote")
    }
    assert text_of(read(docx(body, parts=parts), tmp_path)) == (
        "A claim[1] and more[i]\n\n[1] See footnote.\n\n[i] See endnote.\n\nNext."
    )


def test_a_table_keeps_its_rows_and_the_header_that_word_repeats(tmp_path: Path) -> None:
    rows = (("Tea", "Price", "<w:trPr><w:tblHeader/></w:trPr>"), ("Green", "4", ""))
    body = "".join(
        f"<w:tr>{about}<w:tc>{paragraph(left)}</w:tc><w:tc>{paragraph(right)}</w:tc></w:tr>"
        for left, right, about in rows
    )
    opened = read(docx(f"<w:tbl>{body}</w:tbl>"), tmp_path)
    [page] = opened.pages
    assert page.text == "Tea | Price\nGreen | 4"
    assert "<th>" in page.html


def test_boxes_of_text_are_read_once_and_pictures_by_their_descriptions(tmp_path: Path) -> None:
    body = (
        f"<w:p>{run('Before.')}<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>"
        f"<wp:inline><wp:docPr id='1'/><wps:txbx>{BOX}</wps:txbx></wp:inline></w:drawing>"
        f"</mc:Choice><mc:Fallback><w:pict><v:textbox>{BOX}</v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
        "<w:p><w:r><w:drawing><wp:inline><wp:docPr id='2' descr='A red fox'/><a:graphic>"
        "<pic:pic/></a:graphic></wp:inline></w:drawing></w:r></w:p>"
        "<w:p><w:r><w:drawing><wp:inline><a:graphic><c:chart/></a:graphic></wp:inline></w:drawing>"
        "</w:r><w:r><w:object><o:OLEObject ProgID='Excel.Sheet'/></w:object></w:r>"
        "<w:r><w:commentReference w:id='1'/></w:r></w:p>"
    )
    opened = read(docx(body), tmp_path)
    assert text_of(opened) == "Before.\n\nIn a box.\n\nA red fox"
    assert opened.facts.note == (
        "Pictures, of which only the descriptions are read: 1. Charts that are not read: 1."
        " Embedded files that are not read: 1. Comments that are not read: 1."
    )


def test_words_are_joined_where_word_only_hides_or_breaks_them(tmp_path: Path) -> None:
    body = (
        "<w:p><w:r><w:t>Un</w:t><w:softHyphen/><w:t>til\u00ad now</w:t></w:r>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t> hidden</w:t></w:r>"
        "<w:r><w:tab/><w:t>well</w:t><w:noBreakHyphen/><w:t>known</w:t></w:r>"
        "<w:hyperlink r:id='r1'><w:r><w:t> link</w:t></w:r></w:hyperlink>"
        "<w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
        "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/>"
        f"</w:docPartObj></w:sdtPr><w:sdtContent>{paragraph('Contents')}</w:sdtContent></w:sdt>"
        f"<w:sdt><w:sdtContent>{paragraph('שלום עולם')}</w:sdtContent></w:sdt>"
    )
    assert text_of(read(docx(body), tmp_path)) == "Until now well-known link\n\nשלום עולם"


def test_words_that_are_struck_out_are_told_and_not_read(tmp_path: Path) -> None:
    runs = [
        "<w:r><w:t>It costs </w:t></w:r>",
        "<w:r><w:rPr><w:strike/></w:rPr><w:t>nine</w:t></w:r>",
        "<w:r><w:rPr><w:dstrike w:val='1'/></w:rPr><w:t>eight </w:t></w:r>",
        "<w:r><w:rPr><w:strike w:val='0'/></w:rPr><w:t>seven</w:t></w:r>",
    ]
    opened = read(docx(f"<w:p>{''.join(runs)}</w:p>"), tmp_path)
    assert text_of(opened) == "It costs seven"
    assert opened.facts.note == "Texts that are struck out and not read: 2."


def test_signs_of_known_fonts_and_boxes_to_tick_are_read_others_told(tmp_path: Path) -> None:
    boxes = (
        f"<w:r><w:fldChar><w:ffData><w:checkBox>{state}</w:checkBox></w:ffData></w:fldChar></w:r>"
        for state in ("<w:checked/>", "<w:default w:val='1'/>", "<w:checked w:val='0'/>")
    )
    signs = (
        f"<w:r><w:sym w:font='{font}' w:char='{code}'/></w:r>"
        for font, code in (("Symbol", "F061"), ("Wingdings", "F0FE"), ("Webdings", "F0FE"))
    )
    opened = read(docx(f"<w:p>{''.join((*boxes, *signs))}</w:p>"), tmp_path)
    assert text_of(opened) == "☑☑☐α☑"
    assert opened.facts.note == "Signs of fonts that could not be read: 1."


@pytest.mark.parametrize(
    ("equation", "tex"),
    [
        ("<m:f><m:num>{a}{b}</m:num><m:den>{c}</m:den></m:f>", r"\frac{ab}{c}"),
        (
            "<m:f><m:fPr><m:type m:val='lin'/></m:fPr><m:num>{a}</m:num><m:den>{c}</m:den></m:f>",
            "a/c",
        ),
        (
            "<m:d><m:e><m:f><m:fPr><m:type m:val='noBar'/></m:fPr><m:num>{a}</m:num><m:den>{b}"
            "</m:den></m:f></m:e></m:d>",
            r"\binom{a}{b}",
        ),
        ("<m:sSup><m:e>{a}</m:e><m:sup>{b}{c}</m:sup></m:sSup>", "a^{bc}"),
        ("<m:sSubSup><m:e>{a}</m:e><m:sub>{b}</m:sub><m:sup>{c}</m:sup></m:sSubSup>", "a_{b}^{c}"),
        ("<m:sPre><m:sub>{a}</m:sub><m:sup>{b}</m:sup><m:e>{c}</m:e></m:sPre>", "{}_{a}^{b}c"),
        ("<m:rad><m:deg>{c}</m:deg><m:e>{a}</m:e></m:rad>", r"\sqrt[c]{a}"),
        ("<m:rad><m:deg/><m:e>{a}</m:e></m:rad>", r"\sqrt{a}"),
        (
            "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{a}</m:sub><m:sup>{b}</m:sup>"
            "<m:e>{c}</m:e></m:nary>",
            r"\sum_{a}^{b}c",
        ),
        (
            "<m:nary><m:naryPr><m:supHide m:val='1'/></m:naryPr><m:sub>{a}</m:sub><m:sup/>"
            "<m:e>{c}</m:e></m:nary>",
            r"\int_{a}c",
        ),
        ("<m:d><m:dPr><m:begChr m:val='['/></m:dPr><m:e>{a}</m:e><m:e>{b}</m:e></m:d>", "[a|b)"),
        (
            "<m:d><m:e><m:m><m:mr><m:e>{a}</m:e><m:e>{b}</m:e></m:mr></m:m></m:e></m:d>",
            r"\left(\begin{matrix}a & b\end{matrix}\right)",
        ),
        (
            "<m:d><m:dPr><m:begChr m:val='{{'/><m:endChr m:val=''/></m:dPr><m:e><m:eqArr>"
            "<m:e>{a}<m:r><m:t>&amp;=1</m:t></m:r></m:e><m:e>{b}</m:e></m:eqArr></m:e></m:d>",
            r"\left\{\begin{matrix}a=1 \\ b\end{matrix}\right.",
        ),
        ("<m:func><m:fName>{a}</m:fName><m:e>{b}</m:e></m:func>", "ab"),
        (
            "<m:func><m:fName><m:limLow><m:e><m:r><m:t>max</m:t></m:r></m:e><m:lim>{a}</m:lim>"
            "</m:limLow></m:fName><m:e>{b}</m:e></m:func>",
            r"\max_{a}b",
        ),
        ("<m:limLow><m:e>{a}</m:e><m:lim>{b}</m:lim></m:limLow>", r"\underset{b}{a}"),
        ("<m:acc><m:accPr><m:chr m:val='\u20d7'/></m:accPr><m:e>{a}</m:e></m:acc>", r"\vec{a}"),
        ("<m:acc><m:e>{a}</m:e></m:acc>", r"\hat{a}"),
        (
            "<m:bar><m:barPr><m:pos m:val='top'/></m:barPr><m:e>{a}{b}</m:e></m:bar>",
            r"\overline{ab}",
        ),
        (
            "<m:limLow><m:e><m:groupChr><m:e>{a}{b}</m:e></m:groupChr></m:e><m:lim>{c}</m:lim>"
            "</m:limLow>",
            r"\underbrace{ab}_{c}",
        ),
        ("<m:borderBox><m:e>{a}</m:e></m:borderBox>", r"\boxed{a}"),
        ("<m:phant><m:phantPr><m:show m:val='0'/></m:phantPr><m:e>{a}</m:e></m:phant>{b}", "b"),
        (
            "<m:r><m:t>2x</m:t></m:r><m:r><m:rPr><m:nor/></m:rPr><m:t> if</m:t></m:r>",
            r"2x\text{ if}",
        ),
        (
            "<m:r><m:rPr><m:scr m:val='double-struck'/></m:rPr><m:t>R</m:t></m:r>"
            "<m:r><m:rPr><m:sty m:val='b'/></m:rPr><m:t>v</m:t></m:r>"
            "<m:r><m:rPr><m:sty m:val='p'/></m:rPr><m:t>rank</m:t></m:r>",
            r"\mathbb{R}\mathbf{v}\mathrm{rank}",
        ),
        ("{a}<m:unknown>{b}</m:unknown><w:del>{c}</w:del>", "ab"),
    ],
)
def test_an_equation_is_tex_that_can_be_searched_and_set(
    equation: str, tex: str, tmp_path: Path
) -> None:
    letters = {letter: f"<m:r><m:t>{letter}</m:t></m:r>" for letter in "abc"}
    body = f"<w:p>{run('As ')}<m:oMath>{equation.format(**letters)}</m:oMath></w:p>"
    opened = read(docx(body), tmp_path)
    assert text_of(opened) == f"As ${tex}$"
    assert "<math" in set_formulas("".join(page.html for page in opened.pages))
    assert not opened.facts.note


def test_an_equation_in_a_paragraph_of_its_own_is_displayed(tmp_path: Path) -> None:
    lines = "".join(f"<m:oMath><m:r><m:t>{letter}</m:t></m:r></m:oMath>" for letter in "ab")
    body = f"<w:p><m:oMathPara>{lines}<m:oMath/></m:oMathPara></w:p>"
    assert text_of(read(docx(body), tmp_path)) == "$$a$$\n$$b$$"


def test_an_equation_that_is_nested_deeply_keeps_its_symbols_and_is_told(tmp_path: Path) -> None:
    deep = "<m:sSup><m:e>" * 200 + "<m:r><m:t>u</m:t></m:r>" + "</m:e></m:sSup>" * 200
    opened = read(docx(f"<w:p><m:oMath>{deep}</m:oMath></w:p>"), tmp_path)
    assert "u" in text_of(opened)
    assert opened.facts.note == "Equations of which some parts are read as words alone: 1."


def test_equations_of_an_old_editor_are_told(tmp_path: Path) -> None:
    old = "<w:r><w:object><o:OLEObject ProgID='Equation.3'/></w:object></w:r>"
    note = read(docx(f"<w:p>{run('As')}{old}</w:p>"), tmp_path).facts.note
    assert note == "Equations that could not be read: 1."


def test_a_diagram_is_read_as_a_list_of_its_texts(tmp_path: Path) -> None:
    dgm = 'xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    points = "".join(
        f"<d:pt><d:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:t></d:pt>"
        for text in ("Plan", "Do")
    )
    parts = {
        "word/_rels/document.xml.rels": relationships(x=("diagramData", "diagrams/data1.xml")),
        "word/diagrams/data1.xml": f"<d:dataModel {dgm} {WORD}>{points}</d:dataModel>",
    }
    body = f"<w:p><w:r><w:drawing><d:relIds {dgm} r:dm='x'/></w:drawing></w:r></w:p>"
    assert text_of(read(docx(body, parts=parts), tmp_path)) == "• Plan\n• Do"


def test_words_that_are_drawn_along_a_path_are_read(tmp_path: Path) -> None:
    art = (
        '<w:p><w:r><w:pict><v:shape><v:textpath string="A banner"/></v:shape></w:pict></w:r></w:p>'
    )
    assert text_of(read(docx(art), tmp_path)) == "A banner"
