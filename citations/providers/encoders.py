"""Text encoders and cross-encoders of this machine, by OpenVINO or sentence-transformers, and
counts of their tokens.
"""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from citations import conf
from citations.errors import ModelError
from citations.providers import openvino_graph, weights
from citations.providers.weights import ModelConfig, openvino
from transcripts.core.installation import install_command

BATCH_TOKENS = 512
READ_AT_ONCE = 1_024  # texts that are tokenized together

released: Final = threading.Event()  # a model has left memory since this was cleared

Numbers: TypeAlias = NDArray[np.float32]


TOKEN_LENGTH: Final = 2  # characters of a token, a low estimate without the tokenizer


class Tokens(NamedTuple):
    """The tokens of a text or a pair; ``kinds`` is 1 for tokens of the second text."""

    ids: list[int]
    kinds: list[int]


class CompiledGraph:
    """A graph in memory. Each thread has its own inference request."""

    def __init__(self, folder: Path, head: str) -> None:
        self._compiled = compile_graph(openvino_graph.build(folder, head))
        self._inputs = [next(iter(node.get_names())) for node in self._compiled.inputs]
        self._local = threading.local()
        self.width = int(self._compiled.output(0).partial_shape[1].get_length())

    def infer(self, inputs: dict[str, NDArray[np.int64]]) -> Numbers:
        """Return the outputs of a batch, by the names of inputs that the graph may have."""
        if not hasattr(self._local, "request"):
            self._local.request = self._compiled.create_infer_request()
        result: Numbers = self._local.request.infer([inputs[name] for name in self._inputs])[0]
        return result


class Engine:
    """A model that is in memory while it is used, and loaded again after a pause. Thread safe.

    As many inferences run at once as there are cores. Raises ``UnknownArchitecture`` for a
    model that only torch runs.
    """

    def __init__(self, folder: Path, config: ModelConfig, *, head: str) -> None:
        self._load = partial(CompiledGraph, folder, head)
        self._pad = config.pad
        self._lock = threading.Lock()
        self._graph: CompiledGraph | None = None
        self._used = 0.0
        self.width = self._loaded().width  # the length of an output

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._graph is not None

    def run(self, texts: Sequence[Tokens]) -> Numbers:
        """Return the model's outputs, shape (n, width)."""
        order = sorted(range(len(texts)), key=lambda index: len(texts[index].ids))
        out: Numbers = np.empty((len(texts), self.width), dtype=np.float32)
        for indexes in _batches(order, [len(text.ids) for text in texts]):
            out[indexes] = self._infer([texts[index] for index in indexes])
        return out

    def _infer(self, batch: list[Tokens]) -> Numbers:
        shape = (len(batch), len(batch[-1].ids))
        ids, (mask, kinds) = np.full(shape, self._pad, np.int64), np.zeros((2, *shape), np.int64)
        for row, text in enumerate(batch):
            ids[row, : len(text.ids)] = text.ids
            kinds[row, : len(text.ids)] = text.kinds
            mask[row, : len(text.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
        return self._loaded().infer(inputs)

    def _loaded(self) -> CompiledGraph:
        with self._lock:
            if self._graph is None:
                self._graph = self._load()
                if conf.model_idle():
                    threading.Thread(target=self._release, name="release", daemon=True).start()
            self._used = time.monotonic()  # loading takes time, too
            return self._graph

    def _release(self) -> None:
        """Let go of the model once it was not used for a while."""
        idle = conf.model_idle()
        while True:
            time.sleep(max(0.0, self._used + idle - time.monotonic()))
            with self._lock:
                if self._used + idle <= time.monotonic():  # not used in the meantime
                    released.set()  # first: once the model is gone, it can be asked for again
                    self._graph = None
                    return


class TextEncoder:
    """Embeds texts as vectors of length 1. Raises what ``Engine`` raises."""

    def __init__(self, folder: Path, config: ModelConfig) -> None:
        self._tokenizer = tokenizer(folder)
        self._tokenizer.enable_truncation(config.max_tokens)
        self._lower = config.lower
        self._engine = Engine(folder, config, head="vector")
        self.dimensions = self._engine.width

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._engine.is_loaded

    def vectors(self, texts: Sequence[str]) -> Numbers:
        """Return vectors, float32 (n, dimensions). Truncates texts that are too long."""
        parts = [
            self._embed(texts[start : start + READ_AT_ONCE])
            for start in range(0, len(texts), READ_AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), np.float32)

    def _embed(self, texts: Sequence[str]) -> Numbers:
        cleaned = [replace_surrogates(text.lower() if self._lower else text) for text in texts]
        return self._engine.run(
            [Tokens(text.ids, text.type_ids) for text in self._tokenizer.encode_batch_fast(cleaned)]
        )


def tokenizer(folder: Path) -> Any:
    """Load a model's tokenizer without padding or truncation. Raises ``ModelError``."""
    from tokenizers import Tokenizer

    try:
        loaded = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the library has no class for it
        raise ModelError(
            f"The tokenizer of {folder.name} cannot be read: {error}",
            hint="`kb models fetch` gets the model's files.",
        ) from error
    loaded.no_padding()
    loaded.no_truncation()
    return loaded


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates by question marks, so that the text can be encoded as UTF-8."""
    return text.encode("utf-8", "replace").decode()


def compile_graph(graph: Any) -> Any:
    """Compile a graph for the cores of the settings."""
    cores = os.cpu_count() or 1
    threads = min(conf.model_threads(), cores)
    streams = max(1, cores // threads)
    # Several processes would all pin their threads to the first cores.
    settings = {
        "NUM_STREAMS": streams,
        "INFERENCE_NUM_THREADS": streams * threads,
        "ENABLE_CPU_PINNING": False,
    }
    return openvino().Core().compile_model(graph, "CPU", settings)


def _batches(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group indexes by length into batches of ``BATCH_TOKENS`` padded tokens, or of one text."""
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * lengths[index] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


class TorchEncoder:
    """Embeds texts as vectors of length 1. Raises ``ModelError`` if it cannot be loaded."""

    def __init__(self, folder: Path) -> None:
        _require_extra(folder)
        from sentence_transformers import SentenceTransformer

        self._model = _loaded(SentenceTransformer, folder)
        self.dimensions = self._model.get_embedding_dimension() or 0

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors, float32 (n, dimensions)."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        # No prompt: the caller adds prefixes.
        encoded = self._model.encode(
            [replace_surrogates(text) for text in texts],
            prompt="",
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(encoded, dtype=np.float32)


class TorchPairScorer:
    """Scores pairs. Raises ``ModelError`` if it cannot be loaded."""

    def __init__(self, folder: Path, *, max_tokens: int) -> None:
        _require_extra(folder)
        import torch
        from sentence_transformers import CrossEncoder

        self._identity = torch.nn.Identity()
        self._model = _loaded(CrossEncoder, folder, max_length=max_tokens)

    def logits(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the logits of a query with each text, shape (n,)."""
        pairs = [(replace_surrogates(query), replace_surrogates(text)) for text in texts]
        scores = self._model.predict(pairs, activation_fn=self._identity, show_progress_bar=False)
        return np.asarray(scores, dtype=np.float32).reshape(len(texts))


def _require_extra(folder: Path) -> None:
    if find_spec("sentence_transformers") is None:
        raise ModelError(
            f"The model {folder.name} needs PyTorch, which is not installed.",
            hint=f"`{install_command('models')}` installs it.",
        )


def _loaded(kind: Any, folder: Path, **options: Any) -> Any:
    import torch

    torch.set_num_threads(conf.model_threads())
    try:
        return kind(str(folder), device="cpu", local_files_only=True, **options)
    except Exception as error:  # a model may fail in any way
        raise ModelError(f"The model {folder.name} cannot be loaded: {str(error)[:300]}") from error


def count_tokens(text: str) -> int:
    """Return the number of tokens, without special ones."""
    counter = _tokenizer()
    if counter is None:
        return len(text) // TOKEN_LENGTH
    return len(counter.encode(replace_surrogates(text), add_special_tokens=False).ids)


def keep_end(text: str, *, most: int) -> str:
    """Truncate a text from the left to at most ``most`` tokens, at a word."""
    counter = _tokenizer()
    if counter is None:
        return _from_word(text, len(text) - most * TOKEN_LENGTH)
    offsets = counter.encode(replace_surrogates(text), add_special_tokens=False).offsets
    if len(offsets) <= most:
        return text
    return _from_word(text, offsets[-most][0] if most > 0 else len(text))


def _from_word(text: str, at: int) -> str:
    if at <= 0:
        return text
    if at >= len(text) or text[at - 1].isspace():
        return text[at:]
    space = text.find(" ", at)
    return text[space + 1 :] if space >= 0 else text[at:]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    try:
        return tokenizer(weights.find(weights.MINILM))
    except ModelError:
        return None
