"""What threads send to the interface, which alone may draw."""

from textual.message import Message

from citations.answers.answer import Event
from kbsite.tui.notebook import SourceList
from kbsite.tui.panels import TurnView
from transcripts.errors import KnowledgeBaseError


class SourcesLoaded(Message):
    """The sources were looked at."""

    def __init__(self, shelf: SourceList, problem: str = "") -> None:
        super().__init__()
        self.shelf, self.problem = shelf, problem


class AnswerUpdate(Message):
    """Something of an answer came in: an event, or why there will be none. Neither: nothing more comes."""

    def __init__(
        self, view: TurnView, event: Event | None = None, error: KnowledgeBaseError | None = None
    ) -> None:
        super().__init__()
        self.view, self.event, self.error = view, event, error


class CallSucceeded(Message):
    """A call ended with a sentence for whoever waits."""

    def __init__(self, text: str, *, is_problem: bool = False) -> None:
        super().__init__()
        self.text, self.is_problem = text, is_problem
