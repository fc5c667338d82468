"""How broad a question is, and what an overview is of."""

import pytest

from citations.answers.question.breadth import subject as subject_of


@pytest.mark.parametrize(
    "question",
    [
        "What is this library about?",
        "Give me an overview of this talk.",
        "Summarise the lecture",
        "Can you give me a brief summary of the whole video, please?",
        "What are the main points of the meeting?",
        "What did they talk about?",
        "tl;dr",
        "What are the key takeaways from this podcast?",
        "What happened in the meeting?",
        "Summarize everything I have added so far",
        "Please outline the document for me in five bullet points",
        "What can I learn from these videos?",
        "What does the author argue?",
        "Overview",
        "Worum geht es in diesem Vortrag?",
        "Fasse das Video kurz zusammen",
        "Gib mir einen Überblick über die Quellen",
        "Was sind die wichtigsten Punkte?",
        "De quoi parle cette vidéo ?",
        "Résume cette conférence",
        "Quels sont les thèmes principaux ?",
        "¿De qué trata este vídeo?",
        "Resume los puntos principales",
    ],
)
def test_the_sources_as_a_whole_are_no_subject(question: str) -> None:
    assert subject_of(question) == ""


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("What are the main topics of the lecture on waiting lines?", "waiting lines"),
        ("Give me an overview of how computers keep time", "computers keep time"),
        ("Summarise what is said about errors", "errors"),
        ("What does the book say about captions in general?", "captions"),
        ("Fasse zusammen, was über Bienen gesagt wird", "Bienen"),
        ("History of the telescope", "History telescope"),
        ("Give me a short introduction to gradient descent.", "gradient descent"),
        ("Résume ce qui est dit sur les abeilles", "dit sur abeilles"),
    ],
)
def test_the_words_that_name_the_subject_are_left(question: str, subject: str) -> None:
    assert subject_of(question) == subject
