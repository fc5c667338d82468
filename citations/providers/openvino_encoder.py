"""Encoders of the BERT family on this machine's processor: tokens in, vectors or logits out.

Texts of like length share a batch, so that little is computed for padding; a batch holds so many tokens that what lies between two layers stays in
the processor's cache.
"""

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from citations import conf
from citations.errors import ModelError
from citations.providers.model_config import ModelConfig
from citations.providers.openvino_conversion import discard_graph, ensure_graph
from citations.providers.runtime import openvino

BATCH_TOKENS = 512
READ_AT_ONCE = 1_024  # texts whose tokens are held at the same time

Numbers: TypeAlias = NDArray[np.float32]


class Tokens(NamedTuple):
    """A text, or a pair of texts, as the model reads it: ids, and for each whether it belongs to the second text."""

    ids: list[int]
    kinds: list[int]


class Engine:
    """A model made ready. Thread safe: each thread has an inference request of its own, and as many run at once as the processor has cores.

    Raises ``Unconvertible`` for a model that only torch can run, ``ModelError`` where it cannot be loaded.
    """

    def __init__(self, folder: Path, blueprint: ModelConfig, *, head: str) -> None:
        self._compiled = _compiled(folder, head)
        self._pad = blueprint.pad
        self._inputs = [next(iter(one.get_names())) for one in self._compiled.inputs]
        self._local = threading.local()

    def run(self, texts: Sequence[Tokens]) -> Numbers:
        """Return the model's output for each, in their order, shape (n, width)."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place].ids))
        out: Numbers = np.empty((len(texts), self.width), dtype=np.float32)
        for places in _batches(order, [len(text.ids) for text in texts]):
            out[places] = self._infer([texts[place] for place in places])
        return out

    @property
    def width(self) -> int:
        """Numbers that it gives for a text."""
        return int(self._compiled.output(0).partial_shape[1].get_length())

    def _infer(self, batch: list[Tokens]) -> Numbers:
        shape = (len(batch), len(batch[-1].ids))
        ids, mask, kinds = (
            np.full(shape, self._pad, np.int64),
            np.zeros(shape, np.int64),
            np.zeros(shape, np.int64),
        )
        for row, text in enumerate(batch):
            ids[row, : len(text.ids)] = text.ids
            kinds[row, : len(text.ids)] = text.kinds
            mask[row, : len(text.ids)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
        result: Numbers = self._request().infer([given[name] for name in self._inputs])[0]
        return result

    def _request(self) -> Any:
        if not hasattr(self._local, "request"):
            self._local.request = self._compiled.create_infer_request()
        return self._local.request


class TextEncoder:
    """Texts become vectors of length 1. Raises what ``Engine`` raises."""

    def __init__(self, folder: Path, blueprint: ModelConfig) -> None:
        self._tokenizer = tokenizer(folder)
        self._tokenizer.enable_truncation(blueprint.max_tokens)
        self._lower = blueprint.lower
        self._engine = Engine(folder, blueprint, head="vector")
        self.dimensions = self._engine.width

    def vectors(self, texts: Sequence[str]) -> Numbers:
        """Return their vectors, float32 (n, dimensions); the end of what is too long for the model is left out."""
        parts = [
            self._some(texts[start : start + READ_AT_ONCE])
            for start in range(0, len(texts), READ_AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), np.float32)

    def _some(self, texts: Sequence[str]) -> Numbers:
        cleaned = [replace_surrogates(text.lower() if self._lower else text) for text in texts]
        return self._engine.run(
            [Tokens(one.ids, one.type_ids) for one in self._tokenizer.encode_batch_fast(cleaned)]
        )


def tokenizer(folder: Path) -> Any:
    """Load a model's tokenizer; it neither pads nor cuts. Raises ``ModelError``."""
    from tokenizers import Tokenizer

    try:
        loaded = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library has no class of its own for it
        raise ModelError(
            f"The tokenizer of {folder.name} cannot be read: {error}",
            hint="`kb models fetch` gets the model's files.",
        ) from error
    loaded.no_padding()
    loaded.no_truncation()
    return loaded


def replace_surrogates(text: str) -> str:
    """Return text that can be written as UTF-8: half characters become question marks."""
    return text.encode("utf-8", "replace").decode()


def _compiled(folder: Path, head: str) -> Any:
    graph = ensure_graph(folder, head=head)
    try:
        return _compile(graph)
    except (
        RuntimeError
    ) as error:  # whole, yet of no use: the folder was made on another machine, say
        logging.getLogger(__name__).warning(
            "The graph of %s cannot be loaded and is made anew: %s", folder.name, error
        )
        discard_graph(graph)
    try:
        return _compile(ensure_graph(folder, head=head))
    except RuntimeError as error:
        raise ModelError(f"The model {folder.name} cannot be loaded: {str(error)[:300]}") from error


def _compile(graph: Path) -> Any:
    cores = os.cpu_count() or 1
    threads = min(conf.model_threads(), cores)
    streams = max(1, cores // threads)
    # Pinned threads of several processes would all be pinned to the first cores.
    settings = {
        "NUM_STREAMS": streams,
        "INFERENCE_NUM_THREADS": streams * threads,
        "ENABLE_CPU_PINNING": False,
    }
    return openvino().Core().compile_model(str(graph), "CPU", settings)


def _batches(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Cut places, sorted by length, into batches of at most ``BATCH_TOKENS`` tokens, padding counted; a longer text has a batch of its own."""
    batch: list[int] = []
    for place in order:
        if batch and (len(batch) + 1) * lengths[place] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
