"""Formulas as browsers set them: MathML made from TeX, beside that source."""

import html
import re
from functools import lru_cache
from typing import Final

import nh3
from latex2mathml import exceptions
from latex2mathml.converter import convert

# What the converter raises for hostile or unfinished TeX: its own errors have no common class.
_FAILURES: Final[tuple[type[Exception], ...]] = (
    *(kind for kind in vars(exceptions).values() if isinstance(kind, type(Exception))),
    *(LookupError, ValueError, TypeError, AttributeError, RecursionError),
)
MAX_SOURCE: Final = 2_000  # characters of a formula that is set
_MARKED: Final = re.compile(r"<var>(.*?)</var>", re.DOTALL)
_TAG: Final = re.compile(r"<[^<>]*>")
_HIGHLIGHT: Final = re.compile(r'<mark class="([^"]*)">')
_DELIMITED: Final = re.compile(
    r"(?P<display>\$\$|\\\[)(?P<block>.*)(?:\$\$|\\\])|(?:\$|\\\()(?P<line>.*)(?:\$|\\\))",
    re.DOTALL,
)
_UNKNOWN: Final = re.compile(r"\\[A-Za-z]")  # a macro that stands in the result as a word
_NAMES: Final = (
    "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms"
    " mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none"
)
_TAGS: Final = frozenset(_NAMES.split())
_ATTRIBUTES: Final = {
    "accent", "columnalign", "columnspacing", "depth", "display", "displaystyle", "fence", "form",
    "height", "largeop", "linethickness", "lspace", "mathvariant", "maxsize", "minsize",
    "movablelimits", "notation", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy",
    "width",
}  # fmt: skip


def set_formulas(markup: str) -> str:
    """Set the formulas of sanitised HTML, which are TeX in <var>; what cannot be set stays TeX.

    The source stays in the text, hidden from sight: quotes and highlights have what stands there.
    """
    return _MARKED.sub(_set, markup)


def _set(formula: re.Match[str]) -> str:
    source = html.unescape(_TAG.sub(" ", formula[1].replace("<br>", "\n")))
    drawn = _mathml(source.strip())
    if not drawn:
        return f"<code>{formula[1]}</code>"
    if mark := _HIGHLIGHT.search(formula[1]):
        drawn = f'<mark class="{mark[1]}">{drawn}</mark>'
    hidden = f'<span class="formula-source" aria-hidden="true">{formula[1]}</span>'
    return f'<span class="formula">{drawn}{hidden}</span>'


@lru_cache(maxsize=4096)
def _mathml(source: str) -> str:
    """Return TeX, in its delimiters or not, as MathML; "" for what is not understood."""
    match = _DELIMITED.fullmatch(source)
    is_block = bool(match and match["display"])
    tex = ((match["block"] if is_block else match["line"]) if match else source) or ""
    if not tex.strip() or len(tex) > MAX_SOURCE:
        return ""
    try:
        drawn = convert(tex.strip(), display="block" if is_block else "inline")
    except _FAILURES:
        return ""
    if _UNKNOWN.search(drawn):
        return ""
    return nh3.clean(drawn, tags=set(_TAGS), attributes={"*": set(_ATTRIBUTES)}, link_rel=None)
