"""Makers of DOCX, PPTX, ODT and EPUB files: archives written part by part."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from citations.formats import DocumentFormat
from citations.readers import recognition
from citations.readers.pagination import OpenDocument, open_document

OOXML: Final = "http://schemas.openxmlformats.org"
WORD: Final = (
    f'xmlns:w="{OOXML}/wordprocessingml/2006/main" xmlns:m="{OOXML}/officeDocument/2006/math"'
    f' xmlns:r="{OOXML}/officeDocument/2006/relationships"'
    f' xmlns:a="{OOXML}/drawingml/2006/main"'
    f' xmlns:wp="{OOXML}/drawingml/2006/wordprocessingDrawing"'
    f' xmlns:pic="{OOXML}/drawingml/2006/picture" xmlns:c="{OOXML}/drawingml/2006/chart"'
    f' xmlns:mc="{OOXML}/markup-compatibility/2006"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
)
SLIDES: Final = (
    f'xmlns:p="{OOXML}/presentationml/2006/main" xmlns:a="{OOXML}/drawingml/2006/main"'
    f' xmlns:r="{OOXML}/officeDocument/2006/relationships"'
    f' xmlns:c="{OOXML}/drawingml/2006/chart"'
)
OPEN_DOCUMENT: Final = (
    " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{namespace}:1.0"'
        for name, namespace in (
            *(("office", "office"), ("text", "text"), ("table", "table"), ("style", "style")),
            *(("draw", "drawing"), ("svg", "svg-compatible"), ("fo", "xsl-fo-compatible")),
            *(("meta", "meta"), ("manifest", "manifest")),
        )
    )
    + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
ODT_TYPE: Final = "application/vnd.oasis.opendocument.text"
CORE: Final = (
    '<c:coreProperties xmlns:c="http://schemas.openxmlformats.org/package/2006/metadata/core-'
    'properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:t="http://purl.org/dc/terms/">'
    "<dc:title>On limits</dc:title><dc:creator>Ada</dc:creator><dc:language>en-GB</dc:language>"
    "<t:created>2013-12-23T23:15:00Z</t:created><t:modified>2024-02-03T10:00:00Z</t:modified>"
    "</c:coreProperties>"
)

Parts = Mapping[str, str | bytes]


def zipped(parts: Parts, *, first: Sequence[str] = ("mimetype",)) -> bytes:
    """Write an archive; parts of ``first`` are stored as they are."""
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data, ZIP_STORED if name in first else ZIP_DEFLATED)
    return file.getvalue()


def relationships(**parts: tuple[str, str]) -> str:
    """Write relationships: the last word of the type and the target of each, by its id."""
    rows = "".join(
        f'<Relationship Id="{own}" Type="{OOXML}/officeDocument/2006/relationships/{kind}"'
        f' Target="{target}"/>'
        for own, (kind, target) in parts.items()
    )
    return f'<Relationships xmlns="{OOXML}/package/2006/relationships">{rows}</Relationships>'


def docx(body: str, *, parts: Parts | None = None) -> bytes:
    """Write a Word document of a body in WordprocessingML, and other parts such as styles.xml."""
    others = dict(parts or {})
    kinds = ("styles", "numbering", "footnotes", "endnotes")
    known = {kind: (kind, f"{kind}.xml") for kind in kinds if f"word/{kind}.xml" in others}
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relationships(
                d=("officeDocument", "word/document.xml"),
                c=("core-properties", "docProps/core.xml"),
            ),
            "docProps/core.xml": CORE,
            "word/_rels/document.xml.rels": relationships(**known),
            "word/document.xml": f"<w:document {WORD}><w:body>{body}</w:body></w:document>",
            **others,
        }
    )


def paragraph(text: str, style: str = "", properties: str = "") -> str:
    """Write a paragraph of Word."""
    style = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{style}{properties}</w:pPr>{run(text)}</w:p>"


def run(text: str) -> str:
    """Write words of Word."""
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


STYLES: Final = f"""<w:styles {WORD}>
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="H2"><w:name w:val="heading 2"/></w:style>
<w:style w:styleId="Own"><w:name w:val="My heading"/><w:basedOn w:val="H2"/></w:style>
<w:style w:styleId="Title"><w:name w:val="Title"/></w:style>
<w:style w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>
</w:styles>"""


def slide(*shapes: str, about: str = "") -> str:
    """Write a slide of shapes."""
    tree = f"<p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld>"
    return f"<p:sld {SLIDES} {about}>{tree}</p:sld>"


def shape(*texts: str, kind: str | None = None) -> str:
    """Write a shape with paragraphs; its kind is that of a placeholder."""
    placeholder = "" if kind is None else f'<p:ph type="{kind}"/>' if kind else '<p:ph idx="1"/>'
    body = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)
    about = f"<p:nvSpPr><p:cNvPr id='1' name='x'/><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr>"
    return f"<p:sp>{about}<p:txBody>{body}</p:txBody></p:sp>"


def pptx(slides: Sequence[str], *, notes: Mapping[int, str] | None = None) -> bytes:
    """Write a presentation; ``notes`` are those of slides by their numbers."""
    numbers = range(1, len(slides) + 1)
    listed = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in numbers)
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relationships(d=("officeDocument", "ppt/presentation.xml")),
        "docProps/core.xml": CORE,
        "ppt/presentation.xml": f"<p:presentation {SLIDES}><p:sldIdLst>{listed}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships(
            **{f"r{n}": ("slide", f"slides/slide{n}.xml") for n in numbers}
        ),
    }
    for number, text in enumerate(slides, 1):
        parts[f"ppt/slides/slide{number}.xml"] = text
    for number, text in (notes or {}).items():
        target = f"../notesSlides/notes{number}.xml"
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = relationships(n=("notesSlide", target))
        parts[f"ppt/notesSlides/notes{number}.xml"] = slide(
            shape(text, kind="body"), shape(str(number), kind="sldNum")
        )
    return zipped(parts)


def odt(text: str, *, styles: str = "", automatic: str = "", parts: Parts | None = None) -> bytes:
    """Write a text document of OpenDocument."""
    return zipped(
        {
            "mimetype": ODT_TYPE,
            "content.xml": f"<office:document-content {OPEN_DOCUMENT}><office:automatic-styles>"
            f"{automatic}</office:automatic-styles><office:body><office:text>{text}</office:text>"
            "</office:body></office:document-content>",
            "styles.xml": f"<office:document-styles {OPEN_DOCUMENT}><office:styles>{styles}"
            "</office:styles></office:document-styles>",
            "meta.xml": f"<office:document-meta {OPEN_DOCUMENT}><office:meta>"
            "<dc:title>On limits</dc:title><meta:initial-creator>Ada</meta:initial-creator>"
            "<dc:language>en-GB</dc:language><dc:date>2024-02-03T10:00:00</dc:date></office:meta>"
            "</office:document-meta>",
            **(parts or {}),
        }
    )


def epub(
    chapters: Mapping[str, str],
    *,
    nav: str = "",
    ncx: str = "",
    metadata: str = "",
    guide: str = "",
    parts: Parts | None = None,
) -> bytes:
    """Write a book whose spine has these files, in order: the bodies of XHTML by name.

    ``nav`` is the list of its navigation document, ``ncx`` the points of the older kind.
    """
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    items += (
        '<item id="n" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
        * (bool(nav))
    )
    items += '<item id="x" href="toc.ncx" media-type="application/x-dtbncx+xml"/>' * bool(ncx)
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    of_nav = '<itemref idref="n"/>' * bool(nav)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>On limits</dc:title><dc:creator>Ada</dc:creator><dc:creator>Grace"
        f"</dc:creator><dc:language>en-GB</dc:language><dc:date>2024</dc:date>{metadata}</metadata>"
        f'<manifest>{items}</manifest><spine toc="x">{of_nav}{spine}'
        f"</spine><guide>{guide}</guide></package>"
    )
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:'
            'container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": package,
            **{f"OEBPS/{name}": xhtml(body) for name, body in chapters.items()},
            **({"OEBPS/nav.xhtml": xhtml(nav)} if nav else {}),
            **({"OEBPS/toc.ncx": f"<ncx><navMap>{ncx}</navMap></ncx>"} if ncx else {}),
            **(parts or {}),
        }
    )


def xhtml(body: str) -> str:
    """Write a file of XHTML, with the empty elements that books have."""
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"'
        ' xmlns:epub="http://www.idpf.org/2007/ops"><head><title/><script src="x.js"/></head>'
        f"<body>{body}</body></html>"
    )


def read(data: bytes, folder: Path, name: str = "file", *, most_pages: int = 100) -> OpenDocument:
    """Read a file as the library does."""
    path = folder / name
    path.write_bytes(data)
    opened = open_document(path, format_of(data, name), most_pages=most_pages)
    return replace(opened, pages=[*opened.pages])


def format_of(data: bytes, name: str = "file") -> DocumentFormat:
    """Return the format that a file is recognised to have."""
    return recognition.recognise(recognition.read_head(BytesIO(data)), name)


def text_of(opened: OpenDocument) -> str:
    """Return the words of a document."""
    return "\n\n".join(page.text for page in opened.pages)
