"""What `kb eval --answers` does: ask gold questions, and print what came of them."""

from collections.abc import Sequence

from citations.evaluation import answer_quality
from citations.evaluation.search_quality import Question
from citations.library.filters import Filter
from kbsite.cli.terminal import note, print_json, table
from transcripts.scope import Scope


def appraise(scope: Scope, asked: Sequence[Question], *, collection: str, as_json: bool) -> None:
    """Measure and print. Raises what ``appraisal.appraise`` raises."""
    found = answer_quality.appraise(
        scope, asked, filter=Filter(collections=(collection,) if collection else ())
    )
    if as_json:
        print_json(found.as_json())
        return
    shares = [f"{found.first_right:.0%}", f"{found.any_right:.0%}"]
    times = [f"{found.milliseconds:.0f}", f"{found.grounding_milliseconds:.1f}"]
    table(
        ("questions", "answered", "first citation right", "any right", "ms", "of them checking"),
        [[str(found.questions), str(found.answered), *shares, *times]],
    )
    rows = [
        [
            f"{one.low:.1f}–{one.high:.1f}",
            str(one.answers),
            f"{one.estimated:.2f}",
            f"{one.right:.2f}",
        ]
        for one in found.reliability
    ]
    table(("confidence", "answers", "estimated", "right"), rows)
    note(f"Confidence is off by {found.error:.2f} on average.")
    if found.skipped:
        note(f"{found.skipped} questions have no answer in this library and were left out.")
