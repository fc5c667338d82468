"""Formulas of web pages as one line of text: their TeX source, or else how they are spoken or set.

KaTeX, MathJax (2 to 4), MathML and encyclopedias each put a formula onto a page several times, for
eyes, for screen readers and for programs. Only one of these is read.
"""

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import normalize

from selectolax.lexbor import LexborHTMLParser, LexborNode

_CLASSES: Final = re.compile(
    r"(?:^|\s)(?:katex|mwe-math[\w-]*|MathJax(?:_Preview|_Display|_SVG|_SVG_Display|_CHTML)?"
    r"|mjx-chtml)(?:\s|$)"
)
_SCRIPT: Final = re.compile(r"math/(?:tex|asciimath|mml)\b")
_WRAPPER: Final = re.compile(r"\{\\(?:displaystyle|textstyle)\s*(.*)\}", re.DOTALL)
_GLYPH: Final = re.compile(r"""(?:\bmjx-c|\bdata-c=["'])([0-9A-Fa-f]{2,5})\b""")
_ANNOTATION: Final = 'annotation[encoding="application/x-tex"], annotation[encoding="TeX"]'
_TEX: Final = ("alttext", "data-latex")  # attributes
_SPOKEN: Final = ("alttext", "data-latex", "aria-label", "data-semantic-speech", "alt", "title")
_MARKS: Final = {  # what stands before the second, third … part of an element
    "msup": "^",
    "mover": "^",
    "msub": "_",
    "munder": "_",
    "msubsup": "_^",
    "munderover": "_^",
    "mfrac": "/",
}
_DEEPEST: Final = 60  # elements within one another


def is_formula(node: LexborNode) -> bool:
    """Whether an element is a whole formula, or one of several forms of it."""
    if node.tag in ("math", "mjx-container"):
        return True
    if node.tag == "script":
        return _SCRIPT.match(node.attributes.get("type") or "") is not None
    return _CLASSES.search(node.attributes.get("class") or "") is not None


def is_tex(node: LexborNode) -> bool:
    """Whether the source of a formula is TeX, rather than how it is spoken or set on a line."""
    if node.tag == "script":
        return "mml" not in (node.attributes.get("type") or "")
    return any(node.css_first(_ANNOTATION) or _attribute(node, name) for name in _TEX)


def source_of(node: LexborNode) -> str:
    """Return a formula's source, "" for a form of one whose source follows it."""
    if node.tag == "script":
        text = node.text()
        body = LexborHTMLParser(text).body if "<math" in text else None
        return (_linear(body) if body else text).strip()
    if node.tag in ("span", "div") and _is_followed_by_source(node):
        return ""
    source = next(filter(None, _sources(node)), "")
    wrapped = _WRAPPER.fullmatch(source.strip())
    return (wrapped[1] if wrapped else source).strip()


def _is_followed_by_source(node: LexborNode) -> bool:
    following, left = node.next, 4  # a preview, the formula, white space
    while following is not None and left:
        if following.tag == "script":
            return is_formula(following)
        following, left = following.next, left - 1
    return False


def _sources(node: LexborNode) -> Iterator[str]:
    if annotation := node.css_first(_ANNOTATION):
        yield annotation.text()
    for name in _TEX:
        yield _attribute(node, name)
    if math := node if node.tag == "math" else node.css_first("math"):
        yield _linear(math)
    for name in _SPOKEN:
        yield _attribute(node, name)
    glyphs = (chr(int(glyph, 16)) for glyph in _GLYPH.findall(node.html or ""))
    yield normalize("NFKC", "".join(glyphs))
    yield node.text()


def _attribute(node: LexborNode, name: str) -> str:
    """Return an attribute of an element, or of the first within that has it."""
    owner = node if node.attributes.get(name) else node.css_first(f"[{name}]")
    return (owner.attributes.get(name) or "") if owner else ""


def _linear(node: LexborNode, depth: int = 0) -> str:
    """Return MathML as a line, such as “a^{n+1}/(2b)”."""
    if node.is_text_node:
        return "".join((node.text_content or "").split())
    if str(node.tag).startswith("annotation") or depth > _DEEPEST:
        return ""
    parts = [_linear(part, depth + 1) for part in node.iter(include_text=True)]
    if node.tag == "mtext":
        return f" {node.text().strip()} "
    if node.tag == "mtr":
        return f"{' & '.join(filter(None, parts))}; "
    if node.tag in ("msqrt", "mroot"):
        index = parts.pop() if node.tag == "mroot" and parts else ""
        return f"√{index and f'[{index}]'}({''.join(parts)})"
    marks = _MARKS.get(str(node.tag), "")
    opening, closing = "()" if marks == "/" else "{}"
    parts = [part for part in parts if part] if marks else ["".join(parts)]
    return "".join(
        mark + (f"{opening}{part}{closing}" if len(part) > 1 and (mark or marks == "/") else part)
        for mark, part in zip(("", *marks), parts, strict=False)
    )
