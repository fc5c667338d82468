"""MathML (MathML 3, chapter 3) as TeX of the commands that ``latex2mathml`` knows, by tables."""

import re
from collections.abc import Callable, Sequence
from typing import Final
from unicodedata import name as name_of
from unicodedata import normalize

from latex2mathml.commands import FUNCTIONS as _PLAIN_FUNCTIONS
from latex2mathml.symbols_parser import SYMBOLS
from selectolax.lexbor import LexborNode

LIMITS: Final = frozenset(("lim", "liminf", "limsup", "max", "min", "sup", "inf", "det", "gcd"))
FUNCTIONS: Final = LIMITS.union(command.lstrip("\\") for command in _PLAIN_FUNCTIONS)
_DEEPEST: Final = 60  # elements within one another
_COMMAND: Final = re.compile(r"\\[A-Za-z]+")
_COMMAND_AT_END: Final = re.compile(r"\\[A-Za-z]+\Z")
_PREFERRED: Final = {
    **{"→": r"\to", "·": r"\cdot", "⋅": r"\cdot", "∼": r"\sim", "∅": r"\emptyset", "ℏ": r"\hbar"},
    **{"ħ": r"\hbar", "−": "-", "‐": "-", "∗": "*", "‖": r"\|", "∶": ":", "µ": r"\mu"},
    **{"Ω": r"\Omega", "∆": r"\Delta", "□": r"\square", "√": r"\surd", "⁄": "/"},
    **{"∖": r"\setminus", "\\": r"\backslash", "^": r"\text{^}", "~": r"\sim", "°": "°"},
    **{symbol: "\\" + symbol for symbol in "{}#$%&_"},
    **dict.fromkeys("\u2061\u2062\u2063\u2064\u200b\u200c\u200d\u2060\ufeff", ""),
}
_COMMANDS: Final = {
    **{
        chr(int(code, 16)): command
        for command, code in reversed(SYMBOLS.items())
        if _COMMAND.fullmatch(command) and re.fullmatch(r"[\dA-F]+", code) and int(code, 16) > 127
    },
    **_PREFERRED,
}
_VARIANTS: Final = {  # of letters, by ``mathvariant`` and by words of their Unicode names
    "double-struck": "mathbb",
    **dict.fromkeys(("script", "bold-script"), "mathcal"),
    **dict.fromkeys(("fraktur", "bold-fraktur", "black-letter"), "mathfrak"),
    **dict.fromkeys(("sans-serif", "bold-sans-serif", "sans-serif-italic"), "mathsf"),
    **{"monospace": "mathtt", "bold-italic": "boldsymbol", "bold": "mathbf"},
}
_STYLED: Final = re.compile(
    "(?:MATHEMATICAL|DOUBLE-STRUCK|(?:SCRIPT|BLACK-LETTER) CAPITAL|PLANCK) "
)
_LARGE: Final = "∑∏∐∫∬∭∮∯∰⋀⋁⋂⋃⨀⨁⨂⨄⨆"
_LARGE_COMMANDS: Final = frozenset(
    {_COMMANDS.get(symbol, symbol) for symbol in _LARGE} | {f"\\{name}" for name in LIMITS}
)
_ACCENTS: Final = {  # above one letter, and above several
    **dict.fromkeys("^ˆ\u0302", ("hat", "widehat")),
    **dict.fromkeys("~˜\u0303∼", ("tilde", "widetilde")),
    **dict.fromkeys("¯‾_―─ˉ\u0304\u0305\u00af\u203e", ("bar", "overline")),
    **dict.fromkeys("→⃗⇀", ("vec", "overrightarrow")),
    **{"←": ("overleftarrow",) * 2, "↔": ("overleftrightarrow",) * 2},
    **dict.fromkeys(".˙\u0307", ("dot",) * 2),
    **dict.fromkeys("¨\u0308", ("ddot",) * 2),
    **{"⃛": ("dddot",) * 2, "⏞": ("overbrace",) * 2, "⏜": ("overparen",) * 2},
    **dict.fromkeys("´\u0301", ("acute",) * 2),
    **dict.fromkeys("`\u0300", ("grave",) * 2),
    **dict.fromkeys("ˇ\u030c", ("check",) * 2),
    **dict.fromkeys("˘\u0306", ("breve",) * 2),
    **dict.fromkeys("˚\u030a", ("mathring",) * 2),
}
_BELOW: Final = {
    **dict.fromkeys("_¯‾―─\u0332\u0331", "underline"),
    **{"⏟": "underbrace", "→": "underrightarrow", "←": "underleftarrow"},
}
_ENCLOSED: Final = {
    **{"radical": "sqrt", "box": "boxed", "roundedbox": "boxed", "top": "overline"},
    **{"bottom": "underline", "updiagonalstrike": "cancel", "downdiagonalstrike": "bcancel"},
}
_PAIRS: Final = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉", "〈": "〉"}
_BARS: Final = frozenset("|‖∥∣")  # that open as they close
_FENCES: Final = {**{"〈": r"\langle", "〉": r"\rangle", "∥": r"\|", "∣": "|", "": "."}}
_TALL: Final = re.compile(r"\\(?:frac|atop|begin|sqrt|sum|prod|int|left|over|under)")
_ATOM: Final = re.compile(
    r"\\?[^\\{}\s]|\\[A-Za-z]+(?:\{[^{}]*\})?|[(\[][^()\[\]{}]*[)\]]"
    r"|\\left(?:(?!\\left|\\right).)*\\right(?:\\?[^\\\s]|\\[A-Za-z]+)",
    re.DOTALL,
)
_STACK: Final = re.compile(r"\{([^{}]*) \\atop ([^{}]*)\}")
_NOTHING: Final = (
    *("annotation", "annotation-xml", "mphantom", "none", "mprescripts"),
    *("maligngroup", "malignmark"),
)
_FENCE_TAGS: Final = ("mo", "mi", "mtext")


class Writer:
    """Writes one formula; ``unknown`` counts the elements of which only the words are kept."""

    def __init__(self) -> None:
        self.unknown = 0

    def write(self, math: LexborNode) -> str:
        """Return a ``math`` element as TeX in dollars, doubled if it is displayed; "" if empty."""
        source = self._row(math, 0).strip()
        is_block = math.attributes.get("display") == "block"
        dollars = "$$" if is_block or math.attributes.get("mode") == "display" else "$"
        return f"{dollars}{source}{dollars}" if source else ""

    def _write(self, node: LexborNode, depth: int) -> str:
        tag = str(node.tag)
        if node.is_text_node:
            return _symbols(node.text_content or "")
        if tag in _NOTHING or not node.is_element_node:
            return ""
        if leaf := _LEAVES.get(tag):
            return leaf(node)
        form = _FORMS.get(tag)
        if form is None or depth > _DEEPEST:
            words = " ".join(node.text().split())
            self.unknown += bool(words)
            return _words(words)
        return form(self, node, depth)

    def _parts(self, node: LexborNode, depth: int, count: int = 0) -> list[str]:
        """Write the elements of one; exactly so many, as hostile ones have too few or too many."""
        parts = [self._write(part, depth + 1) for part in _elements(node)]
        return (parts + [""] * count)[:count] if count else parts

    def _row(self, node: LexborNode, depth: int) -> str:
        """Write elements one after another; brackets around what is tall grow with it."""
        nodes = [part for part in node.iter(include_text=True) if _has_something(part)]
        parts = [self._write(part, depth + 1) for part in nodes]
        opened: list[tuple[int, str]] = []
        for index, part in enumerate(nodes):
            mark = part.text().strip() if part.tag in _FENCE_TAGS else ""
            bar_opens = mark in _BARS and mark not in [own for _, own in opened]
            if len(opened) < _DEEPEST and (mark in _PAIRS or (bar_opens and _is_fence(part))):
                opened.append((index, mark))
            elif opened and mark == _PAIRS.get(opened[-1][1], opened[-1][1]):
                _stretch(parts, opened.pop(), index, mark)
        for at in reversed(opened):
            if at[1] == "{":
                parts.append("")
                _stretch(parts, at, len(parts) - 1, "")
        return _joined(parts)

    def _fraction(self, node: LexborNode, depth: int) -> str:
        upper, lower = self._parts(node, depth, 2)
        if (node.attributes.get("linethickness") or "").rstrip("pxtem%") in ("0", "0.0"):
            return rf"{{{upper} \atop {lower}}}"
        if node.attributes.get("bevelled") == "true":
            return f"{_atom(upper)}/{_atom(lower)}"
        return rf"\frac{{{upper}}}{{{lower}}}"

    def _square_root(self, node: LexborNode, depth: int) -> str:
        return rf"\sqrt{{{self._row(node, depth)}}}"

    def _root(self, node: LexborNode, depth: int) -> str:
        base, degree = self._parts(node, depth, 2)
        return rf"\sqrt[{degree}]{{{base}}}" if degree else rf"\sqrt{{{base}}}"

    def _scripts(self, node: LexborNode, depth: int) -> str:
        marks = _marks(node)
        base, *scripts = self._parts(node, depth, 1 + len(marks))
        return _atom(base) + _marked(marks, scripts)

    def _limits(self, node: LexborNode, depth: int) -> str:
        marks = _marks(node)
        base, *scripts = self._parts(node, depth, 1 + len(marks))
        if base in _LARGE_COMMANDS or base.startswith((r"\underbrace", r"\overbrace")):
            return base + _marked(marks, scripts)
        signs = [part.text().strip() for part in _elements(node)[1:]]
        for mark, script, sign in zip(marks, scripts, signs, strict=False):
            if mark == "^" and sign in _ACCENTS:
                base = rf"\{_ACCENTS[sign][not _is_letter(base)]}{{{base}}}"
            elif mark == "_" and sign in _BELOW:
                base = rf"\{_BELOW[sign]}{{{base}}}"
            elif script:
                base = rf"\{'overset' if mark == '^' else 'underset'}{{{script}}}{{{base}}}"
        return base

    def _multiscripts(self, node: LexborNode, depth: int) -> str:
        if not (elements := _elements(node)):
            return ""
        base, *scripts = elements
        tags = [str(script.tag) for script in scripts]
        middle = tags.index("mprescripts") if "mprescripts" in tags else len(scripts)
        before, after = (
            "".join(
                _marked("_^", [self._write(script, depth + 1) for script in own[at : at + 2]])
                for at in range(0, len(own), 2)
            )
            for own in (scripts[middle + 1 :], scripts[:middle])
        )
        return (before and f"{{}}{before}") + _atom(self._write(base, depth + 1)) + after

    def _table(self, node: LexborNode, depth: int) -> str:
        rows = [row for row in _elements(node) if row.tag in ("mtr", "mlabeledtr")]
        lines = r" \\ ".join(" & ".join(self._cells(row, depth + 1)) for row in rows)
        return rf"\begin{{matrix}}{lines}\end{{matrix}}"

    def _cells(self, row: LexborNode, depth: int) -> list[str]:
        cells = self._parts(row, depth)
        return cells[1:] + cells[:1] if row.tag == "mlabeledtr" else cells

    def _fenced(self, node: LexborNode, depth: int) -> str:
        opening, closing = (node.attributes.get(name) for name in ("open", "close"))
        marks = "".join((node.attributes.get("separators", ",") or "").split())
        inner = ""
        for index, part in enumerate(self._parts(node, depth)):
            inner += _symbols(marks[min(index - 1, len(marks) - 1)]) if index and marks else ""
            inner += part
        parts = ["", inner, ""]
        fences = "(" if opening is None else opening.strip(), ")" if closing is None else closing
        _stretch(parts, (0, fences[0]), 2, fences[1].strip())
        return _joined(parts)

    def _enclosed(self, node: LexborNode, depth: int) -> str:
        inner = self._row(node, depth)
        for notation in (node.attributes.get("notation") or "").split():
            if notation in _ENCLOSED:
                inner = rf"\{_ENCLOSED[notation]}{{{inner}}}"
        return inner

    def _first(self, node: LexborNode, depth: int) -> str:
        return next(iter(self._parts(node, depth)), "")


def _elements(node: LexborNode) -> list[LexborNode]:
    return [part for part in node.iter() if part.is_element_node]


def _has_something(node: LexborNode) -> bool:
    return node.is_element_node or bool(node.is_text_node and (node.text_content or "").strip())


def _is_fence(node: LexborNode) -> bool:
    return node.attributes.get("fence") == "true" or "form" in node.attributes


def _stretch(parts: list[str], at: tuple[int, str], end: int, closing: str) -> None:
    """Set the brackets of parts from ``at`` to ``end``, which grow if what they enclose is tall."""
    start, opening = at
    inner = _joined(parts[start + 1 : end])
    marks = [_FENCES.get(mark, "") or _symbols(mark) for mark in (opening, closing)]
    if (stack := _STACK.fullmatch(inner)) and (opening, closing) == ("(", ")"):
        parts[start : end + 1] = [rf"\binom{{{stack[1]}}}{{{stack[2]}}}", *[""] * (end - start)]
    elif _TALL.search(inner):
        parts[start] = r"\left" + marks[0]
        parts[end] = r"\right" + marks[1]
    else:
        parts[start], parts[end] = ("" if mark == "." else mark for mark in marks)


def _marks(node: LexborNode) -> str:
    names = re.findall("sub|sup|under|over", str(node.tag))
    return "".join("^" if name in ("sup", "over") else "_" for name in names)


def _marked(marks: str, scripts: Sequence[str]) -> str:
    return "".join(
        f"{mark}{{{script}}}" for mark, script in zip(marks, scripts, strict=False) if script
    )


def _atom(tex: str) -> str:
    """Return what a script can follow."""
    return tex if _ATOM.fullmatch(tex) else f"{{{tex}}}"


def _is_letter(tex: str) -> bool:
    return len(tex) == 1 or _COMMAND.fullmatch(tex) is not None


def _joined(parts: Sequence[str]) -> str:
    """Join parts; a space ends a command before a letter."""
    texts: list[str] = []
    for part in filter(None, parts):
        if texts and part[0].isalpha() and _COMMAND_AT_END.search(texts[-1]):
            texts.append(" ")
        texts.append(part)
    return "".join(texts)


def _symbols(text: str) -> str:
    return _joined([_COMMANDS.get(symbol, symbol) for symbol in text if not symbol.isspace()])


def _words(text: str) -> str:
    """Write words; braces and backslashes within ``text`` would end it."""
    return "".join(
        rf"\text{{{part}}}" if part not in ("{", "}", "\\") else _symbols(part)
        for part in re.split(r"([{}\\])", text)
        if part
    )


def _identifier(node: LexborNode) -> str:
    """Write letters in an alphabet, which may be that of their code points."""
    text = "".join(node.text().split())
    if text in FUNCTIONS:
        return f"\\{text}"
    variant = node.attributes.get("mathvariant") or ("normal" if len(text) > 1 else "italic")
    if len(text) == 1 and _STYLED.match(name := name_of(text, "")):
        variant = next((own for own in _VARIANTS if own in name.casefold()), variant)
        text = normalize("NFKC", text)
    inner = _symbols(text)
    if variant == "normal" and text.isascii() and text.isalnum():
        return rf"\mathrm{{{inner}}}"
    return rf"\{_VARIANTS[variant]}{{{inner}}}" if variant in _VARIANTS and inner else inner


def _operator(node: LexborNode) -> str:
    text = node.text().strip()
    return _identifier(node) if len(text) > 1 and text.isalpha() else _symbols(text)


def _text(node: LexborNode) -> str:
    text = re.sub(r"\s+", " ", node.text())
    return _words(text) if text.strip() else r"\," * bool(text)


def _space(node: LexborNode) -> str:
    width = re.fullmatch(r"(\d*\.?\d+)em", (node.attributes.get("width") or "").strip())
    return r"\quad" if width and float(width[1]) >= 1 else ""


_LEAVES: Final[dict[str, Callable[[LexborNode], str]]] = {
    **{"mi": _identifier, "mo": _operator, "mspace": _space},
    **dict.fromkeys(("mtext", "ms"), _text),
    "mn": lambda node: _symbols(node.text()),
}
_FORMS: Final[dict[str, Callable[[Writer, LexborNode, int], str]]] = {
    **dict.fromkeys(("mrow", "mstyle", "mpadded", "merror", "mtd", "mtr"), Writer._row),
    **dict.fromkeys(("semantics", "maction"), Writer._first),
    **dict.fromkeys(("msub", "msup", "msubsup"), Writer._scripts),
    **dict.fromkeys(("munder", "mover", "munderover"), Writer._limits),
    "mfrac": Writer._fraction,
    "msqrt": Writer._square_root,
    "mroot": Writer._root,
    "mmultiscripts": Writer._multiscripts,
    "mtable": Writer._table,
    "mfenced": Writer._fenced,
    "menclose": Writer._enclosed,
}
