"""Equations of Office (OMML, ECMA-376 part 1, 22.1) as MathML, which the reader of HTML reads."""

from collections.abc import Callable
from html import escape
from typing import Final
from xml.etree.ElementTree import Element

from citations.readers.office.archive import attribute, child, descendants, local

_DEEPEST: Final = 24  # elements within one another; below it, only symbols are read
_ROWS: Final = ("mr", "e")


def to_mathml(equation: Element) -> str:
    """Return an ``oMath`` as MathML, "" if it has no symbols."""
    return f"<math>{_children(equation, 0)}</math>" if _symbols(equation) else ""


def _children(element: Element | None, depth: int) -> str:
    if element is None:
        return ""
    if depth > _DEEPEST:
        return _symbols(element)
    return "".join(_convert(part, depth + 1) for part in element)


def _convert(element: Element, depth: int) -> str:
    name = local(element.tag)
    if name in ("r", "t"):
        return _symbols(element)
    if name.endswith("Pr") or name in ("del", "moveFrom"):
        return ""
    convert = _FORMS.get(name)
    return convert(element, depth) if convert else _children(element, depth)


def _symbols(element: Element) -> str:
    """Return all symbols within an element, one after another."""
    text = "".join(symbol.text or "" for symbol in descendants(element, "t"))
    return f"<mi>{escape(text)}</mi>" if text.strip() else ""


def _row(element: Element, name: str, depth: int) -> str:
    return f"<mrow>{_children(child(element, name), depth)}</mrow>"


def _form(tag: str, *parts: str) -> Callable[[Element, int], str]:
    """Return the converter of an element whose parts, in this order, are those of ``tag``."""

    def convert(element: Element, depth: int) -> str:
        return f"<{tag}>{''.join(_row(element, part, depth) for part in parts)}</{tag}>"

    return convert


def _delimited(element: Element, depth: int) -> str:
    about = child(element, "dPr")
    opening, middle, closing = (
        attribute(child(about, name), "val", usual)
        for name, usual in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    )
    parts = [_children(part, depth) for part in element if local(part.tag) == "e"]
    inner = _operator(middle).join(parts)
    return f"<mrow>{_operator(opening)}{inner}{_operator(closing)}</mrow>"


def _large_operator(element: Element, depth: int) -> str:
    sign = child(element, "naryPr", "chr")
    limits = {name: _children(child(element, name), depth) for name in ("sub", "sup")}
    given = [name for name, limit in limits.items() if limit]
    tag = f"m{''.join(given)}" if given else "mrow"
    rows = "".join(f"<mrow>{limits[name]}</mrow>" for name in given)
    operator = _operator(attribute(sign, "val", "∫"))
    return f"<mrow><{tag}>{operator}{rows}</{tag}>{_row(element, 'e', depth)}</mrow>"


def _root(element: Element, depth: int) -> str:
    base, degree = (_children(child(element, name), depth) for name in ("e", "deg"))
    if not degree:
        return f"<msqrt>{base}</msqrt>"
    return f"<mroot><mrow>{base}</mrow><mrow>{degree}</mrow></mroot>"


def _accent(element: Element, depth: int) -> str:
    sign = child(element, "accPr", "chr")
    operator = _operator(attribute(sign, "val", "̂"))
    return f"<mrow>{_row(element, 'e', depth)}{operator}</mrow>"


def _matrix(element: Element, depth: int) -> str:
    rows = (row for row in element if local(row.tag) in _ROWS)
    return f"<mtable>{''.join(_matrix_row(row, depth) for row in rows)}</mtable>"


def _matrix_row(row: Element, depth: int) -> str:
    cells = [cell for cell in row if local(cell.tag) == "e"] or [row]
    inner = "".join(f"<mtd>{_children(cell, depth)}</mtd>" for cell in cells)
    return f"<mtr>{inner}</mtr>"


def _function(element: Element, depth: int) -> str:
    return f"{_row(element, 'fName', depth)}<mtext> </mtext>{_row(element, 'e', depth)}"


def _operator(text: str) -> str:
    return f"<mo>{escape(text)}</mo>" if text else ""


_FORMS: Final[dict[str, Callable[[Element, int], str]]] = {
    "f": _form("mfrac", "num", "den"),
    "sSup": _form("msup", "e", "sup"),
    "sSub": _form("msub", "e", "sub"),
    "sSubSup": _form("msubsup", "e", "sub", "sup"),
    "sPre": _form("mrow", "sub", "sup", "e"),
    "limLow": _form("munder", "e", "lim"),
    "limUpp": _form("mover", "e", "lim"),
    "rad": _root,
    "d": _delimited,
    "nary": _large_operator,
    "acc": _accent,
    "m": _matrix,
    "eqArr": _matrix,
    "func": _function,
}
