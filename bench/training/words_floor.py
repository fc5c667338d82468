"""Train and measure the floor of questions in languages that the embedding model was not made for:
it reads words, and no cosine.

Run ``python bench/training/words_floor.py`` from the repository; ``--save`` writes the floor that
is shipped to ``citations/search/words_floor.json``. Sets, families and licences are those of
``bench/training/judge.py``. All of them are English: words, unlike cosines, count alike in every
language that has stems.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any, Final
from unittest import mock

sys.path.append("bench")

from harness.environment import arguments, boot, command

boot(RERANKER="none", EMBEDDING_PROVIDER="fake")

from harness.judged import SETS
from harness.report import publish, table
from judge import LOST, SHIPPED, below, quantile, train_likelihood
from queries import FOREIGN, GIBBERISH, OWN, JudgedQuery, left_out, read_or_gather

from citations.search import fusion
from citations.search.judge import WORDS, Floor

LIKELIHOOD: Final = ("coverage with neighbours", "coverage", "rarest word", "strength of words")


def main() -> None:
    options = arguments(__doc__, questions=180, kept="", save=False)
    fuse = fusion.rrf
    with mock.patch.object(fusion, "rrf", lambda rankings, *, k: fuse(rankings[:1], k=k)):
        judged = read_or_gather(options.kept, SETS, options.questions, has_speech=False)
    if options.save:
        everything = [query for queries in judged.values() for query in queries]
        shipped = train([query for query in everything if query.set in SHIPPED], everything)
        WORDS.write_text(json.dumps(shipped) + "\n", encoding="utf-8")
    folds = {name: train(others, others) for name in judged for others in [left_out(judged, name)]}
    floors = {name: Floor.from_json(fold) for name, fold in folds.items()}
    publish(
        "The floor of words",
        f"{command()}: of the 50 best by words, the likeliest. Each set is measured with a floor"
        f" that was trained without its family, and set so that {LOST:.0%} of the other sets'"
        " questions are below it. Gibberish has hardly any candidates by words.",
        table(
            ("set", "own", "foreign", "AUC"),
            (
                (name, *below(queries, floors[name], (OWN, FOREIGN)))
                for name, queries in judged.items()
            ),
        ),
    )


def train(queries: Sequence[JudgedQuery], choosing: Sequence[JudgedQuery]) -> dict[str, Any]:
    """Train with queries, and choose the floor with others; as ``Floor`` reads it."""
    likelihood = train_likelihood(queries, (OWN, FOREIGN, GIBBERISH), LIKELIHOOD)
    own = [query for query in choosing if query.kind == OWN]
    return {"likelihood": likelihood, "floor": quantile(likelihood, own, LOST)}


if __name__ == "__main__":
    main()
