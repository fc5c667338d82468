"""Sections are named by the noun phrases that stand out in them."""

from collections.abc import Sequence

from citations.text.phrases import Wording
from citations.text.words import UNKNOWN, FunctionWords, function_words

STOPS = frozenset({"the", "of", "is", "it", "to", "in", "what", "about"})
GRADIENTS = (
    "Today is about gradient descent. The gradient descent takes small steps. We assume that the"
    " gradient points uphill, and gradient descent goes down."
)
KERNELS = (
    "The convolution kernel is for the picture. We assume a small convolution kernel. A"
    " convolution kernel has few weights."
)


def names(*texts: str, words: FunctionWords | None = None, others: Sequence[str] = ()) -> list[str]:
    """Name sections of one piece each."""
    words = function_words("en") if words is None else words
    wording = Wording(texts, stops=STOPS, function_words=words, language="en", others=others)
    return list(wording.names((n, n + 1) for n in range(len(texts))))


def test_a_section_is_named_by_its_phrase_and_not_by_what_all_sections_do() -> None:
    assert names(GRADIENTS, KERNELS) == ["Gradient descent", "Convolution kernel"]


def test_of_phrases_that_stand_out_the_one_nearest_in_meaning_names_a_section() -> None:
    text = "The old story is long. The deep sea is cold. The old story ends. The deep sea is blue."
    wording = Wording([text, KERNELS], stops=STOPS, function_words=function_words("en"))

    def near(meaning: str) -> str:
        def compare(phrases: Sequence[str]) -> list[float]:
            return [float(meaning in phrase) for phrase in phrases]

        return next(wording.names([(0, 1), (1, 2)], [compare, None]))

    assert (near("story"), near("sea")) == ("Old story", "Deep sea")


def test_a_verb_names_no_section() -> None:
    text = "We normalize it. You normalize the vectors. We normalize the vectors as we normalize."
    assert names(text, KERNELS)[0] == "Vectors"


def test_a_phrase_may_have_a_word_like_of_within() -> None:
    text = "The law of large numbers is old. We use the law of large numbers to bet."
    assert names(text, KERNELS)[0] == "Law of large numbers"


def test_abbreviations_and_names_keep_their_capitals() -> None:
    text = "The iPhone is here. An iPhone rings. Each iPhone rings twice and the iPhone glows."
    assert names(text, KERNELS)[0].startswith("iPhone")
    assert names("The GPU is fast. A GPU is hot. Buy the GPU.", KERNELS)[0].startswith("GPU")


def test_an_identifier_names_no_section() -> None:
    text = "The X_0 is the state. An X_0 grows. Each X_0 and my_value grow, the state as well."
    assert names(text, KERNELS)[0] == "State"


def test_speakers_name_no_section() -> None:
    text = (
        "Aaron van Dam: The wallet is new. Aaron van Dam: The wallet is safe. Aaron van Dam: Yes."
    )
    assert "Aaron" not in names(text, KERNELS)[0]


def test_siblings_get_other_names_where_another_phrase_is_nearly_as_good() -> None:
    first = "The neural net is it. It is the neural net."
    second = "The neural net is the old memory. The old memory is the neural net." + 99 * " It is."
    assert names(first, second, KERNELS)[:2] == ["Neural net", "Old memory"]
    plural = second.replace("net", "nets")
    assert names(first, plural, KERNELS)[:2] == ["Neural net", "Old memory"]
    change = [text.replace("neural net", "rate of change") for text in (first, second)]
    assert names(*change, KERNELS)[:2] == ["Rate of change", "Old memory"]


def test_a_longer_word_that_begins_alike_is_another_name() -> None:
    second = "The small carbon is the old memory. The old memory is the small carbon."
    after = [
        names(f"The small {first} is it. It is the small {first}.", second, KERNELS)[1]
        for first in ("car", "tree")
    ]
    assert after[0] == after[1]


def test_a_text_without_content_words_has_no_name() -> None:
    assert names("It is what it is.", "…", "[INAUDIBLE]", "") == ["", "", "", ""]


def test_a_language_whose_function_words_are_unknown_is_named_all_the_same() -> None:
    assert names(GRADIENTS, KERNELS, words=UNKNOWN) == ["Gradient descent", "Convolution kernel"]


def test_a_phrase_that_is_said_once_gives_way_to_one_that_returns() -> None:
    text = "A bad situation came. The governor keeps the speed. The governor turns the valve."
    assert names(text, KERNELS)[0] == "Governor"


def test_what_other_sources_often_say_names_little() -> None:
    text = "This is the network. It has a governor. We use the network, and what the governor is."
    others = [f"The network of number {number} is here." for number in range(40)]
    assert names(text, KERNELS)[0] == "Network"
    assert names(text, KERNELS, others=others)[0] == "Governor"


def test_a_remark_of_who_wrote_the_captions_names_nothing() -> None:
    text = "[INAUDIBLE] The valve. [INAUDIBLE] The valve is [INAUDIBLE] [INAUDIBLE]."
    assert names(text, KERNELS)[0] == "Valve"


def test_a_later_section_of_the_same_name_gets_a_second_phrase() -> None:
    more = f"{GRADIENTS} The learning rate is a number. A learning rate decays."
    apart = names(GRADIENTS, KERNELS, more)
    assert apart == ["Gradient descent", "Convolution kernel", "Gradient descent, learning rate"]
    assert names(GRADIENTS, more)[1] == "Gradient descent, learning rate"
