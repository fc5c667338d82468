"""Whether YouTube's player plays a video, and if not, why: read from its own answer."""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from transcripts.core.errors import Retry, YouTubeError

PLAYER_PATH: Final = "/youtubei/v1/player"
_CODE: Final = re.compile(r"\w{1,100}")


class Unplayable(YouTubeError):
    """YouTube does not play the video; why, it says only in words, which the message quotes."""

    code = "unplayable"
    retry = Retry.LATER


@dataclass(frozen=True, slots=True)
class Playability:
    """What YouTube told one of its players.

    ``codes`` are the words of its programs: the status, names of fields, an offer's id. ``reason``
    is for people, in a language that YouTube chooses.
    """

    status: str
    codes: frozenset[str]
    reason: str


def read_playability(body: bytes) -> Playability | None:
    """Read a player's answer; None if it does not say whether it plays."""
    try:
        answer = _object(json.loads(body))
    except (ValueError, RecursionError):
        return None
    said = _object(answer.get("playabilityStatus"))
    flags = (("videoDetails", "isPrivate"), ("streamingData", "licenseInfos"))
    codes = {name for part, name in flags if _object(answer.get(part)).get(name)}
    reasons: list[str] = []
    pending: list[Any] = [said]
    for node in pending:  # which grows
        if isinstance(node, dict):
            codes |= {name for name, value in node.items() if value}
            reasons += (_text(node[name]) for name in ("reason", "subreason") if name in node)
            pending += node.values()
        elif isinstance(node, list):
            pending += node
        elif isinstance(node, str) and _CODE.fullmatch(node):
            codes.add(node)
    status, reason = said.get("status"), ". ".join(dict.fromkeys(filter(None, reasons)))
    return Playability(status, frozenset(codes), reason) if isinstance(status, str) else None


def _text(node: object) -> str:
    """Return a text in any of the forms in which YouTube writes texts, without a last full stop."""
    runs = _object(node).get("runs")
    parts = (_object(run).get("text", "") for run in runs) if isinstance(runs, list) else ()
    text = node if isinstance(node, str) else _object(node).get("simpleText")
    return str(text or "".join(map(str, parts))).strip().rstrip(".")


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
