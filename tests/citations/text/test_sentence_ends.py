from citations.text.sentence_ends import BIAS, log_odds, patterns
from citations.text.sentences import split

SPOKEN = (
    "so today i want to talk about why queues grow and what you can do about it the first thing to"
    " understand is that a queue has no memory it does not know how long you have been waiting okay"
    " so let's look at a second example what happens if we double the number of servers"
)


def cut(text: str) -> list[str]:
    return [text[first:last].strip() for first, last in split(text)]


def test_speech_without_stops_is_cut_where_its_words_tell_that_a_sentence_ends():
    assert cut(SPOKEN) == [
        "so today i want to talk about why queues grow and what you can do about it",
        "the first thing to understand is that a queue has no memory it does not know how long you"
        " have been waiting",
        "okay so let's look at a second example what happens if we double the number of servers",
    ]


def test_a_gap_before_a_new_thought_is_likelier_than_one_within_a_phrase():
    odds = log_odds(SPOKEN, 0, len(SPOKEN))

    assert odds[SPOKEN.index("okay so")] > 0
    assert odds[SPOKEN.index("queue has")] < BIAS


def test_only_words_that_begin_in_the_stretch_have_odds():
    first, last = SPOKEN.index("the first"), SPOKEN.index("thing")

    assert list(log_odds(SPOKEN, first, last)) == [first, first + len("the ")]
    assert log_odds(SPOKEN, first, last)[first] == log_odds(SPOKEN, 0, len(SPOKEN))[first]


def test_words_of_other_languages_tell_nothing():
    for text in (
        "приклад довгого речення без жодної крапки",
        "alors on commence par la dérivée et on va dire que la pente est celle de la tangente",
    ):
        assert log_odds(text, 0, len(text)) == {}


def test_a_pattern_shows_the_words_on_either_side_of_the_gap():
    before, behind = patterns(["Thank", "you", "So"])

    assert before == ("|", "thank |", "| you", "thank | you", "| you so", "| _ so")
    assert behind == ("|", "you |", "| so", "you | so", "thank you |", "thank _ |")
