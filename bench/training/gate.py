"""Train the gate that tells a lecture's subject from its asides, and measure it.

Run ``python bench/training/gate.py`` from the repository; with ``--save`` the head is written to
``citations/providers/gate.json``, too. It learns from texts whose licence lets what is learnt be
shipped: the project's own (``asides.txt``, ``lessons.txt``), transcripts about Bitcoin (MIT) and of
the Hugging Face course (Apache-2.0). All others only measure.
"""

import json
import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

sys.path.append("bench")

from harness.environment import arguments, boot, command

boot(database=False)

from harness.report import publish, share, table
from harness.sets import cues, jsonl, paths, windows
from harness.vectors import KeptEmbedder
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from citations.lectures import windows as lecture_windows
from citations.providers import registry
from citations.providers.topic_gate import SURE, TRAINED
from citations.text import sentences

FALSE_ALARMS = 0.005  # of windows about a subject that may be called off-topic
STRENGTH = 1.0  # inverse of the regularisation
FOLDS = 5
SENTENCES = (2, 3, 4)  # of a window made of our own texts
TALKS = {"bitcoin": (700, 30), "hfcourse": (400, 20)}  # windows in all, and of one talk
ENDS = 3  # windows at either end of a talk that are left out: greetings and thanks

MODEL: Final = KeptEmbedder(registry.embedder("local"))  # that lectures are heard with
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Lot:
    """Texts of one kind.

    ``groups`` says which belong together: such are never both learnt from and measured with.
    """

    name: str
    is_aside: bool
    weight: float
    texts: list[str]
    groups: list[str]


@dataclass(frozen=True, slots=True)
class Trained:
    """A head: the weights, the bias already shifted, and how it did on lots that it had not seen
    while they were measured.
    """

    weights: Numbers
    bias: float
    auc: float
    recall: float

    def sure(self, vectors: Numbers) -> Numbers:
        """Return how sure it is of each, 0 to 1."""
        return np.asarray(1 / (1 + np.exp(-(vectors @ self.weights + self.bias))))


def main() -> None:
    save = arguments(__doc__, save=False).save
    random.seed(0)
    lots = [
        own("asides", is_aside=True),
        own("lessons", is_aside=False, weight=2.0),
        *(talks(name, *size) for name, size in TALKS.items()),
    ]
    head = train(lots, [embedded(lot.texts) for lot in lots])
    if save:
        shipped = {
            "model": MODEL.model,
            "bias": round(head.bias, 4),
            "weights": [round(float(weight), 4) for weight in head.weights],
        }
        TRAINED.write_text(json.dumps(shipped) + "\n", encoding="utf-8")
    kinds = {True: "aside", False: "subject"}
    publish(
        "The relevance gate",
        f"{command()}. Off-topic means a confidence above {SURE}.",
        table(
            ("trained on", "windows", "is"),
            ((lot.name, len(lot.texts), kinds[lot.is_aside]) for lot in lots),
        ),
        f"On paragraphs and talks left out of training in turn: AUC {head.auc:.3f};"
        f" {head.recall:.0%} of the asides are found.",
        *in_lectures(head),
        table(("other windows", "windows", "called off-topic"), elsewhere(head)),
    )


def own(name: str, *, is_aside: bool, weight: float = 1.0) -> Lot:
    """Make windows of two to four sentences of each paragraph of a text of ours."""
    text = Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8")
    made = [
        (f"{name} {place}", part)
        for place, paragraph in enumerate(text.split("\n\n"))
        for part in _parts(" ".join(paragraph.split()))
    ]
    return Lot(name, is_aside, weight, [part for _, part in made], [group for group, _ in made])


def _parts(paragraph: str) -> Iterator[str]:
    said = [paragraph[start:stop].strip() for start, stop in sentences.split(paragraph)]
    for size in SENTENCES:
        for start in range(max(1, len(said) - size + 1)):
            yield " ".join(said[start : start + size])


def talks(name: str, most: int, each: int) -> Lot:
    """Draw windows from talks about a subject."""
    made: list[tuple[str, str]] = []
    for path in paths(name):
        said = (
            lecture_windows.Utterance(place, cue["text"]) for place, cue in enumerate(cues(path))
        )
        _, full = lecture_windows.feed(lecture_windows.Buffer(), said)
        inner = [window.text for window in full[ENDS:-ENDS]]
        made += [
            (f"{name} {path.stem}", text) for text in random.sample(inner, min(each, len(inner)))
        ]
    random.shuffle(made)
    return Lot(
        name, False, 1.0, [text for _, text in made[:most]], [group for group, _ in made[:most]]
    )


def embedded(texts: Iterable[str]) -> Numbers:
    """Embed texts as a live window is."""
    return np.asarray(MODEL.embed_documents(list(texts)), dtype=np.float64)


def train(lots: Sequence[Lot], vectors: Sequence[Numbers]) -> Trained:
    """Train on all lots; where confidence begins is found on talks that the weights were not learnt
    from.
    """
    features = np.vstack(vectors)
    asides = np.concatenate([np.full(len(lot.texts), lot.is_aside) for lot in lots])
    shares = np.concatenate([np.full(len(lot.texts), lot.weight / len(lot.texts)) for lot in lots])
    for kind in (True, False):
        shares[asides == kind] *= len(asides) / 2 / shares[asides == kind].sum()
    groups = [group for lot in lots for group in lot.groups]
    unseen = np.zeros(len(asides))
    for known, new in GroupKFold(FOLDS).split(features, asides, groups):
        unseen[new] = _fitted(features[known], asides[known], shares[known]).decision_function(
            features[new]
        )
    border = float(np.quantile(unseen[~asides], 1 - FALSE_ALARMS))
    whole = _fitted(features, asides, shares)
    bias = float(whole.intercept_[0]) - border + float(np.log(SURE / (1 - SURE)))
    return Trained(
        whole.coef_[0],
        bias,
        float(roc_auc_score(asides, unseen)),
        float(np.mean(unseen[asides] > border)),
    )


def _fitted(features: Numbers, asides: NDArray[np.bool_], shares: Numbers) -> LogisticRegression:
    return LogisticRegression(C=STRENGTH, max_iter=3_000).fit(
        features, asides, sample_weight=shares
    )


def in_lectures(head: Trained) -> Sequence[str]:
    """Write what is called off-topic in real lectures."""
    rows = jsonl("dev/classifier/in_lecture.jsonl")
    sure = head.sure(embedded(row["text"] for row in rows))
    label = np.array([row["label"] for row in rows])
    kind = np.array([row["kind"] for row in rows])
    is_random = np.array([row["pool"] == "random" for row in rows])
    asides, subject = label == "off_topic", label == "academic_content"
    both = asides | subject
    groups = {
        "asides": asides,
        "asides: administration": asides & (kind == "admin"),
        "asides: stories, fillers": asides & (kind != "admin"),
        "half subject, half aside": label == "mixed",
        "subject, drawn by words of administration": subject & ~is_random,
        "subject, drawn at random": subject & is_random,
    }
    return (
        f"Asides in real lectures (`in_lecture.jsonl`, {asides.sum()} asides, {subject.sum()} about"
        f" the subject): AUC {roc_auc_score(asides[both], sure[both]):.3f}.",
        table(
            ("real lectures", "windows", "called off-topic"),
            (
                (name, int(chosen.sum()), share(sure[chosen] > SURE, 1))
                for name, chosen in groups.items()
            ),
        ),
        f"Of those called off-topic {np.mean(asides[both & (sure > SURE)]):.0%} are asides.",
    )


def elsewhere(head: Trained) -> Iterator[Sequence[object]]:
    """Yield what is called off-topic in other texts."""
    texts: dict[str, list[str]] = {}
    for row in sorted(jsonl("dev/classifier/weak_by_source.jsonl"), key=lambda row: row["source"]):
        texts.setdefault(row["source"], []).append(row["text"])
    pairs = [row["text"] for row in windows("nyudl/windows")]
    for name, own in (*texts.items(), ("NYU deep learning lectures (pairs)", pairs)):
        yield name, len(own), share(head.sure(embedded(own)) > SURE, 1)


if __name__ == "__main__":
    main()
