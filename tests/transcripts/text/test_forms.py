"""Forms in which words are found, too: of texts, and of queries."""

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transcripts.text.forms import folded, names, query_words
from transcripts.text.terms import counted, counted_in
from transcripts.text.tokenizer import MAX_QUERY_WORDS, is_lone, is_unspaced, tokenize, units

ANYTHING = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("aAit '’-_.,+#&/ßİıſﬁＡé\u0301猫が好ｶﾞ각ทน้\u00ad\u200d1１²½ \n🚀§−"),
    )
)


def forms(text: str) -> set[str]:
    return {form for name in names(text) for form in name.forms}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Written in Ada, Objective-C, Notepad++ and J#.",
            {"j", "c", "j#", "notepad++", "~objectivec"},
        ),
        (
            "The .org domains, R&D, 3.11, -12 degrees",
            {".org", "~rd", "~3.11", "3", "-12", "r", "d"},
        ),
        ("§ 12 costs 9 €", {"§", "€", "9", "~12costs", "~costs9"}),
        ("Vitamin D, class 7", {"d", "7", "~class7"}),
        ("it's o'clock, I’m here", set()),
        ("WHO met the US and the U.K.", {"WHO", "US", "UK", "~uk", "u", "k"}),
        ("THIS IS SHOUTED BY ALL OF US", set()),
        ("party 🎉, ❤️ and 👍🏽", {"🎉", "❤", "👍"}),
        ("♪ music ♪", set()),
        ("A* and **B** or *C*", {"a*", "a", "b", "c"}),
    ],
)
def test_letters_signs_and_capitals_that_stand_alone_are_forms(
    text: str, expected: set[str]
) -> None:
    assert forms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("set-top box", {"~settop"}),
        ("READ_ONLY_MEMORY", {"~readonlymemory", "~read", "~only", "~memory"}),
        ("parseHttpHeader", {"~parse", "~http", "~header"}),
        ("sha256 sums", {"~sha", "~256"}),
        ("Tel. 089 / 555-1234", {"~5551234"}),
        ("call 089 5551234", {"~0895551234", "~call089"}),
        ("a 64 bit RFC 2616, by H 264 in 2016", {"a", "h", "RFC", "~64bit", "~rfc2616", "~h264"}),
        (
            "1,250,000 or 2.500.000 or 3 750 000",
            {"~1250000", "~2500000", "~3750000", "1", "2", "3"},
        ),
        ("1 2 3 or 10 of 12 in 2 by 4", {"1", "2", "3", "4"}),
        ("(n-1)/2 or 3-4", {"n", "1", "2", "3", "4"}),
        ("3 eV, 5 Hz or 8 by noon", {"3", "5", "8", "~3ev", "~5hz"}),
        ("a mass of 12,5 kg", {"~12.5", "~12.5kg", "a", "5"}),
        ("250 ml of milk", {"~250ml"}),
        ("the photo-\nsynthesis of plants", {"~photosynthesis"}),
        ("North-\nSouth", set()),
    ],
)
def test_joined_words_and_parts_are_other_forms(text: str, expected: set[str]) -> None:
    assert forms(text) == expected


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("naïve", ("naive",)),
        ("größe", ("grosse", "groesse")),
        ("žluťoučký", ("zlutoucky",)),
        ("gdańsk", ("gdansk",)),
        ("ångström", ("angstrom", "aangstroem")),
        ("smørrebrød", ("smorrebrod", "smoerrebroed")),
        ("đường", ("duong",)),
        ("жёлтый", ("желтый",)),
        ("مُعَلِّم", ("معلم",)),
        ("סֵפֶר", ("ספר",)),
        ("हिन्दी", ()),
        ("plain", ()),
        ("猫が", ()),
    ],
)
def test_a_word_is_found_without_its_accents_and_marks(word: str, plain: tuple[str, ...]) -> None:
    (token,) = tokenize(word)
    assert folded(token) == plain


def test_the_exact_form_of_a_word_counts_most() -> None:
    (word,) = query_words("naïve")
    assert dict(word.tokens) == {"naïve": 0.5, "~naive": 0.5, "naive": 0.5}
    (word,) = query_words("naive")
    assert dict(word.tokens) == {"naive": 1.0, "~naive": 0.5}


@pytest.mark.parametrize(
    ("query", "words", "precise"),
    [
        ("objective-c", ["objective"], {"objectivec": ""}),
        ("C++ code", ["code"], {"c++": ""}),
        (".org", ["org"], {".org": "org"}),
        ("vitamin D", ["vitamin"], {"d": ""}),
        ("the US economy", ["the", "us", "economy"], {"US": "us"}),
        ("HOW DOES IT WORK", ["how", "does", "it", "work"], {}),
        ("chapter 3.2", ["chapter"], {"3.2": "", "chapter3.2": ""}),
        ("🎉", [], {"🎉": ""}),
        ("set-top", ["set", "top"], {}),
        ("plots in r", ["plots", "in"], {"r": ""}),
        ("who broke a contract", ["who", "broke", "contract"], {}),
        ("how did hepatitis B spread", ["how", "did", "hepatitis", "spread"], {"b": ""}),
    ],
)
def test_names_of_a_query_say_more_than_their_words(
    query: str, words: list[str], precise: dict[str, str]
) -> None:
    every = query_words(query)
    assert [word.text for word in every if word.beyond is None] == words
    assert {word.text: word.beyond for word in every if word.beyond is not None} == precise


def test_neighbours_in_a_short_query_may_be_one_word_elsewhere() -> None:
    first, second = query_words("book shop")
    assert dict(first.tokens)["bookshop"] == dict(second.tokens)["bookshop"] == 0.5
    assert "bookshop" not in dict(query_words("a book shop in the town by the sea")[0].tokens)


@given(ANYTHING)
def test_names_are_in_order_and_inside_the_text(text: str) -> None:
    every = names(text)
    assert all(0 <= name.start < name.end <= len(text) for name in every)
    assert [name.start for name in every] == sorted(name.start for name in every)


@given(ANYTHING)
def test_a_text_is_counted_by_its_words_its_characters_and_what_its_forms_add(text: str) -> None:
    tokens = tokenize(text)
    expected = Counter(token for token in tokens if not is_lone(token))
    ends = [(parts[0], parts[-1]) for parts in map(units, filter(is_unspaced, tokens))]
    expected += Counter(head for head, _ in ends) | Counter(tail for _, tail in ends)
    every = Counter(form for name in names(text) for form in name.forms)
    expected += Counter({form: n for form, n in every.items() if form[0] != "~"})
    others = {form: n for form, n in every.items() if form[0] == "~" and form[1:] not in expected}
    assert counted(text, "") == (expected + Counter(others), len(tokens))


def test_a_text_is_counted_the_same_however_many_were_counted_before() -> None:
    text = "It's a set-top box, v2.0; the US (and C++) in 3 750 000 homes."
    before = counted_in(text, "en")
    for number in range(20_000):
        counted_in(f"word{number}, (x{number}-y)", "en")
    assert counted_in(text, "en") == before


@given(ANYTHING)
def test_a_query_has_at_most_so_many_words(text: str) -> None:
    words = query_words(text * 50)
    assert sum(word.repetitions for word in words) <= MAX_QUERY_WORDS
    assert len({word.text for word in words}) == len(words)


@pytest.mark.parametrize("part", ["a-", "1 ", "1.", "A_", "é", "-1 ", "aB1", "+#", "🚀", "x\u0301"])
def test_hostile_texts_take_time_in_proportion_to_their_length(part: str) -> None:
    started = time.process_time()
    counted(part * 20_000, "")
    query_words(part * 500)
    assert time.process_time() - started < 2
