"""`kb calibrate`: find the distance at which lectures cite a passage."""

from pathlib import Path
from typing import Annotated

import typer

from citations.lectures import calibration
from citations.lectures.calibration import DistanceCalibration
from kbsite.cli.database import open_library
from kbsite.cli.options import Json, option
from kbsite.cli.terminal import note, print_json, say
from transcripts.errors import InvalidInput


def calibrate(
    false_citations: Annotated[
        float,
        typer.Option(
            "--false-citations",
            min=0,
            max=50,
            help="Acceptable percentage of off-topic windows that cite something.",
        ),
    ] = 5.0,
    file: Annotated[
        Path | None,
        option(
            "--file",
            metavar="OFFTOPIC.txt",
            exists=True,
            dir_okay=False,
            readable=True,
            help="Off-topic talk; unset: the built-in English one.",
        ),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Go back to LIVE_DISTANCE_THRESHOLD.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Calibrate the distance at which lectures cite a passage.

    Measures how near off-topic talk comes to each collection. The result holds for one embedding
    model: calibrate again after a migration, and when a collection is new or has grown a lot.
    """
    open_library()
    if forget:
        calibration.forget()
        say("Calibration deleted: LIVE_DISTANCE_THRESHOLD applies.")
        return
    limit = calibration.MAX_TEXT
    if file and file.stat().st_size > 4 * limit:
        raise InvalidInput(f"{file.name} is too large: the limit is {limit:,} characters.")
    text = file.read_text(encoding="utf-8", errors="replace") if file else ""
    results = calibration.calibrate(false_citations=false_citations, off_topic=text)
    if as_json:
        print_json({slug: result.to_json() for slug, result in results.items()})
        return
    for slug, result in results.items():
        _tell(slug, result)


def _tell(slug: str, result: DistanceCalibration) -> None:
    minimum, low, median, high = result.nearest_off_topic
    say(
        f"Lectures of {slug} cite passages nearer than {result.max_distance:.3f}"
        " (squared L2 distance)."
    )
    note(
        f"{result.within} of {result.windows} off-topic windows would cite"
        f" one of {result.chunks:,} passages."
    )
    note(
        f"Distance to their nearest passage: minimum {minimum:.3f},"
        f" 5 % {low:.3f}, median {median:.3f}, 95 % {high:.3f}."
    )
    if result.kept is not None:
        note(f"{result.kept:.0%} of its passages have another one within that distance.")
    if result.is_small:
        note("The collection is small: calibrate again when it has grown.")
