"""Train and measure the floor of questions in languages that the embedding model was not made for:
it reads words, and no cosine.

Run ``python bench/train_words_floor.py`` from the repository; ``--save`` writes the floor that is
shipped to ``citations/search/words_floor.json``. Sets, families and licences are those of
``bench/train_judge.py``. All of them are English: words, unlike cosines, count alike in every
language that has stems.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from unittest import mock

from environment import boot, command

boot(RERANKER="none", EMBEDDING_PROVIDER="fake")

from bm25 import write
from judged import SETS, fill
from train_judge import (
    FOREIGN,
    GIBBERISH,
    LOST,
    OWN,
    SHIPPED,
    JudgedQuery,
    floor_row,
    judged_queries,
    left_out,
    quantile,
    read_or_gather,
    train_likelihood,
)

from citations.lexical import merging
from citations.search import fusion, judge

TITLE: Final = "## The floor of words"
LIKELIHOOD: Final = ("coverage with neighbours", "coverage", "rarest word", "strength of words")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=180, help="of each set, at most")
    parser.add_argument("--kept", type=Path, help="keep signs in this file, or read them there")
    parser.add_argument("--save", action="store_true", help="write the floor that is shipped")
    options = parser.parse_args()
    judged = read_or_gather(options.kept, lambda: gathered(options.questions))
    if options.save:
        everything = [query for queries in judged.values() for query in queries]
        shipped = train([query for query in everything if query.set in SHIPPED], everything)
        judge.WORDS.write_text(json.dumps(shipped) + "\n", encoding="utf-8")
    report = "\n".join(reported(judged))
    print(report)
    write(report)


def gathered(most: int) -> dict[str, list[JudgedQuery]]:
    """Search by words alone for the questions of all sets."""
    sets = [fill(name, most=most) for name in SETS]
    merging.merge()
    fused = fusion.rrf
    with mock.patch.object(fusion, "rrf", lambda rankings, *, k: fused(rankings[:1], k=k)):
        return {own.name: list(judged_queries(own, sets, has_speech=False)) for own in sets}


def train(queries: Sequence[JudgedQuery], choosing: Sequence[JudgedQuery]) -> dict[str, Any]:
    """Train with queries, and choose the floor with others; as ``Floor`` reads it."""
    likelihood = train_likelihood(queries, (OWN, FOREIGN, GIBBERISH), LIKELIHOOD)
    own = [query for query in choosing if query.kind == OWN]
    return {"likelihood": likelihood, "floor": quantile(likelihood, own, LOST)}


def reported(judged: dict[str, list[JudgedQuery]]) -> Iterator[str]:
    """Write the section of the results."""
    folds = {name: train(others, others) for name in judged for others in [left_out(judged, name)]}
    floors = {name: judge.Floor.from_json(fold) for name, fold in folds.items()}
    yield TITLE
    yield ""
    yield f"`{command('bench/train_words_floor.py')}`: of the 50 best by words, the likeliest. Each"
    yield "set is measured with a floor that was trained without its family, and set so that"
    yield f"{LOST:.0%} of the other sets' questions are below it. Gibberish has hardly any"
    yield "candidates by words."
    yield ""
    yield "| set | own | foreign | AUC |"
    yield "|---|---:|---:|---:|"
    for name, queries in judged.items():
        yield floor_row(name, queries, floors[name], (OWN, FOREIGN))
    yield ""


if __name__ == "__main__":
    main()
