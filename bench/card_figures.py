"""Figures of what lectures show: how much of it is right, by set, by score and by weight."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

WINDOWS: Final = {
    "calculus": "calculus/windows",
    "calculus, read one by one": "calculus/windows_labelled",
    "nyudl": "nyudl/windows",
    "hfcourse": "hfcourse/windows",
}
PAIRS: Final = ("calculus", "nyudl", "hfcourse")
OFF_TOPIC: Final = "off-topic"
MAX_ASIDES: Final = 0.04  # of the off-topic windows, that may cite
SURE: Final = (0.98, 0.95, 0.9, 0.8)


@dataclass(frozen=True, slots=True)
class Shown:
    """A card: whether it is right, and its score."""

    is_right: bool
    score: float


Cards = Sequence[Shown]  # of a window, the first first
Measured = Mapping[str, Sequence[Cards]]
Weighed = tuple[tuple[float, ...], Measured]  # weights in order and likelihood, and the floor


def by_score(run: Measured) -> Iterator[str]:
    """Write how many first passages are right by their score."""
    yield "First passages of the last column by their score, all sets together:"
    yield ""
    yield "| score | passages | right |"
    yield "|---|---:|---:|"
    first = [window[0] for name in WINDOWS for window in run[name] if window]
    for least, above in zip(SURE, (1.1, *SURE), strict=False):
        own = [card.is_right for card in first if least <= card.score < above]
        yield f"| from {least} | {len(own)} | {sum(own) / max(1, len(own)):.3f} |"
    yield ""


def aside_count(windows: Sequence[Cards]) -> str:
    """Say how many windows about something else cite."""
    cited = sum(map(bool, windows))
    return f"of {len(windows)} off-topic windows (each after three lectures), {cited} cite."


def weights(chosen: Sequence[Weighed]) -> Iterator[str]:
    """Write what each weight of the section would show, and what is chosen without each pair."""
    asides = len(chosen[0][1][OFF_TOPIC])
    yield (
        "Weights of the section, added to the order's sum and to the log-odds of the likelihood at"
        " most, and the floor of the likelihood (0.0: the judge's own)."
    )
    yield (
        "Replayed with the candidates of the last column. *Off-topic*: share of the off-topic"
        f" windows that cite, each after many stretches of lectures ({asides:,} in all)."
    )
    yield ""
    yield f"| order, likelihood, floor: {LABELS} | {' | '.join(WINDOWS)} | off-topic |"
    yield "|---|" + "---|" * len(WINDOWS) + "---:|"
    for numbers, run in chosen:
        cells = " | ".join(shares(run[name]) for name in WINDOWS)
        yield f"| {', '.join(map(str, numbers))} | {cells} | {_aside_share(run):.4f} |"
    yield ""
    quiet = [candidate for candidate in chosen if _aside_share(candidate[1]) <= MAX_ASIDES]
    for pair in PAIRS:
        numbers, run = max(quiet, key=lambda candidate: _without(candidate[1], pair))
        yield (
            f"- Chosen without {pair} (the most right among those with at most {MAX_ASIDES:.0%}"
            f" off-topic): {', '.join(map(str, numbers))};"
        )
        yield f"  on {pair}: {shares(run[pair])}."


def _aside_share(run: Measured) -> float:
    """Return the share of the windows about something else that cite."""
    return sum(map(bool, run[OFF_TOPIC])) / len(run[OFF_TOPIC])


def _without(run: Measured, pair: str) -> float:
    """Return how much is right on the other pairs: first, any and cited, added up."""
    others = (name for name in WINDOWS if not name.startswith(pair))
    return sum(sum(figures(run[name])[:3]) for name in others)


LABELS: Final = "first · any · cited · silent"


def shares(windows: Sequence[Cards]) -> str:
    return " · ".join(f"{figure:.3f}" for figure in figures(windows))


def figures(windows: Sequence[Cards]) -> tuple[float, float, float, float]:
    """Return the shares of windows and passages that ``LABELS`` names."""
    cards = [card.is_right for window in windows for card in window]
    first = sum(window[0].is_right for window in windows if window) / len(windows)
    any_right = sum(any(card.is_right for card in window) for window in windows) / len(windows)
    silent = sum(not window for window in windows) / len(windows)
    return first, any_right, sum(cards) / max(1, len(cards)), silent
