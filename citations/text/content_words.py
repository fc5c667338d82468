"""The content words of a text, which say what it is about, and what each tells. Pure."""

import math
from collections import Counter
from pathlib import Path
from typing import Final

from transcripts.text.tokenizer import tokenize

Words = Counter[str]

FEW_WORDS: Final = 6  # content words; sentences with fewer rate lower
# Spoken fillers, and the remains of words with an apostrophe.
FILLERS: Final = frozenset(Path(__file__).with_name("fillers.txt").read_text().split())


def words_of(text: str, stops: frozenset[str]) -> Words:
    """Count the words of a text, without ``stops``, fillers and numbers."""
    return Words(
        word
        for word in tokenize(text)
        if word not in stops and word not in FILLERS and not word.isdigit()
    )


def rarity(having: int, among: int) -> float:
    """Return log(1 + n / df): how much a word tells that ``having`` of ``among`` texts have.

    Spärck Jones, "A statistical interpretation of term specificity" (1972). A word that no text has
    counts as if one had it.
    """
    return math.log(1 + among / (having or 1))


def currency(words: Words, counts: Words) -> float:
    """Rate a sentence's words by how often a whole text has them, of which ``counts`` are."""
    return sum(counts[word] for word in words) / math.sqrt(max(FEW_WORDS, words.total()))
