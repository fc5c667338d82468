"""Tells whether a claim relates to what it cites: a true quote may prove something else."""

from typing import Final

from citations.answers.writing.sentence_ranking import Rate, stems
from citations.providers.languages import is_in
from citations.quotes import source_texts
from citations.text.sentences import split

UNRELATED: Final = 0.2  # cosine below which texts are unrelated, by the bundled model: relating.py
LANGUAGE: Final = "en"  # the model's; cosines in other languages mean little
FEWEST: Final = 3  # content words of a claim that can be compared
AROUND: Final = 200  # characters on either side of a quote that are read with it
SENTENCE: Final = 600  # characters on either side in which the quote's sentences begin and end


def relates(claim: str, text: str, span: source_texts.Span, rate: Rate | None) -> bool:
    """Tell whether a claim is near to the sentences of a quote or to the text around it.

    ``span`` is the quote's characters in a source's ``text``. True where that cannot be measured:
    without ``rate``, for a very short claim, and in a language other than the model's.
    """
    if rate is None or len(stems(claim)) < FEWEST:
        return True
    cited = read_with(text, span)
    if not (is_in(claim, LANGUAGE) and is_in(cited[-1], LANGUAGE)):
        return True
    nearness = rate(claim, cited)
    return nearness is None or max(nearness) >= UNRELATED


def read_with(text: str, span: source_texts.Span) -> list[str]:
    """Return the whole sentences that a span stands in, and the characters around it."""
    offset = source_texts.border(text, span[0] - SENTENCE)
    piece = text[offset : source_texts.border(text, span[1] + SENTENCE)]
    inside = [
        (first, last)
        for first, last in split(piece)
        if first + offset < span[1] and span[0] < last + offset
    ]
    start, end = (
        source_texts.border(text, place) for place in (span[0] - AROUND, span[1] + AROUND)
    )
    around = text[start:end]
    return [piece[inside[0][0] : inside[-1][1]], around] if inside else [around]
