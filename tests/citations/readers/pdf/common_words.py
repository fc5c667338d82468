"""How much of what other programs print of a file is read.

Words are compared in their compatibility forms and without soft hyphens, and letters of Chinese and
Japanese one by one, as no spaces part their words. Headers and footers count: they are kept behind
a page's paragraphs, and found by its search. What a file draws twice at the same place is read
once; a command that prints it twice lowers the shares.
"""

import re
import subprocess
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

LEAST: Final = 0.9  # share of the words of a file
FEWEST: Final = 8  # words of a file that counts
BEST: Final = "**the best for each file**"
AGREEING: Final = "the best, with fewer than eight words too"
EAST_ASIAN: Final = "\u3040-\u312f\u3190-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"


class Shares(NamedTuple):
    """The shares of a command's words, of its pairs of them, and of its longest sequence of words
    in the same order, in common; how many words.
    """

    words: float
    pairs: float
    order: float
    total: int


def by_reference(
    references: Sequence[str], files: Sequence[Sequence[Shares]]
) -> dict[str, list[Shares]]:
    """Return the shares of the files that count by each reference; by the best of those that print
    enough words; and by the best of all, where that one does.
    """
    columns = {
        f"`{reference}`": list(filter(_counts, own))
        for reference, own in zip(references, zip(*files, strict=True), strict=True)
    }
    columns[BEST] = [shares for own in files if (shares := best(own))]
    agreeing = (max((shares for shares in own if shares.total), default=None) for own in files)
    columns[AGREEING] = [shares for shares in agreeing if shares and _counts(shares)]
    return columns


def medians(
    references: Sequence[str], files: Sequence[Sequence[Shares]]
) -> Iterator[Sequence[object]]:
    """Yield a row for each column of ``by_reference``."""
    for name, shares in by_reference(references, files).items():
        enough = 100 * sum(each.words >= LEAST for each in shares) / max(1, len(shares))
        means = [f"{median(values):.3f}" for values in list(zip(*shares, strict=True))[:3]]
        yield name, len(shares), means[0], f"{enough:.1f}%", *means[1:]


def differing(
    files: Mapping[Path, Sequence[Shares]], broken: Container[Path]
) -> Iterator[Sequence[object]]:
    """Yield a row for each file of which too little is read by the best reference."""
    for path, own in files.items():
        if (shares := best(own)) and shares.words < LEAST:
            each = (f"{shares.words:.2f} of {shares.total}" for shares in own)
            yield path.name, *each, "yes" if path in broken else ""


def best(own: Sequence[Shares]) -> Shares | None:
    """Return the shares by the reference that agrees best, of those that print enough words."""
    return max(filter(_counts, own), default=None)


def _counts(shares: Shares) -> bool:
    return shares.total >= FEWEST


def compared(text: str, reference: str, path: Path) -> Shares:
    """Compare the words of a file with those that a command prints."""
    return shared(words_of(text), words_of(printed(reference, path)))


def printed(reference: str, path: Path) -> str:
    """Return what a command prints of a file, "" if that takes too long."""
    call = [part.format(path) for part in reference.split()]
    with suppress(subprocess.TimeoutExpired):
        run = subprocess.run(call, capture_output=True, check=False, timeout=60)
        return run.stdout.decode(errors="replace")
    return ""


def shared(own: Sequence[str], theirs: Sequence[str]) -> Shares:
    words = (Counter(own) & Counter(theirs)).total() / max(1, len(theirs))
    pairs = (Counter(pairwise(own)) & Counter(pairwise(theirs))).total()
    order = longest_common(own, theirs) / max(1, len(theirs))
    return Shares(words, pairs / max(1, len(theirs) - 1), order, len(theirs))


def longest_common(own: Sequence[str], theirs: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, by Hyyrö's bit vectors (2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(own):
        places[word] = places.get(word, 0) | 1 << place
    every = rest = (1 << len(own)) - 1
    for word in theirs:
        matched = rest & places.get(word, 0)
        rest = (rest + matched | rest - matched) & every
    return len(own) - rest.bit_count()


def words_of(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u00ad", "")
    return re.findall(rf"[{EAST_ASIAN}]|[^\W{EAST_ASIAN}]+", plain)
