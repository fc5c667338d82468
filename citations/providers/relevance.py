"""Is it about the subject, or about coffee? A small head over the vector of a text that is made anyway."""

from typing import Final, Protocol

from citations.providers.embedding import Vector

SURE: Final = 0.8  # from here on a window counts as off-topic


class Gate(Protocol):
    """Something that tells talk about a subject from asides."""

    def off_topic(self, vector: Vector) -> float:
        """Return how sure it is, 0 to 1, that a text with this vector (of the model that it was trained on) is off-topic."""
