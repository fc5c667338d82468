"""MathML as TeX: readable, searchable, and set again as it was."""

from time import process_time

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from citations.readers.markup.mathml import set_formulas
from citations.readers.markup.tex import Writer


def math(inner: str, attributes: str = "") -> LexborNode:
    node = LexborHTMLParser(f"<math{attributes}>{inner}</math>").css_first("math")
    assert node is not None
    return node


def tex(inner: str) -> str:
    writer = Writer()
    source = writer.write(math(inner))
    assert not writer.unknown
    return source.strip("$")


X, Y, N = "<mi>x</mi>", "<mi>y</mi>", "<mn>2</mn>"
FRACTION = f"<mfrac>{X}{Y}</mfrac>"
KNOWN = {
    FRACTION: r"\frac{x}{y}",
    f"<mfrac bevelled='true'>{X}{Y}</mfrac>": "x/y",
    f"<mfrac linethickness='0'>{X}{Y}</mfrac>": r"{x \atop y}",
    f"<mo>(</mo><mfrac linethickness='0pt'>{X}{Y}</mfrac><mo>)</mo>": r"\binom{x}{y}",
    f"<msqrt>{X}<mo>+</mo>{Y}</msqrt>": r"\sqrt{x+y}",
    f"<mroot>{X}<mn>3</mn></mroot>": r"\sqrt[3]{x}",
    f"<msup>{X}{N}</msup>": "x^{2}",
    f"<msup><mrow><mo>(</mo>{X}<mo>+</mo>{Y}<mo>)</mo></mrow>{N}</msup>": "(x+y)^{2}",
    f"<msup><mrow>{X}{Y}</mrow>{N}</msup>": "{xy}^{2}",
    f"<msubsup><mo>∫</mo><mn>0</mn><mi>∞</mi></msubsup>{X}": r"\int_{0}^{\infty}x",
    f"<munderover><mo>∏</mo><mrow><mi>k</mi><mo>=</mo><mn>1</mn></mrow>{X}</munderover>": (
        r"\prod_{k=1}^{x}"
    ),
    f"<munder><mi>lim</mi><mrow>{X}<mo>→</mo><mn>0</mn></mrow></munder>{Y}": r"\lim_{x\to0}y",
    f"<munder><mi>argmin</mi>{X}</munder>": r"\underset{x}{\mathrm{argmin}}",
    "<mover><mo>=</mo><mtext>def</mtext></mover>": r"\overset{\text{def}}{=}",
    f"<mover>{X}<mo>^</mo></mover><mover>{Y}<mo>¯</mo></mover>": r"\hat{x}\bar{y}",
    f"<mover><mrow>{X}{Y}</mrow><mo>→</mo></mover>": r"\overrightarrow{xy}",
    f"<munder><munder><mrow>{X}{Y}</mrow><mo>⏟</mo></munder>{N}</munder>": r"\underbrace{xy}_{2}",
    f"<munder>{X}<mo>_</mo></munder>": r"\underline{x}",
    "<mmultiscripts><mi>U</mi><mprescripts/><mn>92</mn><mn>235</mn></mmultiscripts>": (
        "{}_{92}^{235}U"
    ),
    f"<mrow><mo>[</mo><mtable><mtr><mtd>{X}</mtd><mtd>{Y}</mtd></mtr><mtr><mtd>{N}</mtd></mtr>"
    "</mtable><mo>]</mo></mrow>": r"\left[\begin{matrix}x & y \\ 2\end{matrix}\right]",
    f"<mrow><mo>{{</mo><mtable><mtr><mtd>{X}</mtd></mtr></mtable></mrow>": (
        r"\left\{\begin{matrix}x\end{matrix}\right."
    ),
    f"<mtable><mlabeledtr><mtd><mtext>(1)</mtext></mtd><mtd>{X}</mtd></mlabeledtr></mtable>": (
        r"\begin{matrix}x & \text{(1)}\end{matrix}"
    ),
    f"<mo>(</mo>{FRACTION}<mo>)</mo><mo>+</mo><mo>(</mo>{X}<mo>)</mo>": (
        r"\left(\frac{x}{y}\right)+(x)"
    ),
    f"<mo fence='true'>|</mo>{FRACTION}<mo fence='true'>|</mo>": r"\left|\frac{x}{y}\right|",
    f"<mfenced>{X}{Y}</mfenced><mfenced open='[' close=')' separators=''>{X}{Y}</mfenced>": (
        "(x,y)[xy)"
    ),
    f"<mi>sin</mi><mo>&#x2061;</mo>{X}<mi>log</mi><mo>x</mo>": r"\sin x\log x",
    "<mi>α</mi><mo>≤</mo><mi>Ω</mi><mo>∈</mo><mi>ℝ</mi><mi>ℓ</mi>": (
        r"\alpha\leq\Omega\in\mathbb{R}\ell"
    ),
    "<mi>𝐯</mi><mi>𝑥</mi><mi mathvariant='bold'>w</mi><mi mathvariant='normal'>d</mi>": (
        r"\mathbf{v}x\mathbf{w}\mathrm{d}"
    ),
    "<mn>50</mn><mo>%</mo><mo>&amp;</mo><mi>$</mi><mi>#</mi><mi>_</mi>": r"50\%\&\$\#\_",
    f"<mtext>if </mtext>{X}<mtext>{{</mtext>": r"\text{if }x\{",
    f"<menclose notation='box'>{X}</menclose><mphantom>{Y}</mphantom>": r"\boxed{x}",
    f"<semantics><mrow>{X}</mrow><annotation encoding='StarMath 5.0'>y</annotation></semantics>": (
        "x"
    ),
    f"<maction>{X}{Y}</maction><mstyle><mpadded>{Y}</mpadded></mstyle>": "xy",
}  # fmt: skip


@pytest.mark.parametrize(("mathml", "source"), KNOWN.items(), ids=KNOWN.values())
def test_each_element_has_its_command_which_is_set_again(mathml: str, source: str) -> None:
    assert tex(mathml) == source
    assert "<math" in set_formulas(f"<var>${source.replace('&', '&amp;')}$</var>")


def test_a_displayed_formula_stands_in_two_dollars_and_an_empty_one_in_none() -> None:
    assert Writer().write(math(X, ' display="block"')) == "$$x$$"
    assert Writer().write(math("<mrow></mrow>")) == ""


def test_of_an_unknown_element_the_words_are_kept_and_counted() -> None:
    writer = Writer()
    source = writer.write(math(f"{X}<mo>=</mo><mstack><mn>12</mn><mn>34</mn></mstack>"))
    assert (source, writer.unknown) == (r"$x=\text{1234}$", 1)


def test_of_what_is_nested_too_deeply_the_words_are_kept_and_counted() -> None:
    writer = Writer()
    source = writer.write(math("<mrow>" * 5_000 + X + "</mrow>" * 5_000))
    assert (source, writer.unknown) == (r"$\text{x}$", 1)


@pytest.mark.parametrize(
    "name", ["mfrac", "mroot", "msub", "munderover", "mmultiscripts", "mtable", "mfenced"]
)
@pytest.mark.parametrize("inner", ["", X, X * 5])
def test_an_element_with_too_few_parts_or_too_many_is_written(name: str, inner: str) -> None:
    source = Writer().write(math(f"{Y}<{name}>{inner}</{name}>"))
    assert source.startswith("$")
    assert "x" in source or not inner or name == "mtable"


@pytest.mark.parametrize("inner", ["<mo>(</mo>", "<mi>α</mi>", f"<mo>{{</mo>{FRACTION}"])
def test_a_long_formula_takes_no_longer_than_its_length(inner: str) -> None:
    began = process_time()
    Writer().write(math(inner * 20_000))
    assert process_time() - began < 5


def test_a_script_of_two_brackets_is_one_of_both() -> None:
    grown = f"<mo>(</mo>{FRACTION}<mo>)</mo>"
    assert tex(f"<msup><mrow>{grown}</mrow>{N}</msup>") == r"\left(\frac{x}{y}\right)^{2}"
    assert tex(f"<msup><mrow>{grown}{grown}</mrow>{N}</msup>").startswith(r"{\left(")


def test_brackets_that_match_nothing_stay_as_they_are() -> None:
    assert tex(f"<mo>)</mo>{FRACTION}<mo>(</mo><mo>[</mo>") == r")\frac{x}{y}(["
