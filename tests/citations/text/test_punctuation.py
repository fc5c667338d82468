"""Full stops and capitals are added to speech, and nothing else changes."""

import re

from hypothesis import given
from hypothesis import strategies as st

from citations.readers.source_blocks import cue_blocks
from citations.text.punctuation import punctuated, spoken_words
from transcripts.text.cues import Cue, Word
from transcripts.text.reading import full_text


def cues_of(*texts: str) -> list[Cue]:
    return [Cue(n * 1_000, (n + 1) * 1_000, text) for n, text in enumerate(texts)]


def marked(*texts: str, behind: dict[str, str]) -> list[str]:
    """Put marks behind words of cues."""
    cues = cues_of(*texts)
    words = list(spoken_words(cues))
    marks = [behind.get(word.text, "") for word in words]
    return [cue.text for cue in punctuated(cues, words, marks)]


def test_the_word_behind_a_mark_gets_a_capital_also_in_the_next_cue() -> None:
    said = marked("so this is a limit", "it exists here does it", behind={"limit": ".", "it": "?"})
    assert said == ["So this is a limit.", "It? Exists here does it?"]


def test_a_mark_may_stand_behind_a_word_but_not_within_one_or_before_another_mark() -> None:
    words = spoken_words(cues_of("the co-op isn't, say, [Music] mine", "3.5 percent"))
    free = [word.text for word in words if word.is_free]
    assert free == ["the", "op", "mine", "5", "percent"]


def test_apostrophes_are_told_alike_and_letters_are_small() -> None:
    assert [word.text for word in spoken_words(cues_of("It’s MIT"))] == ["it's", "mit"]


def test_timed_words_are_found_at_their_times_behind_a_mark() -> None:
    words = (Word(0, "the"), Word(200, "end"), Word(400, "the"), Word(700, "start"))
    cue = Cue(0, 1_000, "the end the start", words)
    spoken = list(spoken_words([cue]))
    [result] = punctuated([cue], spoken, ["", ".", "", "."])
    assert result.text == "The end. The start."
    [block] = cue_blocks([result])
    assert [(result.text[offset:][:3], ms) for offset, ms in block.words] == [
        ("The", 0),
        ("end", 200),
        ("The", 400),
        ("sta", 700),
    ]


def test_a_word_with_a_capital_of_its_own_stays() -> None:
    said = marked("buy it iPhone users said", "ınce", behind={"it": ".", "said": "."})
    assert said == ["Buy it. iPhone users said.", "ınce"]


def test_the_pronoun_of_the_first_person_gets_a_capital() -> None:
    said = marked("and i think i'm right", "i'd take the i-th one is it", behind={"right": "."})
    assert said == ["And I think I'm right.", "I'd take the i-th one is it"]


def test_a_timed_word_behind_a_quotation_mark_keeps_its_time() -> None:
    cue = Cue(0, 1_000, 'end "the start', (Word(0, "end"), Word(300, '"the'), Word(600, "start")))
    [result] = punctuated([cue], list(spoken_words([cue])), [".", "", ""])
    assert result.text == 'End. "The start'
    [block] = cue_blocks([result])
    assert [ms for _, ms in block.words] == [0, 300, 600]


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=40), max_size=5), st.randoms())
def test_without_the_marks_and_capitals_the_text_is_the_same(
    texts: list[str], chance: object
) -> None:
    cues = cues_of(*texts)
    words = list(spoken_words(cues))
    marks = [chance.choice(["", ".", "?"]) for _ in words]  # type: ignore[attr-defined]
    result = full_text(punctuated(cues, words, marks))
    assert re.sub("[.?]", "", result).casefold() == re.sub("[.?]", "", full_text(cues)).casefold()
