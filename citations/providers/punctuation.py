"""Tells where sentences of English speech end, from its words alone.

The first layers of all-MiniLM-L6-v2, fine-tuned with a bidirectional GRU on top of them (Cho et
al., 2014) by ``bench/training/punctuation.py``, and run by OpenVINO. ``punctuation.safetensors``
holds what was trained, in 8 bits; the vectors of tokens are those of the model.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from citations.errors import ModelError
from citations.providers import weights
from citations.providers.encoders import compile_graph, replace_surrogates, tokenizer
from citations.providers.openvino_graph import (
    EncoderGraph,
    StoredWeights,
    UnknownArchitecture,
    affine,
)
from citations.providers.weights import openvino

TRAINED: Final = Path(__file__).with_name("punctuation.safetensors")
LAYERS: Final = 3  # of the encoder
MARKS: Final = ("", ".", "?", ",")  # what may follow a word, in the order of the outputs
WINDOW: Final = 150  # words that are read together
MARGIN: Final = 30  # words at either end of a window that its neighbours judge
MAX_WORD_TOKENS: Final = 8  # tokens of a word that are read
MAX_WINDOW: Final = 510  # tokens; the model has 512 positions, and two stand at the ends
BATCH: Final = 4  # windows
MAX_KNOWN: Final = 50_000  # words whose tokens are kept

Numbers: TypeAlias = NDArray[np.float32]


class Punctuator:
    """The model in memory. Raises ``ModelMissing`` and ``ModelError``."""

    def __init__(self) -> None:
        folder = weights.find(weights.MINILM)
        self._tokenizer = tokenizer(folder)
        try:
            self._request = compile_graph(_graph(folder)).create_infer_request()
        except (UnknownArchitecture, KeyError, RuntimeError) as error:
            raise _unusable(error) from error
        self._known: dict[str, list[int]] = {}

    def probabilities(self, words: Sequence[str]) -> Iterator[Numbers]:
        """Yield the probabilities that each of ``MARKS`` follows a word, shape (n, 4), for
        consecutive words of a speech in lower case. Raises ``ModelError``.
        """
        if not words:
            return
        firsts = range(0, max(1, len(words) - 2 * MARGIN), WINDOW - 2 * MARGIN)
        for start in range(0, len(firsts), BATCH):
            batch = firsts[start : start + BATCH]
            outputs = self._infer([words[first : first + WINDOW] for first in batch])
            inner = []
            for first, output in zip(batch, outputs, strict=True):
                is_last = first + WINDOW >= len(words)
                stop = len(words) - first if is_last else WINDOW - MARGIN
                inner.append(output[MARGIN if first else 0 : stop])
            yield np.concatenate(inner)

    def _infer(self, windows: Sequence[Sequence[str]]) -> Numbers:
        rows = [self._fitting(window) for window in windows]
        lengths = np.array([len(row) for row in rows], np.int64)
        widths = [2 + sum(map(len, row)) for row in rows]
        ids = np.zeros((len(rows), max(widths)), np.int64)
        mask = np.zeros_like(ids)
        # The last token of each word and the first one of the next.
        places = np.zeros((2, len(rows), int(lengths.max())), np.int64)
        begin, end = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        for row, (tokens, width) in enumerate(zip(rows, widths, strict=True)):
            ids[row, :width] = [begin, *chain.from_iterable(tokens), end]
            mask[row, :width] = 1
            stops = 1 + np.cumsum([len(word) for word in tokens])
            places[0, row, : len(tokens)] = stops - 1
            places[1, row, : len(tokens)] = stops
        inputs = {"ids": ids, "mask": mask, "last": places[0], "next": places[1]}
        outputs: Numbers = self._request.infer(inputs | {"lengths": lengths})[0]
        return outputs

    def _fitting(self, words: Sequence[str]) -> list[list[int]]:
        tokens = [self._tokens(word) for word in words]
        if sum(map(len, tokens)) <= MAX_WINDOW:
            return tokens
        return [own[: MAX_WINDOW // WINDOW] for own in tokens]

    def _tokens(self, word: str) -> list[int]:
        if word not in self._known:
            if len(self._known) >= MAX_KNOWN:
                self._known.clear()
            encoded = self._tokenizer.encode(replace_surrogates(word), add_special_tokens=False)
            unknown = [self._tokenizer.token_to_id("[UNK]")]
            self._known[word] = encoded.ids[:MAX_WORD_TOKENS] or unknown
        return self._known[word]


class _Tuned:
    """The trained tensors, and the model's for the others."""

    def __init__(self, folder: Path) -> None:
        self._base = StoredWeights(folder)
        try:
            self._own = load_file(TRAINED)
        except (SafetensorError, OSError) as error:
            raise _unusable(error) from error

    def encoder(self, name: str) -> Numbers:
        return self[name] if name in self._own else self._base.encoder(name)

    def __getitem__(self, name: str) -> Numbers:
        values: Numbers = self._own[name].astype(np.float32)
        scales = self._own.get(f"{name}.scales")
        return values if scales is None else values * scales[:, None]


def _unusable(error: Exception) -> ModelError:
    return ModelError(
        f"The model of sentence ends cannot be loaded: {str(error)[:300]}",
        hint="Reinstall Cuebase.",
    )


def _graph(folder: Path) -> Any:
    op = openvino().opset13
    stored = _Tuned(folder)
    config = json.loads((folder / "config.json").read_text()) | {"num_hidden_layers": LAYERS}
    ids, mask, last, following, lengths = (
        _parameter(name, rank)
        for name, rank in (("ids", 2), ("mask", 2), ("last", 2), ("next", 2), ("lengths", 1))
    )
    hidden = EncoderGraph(config, stored).encode(ids, mask)
    axis = op.constant(np.int64(1))
    around = [op.gather(hidden, places, axis, batch_dims=1) for places in (last, following)]
    gaps = op.relu(affine(op.concat(around, 2), stored["gap.weight"], stored["gap.bias"]))
    # Rows are the gates of both directions, one after the other.
    w, r, b = (stored[f"gru.{name}"] for name in ("inputs", "states", "biases"))
    gates = (2, len(w) // 2, -1)
    width = r.shape[1]
    batch = op.concat([op.shape_of(lengths), op.constant(np.array([2, width], np.int64))], 0)
    states = op.gru_sequence(
        gaps,
        op.broadcast(op.constant(np.float32(0)), batch),
        lengths,
        op.constant(w.reshape(gates)),
        op.constant(r.reshape(gates)),
        op.constant(b.reshape(2, -1)),
        width,
        "bidirectional",
        linear_before_reset=True,
    ).output(0)
    order = op.constant(np.array([0, 2, 1, 3], np.int64))
    shape = op.constant(np.array([0, 0, 2 * width], np.int64))
    read = op.reshape(op.transpose(states, order), shape, True)
    logits = affine(op.add(read, gaps), stored["mark.weight"], stored["mark.bias"])
    inputs = [ids, mask, last, following, lengths]
    return openvino().Model([op.result(op.softmax(logits, 2))], inputs, "punctuation")


def _parameter(name: str, rank: int) -> Any:
    node = openvino().opset13.parameter([-1] * rank, np.int64, name=name)
    node.output(0).get_tensor().set_names({name})
    return node
