import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.lectures.windows import (
    MAX_WORDS,
    MIN_WORDS,
    PATIENCE,
    Buffer,
    SpeechWindow,
    Utterance,
    count_words,
    feed,
    flush,
)

WORDS = st.lists(
    st.sampled_from(
        [
            "limit",
            "the",
            "so",
            "Dr.",
            "end.",
            "What?",
            "3.14",
            "e.g.",
            "etc.",
            "well…",
            "no.",
            "U.S.",
            "slope,",
            "x" * 30,
        ]
    ),
    max_size=40,
)


def speech(*texts: str, lasting: int | None = None) -> list[Utterance]:
    return [
        Utterance(
            number,
            text,
            *((None, None) if lasting is None else (number * lasting, (number + 1) * lasting)),
        )
        for number, text in enumerate(texts, start=1)
    ]


def talk(utterances: list[Utterance], *, size: int = 1) -> list[SpeechWindow]:
    """Feed utterances some at a time, with the buffer stored in between, and flush."""
    buffer, windows = Buffer(), []
    for place in range(0, len(utterances), size):
        buffer, full = feed(buffer, utterances[place : place + size])
        buffer = Buffer.from_json(json.loads(json.dumps(buffer.to_json())))
        windows += full
    return windows + flush(buffer)[1]


def said(windows: list[SpeechWindow]) -> list[str]:
    """Return the words of windows, without the sentences that overlap."""
    words: list[str] = []
    for window in windows:
        new = window.text.split()
        shared = next(
            size for size in range(len(new), -1, -1) if size == 0 or words[-size:] == new[:size]
        )
        words += new[shared:]
    return words


def sentence(number: int, *, words: int = 12) -> str:
    return " ".join(["Sentence", f"number{number}", *["says"] * (words - 3), "this."])


@given(st.lists(WORDS, max_size=30), st.integers(1, 7))
def test_no_word_is_lost_and_only_the_shared_sentence_is_said_twice(texts, size):
    numbered = [
        [f"{word[:-1]}{place}·{number}{word[-1]}" for place, word in enumerate(words)]
        for number, words in enumerate(texts)
    ]

    windows = talk(speech(*(" ".join(words) for words in numbered)), size=size)

    assert said(windows) == [word for words in numbered for word in words]
    assert [window.index for window in windows] == list(range(len(windows)))
    assert all(count_words(window.text) <= MAX_WORDS for window in windows)
    assert all(count_words(window.text) >= MIN_WORDS for window in windows[:-1])


@given(st.lists(WORDS, min_size=1, max_size=25), st.data())
def test_order_and_repetition_of_what_is_sent_change_no_word_of_what_was_said(texts, data):
    utterances = speech(
        *(" ".join(f"{word}-{number}" for word in words) for number, words in enumerate(texts))
    )
    sent = data.draw(
        st.permutations(
            [*utterances, *data.draw(st.lists(st.sampled_from(utterances), max_size=10))]
        )
    )

    windows = talk(sent, size=data.draw(st.integers(1, 5)))

    expected = sorted(word for utterance in utterances for word in utterance.text.split())
    assert sorted(said(windows)) == expected


def test_what_comes_out_of_order_within_reach_gives_the_same_windows():
    utterances = speech(*(sentence(number) for number in range(30)), lasting=4_000)
    shuffled = [utterances[place ^ 1] for place in range(30)]  # each two change places

    assert talk(shuffled) == talk(utterances)
    assert talk([*utterances, *utterances]) == talk(utterances)


def test_two_long_sentences_or_three_short_ones_are_a_window_and_the_last_begins_the_next():
    long, short = (
        [sentence(number, words=25) for number in range(2)],
        [sentence(number, words=13) for number in range(2, 5)],
    )

    first, second, rest = talk(speech(*long, *short))

    assert first.text == " ".join(long)
    assert second.text == " ".join([long[1], short[0], short[1]])
    assert rest.text == " ".join([short[1], short[2]])


def test_short_remarks_wait_for_more():
    windows = talk(speech(*["Right. OK. Good."] * 20))

    assert [count_words(window.text) for window in windows] == [30, 30, 2]


def test_abbreviations_decimals_and_unfinished_thoughts_do_not_end_the_last_sentence():
    before = sentence(0, words=45)
    for unfinished, rest in [
        ("And so we come to Dr.", "Smith and his law."),
        ("This follows e.g.", "from what we saw."),
        ("And the slope is...", "well, positive."),
        ("We find it in Fig.", "5 of the book."),
    ]:
        buffer, early = feed(Buffer(), speech(before, unfinished))
        _, windows = feed(buffer, [Utterance(3, rest)])

        assert early == []
        assert [window.text for window in windows] == [f"{before} {unfinished} {rest}"]


def test_speech_without_any_punctuation_is_cut_where_the_speaker_pauses():
    words = [f"word{number:03}" for number in range(300)]
    utterances = [
        Utterance(
            place,
            " ".join(words[place * 10 : place * 10 + 10]),
            place * 5_000,
            place * 5_000 + 4_000,
        )
        for place in range(30)
    ]

    windows = talk(utterances)

    assert said(windows) == words
    assert all(
        window.text.split()[0][-1] == "0" and window.text.split()[-1][-1] == "9"
        for window in windows
    )
    assert all(MIN_WORDS <= count_words(window.text) <= 60 for window in windows[:-1])


def test_chinese_speech_is_cut_too():
    texts = [
        f"第{number}句话说明了导数的定义以及它的几何意义和极限的关系。" for number in range(12)
    ]

    windows = talk(speech(*texts))

    assert len(windows) > 3
    assert "".join(texts).startswith(windows[0].text.replace(" ", ""))


def test_a_missing_utterance_is_waited_for_but_not_for_ever():
    utterances = speech(*(sentence(number) for number in range(1, 13)))
    buffer, full = feed(Buffer(), utterances[:3])
    assert len(full) == 1

    buffer, early = feed(buffer, utterances[4 : 4 + PATIENCE - 1])
    _, late = feed(buffer, utterances[4 + PATIENCE - 1 : 10])
    _, in_time = feed(buffer, [utterances[3]])

    assert early == []
    assert "number5" in late[0].text
    assert "number4 " not in "".join(window.text for window in late)
    assert "number4 " in in_time[0].text


def test_what_is_late_stands_at_the_earliest_place_that_is_still_open():
    utterances = speech(*(sentence(number) for number in range(1, 9)))
    buffer, windows = feed(Buffer(), [*utterances[:1], *utterances[2:]])  # the second is given up
    assert windows

    buffer, more = feed(buffer, [utterances[1]])
    windows += more + flush(buffer)[1]

    assert said(windows).count("number2") == 1
    assert len(said(windows)) == sum(len(utterance.text.split()) for utterance in utterances)


def test_a_window_says_who_began_and_ended_it_and_when():
    utterances = speech(
        "One two three. Four", "five " * 20 + "six.", "Seven " * 20 + "eight. Nine", lasting=10_000
    )

    (window, *_) = talk(utterances)

    assert (window.first, window.last) == (1, 3)
    assert window.start == 10_000
    assert window.end is not None
    assert 30_000 < window.end < 40_000
    hits = talk([replace(utterance, start=None, end=None) for utterance in utterances])[0]
    assert hits == replace(window, start=None, end=None)


def test_after_a_flush_speech_goes_on_with_the_shared_sentence():
    buffer, windows = feed(Buffer(), speech(*(sentence(number) for number in range(1, 5))))
    buffer, rest = flush(buffer)
    assert flush(buffer) == (buffer, [])

    buffer, _ = feed(buffer, [Utterance(5, sentence(5))])
    _, last = flush(buffer)

    assert [window.index for window in [*windows, *rest, *last]] == [0, 1, 2]
    assert last[0].text == f"{sentence(4)} {sentence(5)}"


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\u200b", "." * 500, "a " * 5_000, "x" * 5_000, "Dr. " * 300]
)
def test_odd_texts_lose_nothing(text):
    buffer, windows = feed(Buffer(), [Utterance(0, text), Utterance(1, "End.", 5, 3)])
    windows += flush(buffer)[1]

    assert {word for window in windows for word in window.text.split()} >= {"End."}
    assert (
        sum(len(window.text.replace(" ", "")) for window in windows)
        >= len("".join(text.split())) + 4
    )
    assert len(windows) <= 2 + len(text) // 60


def test_a_sender_who_leaves_out_half_of_the_numbers_is_heard_all_the_same():
    utterances = [Utterance(number * 2, sentence(number)) for number in range(1_000)]

    windows = talk(utterances, size=20)

    assert len(said(windows)) == 12_000
