"""Superscripts and subscripts of HTML as text: without their tags, 10<sup>5</sup> would be 105."""

import re
from typing import Final

from selectolax.lexbor import LexborNode

RAISED: Final = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
LOWERED: Final = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_NUMBER: Final = re.compile(r"[+−-]?\d[\d+−=(),;–\s-]*|[+−-]")
_TERM: Final = re.compile(r"(?=.*\w)[\w+*/=^.,·′() −-]{1,20}")
# Endings of numbers and of abbreviations are written on the line: 5th, XIXe, Mme, nos.
_ENDING: Final = re.compile(r"st|nd|rd|th|er|re|ère|ème|lles?|mes?|gr|TM|SM|MD")
_QUANTITY: Final = re.compile(r"(?:^|\W)[^\W\d]$|[\d)\]}]$")  # a variable, a number, a bracket


def is_note(node: LexborNode) -> bool:
    """Return whether a script leads to a note of its page."""
    outer = node.parent
    inner = node.css_first('a[href*="#"]')
    href = outer.attributes.get("href") if outer is not None and outer.tag == "a" else ""
    return inner is not None or "#" in (href or "")


def written(base: str, script: str, *, is_raised: bool, is_note: bool = False) -> str:
    """Return a script as it is written behind ``base``: 5 as ⁵ or ₅, or as [5] if it leads to a
    note, n+1 as ^(n+1), th as th.
    """
    term = script.strip()
    if is_note and term.isalnum():
        return f"[{term}]"
    if _NUMBER.fullmatch(term):
        return term.translate(RAISED if is_raised else LOWERED)
    is_behind = bool(base) and (base[-1].isalnum() or base[-1] in ")]}")
    if not (is_behind and _TERM.fullmatch(term)):
        return script
    if is_raised and not base.endswith(tuple(")]}")):
        is_ending = _ENDING.fullmatch(term) or f"{base[-1]}{term}" in ("no", "No", "nos", "Nos")
        if is_ending or (term == "e" and (base[-1].isdigit() or base[-1] in "IVX")):
            return term
        if len(term) > 1 and not _QUANTITY.search(base):  # a remark, such as NEW
            return f" {term}"
    is_whole = term.isalnum() or (term[0] == "(" and term.find(")") == len(term) - 1)
    return f"{'^' if is_raised else '_'}{term if is_whole else f'({term})'}"
