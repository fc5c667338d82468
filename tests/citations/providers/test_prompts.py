"""Prompts: marks that no text contains, cleaned answers, token estimates."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.providers.prompts import (
    Prompt,
    _free_mark,
    clean_answer,
    marked,
    prompt_tokens,
    tokens,
)

LIMIT = 500


def test_a_text_that_knows_its_mark_gets_another() -> None:
    class Known(str):
        """A text that holds whatever it is asked about once."""

        lookups = 0

        def __contains__(self, mark: object) -> bool:
            self.lookups += 1
            return self.lookups == 1

    first = marked("text", "words")
    assert marked("text", "words") == first
    marks = {_free_mark("text", "words"), _free_mark("text", Known("words"))}
    assert len(marks) == 2


@pytest.mark.parametrize(
    ("answer", "cleaned"),
    [
        ("Captions carry times.", "Captions carry times."),
        (
            "Here is a passage that answers the question:\n\nCaptions carry times.",
            "Captions carry times.",
        ),
        ("Sure! Here's the passage: Captions carry times.", "Captions carry times."),
        ("**Passage:** Captions carry times.", "Captions carry times."),
        ("“Captions carry times.”", "Captions carry times."),
        ('"Captions" and "times"', '"Captions" and "times"'),
        ("<think>Hm, what is it?</think>Captions carry times.", "Captions carry times."),
        ("<think>It never ends", ""),
        ("```text\nCaptions carry times.\n```", "Captions carry times."),
        ("# Captions\n- carry **exact** times.", "Captions carry exact times."),
        (
            "<piece-0123456789ab>Captions</piece-0123456789ab> carry\x00 times.",
            "Captions carry times.",
        ),
        ("Подписи несут   время.\n", "Подписи несут время."),
        ("字幕有时间。", "字幕有时间。"),
        ("", ""),
        (" \n\x00", ""),
    ],
)
def test_answers_are_cleaned(answer: str, cleaned: str) -> None:
    assert clean_answer(answer, 1_500) == cleaned


def test_a_long_answer_ends_with_a_sentence() -> None:
    cleaned = clean_answer("This is a sentence. " * 60, LIMIT)
    assert len(cleaned) <= LIMIT
    assert cleaned.endswith("sentence.")
    assert clean_answer("字幕有时间。" * 200, LIMIT).endswith("。")
    assert len(clean_answer("word " * 2_000, 1_500)) <= 1_500
    assert clean_answer("x" * 9_000, 1_500) == "x" * 1_500


@pytest.mark.parametrize(
    "answer",
    [
        "**a" * 9_000,
        "<think>" * 5_000,
        "here is " * 5_000,
        "__" * 10_000,
        "“" * 20_000,
        "# " * 10_000,
    ],
)
def test_no_answer_takes_long_to_clean(answer: str) -> None:
    started = time.perf_counter()
    clean_answer(answer, LIMIT)
    assert time.perf_counter() - started < 1


@given(st.text())
def test_cleaning_gives_short_plain_text(answer: str) -> None:
    cleaned = clean_answer(answer, LIMIT)
    assert len(cleaned) <= LIMIT
    assert cleaned == " ".join(cleaned.split())


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("abc", 1), ("four", 2), ("字幕", 2), ("a" * 300, 100), ("\ud800", 1)],
)
def test_tokens_are_estimated_from_bytes(text: str, count: int) -> None:
    assert tokens(text) == count


def test_a_prompt_counts_with_all_its_parts() -> None:
    prompt = Prompt(text="abc", system="abcdef", document="abcabcabc")
    assert prompt_tokens(prompt) == 6
