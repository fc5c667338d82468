"""Differences of print are none of words: marks of notes, raised and lowered numbers, ligatures."""

import pytest

from citations.quotes.matching import Verdict, check, prepare


def verdict(quote: str, text: str) -> Verdict:
    """Check a quote against one text."""
    return check(quote, prepare(text)).verdict


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (
            "The gain was large¹ and stable.² It fell,³ then rose",
            "gain was large and stable. It fell",
        ),
        ("Bees¹ dance, ants² walk and wasps³ fly home", "ants walk and wasps fly home"),
        ("Bees¹ dance, ants² walk and wasps³ fly home", "ants² walk and wasps fly home"),
        ("In 1990[3] the old wall[4][5] was gone", "In 1990 the old wall was gone"),
        ("as others [1] and we [2, 3] have said [4–6].", "as others and we have said"),
        ("He (the heir)[12] was the last[note 2] of them", "He (the heir) was the last of them"),
        ("The gain* was large† and lasting‡ for all", "The gain was large and lasting for all"),
        ("The gain was large and lasting", "the gain[3] was large¹ and lasting"),
        ("研究¹表明天氣很好", "研究表明天氣很好"),
        ("Water is H₂O and salt is NaCl", "water is H2O and salt"),
        ("Water is H2O and salt is NaCl", "water is H₂O and salt"),
        ("it is 10⁵ times the 5ᵗʰ part", "it is 10^5 times the 5th part"),
        ("The oﬃce ﬁnds the eﬀort diﬃcult", "the office finds the effort difficult"),
        ("Le cœur du bœuf est lourd", "le coeur du boeuf est lourd"),
        ("The te\u00adst wаs dоne in Pаris", "the test was done in Paris"),
        ("the р-value is low in all cases", "the p-value is low in all"),
        ("add ½ cup, and heat it to 20 ℃", "add 1/2 cup, and heat it to 20 °C"),
        ("all values ∆ of a 1920x1080 screen", "all values Δ of a 1920×1080 screen"),
    ],
)
def test_differences_of_print_are_none_of_words(text: str, quote: str) -> None:
    assert verdict(quote, text) == Verdict.VERBATIM
    assert verdict(text, text) == Verdict.VERBATIM


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Water is H₂O and salt is NaCl", "water is H₃O and salt"),
        ("Water is H₂O and salt is NaCl", "water is HO and salt"),
        ("the area is x² of that side", "the area is x of that side"),
        ("the area is x² of that side", "the area is x2 of that side"),
        ("the area is x₂ of that side", "the area is x² of that side"),
        ("it is 10⁵ times as large", "it is 105 times as large"),
        ("it is 10⁵ times as large", "it is 10 times as large"),
        ("written 10₂ it is two", "written 102 it is two"),
        ("a hall of 300 m² and 5 km² of land", "a hall of 300 m and 5 km of land"),
        ("a hall of 300 metres² is large", "a hall of 300 metres is large"),
        ("it grows with velocity² of the car", "it grows with velocity of the car"),
        ("note¹ that force is mass × velocity² there", "force is mass × velocity there"),
        ("note¹ that sin² of it is small here", "that sin of it is small here"),
        ("it grows with velocity of the car", "it grows with velocity² of the car"),
        ("a rate of 5 s⁻¹ was seen here", "a rate of 5 s was seen here"),
        ("he bought [12] eggs at the shop", "he bought eggs at the shop"),
        ("he bought eggs at the shop", "he bought [12] eggs at the shop"),
        ("the answer is unknown to us", "the answer is [42] unknown to us"),
        ("it prints argv[1] and items[2] here", "it prints argv and items here"),
        ("it prints sys.path[1] to the screen", "it prints sys.path to the screen"),
        ("holds in [1, 2] as shown[1] and there[2]", "holds in as shown and there"),
        ("ants[1] walk and wasps[2] fly home", "ants[2] walk and wasps[3] fly far"),
        ("as others [1] and we [2] have said", "as others [2] and we [1] have said"),
        ("he meant it [sic] and said so", "he meant it[a] and said so"),
        ("add ½ cup of milk to the bowl", "add 12 cup of milk to the bowl"),
        ("add 2½ cups of milk to the bowl", "add 21/2 cups of milk to the bowl"),
        ("the rate ν of x is νx in all", "the rate v of x is vx in all"),
    ],
)
def test_exponents_indexes_and_numbers_are_no_differences_of_print(text: str, quote: str) -> None:
    assert verdict(quote, text) != Verdict.VERBATIM


def test_what_says_the_opposite_is_seen_across_the_mark_of_a_note() -> None:
    text = "They do not¹ use a large[2] step here"
    assert check("use a large step here", prepare(text)).negation == "not"
