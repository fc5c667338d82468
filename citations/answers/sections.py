"""The parts of an answer to several questions, each under its own question as a heading."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from django.utils.translation import gettext_lazy as _

UNANSWERED: Final = _("The sources do not answer this question.")


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
