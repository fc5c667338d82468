"""Align two lists of words. Pure; time is bounded by the product of their lengths."""

from collections import Counter
from collections.abc import Iterator, Sequence

from citations.text.sentences import Span


def window(words: Sequence[str], tokens: Sequence[str]) -> Span:
    """Return the stretch of tokens, slightly longer than the quote, that holds most of its words.

    Words that are frequent in the text weigh less.
    """
    target = Counter(words)
    hits = [index for index, token in enumerate(tokens) if token in target]
    frequency = Counter(tokens[index] for index in hits)
    size = len(words) + len(words) // 3 + 2
    counts: Counter[str] = Counter()
    best, best_weight, weight, left = 0, -1.0, 0.0, 0
    for index in hits:
        word = tokens[index]
        counts[word] += 1
        weight += (counts[word] <= target[word]) / frequency[word] ** 0.5
        while hits[left] <= index - size:
            dropped = tokens[hits[left]]
            weight -= (counts[dropped] <= target[dropped]) / frequency[dropped] ** 0.5
            counts[dropped] -= 1
            left += 1
        if weight > best_weight + 1e-9:
            best, best_weight = hits[left], weight
    return max(0, best - len(words) // 6 - 1), min(len(tokens), best + size + 1)


def common(words: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest common subsequence as pairs of indexes.

    Dynamic programming, because difflib takes cubic time on repeated words.
    """
    # From the last word to the first: each row holds the length common from each index on.
    rows = [[0] * (len(others) + 1)]
    for word in reversed(words):
        below, row = rows[-1], [0] * (len(others) + 1)
        for index in range(len(others) - 1, -1, -1):
            row[index] = (
                below[index + 1] + 1 if others[index] == word else max(row[index + 1], below[index])
            )
        rows.append(row)
    rows.reverse()
    pairs: list[tuple[int, int]] = []
    mine, its = 0, 0
    while mine < len(words) and its < len(others):
        if words[mine] == others[its]:
            pairs.append((mine, its))
            mine, its = mine + 1, its + 1
        elif rows[mine + 1][its] >= rows[mine][its + 1]:
            mine += 1
        else:
            its += 1
    return pairs


def gaps(pairs: Sequence[tuple[int, int]], start: Span, stop: Span) -> Iterator[tuple[Span, Span]]:
    """Yield the unpaired stretches (mine, theirs) between pairs."""
    mine, its = start
    for next_mine, next_its in [*pairs, stop]:
        if mine < next_mine or its < next_its:
            yield (mine, next_mine), (its, next_its)
        mine, its = next_mine + 1, next_its + 1
