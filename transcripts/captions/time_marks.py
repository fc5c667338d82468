"""Times as captions write them: ``1:02:03.5``, ``10:02:05 AM``, ``1h2m3s``, ``3,5``."""

import re
from typing import Final

CLOCK: Final = r"(?:[0-9]{1,6}:)?[0-9]{1,3}:[0-9]{1,2}(?:[.,][0-9]{1,9})?"
ARROW: Final = r"[ \t]*(?:-{1,3}>|[–—=]>|→)[ \t]*"
SECONDS: Final = r"[0-9]{1,9}(?:[.,][0-9]{1,9})?"
UNITS: Final = (
    r"(?:[0-9]{1,4}[ \t]?h[ \t]?(?:[0-9]{1,5}[ \t]?m(?:in)?[ \t]?)?"
    rf"(?:{SECONDS}[ \t]?s(?:ec)?)?|(?:[0-9]{{1,5}}[ \t]?m(?:in)?[ \t]?)?{SECONDS}[ \t]?s(?:ec)?)"
    r"(?![^\W\d_])"
)
_CLOCK: Final = re.compile(
    r"(?:(?:([0-9]{1,6}):)?([0-9]{1,5}):)?([0-9]{1,9})(?:[.,]([0-9]{1,9}))?"
    r"(?:\s?([ap])\.?m\.?)?",
    re.IGNORECASE,
)
_UNITS: Final = re.compile(
    r"(?:([0-9]{1,4})\s?h)?\s?(?:([0-9]{1,5})\s?m(?:in)?)?\s?"
    r"(?:([0-9]{1,9})(?:[.,]([0-9]{1,9}))?\s?s(?:ec)?)?()",
    re.IGNORECASE,
)


def milliseconds(written: str) -> int | None:
    """Return a time in ms, or None for what is none; any number of digits makes a fraction."""
    written = written.strip()
    match = _CLOCK.fullmatch(written) or (_UNITS.fullmatch(written) if written else None)
    if match is None:
        return None
    hours, minutes, seconds, fraction, half = match.groups(default="0")
    hour = int(hours) % 12 + 12 * (half in "pP") if half in {"a", "A", "p", "P"} else int(hours)
    return (hour * 3600 + int(minutes) * 60 + int(seconds)) * 1000 + int(fraction[:3].ljust(3, "0"))
