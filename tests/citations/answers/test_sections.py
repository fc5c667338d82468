"""The headings under which the parts of an answer stand."""

import pytest

from citations.answers.question.wording import split
from citations.answers.sections import heading


@pytest.mark.parametrize(
    ("question", "headings"),
    [
        (
            "What is backpropagation? And what does it do?",
            ["What is backpropagation?", "What does backpropagation do?"],
        ),
        ("What is X? And what does it do?", ["What is X?", "What does it do?"]),
        ("Was ist ein Gradient? Und was macht er?", ["Was ist ein Gradient?", "Was macht er?"]),
        (
            "What is a queue? And who invented the pendulum clock?",
            ["What is a queue?", "Who invented the pendulum clock?"],
        ),
        (
            "How does the error go back? And how does soup get its taste?",
            ["How does the error go back?", "How does soup get its taste?"],
        ),
        (
            "What is a queue, and who invented the pendulum clock?",
            ["What is a queue?", "Who invented the pendulum clock?"],
        ),
        ("Who gave the talk and why?", ["Who gave the talk and why?"]),
    ],
)
def test_each_part_stands_alone_under_its_heading(question: str, headings: list[str]) -> None:
    assert [heading(part) for part in split(question)] == headings
