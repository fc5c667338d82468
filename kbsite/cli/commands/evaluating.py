"""Measuring how well the library is searched, and what lectures may cite: eval, calibrate."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kbsite.cli.options import InCollection, Json
from kbsite.cli.terminal import open_library
from transcripts.errors import InvalidInput


class ApproachOption(StrEnum):
    """A way to search that can be measured by itself."""

    LEXICAL = "lexical"
    VECTOR = "vector"
    HYBRID = "hybrid"
    RERANKED = "hybrid+rerank"


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("eval")(evaluate)
    app.command("calibrate")(calibrate)


def evaluate(
    gold: Annotated[
        Path | None,
        typer.Argument(
            metavar="GOLD.jsonl",
            exists=True,
            dir_okay=False,
            readable=True,
            show_default=False,
            help='Questions, one JSON object a line: {"query": …, "video" or "source": ID, "gold": [\\[start, end], …] in seconds or "pages": \\[page, …]}.',
        ),
    ] = None,
    marked: Annotated[
        bool,
        typer.Option("--marked", help="Measure with the hits that people marked as right instead."),
    ] = False,
    user: Annotated[
        str, typer.Option(metavar="NAME", help="Of those, only this user's.", show_default=False)
    ] = "",
    modes: Annotated[
        list[ApproachOption] | None,
        typer.Option(
            "--mode", "-m", help="Measure this alone; may be repeated.", show_default=False
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option("--limit", "-n", min=1, max=50, help="How many passages of a search count."),
    ] = 10,
    collection: InCollection = "",
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="Keep the measurement, as JSON.",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="Compare with a kept one; fail when this one is worse.",
            show_default=False,
        ),
    ] = None,
    changed: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="NAME=VALUE",
            help="Measure with this setting too, and fail when it is worse; may be repeated.",
            show_default=False,
        ),
    ] = None,
    answers: Annotated[
        bool,
        typer.Option(
            "--answers",
            help="Measure answers instead: what they cite, what is refused, and what confidence is worth.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure how well searches find what they should: nDCG@10, hit@1, hit@5, recall@5, recall@10, MRR@10, for each way to search.

    A hit counts when it shares at least half of itself, or half of the answer, with the answer. The exit code is not 0 when a comparison is lost.
    """
    if (gold is None) is not marked:
        raise InvalidInput(
            "Say what to measure with: a file of questions, or --marked.",
            hint="kb eval GOLD.jsonl, or kb eval --marked",
        )
    scope = open_library()
    from kbsite.cli import eval as cli_eval
    from kbsite.cli import eval_answers

    wishes = cli_eval.EvalOptions(
        modes=tuple(mode.value for mode in modes or ()),
        limit=limit,
        collection=collection,
        save=save,
        against=against,
        changed=tuple(changed or ()),
        as_json=as_json,
    )
    asked = cli_eval.questions(scope, gold=gold, user=user)
    if answers:
        eval_answers.appraise(scope, asked, collection=collection, as_json=as_json)
    else:
        cli_eval.measure(scope, asked, wishes)


def calibrate(
    false_citations: Annotated[
        float,
        typer.Option(
            "--false-citations",
            min=0,
            max=50,
            help="Of a hundred windows of talk about something else, how many may cite something.",
        ),
    ] = 5.0,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file",
            metavar="OFFTOPIC.txt",
            exists=True,
            dir_okay=False,
            readable=True,
            help="Such talk, in place of our own English.",
            show_default=False,
        ),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Go back to LIVE_DISTANCE_THRESHOLD.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Find out how near a passage must be to be cited in a lecture, from talk that has nothing to do with the library.

    The distance belongs to the embedding model and the library: do it again after a migration, and when the library has grown a lot.
    """
    open_library()
    from kbsite.cli import calibrate as cli_calibrate

    if forget:
        cli_calibrate.forget()
    else:
        cli_calibrate.calibrate(false_citations=false_citations, file=file, as_json=as_json)
