"""Questions of several parts: which are split, and into what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.answers.question.wording import MAX_PARTS, quoted, split
from tests.citations.text_tables import rows

SPLIT = {
    question: parts
    for question, *parts in rows("""
    What is gradient descent, and how do bees dance? | What is gradient descent |
      and how do bees dance?
    What is dropout? When should it be used? | What is dropout? |
      When should dropout be used?
    What did Anna propose? Who was against it? Why? | What did Anna propose? |
      Who was against it? Why? (What did Anna propose?)
    Define entropy; explain why it grows | Define entropy | explain why it grows (Define entropy)
    1) What is a vector space? 2) What is a basis? | What is a vector space? | What is a basis?
    Is there a test on Friday? What will it cover? | Is there a test on Friday? |
      What will it cover? (Is there a test on Friday?)
    Thanks! What is a tensor? And how is it stored? | Thanks! What is a tensor? |
      And how is it stored? (Thanks! What is a tensor?)
    What is entropy? How is it measured? | What is entropy? | How is entropy measured?
    What is a queue? Who reads its head? | What is a queue? | Who reads a queue’s head?
    What is inverse document frequency and what is jitter? |
      What is inverse document frequency |
      and what is jitter? (What is inverse document frequency)
    什么是熵？如何测量？ | 什么是熵？ | 如何测量？ (什么是熵？)
    ما هي الشبكة؟ كيف تتعلم؟ | ما هي الشبكة؟ | كيف تتعلم؟ (ما هي الشبكة؟)
    When is clipping used; what are its effects? | When is clipping used |
      what are its effects? (When is clipping used)
    What is the mempool, and why do nodes that are not mining keep one? | What is the mempool |
      and why do nodes that are not mining keep one? (What is the mempool)
    What is the capital of Mongolia, and what is a scan key? | What is the capital of Mongolia |
      and what is a scan key?
    What is exponential back-off, and what is jitter? | What is exponential back-off |
      and what is jitter? (What is exponential back-off)
    What is a mempool and what are package relays? | What is a mempool |
      and what are package relays? (What is a mempool)
    What is a tensor and who is Ada? | What is a tensor | and who is Ada?
    What is the mempool, and what is FROST? | What is the mempool | and what is FROST?
    What is the mempool, and what is the default size? | What is the mempool |
      and what is the default size? (What is the mempool)
    Why is the site in Mumbai dirtier, and how many times? | Why is the site in Mumbai dirtier |
      and how many times? (Why is the site in Mumbai dirtier)
    Was ist ein Tensor, und was ist ein Kern? | Was ist ein Tensor | und was ist ein Kern?
    Was ist ein Tensor, und wozu dient er in der Praxis? | Was ist ein Tensor |
      und wozu dient er in der Praxis? (Was ist ein Tensor)
    What is its cost? And its speed? (What is RAID 5?) | What is its cost? (What is RAID 5?) |
      And its speed? (What is RAID 5? What is its cost?)
""")
} | {
    "- What is a kernel?\n- What is an image?": ["What is a kernel?", "What is an image?"],
    "What is yeast?\nHow warm does it like it?": [
        "What is yeast?",
        "How warm does yeast like yeast?",
    ],
    "1. What is a tensor?\n2. How does padding work?": [
        "What is a tensor?",
        "How does padding work?",
    ],
}
WHOLE = """
    What is the difference between A and B?
    How do I decide what is a claim and what is an opinion?
    What is the difference between what is a duty and what is a right?
    What is a tensor, a vector, and what is a scalar?
    What is a note and what is the use?
    What is RAID and what is good about it?
    How do I decide what is good and what is bad?
    What does he say about the moon, and how it moves?
    Describe the mempool, and what it does.
    What is the difference between supervised and unsupervised learning?
    How do cats and dogs get along?
    cats and dogs
    Explain attention and why it matters
    Explain how backpropagation works and why it matters
    How does fermentation work and why does it matter?
    What is entropy and why does it matter?
    What is the relation between heat and work?
    Compare TCP and UDP
    Compare what Anna said and what Ben said
    What are the pros and cons of remote work?
    What happens if the leader fails and the followers disagree?
    What is said about when and where the meeting takes place?
    When and where does the meeting take place?
    How and why did Rome fall?
    Who and what caused the outage?
    Why and when should I normalise?
    Describe supply and demand
    What did he say about research and development?
    Which of the two is faster and cheaper?
    Between Monday and Friday, who was there?
    How do I install and configure the plugin?
    What does “what is it and who is it” mean?
    What does Hamlet mean by "to be or not to be? That is the question"?
    Is it true that the earth is round and that it moves?
    Do both what he says and what she says agree?
    gradient descent; momentum; Adam
    Romeo and Juliet
    What's in the U.S. budget for roads?
    What does Dr. Who do?
    How does e.g. the U.S. do it?
    I watched the lecture. I liked it. What is the homework?
    What does it cost and?
    And what is entropy?
    Was ist der Unterschied zwischen Masse und Gewicht?
    Wie unterscheiden sich Viren und Bakterien?
    Quelle est la différence entre le son et le bruit ?
    ¿Cuál es la diferencia entre masa y peso?
    Why is the sky blue and not green?
    What makes a good title and a good opening?
    What is gradient descent and how does momentum help?
    Explain quicksort and compare it with mergesort
    Was ist ein Tensor und wozu dient er?
    What is the difference between what he said and what she said?
    How do stacks and queues differ?
    What are stack and list operations?
    Who was born in 1900 and was killed in 1950?
    What does "is it so? and why is it" mean?
    I am reading about pooling. Why is it useful?
    What is entropy and why?
    What is entropy, and why?
    What is the difference between heat, work, and what we call energy?
    entropy; enthalpy; heat
    Compare how banks and how miners settle.
"""


@pytest.mark.parametrize("question", SPLIT)
def test_several_questions_are_looked_up_one_by_one_and_each_can_be_understood(
    question: str,
) -> None:
    assert split(question) == SPLIT[question]


@pytest.mark.parametrize("question", [line.strip() for line in WHOLE.strip().splitlines()])
def test_one_question_stays_one(question: str) -> None:
    assert split(question) == [question]


def test_what_goes_beyond_the_most_parts_stays_with_the_last() -> None:
    parts = split(" ".join(f"What is subject{n}?" for n in range(9)))
    assert len(parts) == MAX_PARTS
    assert "subject8" in parts[-1]


@given(
    st.text(max_size=200)
    | st.lists(
        st.sampled_from(
            [
                "what is it",
                "and why",
                "how are cats",
                "?",
                ";",
                "\n",
                "- ",
                "1. ",
                '"',
                " and ",
                ".",
            ]
        )
    ).map(" ".join)
)
def test_no_word_of_a_question_is_lost(question: str) -> None:
    parts = " ".join(split(question)).casefold()
    words = [word.casefold() for word in question.split() if word.isalpha()]
    assert [word for word in words if word not in parts] == []


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is the capital of France?", "“What is the capital of France?”"),
        ("a deadline", "“A deadline”"),
        (
            "and how does soup get its taste? (What does the error do)",
            "“How does soup get its taste?”",
        ),
        ("And why? (What is entropy?)", "“What is entropy?”"),
    ],
)
def test_a_message_quotes_a_question_or_the_question_that_it_goes_on_from(
    question: str, name: str
) -> None:
    assert quoted(question) == name


@given(st.text(max_size=500))
def test_whatever_is_asked_is_quoted_in_a_line(question: str) -> None:
    assert len(quoted(question)) <= 123
    assert "\n" not in quoted(question)
