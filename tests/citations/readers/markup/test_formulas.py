"""A formula of a web page is read once, as its source or as what is nearest to it."""

from pathlib import Path

import pytest

from citations.readers.markup.reader import read_html

MATHML = (
    "<math><mrow><msup><mi>q</mi><mn>3</mn></msup><mo>+</mo><mfrac><mrow><mi>u</mi><mo>-</mo>"
    "<mi>v</mi></mrow><msub><mi>w</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub></mfrac></mrow>"
    "</math>"
)
WRITTEN = r"$q^{3}+\frac{u-v}{w_{ij}}$"
TEX = "<annotation encoding='application/x-tex'>{}</annotation></semantics></math>"


def read(folder: Path, html: str) -> str:
    path = folder / "page.html"
    path.write_text(f"<!doctype html><html><body>{html}</body></html>")
    return "\n\n".join(page.text for page in read_html(path, most_pages=10).pages)


@pytest.mark.parametrize(
    ("html", "source"),
    [
        (
            f"<span class=katex><span class=katex-mathml><math><semantics><mi>u</mi>"
            f"{TEX.format('u&lt;v^2')}</span><span class=katex-html aria-hidden=true>u2</span>"
            "</span>",
            "u<v^2",
        ),
        (
            "<span class=MathJax_Preview>u</span><span class=MathJax><nobr aria-hidden=true>u"
            "</nobr>"
            "<span class=MJX_Assistive_MathML><math><mi>u</mi></math></span></span>"
            r"<script type='math/tex'>\frac{u}{2}</script>",
            r"\frac{u}{2}",
        ),
        (f"<span class=MathJax>{MATHML}</span>", WRITTEN),
        (
            "<mjx-container class=MathJax><mjx-math aria-hidden=true><mjx-c class=mjx-c71></mjx-c>"
            f"</mjx-math><mjx-assistive-mml>{MATHML}</mjx-assistive-mml></mjx-container>",
            WRITTEN,
        ),
        (
            r"<mjx-container><mjx-math data-latex='\sqrt u'><mjx-c></mjx-c></mjx-container>",
            r"\sqrt u",
        ),
        ("<mjx-container aria-label='u squared'><svg></svg></mjx-container>", "u squared"),
        ("<mjx-container><svg><use data-c='1D462'></use></svg></mjx-container>", "u"),
        (MATHML, WRITTEN),
        (f"<script type='math/mml'>{MATHML}</script>", WRITTEN),
        ("<math display='block'><msqrt><mi>u</mi></msqrt></math>", r"$$\sqrt{u}$$"),
        ("<math alttext='u times two'><mi>u</mi><mo>×</mo><mn>2</mn></math>", r"$u\times2$"),
        ("<math alttext='u times two'></math>", "u times two"),
        (f"<math alttext='u_2'><semantics><mi>u</mi>{TEX.format('u_2')}", "u_2"),
        (
            "<span class=mwe-math-element><span style='display: none'><math><semantics><mi>u</mi>"
            + TEX.format(r"{\displaystyle u^{2}}")
            + r"</span><img aria-hidden=true alt='{\displaystyle u^{2}}'></span>",
            "u^{2}",
        ),
        (r"<img class=mwe-math-fallback-image aria-hidden=true alt='{\displaystyle u_n}'>", "u_n"),
        (r"\(u*v*w\)", r"\(u*v*w\)"),
    ],
)
def test_a_formula_is_read_once_wherever_it_stands(tmp_path: Path, html: str, source: str) -> None:
    shown = read(tmp_path, f"<p>Here {html} ends.</p><table><tr><td>It<td>{html}</table>")
    assert shown == f"Here {source} ends.\n\nIt | {source}"


def test_a_displayed_formula_is_read_once(tmp_path: Path) -> None:
    shown = read(
        tmp_path,
        "<p>Here</p><div class=MathJax_Display><span class=MathJax>u</span></div>"
        "<script type='math/tex; mode=display'>u_1</script><p>ends.</p>",
    )
    assert shown == "Here\n\nu_1\n\nends."


def test_a_formula_of_any_depth_ends(tmp_path: Path) -> None:
    assert read(tmp_path, f"<p>Deep: <math>{'<mrow>' * 5_000}<mi>u</mi></math></p><p>End.")
