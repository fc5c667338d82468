"""Marks in HTML at the characters of plain text."""

from hypothesis import given
from hypothesis import strategies as st

from citations.readers.markup.sanitizer import below_title, sanitize
from citations.reading.marked_html import mark


def test_a_mark_goes_on_across_elements() -> None:
    marked = mark("<p>One <em>two</em> three</p>", "One two three", {"a": [(4, 9)]})
    assert marked == ('<p>One <em><mark class="a">two</mark></em><mark class="a"> t</mark>hree</p>')


def test_what_only_the_text_has_is_skipped() -> None:
    markup = "<ol><li>First</li><li>Second</li></ol><table><tr><td>x</td><td>y</td></tr></table>"
    text = "1. First\n2. Second\n\nx | y"
    assert '<li><mark class="a">Second</mark></li>' in mark(markup, text, {"a": [(9, 18)]})
    assert '<td><mark class="a">y</mark></td>' in mark(markup, text, {"a": [(24, 25)]})


def test_entities_stay_escaped() -> None:
    assert mark("<p>a &lt;b&gt; &amp; c</p>", "a <b> & c", {"m": [(2, 5)]}) == (
        '<p>a <mark class="m">&lt;b&gt;</mark> &amp; c</p>'
    )


@given(st.text(max_size=80), st.text(max_size=80), st.integers(0, 80), st.integers(0, 80))
def test_marks_change_nothing_but_marks(html: str, text: str, first: int, length: int) -> None:
    clean = sanitize(html)
    marked = mark(clean, text, {"m": [(first, first + length)]})
    assert sanitize(marked.replace('<mark class="m">', "").replace("</mark>", "")) == clean


def test_headings_stand_below_the_title_of_the_page() -> None:
    shown = below_title(sanitize("<h1>A</h1><h2>B</h2><h6>C</h6><p>1 &lt;/h1> 2</p>"))
    assert shown == "<h2>A</h2><h3>B</h3><h4>C</h4><p>1 &lt;/h1&gt; 2</p>"


def test_headings_of_a_page_leave_out_no_level_wherever_it_begins() -> None:
    shown = below_title(sanitize("<h3>A</h3><h2>B</h2><h4>C</h4><h2>D</h2>"))
    assert shown == "<h2>A</h2><h2>B</h2><h3>C</h3><h2>D</h2>"


def test_what_acts_or_loads_is_not_shown() -> None:
    hostile = (
        '<p onclick="x()" style="color:red" class="a" id="b">Hi<script>x()</script>'
        '<img src="https://example.org/t.gif"><a href="javascript:x()">1</a>'
        '<a href="/delete/">2</a>'
        "<iframe></iframe><form><button>3</button></form>"
    )
    shown = sanitize(hostile)
    for part in ("onclick", "style", "class", "id=", "script", "img", "<a", "form", "iframe"):
        assert part not in shown
