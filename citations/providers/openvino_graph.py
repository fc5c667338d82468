"""Builds the OpenVINO graph of a BERT or RoBERTa encoder from its safetensors, without torch.

Devlin et al., "BERT" (2019); Liu et al., "RoBERTa" (2019); Conneau et al., "XLM-R" (2020). The
names of the weights are those under which transformers stores them. Pooling, or the classifier of
a pair of texts, is part of the graph.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from citations.providers import weights
from citations.providers.weights import ModelConfig, openvino

BERT: Final = "bert"
ROBERTA: Final = ("roberta", "xlm-roberta", "camembert")
GELU: Final = {"gelu": "erf", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh"}
UNUSED: Final = ("pooler.", "cls.", "lm_head.", "embeddings.position_ids")  # by a vector
EPSILON: Final = 1e-12  # least length of a vector
STORED_AS: Final = {"F32": np.float32, "F16": np.float16}


class UnknownArchitecture(Exception):
    """The model is none that ``build`` knows."""


def build(folder: Path, head: str) -> Any:
    """Return the graph of a model; ``head`` is "vector" or "logits".

    Raises ``UnknownArchitecture`` for other kinds of models and of files.
    """
    try:
        stored = StoredWeights(folder)
        graph = EncoderGraph(json.loads((folder / "config.json").read_text()), stored)
        config = ModelConfig.read(folder)
        inputs = _inputs(is_pair=head == "logits" and config.segments)
        hidden = graph.encode(*inputs)
        result = (
            graph.pool(hidden, inputs[1], config.pooling)
            if head == "vector"
            else graph.classify(hidden)
        )
        stored.check_all_used()
        return openvino().Model([_op().result(result)], inputs, stored.prefix or BERT)
    except KeyError as error:
        raise UnknownArchitecture(f"the weights {error} are missing") from error
    except (ArithmeticError, RuntimeError, TypeError, ValueError) as error:  # of other shapes
        raise UnknownArchitecture(" ".join(str(error).split())[:300]) from error


def _op() -> Any:
    return openvino().opset13


def _constant(values: Any) -> Any:
    return _op().constant(np.ascontiguousarray(values), shared_memory=True)


def _int(*values: int) -> Any:
    return _constant(np.array(values, np.int64))


def _scalar(value: int) -> Any:
    return _op().constant(np.int64(value))


def affine(values: Any, weight: Any, bias: Any) -> Any:
    op = _op()
    return op.add(op.matmul(values, _constant(weight), False, True), _constant(bias))


def _inputs(*, is_pair: bool) -> list[Any]:
    names = ("input_ids", "attention_mask", *(["token_type_ids"] if is_pair else []))
    inputs = []
    for name in names:
        node = _op().parameter([-1, -1], np.int64, name=name)
        node.output(0).get_tensor().set_names({name})
        inputs.append(node)
    return inputs


class Tensors(Protocol):
    """Tensors of a model as float32, by their names in its files."""

    def encoder(self, name: str) -> Any:
        """Return a tensor of the encoder, whose names may have a prefix."""

    def __getitem__(self, name: str) -> Any: ...


class StoredTensor(NamedTuple):
    """A tensor as safetensors describes it, and its bytes."""

    kind: str
    shape: list[int]
    content: NDArray[np.uint8]


class StoredWeights:
    """The tensors of a model's safetensors as float32. Their files are mapped into memory, so that
    processes share them, and a graph takes no longer to build than to load.
    """

    def __init__(self, folder: Path) -> None:
        files = [path for path in weights.files(folder) if path.suffix == ".safetensors"]
        if not files:
            raise UnknownArchitecture("its weights are not in safetensors")
        try:
            self._tensors = {name: tensor for path in files for name, tensor in _mapped(path)}
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise UnknownArchitecture(f"its weights cannot be read: {error}") from error
        first = {name.partition(".")[0] for name in self._tensors}
        self.prefix = next((name for name in (BERT, ROBERTA[0]) if name in first), "")
        self._used: set[str] = set()

    def encoder(self, name: str) -> Any:
        """Return a tensor of the encoder, which may have a prefix."""
        return self[f"{self.prefix}.{name}" if self.prefix else name]

    def __getitem__(self, name: str) -> Any:
        self._used.add(name)
        kind, shape, content = self._tensors[name]
        if kind not in STORED_AS:  # bfloat16, for example, of which NumPy has no type
            raise UnknownArchitecture(f"{name} is stored as {kind}")
        values = content.view(STORED_AS[kind]).reshape(tuple(shape))
        return values.astype(np.float32, copy=False)

    def check_all_used(self) -> None:
        """Raise ``UnknownArchitecture`` if the model has a layer that was not built."""
        unused = sorted(
            name
            for name in self._tensors.keys() - self._used
            if not name.removeprefix(f"{self.prefix}.").startswith(UNUSED)
        )
        if unused:
            raise UnknownArchitecture(f"it has other layers, such as {unused[0]}")


def _mapped(path: Path) -> Iterator[tuple[str, StoredTensor]]:
    # A private copy, which takes no memory: OpenVINO wants arrays that could be written to.
    file = np.memmap(path, np.uint8, "c")
    start = 8 + int.from_bytes(file[:8].tobytes(), "little")
    for name, entry in json.loads(file[8:start].tobytes()).items():
        if name != "__metadata__":
            first, end = entry["data_offsets"]
            content = file[start + first : start + end]
            yield name, StoredTensor(entry["dtype"], entry["shape"], content)


class EncoderGraph:
    """The layers of one model; each method adds nodes and returns the last.

    Raises ``UnknownArchitecture``.
    """

    def __init__(self, config: dict[str, Any], stored: Tensors) -> None:
        self._kind = str(config.get("model_type"))
        activation = str(config.get("hidden_act"))
        if self._kind not in (BERT, *ROBERTA):
            raise UnknownArchitecture(f"models of type {self._kind} are not built here")
        if activation not in GELU or config.get("is_decoder"):
            raise UnknownArchitecture(f"its activation is {activation}, or it is a decoder")
        if config.get("position_embedding_type", "absolute") != "absolute":
            raise UnknownArchitecture("its positions are not absolute")
        self._gelu = GELU[activation]
        self._layers = int(config["num_hidden_layers"])
        self._heads = int(config["num_attention_heads"])
        self._width = int(config["hidden_size"])
        self._epsilon = float(config.get("layer_norm_eps", EPSILON))
        self._pad = int(config.get("pad_token_id") or 0)
        self._stored = stored

    def encode(self, ids: Any, mask: Any, kinds: Any = None) -> Any:
        """Return the last hidden states, (texts, tokens, width)."""
        op = _op()
        hidden = op.add(
            op.add(self._rows("word", ids), self._rows("position", self._positions(ids))),
            self._rows("token_type", kinds if kinds is not None else _int(0)),
        )
        hidden = self._norm(hidden, "embeddings.LayerNorm")
        is_read = op.not_equal(mask, _int(0))
        is_read = op.unsqueeze(op.unsqueeze(is_read, _int(1)), _int(1))
        for layer in range(self._layers):
            hidden = self._layer(hidden, is_read, f"encoder.layer.{layer}")
        return hidden

    def pool(self, hidden: Any, mask: Any, pooling: str) -> Any:
        """Return vectors of length 1, (texts, width)."""
        op = _op()
        if pooling == "cls":
            vectors = self._first(hidden)
        elif pooling == "mean":
            is_read = op.unsqueeze(op.convert(mask, "f32"), _int(2))
            # The sum has the direction of the mean.
            vectors = op.reduce_sum(op.multiply(hidden, is_read), _int(1), False)
        else:
            raise UnknownArchitecture("its pooling is not built here")
        return op.normalize_l2(vectors, _int(1), EPSILON, "max")

    def classify(self, hidden: Any) -> Any:
        """Return logits, (pairs, labels)."""
        op, first = _op(), self._first(hidden)
        if self._kind == BERT:
            pooled = op.tanh(self._dense(first, "pooler.dense"))
            return self._head(pooled, "classifier")
        return self._head(op.tanh(self._head(first, "classifier.dense")), "classifier.out_proj")

    def _layer(self, hidden: Any, is_read: Any, name: str) -> Any:
        op = _op()
        query, key, value = (
            self._split(self._dense(hidden, f"{name}.attention.self.{part}"))
            for part in ("query", "key", "value")
        )
        attended = op.scaled_dot_product_attention(query, key, value, is_read)
        joined = op.reshape(op.transpose(attended, _int(0, 2, 1, 3)), _int(0, 0, self._width), True)
        output = f"{name}.attention.output"
        hidden = op.add(hidden, self._dense(joined, f"{output}.dense"))
        hidden = self._norm(hidden, f"{output}.LayerNorm")
        inner = op.gelu(self._dense(hidden, f"{name}.intermediate.dense"), self._gelu)
        hidden = op.add(hidden, self._dense(inner, f"{name}.output.dense"))
        return self._norm(hidden, f"{name}.output.LayerNorm")

    def _positions(self, ids: Any) -> Any:
        """Return the row of each token's position; RoBERTa's begin behind the padding's."""
        op = _op()
        if self._kind == BERT:
            length = op.gather(op.shape_of(ids), _int(1), _int(0))
            return op.range(_scalar(0), op.squeeze(length, _int(0)), _scalar(1), "i64")
        is_token = op.convert(op.not_equal(ids, _int(self._pad)), "i64")
        counted = op.cumsum(is_token, _scalar(1))
        return op.add(op.multiply(counted, is_token), _int(self._pad))

    def _rows(self, table: str, rows: Any) -> Any:
        embeddings = self._stored.encoder(f"embeddings.{table}_embeddings.weight")
        return _op().gather(_constant(embeddings), rows, _int(0))

    def _split(self, values: Any) -> Any:
        """Return values by attention head, (texts, heads, tokens, width of a head)."""
        op, width = _op(), self._width // self._heads
        split = op.reshape(values, _int(0, 0, self._heads, width), True)
        return op.transpose(split, _int(0, 2, 1, 3))

    def _first(self, hidden: Any) -> Any:
        return _op().gather(hidden, _scalar(0), _int(1))

    def _dense(self, values: Any, name: str) -> Any:
        weight, bias = (self._stored.encoder(f"{name}.{part}") for part in ("weight", "bias"))
        return affine(values, weight, bias)

    def _head(self, values: Any, name: str) -> Any:
        return affine(values, self._stored[f"{name}.weight"], self._stored[f"{name}.bias"])

    def _norm(self, values: Any, name: str) -> Any:
        op = _op()
        weight, bias = (self._stored.encoder(f"{name}.{part}") for part in ("weight", "bias"))
        normal = op.mvn(values, _int(-1), True, self._epsilon, "inside_sqrt")
        return op.add(op.multiply(normal, _constant(weight)), _constant(bias))
