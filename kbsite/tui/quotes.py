"""Quotes and nearest passages with their context. Pure."""

from dataclasses import dataclass
from string import ascii_lowercase

from citations.answers.answer import Evidence, Quote
from citations.passages import Locator, PassageSource


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteInContext:
    """A quote and the text around it. ``label``: its number, or a letter for a nearest passage."""

    label: str
    origin: PassageSource
    locator: Locator
    text: str
    prefix: str = ""
    suffix: str = ""
    heading: str = ""
    link: str = ""


def cited(quote: Quote) -> QuoteInContext:
    """Return a citation's quote."""
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


def nearest(evidence: Evidence, index: int) -> QuoteInContext:
    """Return a nearest passage; the first is labelled “a”."""
    return QuoteInContext(
        label=letter(index),
        origin=evidence.origin,
        locator=evidence.locator,
        text=evidence.text,
        heading=evidence.heading,
        link=evidence.link,
    )


def letter(index: int) -> str:
    """Return the label of a nearest passage."""
    return ascii_lowercase[index % len(ascii_lowercase)]
