"""Questions that are suggested."""

from uuid import uuid4

from citations.guide.storage import SuggestedQuestion
from citations.templatetags.guides import asked_together


def suggestion(question: str, language: str) -> SuggestedQuestion:
    return SuggestedQuestion(question=question, source=uuid4(), title="", language=language)


def test_two_questions_of_one_language_are_asked_together() -> None:
    german, *english = (
        suggestion("Was ist ein Netz?", "de"),
        suggestion("What is a layer?", "en"),
        suggestion("What is a gradient?", "en"),
    )
    assert asked_together([german, *english]) == "What is a layer? What is a gradient?"
    assert asked_together([german, english[0]]) == ""
    assert asked_together([]) == ""
