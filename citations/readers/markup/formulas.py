"""Formulas of web pages: their TeX source or, without one, TeX made of MathML, or how it is spoken.

KaTeX, MathJax (2 to 4), MathML and encyclopedias each put a formula onto a page several times, for
eyes, for screen readers and for programs. Only one of these is read.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from unicodedata import normalize

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citations.readers.markup.tex import Writer

_CLASSES: Final = re.compile(
    r"(?:^|\s)(?:katex|mwe-math[\w-]*|MathJax(?:_Preview|_Display|_SVG|_SVG_Display|_CHTML)?"
    r"|mjx-chtml)(?:\s|$)"
)
_SCRIPT: Final = re.compile(r"math/(?:tex|asciimath|mml)\b")
_WRAPPER: Final = re.compile(r"\{\\(?:displaystyle|textstyle)\s*(.*)\}", re.DOTALL)
_GLYPH: Final = re.compile(r"""(?:\bmjx-c|\bdata-c=["'])([0-9A-Fa-f]{2,5})\b""")
_ANNOTATION: Final = 'annotation[encoding="application/x-tex"], annotation[encoding="TeX"]'
_TEX: Final = ("alttext", "data-latex")  # attributes
_WORDS: Final = re.compile(r"[^\\]*[A-Za-z]{2,} [A-Za-z]{2,}[^\\]*")  # as speech has, and no TeX
_SPOKEN: Final = ("aria-label", "data-semantic-speech", "alt", "title")


class Formula(NamedTuple):
    """A formula's source; ``unknown`` parts of it are kept as words alone."""

    source: str
    is_tex: bool = True  # rather than how it is spoken
    unknown: int = 0


def is_formula(node: LexborNode) -> bool:
    """Whether an element is a whole formula, or one of several forms of it."""
    if node.tag in ("math", "mjx-container"):
        return True
    if node.tag == "script":
        return _SCRIPT.match(node.attributes.get("type") or "") is not None
    return _CLASSES.search(node.attributes.get("class") or "") is not None


def source_of(node: LexborNode) -> Formula:
    """Return a formula's source, "" for a form of one whose source follows it."""
    if node.tag == "script":
        text = node.text()
        math = LexborHTMLParser(text).css_first("math") if "<math" in text else None
        return _of_mathml(math) if math else Formula(text.strip())
    if node.tag in ("span", "div") and _is_followed_by_source(node):
        return Formula("")
    formula = next((own for own in _sources(node) if own.source.strip()), Formula(""))
    source = formula.source.strip()
    wrapped = _WRAPPER.fullmatch(source)
    return formula._replace(source=wrapped[1].strip() if wrapped else source)


def _is_followed_by_source(node: LexborNode) -> bool:
    following, left = node.next, 4  # a preview, the formula, white space
    while following is not None and left:
        if following.tag == "script":
            return is_formula(following)
        following, left = following.next, left - 1
    return False


def _sources(node: LexborNode) -> Iterator[Formula]:
    if annotation := node.css_first(_ANNOTATION):
        yield Formula(annotation.text())
    for name in _TEX:
        if not _WORDS.fullmatch(source := _attribute(node, name)):
            yield Formula(source)
    if math := node if node.tag == "math" else node.css_first("math"):
        yield _of_mathml(math)
    for name in (*_TEX, *_SPOKEN):
        yield Formula(_attribute(node, name), is_tex=False)
    glyphs = (chr(int(glyph, 16)) for glyph in _GLYPH.findall(node.html or ""))
    yield Formula(normalize("NFKC", "".join(glyphs)), is_tex=False)
    yield Formula(node.text(), is_tex=False)


def _of_mathml(math: LexborNode) -> Formula:
    writer = Writer()
    return Formula(writer.write(math), unknown=writer.unknown)


def _attribute(node: LexborNode, name: str) -> str:
    """Return an attribute of an element, or of the first within that has it."""
    owner = node if node.attributes.get(name) else node.css_first(f"[{name}]")
    return (owner.attributes.get(name) or "") if owner else ""
