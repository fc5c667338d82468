import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.lexical.query import parse
from citations.text.passage_text import read
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.text.tokenizer import MAX_QUERY_WORDS, tokenize


def test_plain_words_are_ranked_as_they_stand():
    query = parse("  what is\nentropy? ")

    expected = ("what is\nentropy?", "what is entropy?", (), ())
    assert (query.text, query.words, query.phrases, query.excluded) == expected


@pytest.mark.parametrize(
    "written",
    ['"error 404"', "“error 404”", "„error 404“", "„error 404”", "«error 404»", "« error  404 »"],
)
def test_words_in_quotes_are_a_phrase_and_are_ranked_too(written):
    query = parse(f"the {written} page")

    assert query.phrases == ("error 404",)
    assert query.words == "the error 404 page"


@pytest.mark.parametrize(
    ("written", "excluded", "words"),
    [
        ("cats -dogs", ("dogs",), "cats"),
        ("-dogs cats", ("dogs",), "cats"),
        ("cats -dogs -mice", ("dogs", "mice"), "cats"),
        ('cats -"big dogs" there', ("big dogs",), "cats there"),
        ("cats −“big dogs”", ("big dogs",), "cats"),
        ("cats -state-of-the-art", ("state-of-the-art",), "cats"),
        ("猫 －犬", ("犬",), "猫"),
        ('temperature -"40"', ("40",), "temperature"),
    ],
)
def test_a_hyphen_before_a_word_or_quotes_excludes(written, excluded, words):
    query = parse(written)

    assert (query.excluded, query.words) == (excluded, words)


@pytest.mark.parametrize(
    "written",
    [
        "state-of-the-art",
        "C - D",
        "cats - dogs",
        "cats -",
        "-40 degrees",
        "x -5",
        "git --help",
        "cats –dogs",
        "(-dogs)",
        "3-4 -> 5",
    ],
)
def test_other_hyphens_exclude_nothing(written):
    assert parse(written).excluded == ()
    assert tokenize(parse(written).words) == tokenize(written)


@pytest.mark.parametrize(
    "written",
    [
        'an "open end',
        'a 3.5" disk and a 5.25" disk',
        'end"',
        '""',
        '" "',
        "»wrong way round«",
        '-"open',
    ],
)
def test_quotes_without_their_partner_are_blanks(written):
    query = parse(written)

    assert (query.phrases, query.excluded) == ((), ())
    assert tokenize(query.words) == tokenize(written)


def test_what_has_no_word_and_no_sign_is_neither_phrase_nor_excluded():
    query = parse('"++" -"?!" code')

    assert (query.phrases, query.excluded, query.words) == ((), (), "++ code")


def test_names_of_one_letter_with_signs_and_emoji_are_phrases_and_excluded():
    query = parse('"C++" -a -🔥 -.NET -C# code')

    assert query.phrases == ("C++",)
    assert query.excluded == ("a", "🔥", ".NET", "C#")
    assert query.words == "C++ code"


@pytest.mark.parametrize(
    ("written", "empty"),
    [
        ("", True),
        ("-cats", True),
        ('-"big cats" -dogs', True),
        (" ?! ", True),
        ('""', True),
        ("C", False),
        ("🚀", False),
        ("§", False),
        ("“cats”", False),
        ("猫", False),
    ],
)
def test_a_query_of_exclusions_only_is_empty(written, empty):
    assert parse(written).is_empty is empty


@pytest.mark.parametrize(
    ("written", "text", "admitted"),
    [
        ("anything", "something else", True),
        ('"Error 404"', "they call it ERROR 404.", True),
        ('"error 404"', "an error, and then 404 pages", False),
        ('"error 404"', "404 error", False),
        ('"error 404"', "terror 404", False),
        ('"error 404"', "error 4040", False),
        ('"cœur ouvert"', "à CŒUR ouvert", True),
        ('"C++"', "written in C++.", True),
        ('"C++"', "written in C# and C", False),
        ('"c++ code"', "(C++) code", True),
        ('"🚀"', "to the moon 🚀!", True),
        ('"🚀"', "to the moon 🔥", False),
        ("code -C#", "code in C++", True),
        ("code -C#", "code in C#", False),
        ("letters -x", "the letter x", False),
        ("letters -x", "an X-ray", False),
        ("letters -x", "xylophone", True),
        ('"naïve bayes"', "the naive Bayes", False),
        ('"straße"', "Die STRASSE", True),
        ('"one two" "three"', "three is one two", True),
        ('"one two" "three"', "one two", False),
        ("x -cats", "dogs and Cats", False),
        ("x -cats", "dogs and catsuits", True),
        ('x -"big cats"', "big dogs, small cats", True),
        ('x -"big cats"', "two Big Cats", False),
        ("x -well-known", "a well known thing", False),
        ("x -well-known", "well, it is known", True),
        ('"深度学习"', "我们讲深度学习吧", True),
        ('"深度学习"', "深度，学习", False),
        ('"深"', "我们讲深度学习吧", True),
        ("x -深", "我们讲深度学习吧", False),
        ("x -海", "我们讲深度学习吧", True),
    ],
)
def test_a_text_is_admitted_with_all_phrases_and_nothing_excluded(written, text, admitted):
    assert parse(written).admits(text) is admitted


def test_nothing_of_a_query_reaches_over_the_limits():
    query = parse(" ".join(f'"phrase {number}" -word{number}' for number in range(600)))
    assert len(query.phrases) <= MAX_QUERY_WORDS
    assert len(query.excluded) <= MAX_QUERY_WORDS

    assert len(parse("x" * 20_000).text) == MAX_QUERY_CHARACTERS
    assert parse("a\0b \ud800 \x07").text == "ab"


@given(st.text(st.sampled_from("ab5 -\"“”„«»−'?深.") | st.characters(), max_size=80))
def test_any_text_is_a_query_whose_words_are_all_from_it(text):
    query = parse(text)

    assert "-" not in query.excluded
    assert set("".join(query.words.split())) <= set(query.text)
    assert all(tokenize(phrase) for phrase in query.phrases + query.excluded)
    assert query.admits(" ".join(query.phrases)) or len(query.phrases) > 1 or query.excluded


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ['"', "-", "„", '-"a ', "«“„", "-a ", '"a', "- "])
def test_hostile_queries_take_linear_time(piece):
    query = parse(piece * (MAX_QUERY_CHARACTERS // len(piece)))

    for _ in range(50):
        query.admits("a text that has nothing to do with it " * 15)


def test_single_letters_and_digits_count_in_phrases() -> None:
    query = parse('"vitamin C" -"plan B"')
    assert query.admits("Vitamin C helps.")
    assert not query.admits("Vitamin D helps.")
    assert not query.admits("vitamins, and C")
    assert not query.admits("Take vitamin C, that is plan B.")
    assert query.admits("Take vitamin C, that is plan A.")
    assert parse('"don’t stop"').admits("Don't stop!")


@pytest.mark.parametrize(
    ("written", "is_verbatim"),
    [
        ('"the loss"', True),
        ("the loss falls slowly", True),
        ("The LOSS falls, slowly!", True),
        ("the loss falls", False),  # too short to be meant word for word
        ("the loss slowly falls", False),
        ("loss falls slowly today", False),
    ],
)
def test_a_query_is_in_a_text_word_for_word_as_a_phrase_or_as_a_whole(written, is_verbatim):
    assert parse(written).is_verbatim_in(read("And the loss falls slowly.")) is is_verbatim
