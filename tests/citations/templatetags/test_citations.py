"""Texts of passages and quotes as pages show them."""

from uuid import uuid4

import pytest

from citations.passages import ColoredSpan, Locator, Passage, PassageSource
from citations.reading.page import Line
from citations.templatetags.citations import (
    beginning,
    marked_speech,
    time_left,
    with_marks,
    without_label,
)

ORIGIN = PassageSource(id=uuid4(), kind="video", title="A talk")


def passage(text: str, *words: str, speaker: str) -> Passage:
    spans = tuple((text.index(word), text.index(word) + len(word)) for word in words)
    at = Locator(span=(0, len(text)))
    return Passage(
        chunk=1, origin=ORIGIN, locator=at, text=text, speaker=speaker, score=1.0, spans=spans
    )


def test_a_passage_does_not_repeat_the_name_that_stands_beside_it() -> None:
    shown = marked_speech(passage("Ann Lee: A <fee> is low.", "Lee", "fee", speaker="Ann Lee"))
    assert shown == "A &lt;<mark>fee</mark>&gt; is low."


def test_names_of_others_stay_in_a_passage() -> None:
    shown = marked_speech(passage("Bo: Why? Ann: A fee.", "fee", speaker="Ann"))
    assert shown == "Bo: Why? Ann: A <mark>fee</mark>."
    assert without_label("Bo: Why?", "Ann") == "Bo: Why?"
    assert without_label("Bo: Why?", "Bo") == "Why?"


def test_the_sign_of_what_is_left_out_is_apart_from_the_words() -> None:
    assert beginning("A <fee> is low.", 40) == "A &lt;fee&gt; is low."
    assert beginning("A <fee> is low.", 8) == 'A &lt;fee&gt;<span class="cut"> …</span>'


NAME = '<b class="speaker">Ann:</b>'


def test_who_speaks_is_bold_within_marks_as_without() -> None:
    text = "Ann: A fee."
    assert with_marks(text, Line(start=0, text=text, speaker="Ann")) == f"{NAME} A fee."
    quote = Line(start=0, text=text, quote=((0, 11),), speaker="Ann")
    assert with_marks(text, quote) == (
        f'<mark class="quoted">{NAME}</mark><mark class="quoted"> A fee.</mark>'
    )
    match = Line(start=0, text=text, matches=((0, 3),), speaker="Ann")
    assert with_marks(text, match) == (
        '<mark class="looked-for"><b class="speaker">Ann</b></mark><b class="speaker">:</b> A fee.'
    )
    highlight = ColoredSpan(0, 11, "yellow", uuid4())
    shown = with_marks(text, Line(start=0, text=text, highlights=(highlight,), speaker="Ann"))
    classes = f"highlight highlight-yellow highlight-{highlight.highlight}"
    assert f'<mark class="{classes}">' in shown
    assert f"</button>{NAME}</mark>" in shown


@pytest.mark.parametrize("text", ["The reason is simple: a fee.", "Note: a fee.", "Ann: A fee."])
def test_nothing_is_bold_where_nobody_is_named(text: str) -> None:
    assert with_marks(text, Line(start=0, text=text)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (8, "less than a minute left"),
        (64, "about a minute left"),
        (230, "about 4 minutes left"),
        (3_500, "about an hour left"),
        (7_300, "about 2 hours left"),
        (90_000, "about a day left"),
        (200_000, "about 2 days left"),
    ],
)
def test_the_time_that_is_left_is_told_in_words(seconds: float, text: str) -> None:
    assert time_left(seconds) == text
