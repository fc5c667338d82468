"""The parts of an answer to several questions, each under its own question as a heading."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from django.utils.translation import gettext_lazy as _

from citations.answers.question.wording import separated, without_connective

UNANSWERED: Final = _("The sources do not answer this question.")
_ASKING: Final = re.compile(
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did)\b", re.IGNORECASE
)


class Headed(Protocol):
    """What stands under one of the questions."""

    @property
    def heading(self) -> str: ...


class Part(Headed, Protocol):
    """One of the questions, and whether the sources answer it."""

    @property
    def is_answered(self) -> bool: ...

    @property
    def confidence(self) -> float | None: ...


ClaimT = TypeVar("ClaimT", bound=Headed)


@dataclass(frozen=True, slots=True)
class Section(Generic[ClaimT]):
    """A question with its claims; none: the sources do not answer it.

    Without a heading: one question was asked, or which one is answered is not known.
    """

    heading: str
    claims: Sequence[ClaimT]
    confidence: float | None = None


def by_question(claims: Sequence[ClaimT], parts: Sequence[Part]) -> list[Section[ClaimT]]:
    """Return claims under their questions, in the order of these; first those of none.

    Questions are left out if others answer them as well, or if their claims may not be seen.
    """
    headings = dict.fromkeys(
        ("", *(part.heading for part in parts), *(claim.heading for claim in claims))
    )
    unanswered = {part.heading for part in parts if not part.is_answered}
    shares = {part.heading: part.confidence for part in parts}
    sections = (
        Section(
            heading, [claim for claim in claims if claim.heading == heading], shares.get(heading)
        )
        for heading in headings
    )
    return [section for section in sections if section.claims or section.heading in unanswered]


def heading(question: str) -> str:
    """Return the heading of a question: “and what does it do” becomes “What does it do?”."""
    text = without_connective(separated(question)[0])
    if _ASKING.match(text) and text[-1].isalnum():  # “, and why …” took the place of its mark
        text = f"{text}?"
    return text[:1].upper() + text[1:]
