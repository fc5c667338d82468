"""The sentences that say most about a question."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.answers.answer import Breadth, QuestionPart
from citations.answers.writing.excerpts import sentences
from citations.answers.writing.extractive import asks_for_list, extract, row_text
from citations.text.blocks import table_rows
from tests.citations.answers.writing.conftest import extract_part, numbered, passage, pick_texts
from tests.citations.text_tables import rows

FIRST = """
# The sentence with the question's words:
What does entropy measure? | We met on a Monday in the hall. Entropy measures how much disorder\
 there is. Then there was coffee for everybody. | Entropy measures how much disorder there is.
# What follows a question that is asked likewise is taken for its answer:
What does entropy measure in gases? | What does entropy measure in gases? Disorder, and no less.\
 Later somebody tried to measure the gases of the hall. | Disorder
# An answer follows the question that the speaker asks:
What does entropy measure? | So what does entropy measure? How much disorder there is in a system.\
 Somebody opened the window then. | How much
# A list follows the sentence that announces it:
List the steps to calibrate the scale. | The steps to calibrate a scale are:¶¶1. Level the scale.\
¶2. Tare it.¶¶Then rest. | The steps to calibrate a scale are:¶¶1. Level the scale.¶2. Tare it.
"""


@pytest.mark.parametrize(("question", "text", "first"), rows(FIRST))
def test_the_answer_comes_first(question: str, text: str, first: str) -> None:
    (best, *_) = pick_texts(passage(text.replace("¶", "\n")), question=question)
    assert best.startswith(first.replace("¶", "\n"))


def test_headings_and_contents_are_no_answers() -> None:
    text = (
        "2 What does entropy measure\n\nIt is the disorder of a gas, said Boltzmann. Entropy "
        "measures that, and grows. He wrote it down."
    )
    assert not any("2 What" in quote for quote in pick_texts(passage(text)))
    contents = passage("Entropy, page 3 2.1 What does entropy measure, page 4 2.2 Gases, page 5")
    assert pick_texts(replace(contents, locator=replace(contents.locator, page=1))) == []


def test_an_answer_to_the_same_question_in_a_talk_comes_before_what_has_its_words() -> None:
    said = passage(
        "What is Replace By Fee? Yes. It means you send it again and pay the miners more. Opt-in"
        " Replace By Fee is a flag that Replace By Fee needs."
    )
    (first, *_) = pick_texts(said, question="What is Replace By Fee?")
    assert "It means you send it again" in first.partition("Opt-in")[0]


def test_a_passage_is_quoted_by_what_it_adds_to_the_question() -> None:
    text = f"Entropy does measure entropy. {'There was coffee in the hall. ' * 20}\n\n"
    picks = extract_part(passage(f"{text}Entropy measures the disorder of a gas.")).picks
    assert picks[0].text == "Entropy measures the disorder of a gas."


@pytest.mark.parametrize(
    "pointer",
    [
        "Watch an animation of how entropy is measured.",
        "See figure 3 on what entropy does measure.",
        "Exercise 4: What does entropy measure in a gas?",
        "Problem 2.1 Show what entropy does measure.",
        "Visit this website to see what entropy does measure.",
    ],
)
def test_a_pointer_and_an_exercise_are_no_answers(pointer: str) -> None:
    assert pick_texts(passage(f"{pointer}\n\nEntropy is large there.")) == [
        "Entropy is large there."
    ]


def test_an_exercise_takes_its_whole_paragraph() -> None:
    task = "Exercise. Show what entropy does measure. Entropy is large in two sensible answers."
    assert pick_texts(passage(f"{task}\n\nEntropy is large there.")) == ["Entropy is large there."]


DISORDER = "Entropy measures the disorder of systems."


def test_the_heading_of_a_passage_is_no_answer() -> None:
    named = passage("What entropy does measure", heading="2 What entropy does measure")
    assert pick_texts(named) == []


TABLE = (
    "We measured on one phone.\n\nModel | Latency (ms) | Size (MB)\nMobileNet-V2 | 11 | 14\n"
    "ResNet-50 | 48 | 98\n\nLatency is the time for one image."
)


def test_a_row_of_a_table_answers_with_the_header_of_the_columns_that_are_asked_for() -> None:
    question = "What is the latency of ResNet-50?"
    (row, *_) = extract_part(passage(TABLE), question=question).picks
    assert row.text == TABLE[slice(*row.span)] == "ResNet-50 | 48 | 98"
    assert row_text(row, question) == "ResNet-50 · Latency (ms): 48"
    assert row_text(row, "ResNet-50") == "ResNet-50 · Latency (ms): 48; Size (MB): 98"


def test_a_row_has_the_header_of_its_table_where_the_passage_begins_within_it() -> None:
    question = "What is the latency of ResNet-50?"
    begin = TABLE.index("V2 | 11")
    cut = replace(passage(TABLE[begin:]), spans=((begin, len(TABLE)),))
    table = list(table_rows(TABLE))
    picks = extract([QuestionPart(text=question)], [cut], rows=lambda _: table)[0].picks
    assert row_text(picks[0], question) == "ResNet-50 · Latency (ms): 48"
    whole = {pick.text: pick.header for pick in sentences([cut], lambda _: table)}
    assert whole["MobileNet-V2 | 11 | 14"] == ("Model", "Latency (ms)", "Size (MB)")
    assert all(TABLE[slice(*pick.span)] == pick.text for pick in picks)


def test_what_was_said_is_not_said_again() -> None:
    assert pick_texts(*numbered([DISORDER, DISORDER])) == [DISORDER]


def test_what_was_told_before_is_not_told_again_but_speaks_for_an_answer() -> None:
    aside = "There was coffee in the hall that day, and nobody asked. " * 8
    said = passage(f"{DISORDER} {aside}Scales measure no entropy. {aside}")
    first = extract_part(said)
    second = extract_part(said, earlier_quotes=[pick.text for pick in first.picks])
    assert second.picks
    assert {pick.text for pick in second.picks}.isdisjoint({pick.text for pick in first.picks})
    assert not any("coffee" in pick.text for pick in second.picks)
    assert (second.signs, first.repeats, second.repeats) == (first.signs, False, True)


@pytest.mark.parametrize(
    "heard",
    [
        "measures the disorder of systems",
        "Entropy  measures\nthe disorder of systems.",
        "So entropy … Entropy measures the disorder of systems.",
    ],
)
def test_what_was_told_is_known_by_its_words(heard: str) -> None:
    result = extract_part(passage(DISORDER), earlier_quotes=[heard])
    assert (result.picks, result.repeats) == ((), True)


def test_a_few_words_are_nobodys() -> None:
    assert extract_part(passage(DISORDER), earlier_quotes=["Entropy measures the"]).picks


def test_each_part_is_answered_from_what_was_found_for_it() -> None:
    evidence = [
        passage("Entropy measures disorder in systems."),
        passage("Enthalpy measures the heat of a system.", number=2, source=2, part=1),
    ]
    first, second = extract(
        [QuestionPart(text="What is entropy?"), QuestionPart(text="What is enthalpy?")], evidence
    )
    assert (
        [pick.evidence.number for pick in first.picks],
        [pick.evidence.number for pick in second.picks],
    ) == ([1], [2])


def test_a_sentence_may_answer_two_parts() -> None:
    said = "Entropy measures disorder, and enthalpy measures heat."
    evidence = [passage(said, number=number, part=number - 1) for number in (1, 2)]
    questions = ("What does entropy measure?", "What does enthalpy measure?")
    extracts = extract([QuestionPart(text=question) for question in questions], evidence)
    assert [[pick.text for pick in extract.picks] for extract in extracts] == [[said], [said]]


def test_meaning_decides_where_words_do_not() -> None:
    text = "The first one has nothing to do with it. The second one is what was wanted."
    result = extract_part(
        passage(text),
        question="Disorder?",
        rate=lambda _, sentences: [0.1 if "first" in sentence else 0.9 for sentence in sentences],
    )
    assert result.picks[0].text == "The second one is what was wanted."
    assert result.signs["meaning"] == 0.9


def test_an_answer_that_stands_in_one_place_alone_is_ahead_of_one_that_stands_in_many() -> None:
    best = passage(DISORDER, score=0.9)
    other = passage("Coffee was made for everybody in the hall.", number=2, source=2, score=0.1)
    rival = passage("Scales measure the weight, and no entropy.", number=2, source=2, score=0.8)
    alone, among = (extract_part(best, more).signs for more in (other, rival))
    assert alone["lead"] > among["lead"] > 0
    assert (alone["share"], among["share"]) == (0.9, pytest.approx(0.9 / 1.7))


def test_what_stands_far_from_the_best_sentence_is_elsewhere_also_in_its_source() -> None:
    near, far = (
        passage("Scales measure the weight, and no entropy.", number=2, start=start, score=0.8)
        for start in (200, 2_000)
    )
    best = passage(DISORDER, score=0.9)
    beside, ahead = (extract_part(best, other).signs for other in (near, far))
    assert beside["lead"] > ahead["lead"] > 0
    assert beside["share"] == ahead["share"] == 1


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("What does Boltzmann say of entropy?", 1.0),
        ("What does Shannon say of entropy?", 0.0),
        ("What does Boltzmann say of 3 gases and Shannon of 1877?", 0.5),
        ("What is entropy?", 1.0),
    ],
)
def test_names_and_numbers_of_a_question_are_heard_in_its_passages_or_not(
    question: str, share: float
) -> None:
    said = passage("Boltzmann said in 1877 that entropy counts the states of gases.")
    assert extract_part(said, question=question).signs["names"] == share


def test_a_rare_word_that_no_passage_has_weighs_more_than_a_common_one() -> None:
    said = passage("Entropy measures disorder. Entropy measures gases. Entropy measures time.")
    common, rare = (
        extract_part(said, question=f"What does entropy {verb}?").signs["heard"]
        for verb in ("measure", "weigh")
    )
    assert common == 1.0
    assert rare < 0.5


def test_nothing_found_is_nothing_told() -> None:
    result = extract_part()
    assert result.picks == ()
    assert result.signs == {"score": 0, "margin": 0, "heard": 0, "names": 0, "lead": 0, "share": 0}


@given(st.text(max_size=800), st.integers(0, 50))
def test_every_sentence_is_the_sources_own_at_its_place(text: str, start: int) -> None:
    source = " " * start + text
    evidence = [passage(text, start=start)] if text else []
    for answer in extract([QuestionPart(text=text[:100] or "?")], evidence):
        assert all(source[slice(*pick.span)] == pick.text for pick in answer.picks)


SAID = (
    "Entropy measures disorder in every gas, as engineers know.",
    "Engineers compute entropy before they build their turbines.",
    "Shannon gave entropy another meaning for messages on wires.",
    "Black holes have entropy on their horizon, said Bekenstein.",
    "Clocks run forwards because entropy grows in the long run.",
)


def test_a_fact_has_a_place_of_each_passage_before_two_of_one() -> None:
    said = (
        "Every gas fills its bottle. Nobody can see a gas anywhere.",
        "Steam drives the turbine quickly. Somebody oiled that turbine yesterday.",
        "Paper carried her message home. Wires lost one message overnight.",
        "Ships vanish below the horizon. Painters draw a horizon first.",
        "Monks wound the clock daily. Thieves took another clock away.",
        "Coal feeds this engine slowly. Mechanics love their engine dearly.",
    )
    question = "How do gas, turbine, message, horizon, clock and engine differ?"
    folded = extract_part(*numbered(said), question=question)
    assert {pick.evidence.number for pick in folded.picks} == {1, 2, 3, 4, 5, 6}
    listed = extract_part(
        *numbered(said), question=question, earlier_quotes=["Something else was said."]
    )
    assert len(listed.picks) < len(folded.picks)


def test_each_passage_has_its_say_before_one_has_it_twice() -> None:
    long = passage("\n\n".join(SAID), number=1, score=0.9)
    short = passage(
        "A library burns, and its entropy is greater than before.", number=2, source=2, score=0.7
    )
    picks = extract_part(long, short, about="entropy").picks
    assert {pick.evidence.number for pick in picks} == {1, 2}


def test_it_goes_through_each_source_from_the_front() -> None:
    text = "\n\n".join(SAID)
    spans = [pick.span for pick in extract_part(passage(text), about="entropy").picks]
    assert len(spans) > 2
    assert spans == sorted(spans)


def test_of_the_whole_every_source_tells_something() -> None:
    alike = ["\n\n".join((*SAID, f"The {n}th speaker went home early.")) for n in (1, 2, 3)]
    said = numbered([*alike, "Whales are mammals that live in the sea and breathe air."])
    picks = extract_part(*said, question="What is this about?", about="").picks
    assert {pick.evidence.source for pick in picks} >= {1, 4}


def test_of_one_source_it_tells_what_that_is_about_and_then_its_parts_by_name() -> None:
    text = " ".join(SAID)
    spans = [(text.index(said), text.index(said) + len(said)) for said in SAID]
    whole = passage(" ".join(SAID[:2]), spans=spans[:2], level=3, heading="Notes", number=1)
    sections = [
        passage(said, spans=[span], level=2, heading=f"Part {number}", number=number)
        for number, (said, span) in enumerate(zip(SAID, spans, strict=True), 2)
    ]
    picks = extract_part(whole, *sections, question="What is this about?", about="").picks
    assert [pick.evidence.heading for pick in picks] == [
        "Notes",
        *(f"Part {number}" for number in range(3, len(SAID) + 2)),
    ]
    assert [pick.text for pick in picks] == list(SAID)


def test_titles_and_questions_are_no_overview() -> None:
    text = (
        "A small book about entropy for engineers\n\nWhat does entropy measure in every gas, then?"
        " Entropy measures the disorder of a gas in a box."
        " It grows. It never sinks."
    )
    assert not any(
        "small book" in line or line.endswith("?")
        for line in pick_texts(passage(text), about="entropy")
    )


def test_a_sentence_that_can_be_understood_by_itself_is_preferred() -> None:
    evidence = numbered(
        f"They say that nobody counted the {plant} in the boxes.\n\n{said}"
        for plant, said in zip(("apples", "pears", "plums", "figs", "dates"), SAID, strict=True)
    )
    chosen = pick_texts(*evidence, question="What is it about?", about="")
    # Five sources have one each, and one has two:
    assert (len(chosen), sum(text.startswith("They") for text in chosen)) == (6, 1)


def test_an_overview_is_of_its_subject_not_of_how_it_was_asked_for() -> None:
    text = "Entropy measures the disorder of gases. Give an overview of it and of the rest again."
    question = "Give an overview of it (What is entropy?)"
    alone = QuestionPart(text=question, breadth=Breadth.BROAD, about="entropy")
    follow_up = replace(alone, own="Give an overview of it")
    (first,), (second,) = (extract([part], [passage(text)]) for part in (alone, follow_up))
    assert first == replace(second, part=alone)


def test_sentences_of_a_summary_are_at_their_own_places() -> None:
    source = (
        "Entropy measures the disorder of all gases. Much else is said here."
        " Enthalpy measures how warm the engines are."
    )
    spans = [(0, 43), (68, len(source))]
    summary = passage(" ".join(source[start:stop] for start, stop in spans), spans=spans, level=2)
    result = extract_part(summary, question="What is measured?", about="measures")
    assert {pick.text for pick in result.picks} == {source[start:stop] for start, stop in spans}
    assert all(source[slice(*pick.span)] == pick.text for pick in result.picks)


@pytest.mark.parametrize(
    "question",
    ["List the parts of a pump.", "What are the main risks?", "Which steps calibrate the scale?"],
)
def test_a_question_asks_for_a_list_by_how_it_begins(question: str) -> None:
    assert asks_for_list(question)
    assert not asks_for_list(f"Why {question[0].lower()}{question[1:]}")
