"""Sources and sections that a question names."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.answers.question.named_sources import (
    Heading,
    find_named_section,
    find_named_sources,
    section_span,
    title_words,
)
from citations.answers.question.named_sources import definite_kind as kind_of
from tests.citations.text_tables import rows

TITLES = [
    (1, "How BM25 ranks"),
    (2, "Counting, Waiting, Keeping Time"),
    (3, "Lecture 3: Gradient Descent and Momentum"),
    (4, "Entropy"),
    (5, "Backpropagation"),
    (6, "Bayes' theorem"),
    (7, "Dracula"),
    (8, "Budget meeting 12 March"),
    (9, "The War in Ukraine – an Economist's View"),
    (10, "How BM25 ranks"),  # its other language
    (11, "Lecture 4: Sorting"),
    (12, "Einführung in die Thermodynamik"),
    (13, "La révolution française expliquée"),
    (14, "General Relativity"),
    (15, "Deep Learning Part 1: Neural networks"),
    (16, "Deep Learning Part 2: Convolution"),
    (17, "NYU course, week 1 lecture"),
    (18, "NYU course, week 1 practicum"),
    (19, "NYU course, week 11 lecture"),
    (20, "Staff handbook"),
    (21, "2024-q3_board-minutes"),
    (22, "week05_lecture.en"),
    (23, "Calculus Volume 1"),
    (24, "When a Service Says No"),
    (25, "GPT-4"),
    (26, "state-of-the-art"),
]

NAMED = {
    question: ({*map(int, keys.split())}, left)
    for question, keys, left in rows("""
    In the talk “How BM25 ranks”, what does k1 do? | 1 10 | What does k1 do?
    What does k1 do in the talk "how bm25 ranks"? | 1 10 | What does k1 do?
    In “How BM25 ranks”, what does k1 do? | 1 10 | What does k1 do?
    In How BM25 ranks, what does k1 do? | 1 10 | What does k1 do?
    According to “How BM25 ranks”, why is length penalised? | 1 10 | Why is length penalised?
    What does “How BM25 ranks” say about length? | 1 10 | What does it say about length?
    According to Counting, Waiting, Keeping Time, how is a second defined? | 2 |
      How is a second defined?
    How is a second defined according to the book Counting, Waiting, Keeping Time? | 2 |
      How is a second defined?
    How is a second defined in the textbook “Counting, Waiting”? | 2 | How is a second defined?
    What does the lecture on gradient descent say about momentum? | 3 |
      What does it say about momentum?
    What is the lecture on gradient descent about? | 3 | What is it about?
    Summarise the video about gradient descent | 3 | Summarise it
    Summarise the gradient descent lecture | 3 | Summarise it
    In the gradient descent lecture, why is momentum used? | 3 | Why is momentum used?
    In lecture 4, which sort is stable? | 11 | Which sort is stable?
    In the book Dracula, who is Renfield? | 7 | Who is Renfield?
    In the video “Entropy”, what is said about heat? | 4 | What is said about heat?
    What was decided in the budget meeting 12 March? | 8 | What was decided?
    From the talk titled The War in Ukraine, what follows for grain? | 9 | What follows for grain?
    What did the deep learning lectures say about depth? | 15 16 | What did it say about depth?
    What is the week 1 lecture about? | 17 | What is it about?
    In week 1, what is said on gradients? | 17 18 | What is said on gradients?
    What does the week 1 practicum say about tensors? | 18 | What does it say about tensors?
    What does the handbook say about holidays? | 20 | What does it say about holidays?
    According to the handbook, who is ill? | 20 | Who is ill?
    Was sagt die Vorlesung „Einführung in die Thermodynamik“ über Wärme? | 12 |
      Was sagt es über Wärme?
    Was ist Wärme laut dem Buch „Einführung in die Thermodynamik“? | 12 | Was ist Wärme?
    What are the main topics of 2024-q3_board-minutes? | 21 | What are the main topics of it?
    What is said in 2024-q3_board-minutes.pdf about rent? | 21 | What is said about rent?
    Summarise “week05_lecture.en” | 22 | Summarise it
    What does week05_lecture.en say about rent? | 22 | What does it say about rent?
    Compare week05_lecture.en and 2024-q3_board-minutes | 21 22 | Compare it and it
    Was heißt Straße, und was sagt week05_lecture.en zu Größe? | 22 |
      Was heißt Straße, und was sagt it zu Größe?
    Summarise Calculus Volume 1 | 23 | Summarise it
    What is calculus volume 1 about? | 23 | What is it about?
    What does Calculus Volume 1 say about limits? | 23 | What does it say about limits?
    Give me an overview of when a service says no | 24 | Give me an overview of it
    Summarise Entropy | 4 | Summarise it
    What are the key ideas of Dracula? | 7 | What are the key ideas of it?
    Dans la vidéo « La révolution française expliquée », qui est Danton ? | 13 | Qui est Danton ?
""")
}
NOT_NAMED = """
    What is gradient descent?
    What is a step in gradient descent?
    What does “Bayes' theorem” mean?
    What is “entropy”?
    What does “entropy” say about time?
    According to Bayes' theorem, what is the posterior?
    What role does entropy play in the lecture?
    Is there a lecture on gradient descent?
    Which lecture covers gradient descent and momentum?
    Find a talk about how BM25 ranks documents
    How does BM25 rank documents?
    In general, what is relativity about?
    What does the talk say about entropy?
    In the second video, what is shown?
    What is the video about?
    In the talk, how is backpropagation explained?
    What does the lecture on momentum say?
    What is the war in Ukraine?
    What is a handbook?
    What happens in week 7?
    What does the manual say about holidays?
    Who wrote the book?
    In the budget, what is left?
    In the meeting, what was said about the budget?
    In lecture 4 of the other course, what is sorted?
    In lecture 7, what is sorted?
    Why is waiting, keeping time and counting hard?
    In the lecture on gradient descent and on the chain of command, who speaks?
    How do I sort in Deep Learning?
    What is the entropy lecture about?
    What do the talks have in common?
    In the interview with the War Ministry, who speaks?
    Tell me about entropy
    How good is GPT-4?
    Is this state-of-the-art?
    What happens when a service says no?
    How BM25 ranks
    Summarise the entropy of gases
"""


@pytest.mark.parametrize("question", NAMED)
def test_a_source_is_named_by_its_title_and_a_word_that_says_so(question: str) -> None:
    named = find_named_sources(question, TITLES)
    assert (set(named.keys), named.question) == NAMED[question]


@pytest.mark.parametrize("question", [line.strip() for line in NOT_NAMED.strip().splitlines()])
def test_a_subject_with_the_words_of_a_title_names_no_source(question: str) -> None:
    named = find_named_sources(question, TITLES)
    assert (set(named.keys), named.question) == (set(), question)


def test_a_title_goes_before_one_that_only_begins_with_it() -> None:
    titles = [(1, "Sorting large files"), (2, "Sorting large files, continued")]
    assert find_named_sources(
        "What does the video titled Sorting large files say about disks?", titles
    ).keys == {1}


def test_a_part_that_many_titles_have_is_in_doubt() -> None:
    series = [(number, f"Linear Algebra {number}: spaces") for number in range(9)]
    assert not find_named_sources(
        "What does the lecture on linear algebra say about rank?", series
    ).keys


@pytest.mark.parametrize("question", NAMED)
def test_a_named_title_has_one_of_the_words_or_stands_in_the_question(question: str) -> None:
    words = [word.casefold() for word in title_words(question)]
    titles = [title.casefold() for key, title in TITLES if key in NAMED[question][0]]
    assert all(
        title in question.casefold() or any(word in title for word in words) for title in titles
    )


def test_a_question_that_names_nothing_has_no_words() -> None:
    assert title_words("What is gradient descent?") == []


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("In the talk “How BM 25 ranks”, what does k1 do?", 1),
        ("What does the lecture on gradient decent say about momentum?", 3),
        ("Summarise the talk “Counting, waiting and keeping time”", 2),
    ],
)
def test_a_title_may_be_misspelt(question: str, key: int) -> None:
    assert key in find_named_sources(question, TITLES).keys


@given(
    st.text(max_size=200)
    | st.lists(
        st.sampled_from(
            [
                "in the talk",
                "“",
                "”",
                '"',
                "How BM25 ranks",
                "the",
                "lecture 4",
                ",",
                "?",
                "according to",
            ]
        )
    ).map(" ".join)
)
def test_any_question_is_taken_and_none_becomes_empty(question: str) -> None:
    named = find_named_sources(question, TITLES)
    assert bool(named.question.strip()) == bool(question.strip())
    assert named.keys or named.question == question


@pytest.mark.parametrize(
    "piece",
    [
        "in the talk ",
        "“",
        "the a b ",
        "in ",
        "the lecture on the ",
        '"a',
        "’ ‘",
        "in the the lecture ",
    ],
)
def test_hostile_questions_and_titles_take_little_time(piece: str) -> None:
    titles = [(number, (piece * 100)[:300]) for number in range(300)]
    started = process_time()
    find_named_sources(piece * 10_000, titles)
    title_words(piece * 10_000)
    assert process_time() - started < 2


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the book about?", "document"),
        ("Summarise this paper.", "document"),
        ("What does the lecture say of entropy?", "recording"),
        ("Worum geht es in dem Vortrag?", "recording"),
        ("What does the book on entropy say?", ""),
        ("What does the talk “Entropy” say?", ""),
        ("Which book is it from?", ""),
        ("What is a lecture?", ""),
    ],
)
def test_the_only_source_of_a_kind_is_meant_by_its_kind_alone(question: str, kind: str) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize(
    ("question", "number", "left"),
    [
        ("What does chapter 4 say about roots?", (4,), "What does it say about roots?"),
        ("In section 2.3, what is a limit?", (2, 3), "What is a limit?"),
        ("What is a limit according to Section 2.3 of the book?", (2, 3), "What is a limit?"),
        ("Summarize chapter 3", (3,), "Summarize"),
        ("Was steht in Kapitel 2 über Ventile?", (2,), "Was steht über Ventile?"),
        ("Que dit le chapitre 12 ?", (12,), "Que dit le?"),
        ("What, in chapter 4, is a gene?", (4,), "What is a gene?"),
        ('Explain chapter 5 "Genes"', (5,), 'Explain "Genes"'),
        ('What about chapter 2, "dual parity"?', (2,), 'What about "dual parity"?'),
    ],
)
def test_a_section_is_named_by_its_number(
    question: str, number: tuple[int, ...], left: str
) -> None:
    named = find_named_section(question)
    assert named is not None
    assert (named.number, named.question) == (number, left)


@pytest.mark.parametrize("question", ["What is a chapter?", "Who was 4 years old?", "Part of it"])
def test_no_number_names_no_section(question: str) -> None:
    assert find_named_section(question) is None


HEADINGS = [
    Heading(text, 100 * number, 100 * number + 90)
    for number, text in enumerate(
        ["", "1 Steam", "Hint", "2.1 Boilers", "2.2 Valves", "Proof", "2.10 Rods", "Chapter 3: Oil"]
    )
]


@pytest.mark.parametrize(
    ("number", "span"),
    [
        ((1,), (100, 290)),
        ((2,), (300, 690)),
        ((2, 2), (400, 590)),
        ((2, 1), (300, 390)),
        ((3,), (700, 790)),
        ((4,), None),
        ((2, 7), None),
    ],
)
def test_a_section_goes_on_to_the_next_number(
    number: tuple[int, ...], span: tuple[int, int] | None
) -> None:
    assert section_span(number, HEADINGS) == span
