"""The stages of an answer, as whoever waits is told them. Pure."""

from typing import Final

STAGES: Final = {
    "route": "Reading the question",
    "retrieve": "Looking for passages",
    "rerank": "Ordering them",
    "write": "Writing",
    "ground": "Writing, and checking every quote",
}


def told(stage: str) -> str:
    """Return what goes on in a stage; one that is not known here by its name."""
    return f"{STAGES.get(stage, stage.capitalize())} …"
