"""Sentences ranked as answers: their words, and what an answer has in it."""

from citations.answers.writing.excerpts import sentences
from citations.answers.writing.sentence_ranking import covered, rated, stems
from tests.citations.answers.writing.conftest import passage, pick_texts


def test_a_passage_far_behind_the_best_needs_more_words_to_answer() -> None:
    best, behind = (
        passage(text, number=number, source=number, score=score)
        for number, text, score in (
            (1, "Entropy measures the disorder of gases.", 0.9),
            (2, "What entropy does not measure is heat.", 0.1),
        )
    )
    first, second = rated("What does entropy measure?", sentences([behind, best]), None)
    assert (first.evidence, second.evidence) == (behind, best)
    assert second.score > first.score


def test_forms_of_a_word_are_the_same_word() -> None:
    assert (
        stems("The gradients were computed")
        == stems("computing a gradient")[::-1]
        == ["gradient", "comput"]
    )
    assert stems("entropies") == stems("entropy")
    assert stems("What is it about?") == []


def test_rare_words_weigh_more() -> None:
    assert covered({"a", "b"}, {"a"}, {"a": 3.0, "b": 1.0}) == 0.75
    assert covered((), {"a"}, {}) == 0


def test_a_section_that_asks_is_not_followed_by_a_definition() -> None:
    text = (
        "What is a derivative? We offer two interpretations of it, which explain why we care.\n\n"
        "A derivative is the slope of a function at a point."
    )
    first = pick_texts(passage(text), question="What is a derivative?")[0]
    assert first == "A derivative is the slope of a function at a point."


def test_of_two_sentences_that_speak_of_it_the_one_that_defines_it_comes_first() -> None:
    text = (
        "Everybody at the party spoke of entropy.\n\nEntropy was in all their words.\n\nWhat "
        "grows with disorder is called entropy."
    )
    assert (
        pick_texts(passage(text), question="What is entropy?")[0]
        == "What grows with disorder is called entropy."
    )
    text = (
        "The steam engine was admired by many.\n\nAn engine that runs on steam was shown in 1712."
    )
    assert pick_texts(passage(text), question="When was the steam engine shown?")[0].endswith(
        "1712."
    )
