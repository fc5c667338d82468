"""Places in sources, as they are shown: a citation, or a passage that came near. Pure."""

from dataclasses import dataclass
from string import ascii_lowercase

from citations.answers.answer import Evidence, Quote
from citations.passages import Locator, PassageSource


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteInContext:
    """A quote with what stands around it and where it stands. ``label`` is its number in the answer, or a letter where it is no citation."""

    label: str
    origin: PassageSource
    locator: Locator
    text: str
    prefix: str = ""
    suffix: str = ""
    heading: str = ""
    link: str = ""


def cited(quote: Quote) -> QuoteInContext:
    """Return the place of a citation."""
    return QuoteInContext(
        label=str(quote.number),
        origin=quote.origin,
        locator=quote.locator,
        text=quote.text,
        prefix=quote.prefix,
        suffix=quote.suffix,
        heading=quote.heading,
        link=quote.link,
    )


def near(evidence: Evidence, index: int) -> QuoteInContext:
    """Return the place of a passage that is no citation; the first is labelled “a”."""
    label = ascii_lowercase[index % len(ascii_lowercase)]
    return QuoteInContext(
        label=label,
        origin=evidence.origin,
        locator=evidence.locator,
        text=evidence.text,
        heading=evidence.heading,
        link=evidence.link,
    )
