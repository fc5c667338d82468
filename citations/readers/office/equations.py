"""Equations of Office (OMML, ECMA-376 part 1, 22.1) as MathML, which the reader of HTML reads."""

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Final
from xml.etree.ElementTree import Element

from citations.readers.markup.tex import FUNCTIONS
from citations.readers.office.archive import attribute, child, descendants, local, parts

_DEEPEST: Final = 24  # elements within one another; below it, only symbols are read
_OFF: Final = ("0", "false", "off")
_DROPPED: Final = ("del", "moveFrom")
_VARIANTS: Final = {"p": "normal", "b": "bold", "bi": "bold-italic"}
_SMALLER: Final = {
    "lin": ' bevelled="true"',
    "skw": ' bevelled="true"',
    "noBar": ' linethickness="0"',
}


def to_mathml(equation: Element) -> str:
    """Return an ``oMath`` as MathML, or an ``oMathPara`` as lines of it; "" without symbols."""
    if local(equation.tag) == "oMathPara":
        lines = filter(None, (_math(line, ' display="block"') for line in parts(equation, "oMath")))
        return "<br>".join(lines)
    return _math(equation)


def _math(equation: Element, attributes: str = "") -> str:
    is_empty = not "".join(_texts(equation)).strip()
    return "" if is_empty else f"<math{attributes}>{_children(equation, 0)}</math>"


def _texts(element: Element) -> Iterator[str]:
    return (symbol.text or "" for symbol in descendants(element, "t"))


def _children(element: Element | None, depth: int) -> str:
    if element is None:
        return ""
    if depth > _DEEPEST:
        return f"<unread>{escape(''.join(_texts(element)))}</unread>"
    return "".join(_convert(part, depth + 1) for part in element)


def _convert(element: Element, depth: int) -> str:
    name = local(element.tag)
    if name == "r":
        return _run(element)
    if name.endswith("Pr") or name in _DROPPED:
        return ""
    convert = _FORMS.get(name)
    return convert(element, depth) if convert else _children(element, depth)


def _run(run: Element) -> str:
    """Return symbols of one style, letter by letter unless they are upright."""
    text = "".join(_texts(run))
    if _is_on(run, "rPr", "nor"):
        return f"<mtext>{escape(text)}</mtext>"
    if text.strip() in FUNCTIONS:
        return f"<mi>{text.strip()}</mi>"
    style, script = (attribute(child(run, "rPr", name), "val") for name in ("sty", "scr"))
    variant = script if script not in ("", "roman") else _VARIANTS.get(style, "")
    letters = r"[^\W\d_]+" if variant == "normal" else r"[^\W\d_]"
    tokens = re.findall(rf"\d+(?:[.,]\d+)*|{letters}|\S", text)
    return "".join(_token(token, variant) for token in tokens)


def _token(text: str, variant: str) -> str:
    if not text.isalpha():
        return f"<mn>{text}</mn>" if text[0].isdigit() else _operator(text)
    about = f' mathvariant="{escape(variant)}"' if variant else ""
    return f"<mi{about}>{text}</mi>"


def _is_on(element: Element, *path: str) -> bool:
    switch = child(element, *path)
    return switch is not None and attribute(switch, "val", "1") not in _OFF


def _row(element: Element, name: str, depth: int) -> str:
    return f"<mrow>{_children(child(element, name), depth)}</mrow>"


def _form(tag: str, *names: str) -> Callable[[Element, int], str]:
    """Return the converter of an element whose parts, in this order, are those of ``tag``."""

    def convert(element: Element, depth: int) -> str:
        return f"<{tag}>{''.join(_row(element, name, depth) for name in names)}</{tag}>"

    return convert


def _fraction(element: Element, depth: int) -> str:
    about = _SMALLER.get(attribute(child(element, "fPr", "type"), "val"), "")
    return f"<mfrac{about}>{_row(element, 'num', depth)}{_row(element, 'den', depth)}</mfrac>"


def _delimited(element: Element, depth: int) -> str:
    about = child(element, "dPr")
    opening, middle, closing = (
        escape(attribute(child(about, name), "val", usual))
        for name, usual in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    )
    inner = "".join(f"<mrow>{_children(part, depth)}</mrow>" for part in parts(element, "e"))
    return f'<mfenced open="{opening}" close="{closing}" separators="{middle}">{inner}</mfenced>'


def _large_operator(element: Element, depth: int) -> str:
    about = child(element, "naryPr")
    limits = {name: _row(element, name, depth) for name in ("sub", "sup")}
    given = [
        (name, row)
        for name, row in limits.items()
        if row != "<mrow></mrow>" and not _is_on(element, "naryPr", f"{name}Hide")
    ]
    tag = f"m{''.join(name for name, _ in given)}" if given else "mrow"
    rows = "".join(row for _, row in given)
    operator = _operator(attribute(child(about, "chr"), "val", "∫"))
    return f"<mrow><{tag}>{operator}{rows}</{tag}>{_row(element, 'e', depth)}</mrow>"


def _root(element: Element, depth: int) -> str:
    base, degree = (_row(element, name, depth) for name in ("e", "deg"))
    is_square = degree == "<mrow></mrow>" or _is_on(element, "radPr", "degHide")
    return f"<msqrt>{base}</msqrt>" if is_square else f"<mroot>{base}{degree}</mroot>"


def _marked(properties: str, usual: str, usual_place: str) -> Callable[[Element, int], str]:
    """Return the converter of an element with a sign above or below it."""

    def convert(element: Element, depth: int) -> str:
        about = child(element, properties)
        sign = _operator(attribute(child(about, "chr"), "val", usual))
        tag = "mover" if attribute(child(about, "pos"), "val", usual_place) == "top" else "munder"
        return f"<{tag}>{_row(element, 'e', depth)}{sign}</{tag}>"

    return convert


def _matrix(element: Element, depth: int) -> str:
    rows = "".join(
        f"<mtr>{''.join(f'<mtd>{_children(cell, depth)}</mtd>' for cell in parts(row, 'e'))}</mtr>"
        for row in parts(element, "mr")
    )
    return f"<mtable>{rows}</mtable>"


def _lines(element: Element, depth: int) -> str:
    """Return an array of equations, without the marks where they are aligned."""
    cells = (_children(cell, depth).replace("<mo>&amp;</mo>", "") for cell in parts(element, "e"))
    return f"<mtable>{''.join(f'<mtr><mtd>{cell}</mtd></mtr>' for cell in cells)}</mtable>"


def _prescripts(element: Element, depth: int) -> str:
    base, lower, upper = (_row(element, name, depth) for name in ("e", "sub", "sup"))
    return f"<mmultiscripts>{base}<mprescripts></mprescripts>{lower}{upper}</mmultiscripts>"


def _function(element: Element, depth: int) -> str:
    return f"{_row(element, 'fName', depth)}{_row(element, 'e', depth)}"


def _boxed(element: Element, depth: int) -> str:
    return f'<menclose notation="box">{_children(child(element, "e"), depth)}</menclose>'


def _phantom(element: Element, depth: int) -> str:
    shown = child(element, "phantPr", "show")
    is_hidden = shown is not None and attribute(shown, "val", "1") in _OFF
    return "" if is_hidden else _row(element, "e", depth)


def _operator(text: str) -> str:
    return f"<mo>{escape(text)}</mo>" if text else ""


_FORMS: Final[dict[str, Callable[[Element, int], str]]] = {
    "f": _fraction,
    "sSup": _form("msup", "e", "sup"),
    "sSub": _form("msub", "e", "sub"),
    "sSubSup": _form("msubsup", "e", "sub", "sup"),
    "sPre": _prescripts,
    "limLow": _form("munder", "e", "lim"),
    "limUpp": _form("mover", "e", "lim"),
    "rad": _root,
    "d": _delimited,
    "nary": _large_operator,
    "acc": _marked("accPr", "\u0302", "top"),
    "bar": _marked("barPr", "¯", "bot"),
    "groupChr": _marked("groupChrPr", "⏟", "bot"),
    "m": _matrix,
    "eqArr": _lines,
    "func": _function,
    "borderBox": _boxed,
    "phant": _phantom,
}
