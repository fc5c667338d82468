"""Formulas: set as MathML, with their source beside it."""

import pytest

from citations.readers.markup.mathml import set_formulas
from citations.readers.markup.reader import parse_markup
from citations.readers.markup.sanitizer import sanitize


def shown(text: str, *, kind: str) -> str:
    _, pieces = parse_markup(text, kind=kind)
    return set_formulas(sanitize("".join(piece.markup for piece in pieces)))


@pytest.mark.parametrize(
    ("text", "kind", "source", "display"),
    [
        ("So $a^2$ holds.", "markdown", "$a^2$", "inline"),
        (r"So \(a^2\) holds.", "markdown", r"\(a^2\)", "inline"),
        ("$$\na^2\n$$", "markdown", "$$<br>a^2<br>$$", "block"),
        ('<p>So <math alttext="a^2"><mi>a</mi></math> holds.', "html", "a^2", "inline"),
        ("<p><math><msup><mi>a</mi><mn>2</mn></msup></math>", "html", "$a^{2}$", "inline"),
    ],
)
def test_a_formula_is_set_beside_its_source(
    text: str, kind: str, source: str, display: str
) -> None:
    page = shown(text, kind=kind)
    assert f'<math display="{display}"><mrow><msup>' in page
    assert f'<span class="formula-source" aria-hidden="true">{source}</span>' in page


@pytest.mark.parametrize(
    "source",
    [r"\nosuchmacro{a}", "a_b_c", "{" * 1_500, "x" * 3_000, r"\frac"],
    ids=["macro", "twice below", "nested", "long", "unfinished"],
)
def test_what_cannot_be_set_stays_as_it_is_written(source: str) -> None:
    assert set_formulas(f"<p><var>{source}</var></p>") == f"<p><code>{source}</code></p>"


def test_a_formula_has_no_markup_of_its_own() -> None:
    page = shown(
        r"$\text{<script>alert(1)</script>}\href{javascript:alert(1)}{a}$", kind="markdown"
    )
    assert "<script" not in page
    assert "href=" not in page


def test_a_marked_formula_is_marked_as_it_is_set() -> None:
    page = set_formulas('<var><mark class="quoted">a^2</mark></var>')
    assert page.startswith('<span class="formula"><mark class="quoted"><math')


def test_what_is_no_tex_is_not_set() -> None:
    spoken = "<p><math aria-label='a squared'></math><var>x</var>"
    assert "<math" not in shown(spoken, kind="html")
