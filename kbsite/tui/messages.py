"""Messages from threads to the interface, which alone may draw."""

from textual.message import Message

from citations.answers.answer import Event
from kbsite.tui.notebook import SourceList
from kbsite.tui.panels import TurnView
from transcripts.errors import KnowledgeBaseError


class SourcesLoaded(Message):
    """The sources, or the problem with loading them."""

    def __init__(self, sources: SourceList, problem: str = "") -> None:
        super().__init__()
        self.sources, self.problem = sources, problem


class AnswerUpdate(Message):
    """An event of an answer, or the error that ends it. Neither: no more events follow."""

    def __init__(
        self, view: TurnView, event: Event | None = None, error: KnowledgeBaseError | None = None
    ) -> None:
        super().__init__()
        self.view, self.event, self.error = view, event, error


class CallFinished(Message):
    """The result of a call, as a sentence."""

    def __init__(self, text: str, *, is_problem: bool = False) -> None:
        super().__init__()
        self.text, self.is_problem = text, is_problem


def describe(error: KnowledgeBaseError) -> str:
    """Return message and hint of an error as one text."""
    return f"{error.message} {error.hint}".strip()
