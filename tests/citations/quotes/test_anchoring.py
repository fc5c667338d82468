"""A quote, or words that were selected, are found again at their own place, or not at all."""

import time
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from citations.quotes.anchoring import AROUND, SelectedText, find, find_selected
from citations.quotes.matching import prepare

FEW = st.sampled_from(["we", "walk", "downhill", "and", "up", "again", "thank", "you"])


def located(text: str, span: tuple[int, int], changed: str) -> str | None:
    """Look for a part of a text in another; return what stands before it there."""
    first, last = span
    prefix, suffix = text[max(0, first - AROUND) : first], text[last : last + AROUND]
    place = find(text[slice(*span)], changed, prefix=prefix, suffix=suffix)
    return None if place is None else changed[: place[0]]


@given(
    left=st.lists(FEW, max_size=60),
    quote=st.lists(FEW, min_size=1, max_size=8),
    right=st.lists(FEW, max_size=60),
    data=st.data(),
)
def test_edits_elsewhere_never_lead_to_a_wrong_place(
    left: list[str], quote: list[str], right: list[str], data: Any
) -> None:
    head, words, tail = " ".join([*left, ""]), " ".join(quote), " ".join(["", *right])
    text, span = head + words + tail, (len(head), len(head) + len(words))
    first = data.draw(st.integers(0, max(0, len(head) - 100)))
    last = data.draw(st.integers(min(len(tail), 100), len(tail)))
    new_head = data.draw(st.sampled_from(["", "we walk ", words + " ", text + " "])) + head[first:]
    new_tail = tail[:last] + data.draw(st.sampled_from(["", " and", " " + words, " " + text]))
    assert located(text, span, new_head + words + new_tail) in (None, new_head)


@given(
    words=st.lists(st.integers(0, 5_000), min_size=30, max_size=120, unique=True), data=st.data()
)
def test_a_quote_whose_neighbours_were_edited_is_found_where_it_went(
    words: list[int], data: Any
) -> None:
    said = [f"word{number}" for number in words]
    first = data.draw(st.integers(10, len(said) - 15))
    edited = data.draw(st.integers(0, len(said) - 1))
    assume(not first <= edited < first + 5)
    head, quote, tail = (
        " ".join(part) for part in (said[:first], said[first : first + 5], said[first + 5 :])
    )
    text, span = f"{head} {quote} {tail}", (len(head) + 1, len(head) + 1 + len(quote))
    changed = [
        *said[:edited],
        *data.draw(st.sampled_from([[], ["new"], ["new", "words"]])),
        *said[edited + 1 :],
    ]
    now = " ".join(changed)
    assert located(text, span, now) == now[: now.index(quote)]


def test_a_quote_that_was_changed_itself_has_no_place_though_others_say_the_same() -> None:
    text = (
        "First we add the salt. Thank you very much. Then we stir the soup well. In the end"
        " they said goodbye. Thank you very much. And that was all."
    )
    first = text.index("Thank you")
    changed = text.replace("Thank you very much", "Thanks a lot", 1)
    assert located(text, (first, first + 20), changed) is None
    assert located(text, (first, first + 20), f"Oh! {text}") == f"Oh! {text[:first]}"


def test_equal_places_with_equal_neighbours_have_no_answer() -> None:
    verse = (
        "row row row your boat gently down the stream merrily merrily merrily merrily life is"
        " but a dream " * 4
    )
    first = verse.index("gently", 150)
    assert located(verse, (first, first + 6), f"And {verse}") is None


def test_a_quote_that_was_punctuated_since_is_found_word_by_word() -> None:
    text = (
        "so the gradient points uphill and we walk downhill instead step by step until the"
        " ground is flat"
    )
    span = (text.index("the gradient"), text.index(" and we"))
    changed = (
        "So the gradient points, uphill, and we walk downhill instead, step by step,"
        " until the ground is flat."
    )
    assert located(text, span, changed) == "So "


SPOKEN = (
    "We made operon fusions of the genes to the soxS promoter to monitor transcription in"
    " living cells over many hours. Expression from the soxS promoter "
    "is strongly inducible by paraquat in a manner strictly dependent on a functional soxR"
    " gene, as others have found before us."
)


def test_the_same_words_nearby_are_not_taken_for_a_quote_that_was_changed() -> None:
    first = SPOKEN.index("the soxS promoter is")
    changed = SPOKEN.replace("from the soxS promoter", "from that soxS promoter")
    assert located(SPOKEN, (first, first + 17), changed) is None


def test_the_same_words_elsewhere_are_not_taken_for_a_quote_that_was_punctuated() -> None:
    text = f"{SPOKEN} {SPOKEN.replace('strongly', 'weakly').replace('many', 'two')}"
    span = (text.index("in a manner"), text.index(" on a"))
    changed = text.replace("in a manner strictly", "in a manner, strictly,", 1)
    assert located(text, span, changed) in (None, changed[: changed.index("in a manner")])


def test_a_long_quote_is_found_though_both_its_sides_were_edited() -> None:
    first, last = SPOKEN.index("to the soxS promoter to"), SPOKEN.index(" in living")
    changed = (
        SPOKEN.replace("operon ", "")
        .replace("fusions of the", "fusions of all the")
        .replace("living cells", "cells")
    )
    assert located(SPOKEN, (first - 6, last), changed) == changed[: changed.index("genes to")]


def test_a_short_quote_with_a_rare_word_is_found_though_both_its_sides_were_edited() -> None:
    first, last = SPOKEN.index("paraquat in a"), SPOKEN.index(" strictly")
    changed = SPOKEN.replace("inducible by", "induced by").replace("strictly dep", "fully dep")
    assert located(SPOKEN, (first, last), changed) == changed[: changed.index("paraquat in a")]


@pytest.mark.parametrize("quote", ["a", "a " * 50, "\ud800", " "])
def test_hostile_texts_have_an_answer_soon(quote: str) -> None:
    assert find(quote, "a " * 100_000, prefix="", suffix="") is None


TEXT = "The error runs back. It grows.\nThe error runs back. It shrinks."


def selected(exact: str, *, near: int | None = None, text: str = TEXT, **around: str) -> str | None:
    span = find_selected(
        SelectedText(exact=exact, **around), text, near=near, prepared=lambda: prepare(text)
    )
    return f"{span[0]}: {text[slice(*span)]}" if span else None


def test_words_that_occur_once_are_found() -> None:
    assert selected("It grows.") == "21: It grows."


def test_equal_words_are_told_apart_by_what_stands_around_them() -> None:
    assert selected("The error runs back.", suffix=" It shrinks.") == "31: The error runs back."
    assert selected("runs back.", prefix="grows. The error ") == "41: runs back."


def test_equal_words_are_told_apart_by_their_position() -> None:
    assert selected("The error runs back.", near=33) == "31: The error runs back."
    assert selected("The error runs back.", near=2) == "0: The error runs back."


def test_what_stands_around_tells_more_than_the_position() -> None:
    assert selected("The error runs back.", near=2, suffix=" It shrinks") == (
        "31: The error runs back."
    )


def test_nothing_is_found_where_nothing_tells_equal_words_apart() -> None:
    assert selected("The error") is None


def test_blanks_and_signs_may_differ() -> None:
    assert selected("it grows the  error runs back it shrinks") == (
        "21: It grows.\nThe error runs back. It shrinks"
    )


def test_words_may_begin_and_end_within_words_on_several_lines() -> None:
    text = "Differentiating the series\nterm by term: f^′(x) =∑_{n=1}^{∞}nc_n"
    assert selected("iating the series term by term: f^′(x) =∑_{n", text=text) == (
        "9: iating the series\nterm by term: f^′(x) =∑_{n"
    )


def test_a_place_to_the_letter_comes_before_one_with_other_blanks() -> None:
    text = "He said yes we can. And then:\nyes we\ncan"
    assert selected("yes we can", text=text) == "8: yes we can"


def test_hostile_repetitions_take_linear_time() -> None:
    text, quote = "a a a\n" * 300_000, "a " * 2_499 + "b"
    began = time.process_time()
    assert (
        find_selected(SelectedText(exact=quote), text, near=None, prepared=lambda: prepare(""))
        is None
    )
    assert time.process_time() - began < 10  # a regular expression takes minutes


def test_other_words_are_not_found() -> None:
    assert selected("It stays the same.") is None
    assert selected("  ") is None


def test_a_position_leads_to_words_behind_thousands_of_equal_ones() -> None:
    text = "so it is. " * 5_000
    assert selected("so it is", near=40_001, text=text) == "40000: so it is"
