"""How near sentences are to what a text is about as a whole. Pure."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[Any]  # of length 1, in rows
Embed: TypeAlias = Callable[[Sequence[str]], Vectors]


def centrality(texts: Sequence[str], *, whole: Vectors, title: str, embed: Embed) -> list[float]:
    """Rate texts by their cosine with the ``whole``, and with the title as far as the title tells
    what the whole is about: a file name tells nothing.
    """
    if not texts:
        return []
    rows = np.stack(list(embed([*texts, *([title] if title else [])])))
    sentences, heading = rows[: len(texts)], rows[len(texts) :]
    weight = np.maximum(0, heading @ whole).sum()
    return [
        float(rate) for rate in sentences @ whole + weight * (sentences @ heading.T).sum(axis=1)
    ]
