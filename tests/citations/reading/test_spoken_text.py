"""The text of a recording as sentences and paragraphs with their times, and the words in them."""

from hypothesis import given
from hypothesis import strategies as st

from citations.reading.spoken_text import (
    MAX_PARAGRAPH,
    PARAGRAPH,
    PAUSE,
    SentenceMatches,
    Speaker,
    SpokenText,
    find_matches,
    speakers,
    speeches,
)
from citations.text import occurrences
from transcripts.captions import parse
from transcripts.text.cues import Cue


def spoken(*texts: str, seconds: int = 5, pause: int = 0) -> SpokenText:
    """Captions of ``seconds`` each, with ``pause`` ms between them."""
    step = seconds * 1000 + pause
    return SpokenText(
        [
            Cue(start=step * number, end=step * number + seconds * 1000, text=text)
            for number, text in enumerate(texts)
        ]
    )


def said(text: SpokenText) -> list[str]:
    return [text.text[sentence.first : sentence.last].strip() for sentence in text.sentences]


def test_a_sentence_may_begin_and_end_within_a_caption() -> None:
    text = spoken("One. Two is", "longer. Three.")
    assert said(text) == ["One.", "Two is longer.", "Three."]


def test_a_sentence_begins_at_its_share_of_the_captions_time() -> None:
    text = spoken("One. Tw", "o. Three.", seconds=7)
    assert [sentence.start for sentence in text.sentences] == [0, 5_000, 7_000 + 2_333]


def test_a_sentence_begins_with_its_first_word_where_the_times_of_words_are_known() -> None:
    cues = [Cue(start=0, end=9_000, text="One. Two.")]
    assert SpokenText(cues, [(0, 500), (5, 8_000)]).sentences[1].start == 8_000


def test_captions_that_roll_end_where_the_next_begin() -> None:
    cues = [Cue(start=0, end=6_000, text="One. Two."), Cue(start=3_000, end=9_000, text="Three.")]
    assert SpokenText(cues).sentences[1].start < 3_000


def test_without_stops_a_long_silence_ends_a_sentence() -> None:
    line = "so we take the gradient of all that and go on and on with it for a while"
    text = spoken(*[line] * 5, pause=900)
    assert all(sentence.startswith("so we") for sentence in said(text))
    assert len(said(text)) > 1


def test_a_pause_a_speaker_and_a_chapter_begin_a_paragraph() -> None:
    text = spoken("One.", "Two.", ">> Three.", "Four.")
    (grouped, speaker), chapters = (
        text.paragraphs(0, 99, breaks=[]),
        text.paragraphs(0, 99, breaks=[5_000]),
    )
    assert [len(grouped), len(speaker)] == [2, 2]
    assert [len(paragraph) for paragraph in chapters] == [1, 1, 2]
    assert len(spoken("One.", "Two.", pause=PAUSE).paragraphs(0, 99, breaks=[])) == 2


def paragraph_texts(text: SpokenText) -> list[str]:
    paragraphs = text.paragraphs(0, len(text.text), breaks=[])
    return [text.text[lines[0].first : lines[-1].last].strip() for lines in paragraphs]


def test_a_long_sentence_stays_in_its_paragraph_through_length_and_pauses() -> None:
    whole = ["This is a whole sentence of several words."] * 9
    clause = "and then somebody tells you that the coin does not care about privacy at all,"
    long = [*whole, *[clause] * 6, "as it was taken.", *whole]
    for pause in (0, PAUSE):
        paragraphs = paragraph_texts(spoken(*long, pause=pause))
        (run_on,) = (paragraph for paragraph in paragraphs if clause in paragraph)
        assert run_on.endswith("as it was taken.")
        assert len(paragraphs) > 1
        assert all(paragraph.endswith(".") for paragraph in paragraphs)


def test_a_paragraph_in_which_no_sentence_ends_is_cut_in_the_end() -> None:
    whole = ["This is a whole sentence of several words."] * 200
    clause = "and then somebody tells you that the coin does not care about privacy at all,"
    paragraphs = paragraph_texts(spoken(*whole, *[clause] * 60))
    assert MAX_PARAGRAPH < max(map(len, paragraphs)) < 1.2 * MAX_PARAGRAPH


def test_without_stops_paragraphs_keep_their_usual_length() -> None:
    line = "so we take the gradient of all that and go on and on with it for a while"
    assert max(map(len, paragraph_texts(spoken(*[line] * 40)))) < 2 * PARAGRAPH


def test_who_is_named_as_speaking_begins_a_paragraph() -> None:
    text = spoken("Or one. Speaker 1:", "Jonas. Speaker 2: We are back.", "Yes: back.")
    paragraphs = text.paragraphs(0, 99, breaks=[])
    begins = [text.text[paragraph[0].first :].split(":")[0] for paragraph in paragraphs]
    assert begins == ["Or one. Speaker 1", "Speaker 1", "Speaker 2", "Yes"]


def test_a_speaker_begins_a_sentence_though_the_one_before_has_no_stop() -> None:
    text = spoken("Ann: [INAUDIBLE]", "Bob: Why is", "Note: this true?", "Ann: [NO]", "Bob: Yes.")
    assert said(text) == [
        "Ann: [INAUDIBLE]",
        "Bob: Why is Note: this true?",
        "Ann: [NO]",
        "Bob: Yes.",
    ]


def test_a_transcript_without_cues_has_no_text_and_no_sentence() -> None:
    empty = SpokenText([])
    assert (empty.text, empty.sentences, empty.duration, empty.time_at(3)) == ("", [], 0, 0)


@given(
    st.lists(
        st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), min_size=1),
        min_size=1,
        max_size=20,
    )
)
def test_sentences_are_the_text_in_order_of_time(texts: list[str]) -> None:
    text = spoken(*texts)
    assert (
        "".join(text.text[sentence.first : sentence.last] for sentence in text.sentences)
        == text.text
    )
    starts = [sentence.start for sentence in text.sentences]
    assert starts == sorted(starts)
    assert all(sentence.start <= sentence.end for sentence in text.sentences)


def test_a_name_has_up_to_four_words() -> None:
    text = spoken("Ana Maria de Souza: Why?", "Bo: So.", "Ana Maria de Souza: And?", "Bo: Yes.")
    assert speakers(speeches(text)) == [Speaker("Ana Maria de Souza", 2), Speaker("Bo", 2)]
    assert text.turns.turn_at(text.text.index("And")).name == "Ana Maria de Souza"


def test_voices_of_webvtt_are_the_speakers_of_the_reader_and_of_quotes() -> None:
    said = [
        ("Ada Lovelace", "Shall we"),
        ("Ada Lovelace", "begin"),
        ("bob", "Yes"),
        ("Ada Lovelace", "So"),
        ("bob", "No"),
    ]
    blocks = [
        f"00:0{n}:00.000 --> 00:0{n}:05.000\n<v {name}>{words}</v>\n"
        for n, (name, words) in enumerate(said)
    ]
    text = SpokenText(parse("\n".join(["WEBVTT\n", *blocks]).encode()).cues)
    assert speakers(speeches(text)) == [Speaker("Ada Lovelace", 2), Speaker("Bob", 2)]
    assert text.turns.turn_at(text.text.index("begin")).name == "Ada Lovelace"
    assert text.turns.turn_at(text.text.index("Yes")).name == "Bob"


SENTENCES = (
    "The gradients vanish in deep networks.",
    "A network has weights.",
    "Each weight follows its gradient.",
    "And so it does, on and on.",
)
TEXT = " ".join(SENTENCES)
STARTS = [TEXT.index(sentence) for sentence in SENTENCES]


def matches_of(query: str) -> SentenceMatches:
    terms = occurrences.split_terms(query)
    words = occurrences.words_by_stem(TEXT, "en")
    return find_matches(
        TEXT,
        STARTS,
        terms,
        phrase=occurrences.phrase_of(query),
        inflect=lambda terms: occurrences.with_forms(terms, words, "en"),
    )


def numbers_of(query: str) -> tuple[tuple[int, ...], bool]:
    matches = matches_of(query)
    return matches.numbers, matches.has_forms


def test_sentences_with_a_word_as_typed_are_found_in_order() -> None:
    assert numbers_of("gradient") == ((0, 2), False)
    assert numbers_of("networks") == ((0,), False)
    assert numbers_of("doe") == ((3,), False)


def test_sentences_with_the_most_words_are_found() -> None:
    for query, numbers, words, of in (
        ("gradient weight", (2,), 2, 2),
        ("gradient weight zebra", (2,), 2, 3),
    ):
        matches = matches_of(query)
        assert (matches.numbers, matches.words, matches.of) == (numbers, words, of)


def test_other_forms_count_where_more_is_found_with_them() -> None:
    assert numbers_of("vanishing") == ((0,), True)
    assert numbers_of("vanishing networks") == ((0,), True)
    assert numbers_of("weights gradients") == ((2,), True)


def test_what_occurs_nowhere_is_not_found() -> None:
    assert numbers_of("zebra") == ((), False)
    assert numbers_of("!") == ((), False)


def test_where_the_words_stand_together_only_these_sentences_are_found() -> None:
    matches = matches_of("and so")
    assert (matches.numbers, matches.is_phrase) == ((3,), True)
    apart = matches_of("so and")
    assert (apart.numbers, apart.is_phrase) == ((3,), False)
    assert matches_of("in deep network").is_phrase, "the last word is still being typed"
