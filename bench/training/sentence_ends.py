"""Train and measure where sentences of speech end that has no full stops.

Run ``python bench/training/sentence_ends.py`` from the repository; ``--save`` writes
``citations/text/sentence_ends_en.txt``. The weights are trained on English transcripts with full
stops, from which the stops are taken away, and measured on others, whose speech is cut by the
product's own ``sentences.split``.
"""

import importlib
import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import Final, NamedTuple
from unittest import mock

sys.path.append("bench")

from harness.environment import arguments, boot, command

boot(database=False)

from harness.report import publish, table
from harness.sets import cues, paths
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from speech import LEFT_OUT, TRAINED, spoken

from citations.text import sentences
from citations.text.chunking import LINE_PAUSE
from citations.text.sentences import ANYWHERE, WORD, ends_with_stop, gap_patterns

OTHER_LANGUAGES: Final = ("hfcourse_fr", "nyudl_fr", "nyudl_pt")
UNTIMED: Final = ("tutorialvqa",)  # its "times" are numbers of sentences
MIN_GAPS: Final = 5  # gaps with a pattern
STRENGTH: Final = 0.3  # inverse regularisation
SMALLEST: Final = 0.02  # weight that is kept


class Speech(NamedTuple):
    """Speech without stops, where its sentences begin, and the silence (ms) before its cues."""

    text: str
    starts: Sequence[int]
    pauses: Mapping[int, int]


def main() -> None:
    options = arguments(__doc__, save=False)
    if options.save:
        weights = train([without_marks(path) for path in paths(*TRAINED)])
        lines = (f"{pattern}\t{weight:.2f}\n" for pattern, weight in sorted(weights.items()))
        sentences.WEIGHTS.write_text("".join(lines), encoding="utf-8")
        importlib.reload(sentences)
    publish(
        "Where sentences end without full stops",
        f"{command()}: transcripts whose stops, commas and capitals were taken away, cut by"
        " `sentences.split`. In the cells: the share of cuts that stand where a sentence ends · the"
        " share of sentences that begin at a cut. The weights are trained on"
        f" {', '.join(TRAINED)}. *Pauses*: the silence before cues is known, too.",
        table(
            ("set", "sentences", "length", "with weights", "pauses", "pauses, with weights"), rows()
        ),
    )


def without_marks(path: Path) -> Speech:
    """Take marks and capitals away from a transcript."""
    timed = cues(path)
    said = spoken(timed)
    text = " ".join(said)
    words = list(WORD.finditer(text))
    begins = [match.start() for match in words]
    lengths = (len(match[0]) + 1 for match in words)
    offsets = list(accumulate(lengths, initial=0))  # without marks
    ends = [last for first, last in sentences.split(text) if ends_with_stop(text[first:last])]
    cue_offsets = accumulate((len(cue) + 1 for cue in said), initial=0)
    pauses = {}
    for offset, (before, cue) in zip(islice(cue_offsets, 1, None), pairwise(timed), strict=False):
        silence = cue["start"] - (before["start"] + before["duration"])
        pauses[offsets[bisect_left(begins, offset)]] = round(1_000 * silence)
    return Speech(
        text=" ".join(match[0].casefold() for match in words),
        starts=sorted({offsets[bisect_left(begins, end)] for end in ends}),
        pauses={offset: max(0, pause) + LINE_PAUSE for offset, pause in pauses.items()},
    )


def train(talks: Sequence[Speech]) -> dict[str, float]:
    """Return the weights of patterns, and the bias."""
    rows, labels = [], []
    for talk in talks:
        words = list(WORD.finditer(talk.text))
        starts = set(talk.starts)
        rows += list(gap_patterns([match[0] for match in words]))
        labels += [match.start() in starts for match in words[1:]]
    counter = CountVectorizer(analyzer=lambda row: row[1:], min_df=MIN_GAPS)
    matrix = counter.fit_transform(rows)
    model = LogisticRegression(C=STRENGTH, l1_ratio=1.0, solver="liblinear", random_state=1)
    model.fit(matrix, labels)
    weights = {ANYWHERE: float(model.intercept_[0])}
    weights |= dict(zip(counter.get_feature_names_out(), map(float, model.coef_[0]), strict=True))
    return {name: weight for name, weight in weights.items() if abs(weight) >= SMALLEST}


def rows() -> Iterator[Sequence[object]]:
    for name in (*LEFT_OUT, *OTHER_LANGUAGES):
        talks = [without_marks(path) for path in paths(name)]
        cells = []
        for has_pauses in (False, True):
            if has_pauses and name in UNTIMED:
                cells += ["–", "–"]
                continue
            with mock.patch.object(sentences, "log_odds_of_ends", return_value={}):
                cells.append(quality(talks, has_pauses))
            cells.append(quality(talks, has_pauses))
        yield name, sum(len(talk.starts) for talk in talks), *cells


def quality(talks: Sequence[Speech], has_pauses: bool) -> str:
    """Return how many cuts are right, and how many sentences have one."""
    cuts = right = total = 0
    for talk in talks:
        spans = sentences.split(talk.text, talk.pauses if has_pauses else None)
        begins = {first for first, _ in spans[1:]}
        cuts, total = cuts + len(begins), total + len(talk.starts)
        right += len(begins & set(talk.starts))
    return f"{right / cuts:.3f} · {right / total:.3f}"


if __name__ == "__main__":
    main()
