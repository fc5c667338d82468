"""Overviews made of the sources' own sentences."""

from citations.answers.answer import Breadth, QuestionPart
from citations.answers.writing.extractive import extract
from tests.citations.answers.writing.conftest import found, passage, told

SAID = (
    "Entropy measures disorder in every gas, as engineers know.",
    "Engineers compute entropy before they build their turbines.",
    "Shannon gave entropy another meaning for messages on wires.",
    "Black holes have entropy on their horizon, said Bekenstein.",
    "Clocks run forwards because entropy grows in the long run.",
)


def test_an_overview_has_more_sentences_than_a_fact() -> None:
    evidence = [
        passage(text, number=number, source=number) for number, text in enumerate(SAID, start=1)
    ]
    assert len(told(*evidence)) < len(told(*evidence, about="entropy"))


def test_each_passage_has_its_say_before_one_has_it_twice() -> None:
    long = passage("\n\n".join(SAID), number=1, score=0.9)
    short = passage(
        "A library burns, and its entropy is greater than before.", number=2, source=2, score=0.7
    )
    picks = found(long, short, about="entropy").picks
    assert {pick.evidence.number for pick in picks} == {1, 2}


def test_it_goes_through_each_source_from_the_front() -> None:
    text = "\n\n".join(SAID)
    spans = [pick.span for pick in found(passage(text), about="entropy").picks]
    assert len(spans) > 2
    assert spans == sorted(spans)


def test_of_the_whole_every_source_tells_something() -> None:
    evidence = [
        passage(
            "\n\n".join((*SAID, f"The {number}th speaker went home early.")),
            number=number,
            source=number,
        )
        for number in (1, 2, 3)
    ]
    other = passage("Whales are mammals that live in the sea and breathe air.", number=4, source=4)
    picks = found(*evidence, other, question="What is this about?", about="").picks
    assert {pick.evidence.source for pick in picks} >= {1, 4}


def test_titles_and_questions_are_no_overview() -> None:
    text = (
        "A small book about entropy for engineers\n\nWhat does entropy measure in every gas, then?"
        " Entropy measures the disorder of a gas in a box."
        " It grows. It never sinks."
    )
    assert not any(
        "small book" in line or line.endswith("?") for line in told(passage(text), about="entropy")
    )


def test_a_sentence_that_can_be_understood_by_itself_is_preferred() -> None:
    evidence = [
        passage(
            f"They say that nobody counted the {plant} in the boxes.\n\n{said}",
            number=number,
            source=number,
        )
        for number, (plant, said) in enumerate(
            zip(("apples", "pears", "plums", "figs", "dates"), SAID, strict=True)
        )
    ]
    chosen = told(*evidence, question="What is it about?", about="")
    assert (len(chosen), sum(text.startswith("They") for text in chosen)) == (
        6,
        1,
    )  # five sources have one each, and one has two


def test_sentences_of_a_summary_are_at_their_own_places() -> None:
    source = (
        "Entropy measures the disorder of all gases. Much else is said here."
        " Enthalpy measures how warm the engines are."
    )
    spans = [(0, 43), (68, len(source))]
    summary = passage(" ".join(source[start:stop] for start, stop in spans), spans=spans, level=2)
    (one,) = extract(
        [QuestionPart(text="What is measured?", breadth=Breadth.BROAD, about="measures")], [summary]
    )
    assert {pick.text for pick in one.picks} == {source[start:stop] for start, stop in spans}
    assert all(source[slice(*pick.span)] == pick.text for pick in one.picks)
