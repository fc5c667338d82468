"""Speech with full stops: what models of full stops learn from, and what they are measured with."""

import re
from collections.abc import Sequence
from typing import Any, Final

from citations.text.speakers import LABEL

TRAINED: Final = ("bitcoin", "qmsum", "hfcourse", "tinyrec")  # their licences permit it
LEFT_OUT: Final = ("ocw1801", "ocw6012", "ergo", "tutorialvqa")
# QMSum's words are set apart: “Doesn 't look like it 's”.
_APART: Final = re.compile(r"\s+(?=['’]\w)")


def spoken(cues: Sequence[dict[str, Any]]) -> list[str]:
    """Return what the cues of a transcript say, without the names of speakers."""
    return [LABEL.sub("", _APART.sub("", cue["text"]), count=1).strip() for cue in cues]
