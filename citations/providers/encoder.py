"""Encoders of the BERT family, run by OpenVINO: texts in, vectors out."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citations import conf
from citations.providers.conversion import converted
from citations.providers.inference import openvino

MAX_TOKENS = 256
BATCH_TOKENS = 2_048

Vectors = NDArray[np.float32]


class Encoder:
    """A model made ready. Thread safe: each thread has an inference request of its own."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        settings = {"INFERENCE_NUM_THREADS": conf.model_threads(), "NUM_STREAMS": 1}
        self._compiled = openvino().Core().compile_model(str(converted(folder, head="vector")), "CPU", settings)
        self._local = threading.local()

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length 1 for each text, shape (n, d)."""
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        tokens = [one.ids for one in self._tokenizer.encode_batch_fast([_clean(text) for text in texts])]
        order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        out = np.empty((len(tokens), self.dimensions), dtype=np.float32)
        for places in _batches(order, tokens):
            out[places] = self._run([tokens[place] for place in places])
        return out

    @property
    def dimensions(self) -> int:
        """Length of its vectors."""
        return int(self._compiled.output(0).partial_shape[1].get_length())

    def _run(self, tokens: list[list[int]]) -> Vectors:
        width = len(tokens[-1])
        ids = np.zeros((len(tokens), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, one in enumerate(tokens):
            ids[row, : len(one)] = one
            mask[row, : len(one)] = 1
        result: Vectors = self._request().infer([ids, mask])[0]
        return result

    def _request(self) -> Any:
        if not hasattr(self._local, "request"):
            self._local.request = self._compiled.create_infer_request()
        return self._local.request


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _batches(order: list[int], tokens: list[list[int]]) -> Iterator[list[int]]:
    batch: list[int] = []
    for place in order:
        if batch and (len(batch) + 1) * len(tokens[place]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    yield batch
