"""The replies of embedding servers, in whose forms servers take liberties."""

import base64
import binascii
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, model_validator

from citations.providers.text_requests import inner

_NAMES: Final = ("data", "embeddings", "embedding", "vector", "values", "float", "base64")


class EmbeddingReply(BaseModel):
    """Vectors as the server wrote them, in the order of the texts; None if it numbers them wrongly.

    Known forms: ``data``, ``embeddings`` or a bare list, of vectors or of objects with an
    ``embedding``, with or without an ``index``; ``embeddings`` by kind; a single ``embedding``;
    objects around any of these.
    """

    rows: list[Any] | None
    error: Any = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, reply: Any) -> dict[str, Any]:
        if isinstance(reply, dict) and reply.get("error"):
            return {"rows": None, "error": reply["error"]}
        reply = inner(reply, _NAMES)
        if not isinstance(reply, list):
            raise ValueError("no vectors")
        if reply and all(isinstance(value, int | float) for value in reply):
            return {"rows": [reply]}
        if reply and all(isinstance(item, dict) for item in reply):
            return {"rows": _in_order(reply)}
        return {"rows": reply}


def _in_order(items: list[dict[str, Any]]) -> list[Any] | None:
    numbers: list[Any] = [item.get("index") for item in items]
    rows = [inner(item, _NAMES) for item in items]
    if len(rows) == 1 or all(number is None for number in numbers):
        return rows
    try:
        by_number = dict(zip(map(int, numbers), rows, strict=True))
    except (TypeError, ValueError, OverflowError):
        return None
    places = range(len(rows))
    return [by_number[place] for place in places] if by_number.keys() == {*places} else None


def vector_of(row: Any, dimensions: int) -> NDArray[np.float64] | None:
    """Return the vector, of length 1, of a row: numbers, perhaps in a list of their own, or base64.

    None for a vector with null, NaN or infinite values, and for one of length 0. Raises
    ``ValueError``, whose text continues the name of the model, for anything else.
    """
    if row is None:
        return None
    if isinstance(row, list) and row and isinstance(row[0], list):
        if len(row) > 1:
            raise ValueError(f"gives {len(row)} vectors for a text, not one")
        row = row[0]
    try:
        if isinstance(row, str):
            data = base64.b64decode(row, validate=True)
            row = np.frombuffer(data, "<f8" if len(data) == 8 * dimensions else "<f4")
        vector = np.asarray(row, np.float64)
    except (TypeError, ValueError, OverflowError, binascii.Error):
        raise ValueError("gives vectors that are not numbers") from None
    if vector.shape != (dimensions,):
        raise ValueError(f"gives vectors of {vector.size} numbers, not {dimensions}")
    with np.errstate(over="ignore"):
        length = np.linalg.norm(vector)
    return vector / length if length and np.isfinite(length) else None
