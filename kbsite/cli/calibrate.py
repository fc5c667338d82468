"""What `kb calibrate` does: calibrate, and say what came of it."""

from pathlib import Path

from citations.lectures import calibration
from citations.lectures.calibration import DistanceCalibration
from kbsite.cli.terminal import note, print_json, say
from transcripts.errors import InvalidInput


def calibrate(*, false_citations: float, file: Path | None, as_json: bool) -> None:
    """Calibrate and print. Raises ``InvalidInput`` for a file that is too large, and what ``calibration.calibrate`` raises."""
    found = calibration.calibrate(
        false_citations=false_citations, off_topic=_read(file) if file else ""
    )
    if as_json:
        print_json(found.to_json())
    else:
        _show(found)


def forget() -> None:
    """Go back to the distance of the settings."""
    calibration.forget()
    say("Forgotten: LIVE_DISTANCE_THRESHOLD holds.")


def _read(file: Path) -> str:
    if file.stat().st_size > 4 * calibration.MOST_TEXT:
        raise InvalidInput(
            f"{file.name} is too large: at most {calibration.MOST_TEXT:,} characters are read."
        )
    return file.read_text(encoding="utf-8", errors="replace")


def _show(found: DistanceCalibration) -> None:
    say(f"Lectures cite what is nearer than {found.farthest:.3f} (squared L2 distance).")
    least, low, middle, high = found.nearest_off_topic
    note(
        f"{found.within} of {found.windows} windows of talk about something else would cite one of {found.chunks:,} passages."
    )
    note(
        f"Their nearest passages: {least:.3f} at least, {low:.3f} (5 %), {middle:.3f} (half), {high:.3f} (95 %)."
    )
    if found.kept is not None:
        note(
            f"Of the library's own passages {found.kept:.0%} have another one within that distance."
        )
    if found.is_small:
        note("The library is small: calibrate again when it has grown.")
