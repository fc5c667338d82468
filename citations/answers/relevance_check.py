"""Whether a claim speaks of what it cites: a true quote proves nothing about something else."""

from typing import Final

from citations.answers.writing.sentence_ranking import Rate
from citations.answers.writing.term_matching import stems
from citations.providers.languages import is_in
from citations.quotes import source_texts
from citations.text.sentences import split

UNRELATED: Final = 0.2  # cosine below which two texts speak of different things, by the model that comes along (bench/relating.py)
LANGUAGE: Final = "en"  # that the model knows; in others what is unrelated may be near to each other, and what is not may be far
FEWEST: Final = 3  # words of a claim that say something; one of fewer may be about anything
AROUND: Final = 200  # characters on either side of a quote that are read with it
SENTENCE: Final = (
    600  # characters on either side in which the sentences that it stands in begin and end
)


def relates(claim: str, text: str, span: source_texts.Span, rate: Rate | None) -> bool:
    """Say whether a claim is near to the sentences that a quote, characters ``span`` of a source's text, stands in, or to what stands around it.

    It is held to be where that cannot be told: without ``rate``, of a very short claim, and where the claim or the source is not in the model's language.
    """
    if rate is None or len(stems(claim)) < FEWEST:
        return True
    cited = read_with(text, span)
    if not (is_in(claim, LANGUAGE) and is_in(cited[-1], LANGUAGE)):
        return True
    near = rate(claim, cited)
    return near is None or max(near) >= UNRELATED


def read_with(text: str, span: source_texts.Span) -> list[str]:
    """Return the whole sentences that characters of a text stand in, and the characters around them."""
    offset = source_texts.border(text, span[0] - SENTENCE)
    piece = text[offset : source_texts.border(text, span[1] + SENTENCE)]
    inside = [
        (first, last)
        for first, last in split(piece)
        if first + offset < span[1] and span[0] < last + offset
    ]
    around = text[
        source_texts.border(text, span[0] - AROUND) : source_texts.border(text, span[1] + AROUND)
    ]
    return [piece[inside[0][0] : inside[-1][1]], around] if inside else [around]
