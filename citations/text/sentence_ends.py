"""How likely a sentence of speech ends between two words, where no full stop tells. Pure.

A logistic regression on patterns of the two words on either side of a gap, with L1 regularisation,
so that few patterns have a weight. ``bench/train_sentence_ends.py`` trains it on English
transcripts. Speech in another language is recognised: few of its gaps have a weight.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

WEIGHTS: Final = Path(__file__).with_name("sentence_ends_en.txt")
ANYWHERE: Final = "|"  # the pattern of all gaps: its weight is the bias
WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

_KNOWN: Final = 0.7  # of the gaps in English, that have a weight: 0.97 do; in French, 0.14
_AROUND: Final = 80  # characters in which the words on either side of a gap are looked for


def log_odds(text: str, start: int, stop: int) -> dict[int, float]:
    """Return the log odds that a sentence ends before each word that begins in [start, stop);
    nothing for words of another language.
    """
    matches = list(WORD.finditer(text, max(0, start - _AROUND), stop + _AROUND))
    gaps = patterns([match[0] for match in matches])
    odds = {
        match.start(): sum(_WEIGHTS.get(pattern, 0.0) for pattern in around)
        for match, around in zip(matches[1:], gaps, strict=True)
        if start <= match.start() < stop
    }
    count = sum(value != BIAS for value in odds.values())
    return odds if count >= _KNOWN * len(odds) else {}


def is_likely(text: str, offset: int) -> bool:
    """Tell whether a sentence ends before the word at an offset rather than not."""
    return log_odds(text, offset, offset + 1).get(offset, BIAS) >= 0


def patterns(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the patterns of the gap before each word but the first: "|" stands for the gap, "_" for
    any word.
    """
    folded = ["", *(word.casefold().replace("’", "'") for word in words), ""]
    for a, b, c, d in zip(folded, folded[1:], folded[2:], folded[3:], strict=False):
        before = (f"{a} {b} |", f"{a} _ |") if a else ()
        after = (f"| {c} {d}", f"| _ {d}") if d else ()
        yield (ANYWHERE, f"{b} |", f"| {c}", f"{b} | {c}", *before, *after)


def _load() -> dict[str, float]:
    rows = (line.split("\t") for line in WEIGHTS.read_text(encoding="utf-8").splitlines())
    return {pattern: float(weight) for pattern, weight in rows}


_WEIGHTS: Final = _load()
BIAS: Final = _WEIGHTS[ANYWHERE]  # log odds between unknown words
