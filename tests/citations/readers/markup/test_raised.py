"""Superscripts and subscripts of web pages, books and office documents are told from the line."""

from collections import Counter

import pytest

from citations.readers.markup.walker import pieces_of


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("10<sup>5</sup> and 10<sup>-3</sup>", "10⁵ and 10⁻³"),
        ("<i>x</i><sup>2</sup> + e<sup>-x</sup> &lt; 2<sup>n</sup>", "x² + e^(-x) < 2^n"),
        ("H<sub>2</sub>O, x<sub>i</sub> and log<sub>2</sub> 8", "H₂O, x_i and log₂ 8"),
        ("x<sup>2<sup>n</sup></sup> = f<sup>(2)</sup>(x)", "x^(2^n) = f^(2)(x)"),
        ("the 5<sup>th</sup>, XIX<sup>e</sup>, M<sup>me</sup>", "the 5th, XIXe, Mme"),
        ("a claim<sup>1</sup> and.<sup>2,3</sup> More", "a claim¹ and.²,³ More"),
        ("in 1990<sup><a href='#fn2'>2</a></sup> it was", "in 1990[2] it was"),
        ("in 1990<a href='notes.xhtml#n3'><sup>3</sup></a> it was", "in 1990[3] it was"),
        ("in 1990<sup><a href='#fn4'>[4]</a></sup> it was", "in 1990[4] it was"),
        (
            "a claim<sup>*</sup>, Name<sup>TM</sup>, Plan<sup>NEW</sup>",
            "a claim*, NameTM, Plan NEW",
        ),
    ],
)
def test_a_script_is_written_as_one(markup: str, text: str) -> None:
    [(_, written, html)] = pieces_of([f"<p>{markup}</p>"], Counter())
    assert written == text
    assert "<sup>" not in html or "*" in html
