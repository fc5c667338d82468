"""Questions of several parts: which are split, and into what."""

import pytest

from citations.answers.question.decomposition import split

SPLIT = {
    "What is gradient descent and how does momentum help?": [
        "What is gradient descent",
        "how does momentum help?",
    ],
    "What is overfitting and how can I avoid it?": [
        "What is overfitting",
        "how can I avoid overfitting?",
    ],
    "What is a monad and why does everybody fear it?": [
        "What is a monad",
        "why does everybody fear a monad?",
    ],
    "What is dropout? When should it be used?": [
        "What is dropout?",
        "When should dropout be used?",
    ],
    "Who wrote Faust and when did he die?": [
        "Who wrote Faust",
        "when did he die? (who wrote Faust)",
    ],
    "Where was Kafka born, and what did he study?": [
        "Where was Kafka born",
        "what did he study? (Kafka born)",
    ],
    "What is TLS, how does the handshake work, and who issues certificates?": [
        "What is TLS",
        "how does the handshake work",
        "who issues certificates?",
    ],
    "What was decided about the budget and who will tell the board?": [
        "What was decided about the budget",
        "who will tell the board?",
    ],
    "What did Anna propose? Who was against it? Why?": [
        "What did Anna propose?",
        "Who was against it? Why? (Anna propose)",
    ],
    "Summarise the lecture and tell me what the homework is": [
        "Summarise the lecture",
        "tell me what the homework is",
    ],
    "Explain quicksort and compare it with mergesort": [
        "Explain quicksort",
        "compare quicksort with mergesort",
    ],
    "Define entropy; explain why it grows": ["Define entropy", "explain why entropy grows"],
    "1) What is a vector space? 2) What is a basis?": [
        "What is a vector space?",
        "What is a basis?",
    ],
    "- What is a kernel?\n- What is an image?": ["What is a kernel?", "What is an image?"],
    "What is yeast?\nHow warm does it like it?": ["What is yeast?", "How warm does yeast like it?"],
    "How long does the bread bake and at what temperature does it bake?": [
        "How long does the bread bake",
        "at what temperature does it bake? (bread bake)",
    ],
    "Is there a test on Friday? What will it cover?": [
        "Is there a test on Friday?",
        "What will it cover? (test Friday)",
    ],
    "What are the side effects of aspirin and can children take it?": [
        "What are the side effects of aspirin",
        "can children take aspirin?",
    ],
    "Which framework did they choose and what speaks against the others?": [
        "Which framework did they choose",
        "what speaks against the others?",
    ],
    "What is the main argument of the book, and is it convincing?": [
        "What is the main argument of the book",
        "is the main argument of the book convincing?",
    ],
    "Thanks! What is a tensor? And how is it stored?": [
        "Thanks! What is a tensor?",
        "And how is a tensor stored?",
    ],
    "Was ist ein Tensor und wozu dient er?": ["Was ist ein Tensor", "wozu dient ein Tensor?"],
    "Was ist Osmose und warum ist sie wichtig?": ["Was ist Osmose", "warum ist Osmose wichtig?"],
    "Wer hat das Treffen geleitet, und was wurde beschlossen?": [
        "Wer hat das Treffen geleitet",
        "was wurde beschlossen?",
    ],
    "Qu'est-ce que l'entropie et comment se mesure-t-elle ?": [
        "Qu'est-ce que l'entropie",
        "comment se mesure-t-elle ? (l'entropie)",
    ],
    "Qui a écrit ce livre et quand a-t-il paru ?": [
        "Qui a écrit ce livre",
        "quand a-t-il paru ? (écrit ce livre)",
    ],
    "What is inflation and how does it work?": ["What is inflation", "how does inflation work?"],
    "¿Qué es la entropía y cómo se mide?": ["¿Qué es la entropía", "cómo se mide? (la entropía)"],
}
WHOLE = """
    What is the difference between A and B?
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
"""


@pytest.mark.parametrize("question", SPLIT)
def test_several_questions_are_looked_up_one_by_one_and_each_can_be_understood(
    question: str,
) -> None:
    assert split(question) == SPLIT[question]


@pytest.mark.parametrize("question", [line.strip() for line in WHOLE.strip().splitlines()])
def test_one_question_stays_one(question: str) -> None:
    assert split(question) == [question]
