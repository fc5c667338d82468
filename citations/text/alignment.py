"""What two lists of words have in common. Pure; time is bounded by the product of their lengths, whatever the words."""

from collections import Counter
from collections.abc import Iterator, Sequence

Span = tuple[int, int]


def window(words: Sequence[str], tokens: Sequence[str]) -> Span:
    """Return the stretch of tokens, a little longer than the quote, that has most of its words; a word that the text has often weighs less."""
    wanted = Counter(words)
    hits = [index for index, token in enumerate(tokens) if token in wanted]
    often = Counter(tokens[index] for index in hits)
    size = len(words) + len(words) // 3 + 2
    inside: Counter[str] = Counter()
    best, best_weight, weight, left = 0, -1.0, 0.0, 0
    for index in hits:
        word = tokens[index]
        inside[word] += 1
        weight += (inside[word] <= wanted[word]) / often[word] ** 0.5
        while hits[left] <= index - size:
            gone = tokens[hits[left]]
            weight -= (inside[gone] <= wanted[gone]) / often[gone] ** 0.5
            inside[gone] -= 1
            left += 1
        if weight > best_weight + 1e-9:
            best, best_weight = hits[left], weight
    return max(0, best - len(words) // 6 - 1), min(len(tokens), best + size + 1)


def common(ones: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest common subsequence, as pairs of indexes (dynamic programming; difflib's time is cubic for repeated words)."""
    rows = [
        [0] * (len(others) + 1)
    ]  # from the last word to the first; a row counts what is common from each of the others on
    for one in reversed(ones):
        below, row = rows[-1], [0] * (len(others) + 1)
        for index in range(len(others) - 1, -1, -1):
            row[index] = (
                below[index + 1] + 1 if others[index] == one else max(row[index + 1], below[index])
            )
        rows.append(row)
    return list(_walked(ones, others, rows[::-1]))


def gaps(pairs: Sequence[tuple[int, int]], start: Span, stop: Span) -> Iterator[tuple[Span, Span]]:
    """Yield what lies between the pairs on either side, where anything does."""
    mine, its = start
    for next_mine, next_its in [*pairs, stop]:
        if mine < next_mine or its < next_its:
            yield (mine, next_mine), (its, next_its)
        mine, its = next_mine + 1, next_its + 1


def _walked(
    ones: Sequence[str], others: Sequence[str], rows: Sequence[Sequence[int]]
) -> Iterator[tuple[int, int]]:
    mine, its = 0, 0
    while mine < len(ones) and its < len(others):
        if ones[mine] == others[its]:
            yield mine, its
            mine, its = mine + 1, its + 1
        elif rows[mine + 1][its] >= rows[mine][its + 1]:
            mine += 1
        else:
            its += 1
