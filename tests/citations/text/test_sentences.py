import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.text.sentences import (
    BIAS,
    MAX_LENGTH,
    MIN_LENGTH,
    asks,
    between_letters,
    ends_with_stop,
    gap_patterns,
    is_listing,
    log_odds_of_ends,
    split,
)

TEXTS = st.text(
    st.sampled_from("aB1 .!?…,;\n\"'”)»。？،؟।>-\u0301\u200d\u00a0中ไ") | st.characters(),
    max_size=600,
)


def sentences(text: str, pauses: dict[int, int] | None = None) -> list[str]:
    return [text[start:stop].strip() for start, stop in split(text, pauses)]


@given(
    TEXTS
    | st.builds(
        "".join,
        st.lists(
            st.sampled_from(
                ["word ", "end. ", "Dr. ", "3.14 ", "x" * 90, " " * 90, "好" * 50, "\n\n", ">> "]
            ),
            max_size=60,
        ),
    )
)
def test_sentences_tile_the_text_and_none_is_blank_or_too_long(text):
    spans = split(text)

    assert "".join(text[start:stop] for start, stop in spans) == text
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert all(text[start:stop].strip() for start, stop in spans[1:])
    assert all(len(text[start:stop].strip()) <= MAX_LENGTH for start, stop in spans)


@pytest.mark.parametrize(
    "written",
    [
        "We start here.| It goes on!| Does it?| Yes.",
        "Dr. Smith met Prof. Jones and Mrs. Lee.| They talked.",
        "See e.g. Newton, i.e. the physicist, cf. Leibniz et al. and others.| That is all.",
        "It is shown in Fig. 3 and Eq. 4 on p. 17.| Look.",
        "Apples, pears etc. are fruit.| We eat apples, pears etc.| They are sweet.",
        "Pi is 3.14159 and version 1.2.3 is out.| Good.",
        "Write to J. R. R. Tolkien or Donald E. Knuth.| They answer.",
        "The U.S. President lives in the U.S.| The house is white.",
        "We meet at 5 p.m. on Monday.| We left at 5 p.m.| They stayed.",
        "Take vitamin C.| Then rest.",
        "So do I.| We agree.",
        "No.| It is No. 5.",
        "Well… perhaps.| Well...| Perhaps not.",
        "Go to https://example.org/a.b?c=1.2 now.| Done.",
        "“Really?” he asked.| “Yes!”| He left.",
        'She said "Stop."| Then (at last.)| He stopped.',
        "« Vraiment ? » dit-il.| « Oui ! »| Puis il partit.",
        "M. Dupont arrive.| Il parle à Mme Curie, p. ex. ici, env. 3 m. plus loin.",
        "Voir la fig. 3, p. 12, chap. 2 et l'éq. 4.| Bien.| Vraiment ?| Oui !",
        "O Sr. Silva chegou.| A Dra. Souza mora na Av. Brasil, pág. 3.| Certo?| Sim!",
        "El Sr. García y la Dra. Pérez llegan a EE. UU. hoy.| ¿De verdad?| ¡Sí!| Bien.",
        "Il sig. Rossi, cap. 3, ad es. la fig. 2, ecc. in fondo.| Bene.| Perché?",
        "Dat is o.a. goed, d.w.z. niet slecht.| Zie blz. 3, bijv. in de tekst.| Klaar.",
        "Это т. е. так, и т. д. в тексте.| См. рис. 3, стр. 12 и гл. 2.| Далее.",
        "А. С. Пушкин родился в 1799 г. в Москве, ул. Мира, д. 5.| Он писал.",
        "Das ist z. B. gut, d. h. nicht schlecht.| Am 3. Mai kam das 1. Kapitel.| Gut.",
        "Er ist 45.| Das ist alt.",
        "これは何ですか？|はい。|すごい！|そう思います。",
        "هل هذا صحيح؟| نعم!| هذا صحيح.| انتهى",
        "Das ist z.B. gut, d.h. nicht schlecht.| Es gilt vgl. Abb. 3 usw. im Text.| Schluss.",
        "1. First do this.| 2. Then do that.",
        "all is small.| nothing is large.| so what?| nothing!| and so on.| it is approx. five,"
        " i.e. few",
        "So , uh .| Yeah .",
        ">> Hello there| >> And hello to you",
        "你好。|我们走吧！|真的吗？|“是的。”|他说3.14是π。",
        "今日は。|「はい。」|Good!|そうです。",
        "هل أنت بخير؟| نعم.| شكرا جزيلا۔| حسنا",
        "मैं घर जाता हूँ।| वह आता है॥| ठीक",
        "Բարեւ։| Ինչպես ես։| ሰላም።| ደህና።",
    ],
)
def test_sentences_end_where_a_reader_would_say(written):
    text = written.replace("|", "")

    assert sentences(text) == [part.strip() for part in written.split("|")]


@pytest.mark.parametrize(
    ("talks", "least"),
    [("hfcourse_fr", 0.95), ("hfcourse_zh-CN", 0.97), ("nyudl_fr", 0.98), ("nyudl_pt", 0)]
    + [("nyudl_ar", 0)],
)
def test_real_talks_in_other_languages_are_cut_at_their_stops(
    real_data: Path, talks: str, least: float
) -> None:
    cut: list[str] = []
    for path in sorted((real_data / "dev" / "transcripts" / talks).glob("*.json")):
        text = " ".join(cue["text"] for cue in json.loads(path.read_text())["cues"])
        spans = split(text)
        assert "".join(text[start:stop] for start, stop in spans) == text
        # Captions without stops are cut at blanks and commas.
        assert not any(
            re.match(r"[^\W\u2e80-\uffff]{2}", text[stop - 1 : stop + 1]) for _, stop in spans[:-1]
        )
        cut += [text[start:stop].strip() for start, stop in spans]
    assert cut
    assert sum(map(ends_with_stop, cut)) >= least * len(cut)
    inside = [
        sentence for sentence in cut if re.search(r"[。！？؟](?![。！？؟”」』）)\"]).", sentence)
    ]
    assert not inside


def test_a_question_ends_with_the_question_mark_of_its_script() -> None:
    assert all(map(asks, ("Why?", "为什么？", "لماذا؟", "¿Por qué?", "“Quoi ?”")))
    assert not any(map(asks, ("Why.", "因为。", "لأن.")))
    assert all(map(ends_with_stop, ("لماذا؟", "یہ ہے۔", "是。", "यह है।", "So:", "是：")))


def test_an_empty_line_and_a_list_item_begin_a_sentence():
    assert sentences("A heading\n\nSome text\nthat goes on:\n- one\n- two\n12) three") == [
        "A heading",
        "Some text\nthat goes on:",
        "- one",
        "- two",
        "12) three",
    ]


def test_blanks_alone_are_one_span_and_nothing_is_none():
    assert split("") == []
    assert split(" \n ") == [(0, 3)]


def test_text_without_stops_is_cut_at_the_pauses():
    words = [f"word{number:02}" for number in range(60)]  # 7 characters each, with the blank
    text = " ".join(words)
    pauses = {7 * number: 900 for number in (9, 21, 40)} | {
        7 * number: 160 for number in range(2, 60, 4)
    }

    starts = {start for start, _ in split(text, pauses)}

    assert {7 * 9, 7 * 21, 7 * 40} <= starts


def test_pauses_do_not_cut_short_sentences():
    assert sentences("This is said slowly. And this.", {5: 4000}) == [
        "This is said slowly.",
        "And this.",
    ]


def test_without_pauses_a_comma_near_the_usual_length_decides():
    text = "a bit " * 17 + "here, " + "and more " * 30

    assert sentences(text)[0].endswith("here,")


def test_text_without_blanks_is_cut_between_letters_and_not_before_their_marks():
    text = "กำ้" * 1000

    assert len(split(text)) > 10
    assert all(text[start] == "ก" for start, _ in split(text))
    assert between_letters("e\u0301e\u0301", 3) == 2


def test_what_is_cut_for_its_length_is_not_left_in_crumbs():
    for length in range(MAX_LENGTH + 1, 4 * MAX_LENGTH, 7):
        assert min(stop - start for start, stop in split("ab " * (length // 3))) >= MIN_LENGTH - 3


def test_a_change_moves_only_sentences_nearby():
    text = "".join(
        f"this is thing number {number}, and there is more to it " for number in range(200)
    )
    changed = text[:5000] + "something else that was put in " + text[5000:]

    before, after = set(sentences(text)), set(sentences(changed))

    assert len(after - before) <= 8


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "piece",
    [".", "a. ", "\n ", '."', "x", "\u0301", " ", ">> ", "«", "the cat ", "。", "- \n", "1. \n"],
)
def test_hostile_text_takes_linear_time(piece):
    text = piece * (100_000 // len(piece))

    assert (
        "".join(text[start:stop] for start, stop in split(text)) == text
    )  # quadratic time would not end in time


@pytest.mark.parametrize(
    ("sentence", "listing"),
    [
        (
            "3 Time beside text, page 15 3.1 Reading speed, page 16 3.2 Rolling captions, page 17",
            True,
        ),
        ("1 Putting texts in order, page 1 1.1 Term frequency, page 2 1.2 Rare words:", True),
        ("The pauses are 1, 2, 4 and 8 seconds:", False),
        ("It took 3 of 4 weeks in 1999.", False),
    ],
)
def test_a_piece_of_a_table_of_contents_is_told_from_a_sentence_with_numbers(
    sentence: str, listing: bool
) -> None:
    assert is_listing(sentence) is listing


# Where no stop tells

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
    odds = log_odds_of_ends(SPOKEN, 0, len(SPOKEN))

    assert odds[SPOKEN.index("okay so")] > 0
    assert odds[SPOKEN.index("queue has")] < BIAS


def test_only_words_that_begin_in_the_stretch_have_odds():
    first, last = SPOKEN.index("the first"), SPOKEN.index("thing")

    assert list(log_odds_of_ends(SPOKEN, first, last)) == [first, first + len("the ")]
    assert (
        log_odds_of_ends(SPOKEN, first, last)[first]
        == log_odds_of_ends(SPOKEN, 0, len(SPOKEN))[first]
    )


def test_words_of_other_languages_tell_nothing():
    for text in (
        "приклад довгого речення без жодної крапки",
        "alors on commence par la dérivée et on va dire que la pente est celle de la tangente",
    ):
        assert log_odds_of_ends(text, 0, len(text)) == {}


def test_a_pattern_shows_the_words_on_either_side_of_the_gap():
    before, behind = gap_patterns(["Thank", "you", "So"])

    assert before == ("|", "thank |", "| you", "thank | you", "| you so", "| _ so")
    assert behind == ("|", "you |", "| so", "you | so", "thank you |", "thank _ |")
