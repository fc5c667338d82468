"""Expand and embed a question beside the caller: a hypothetical answer, and a vector.

Never uses the database.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooSlow
from contextlib import closing
from time import perf_counter
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from citations.errors import ModelServerError
from citations.models import EmbeddingSpace
from citations.passages import Stage
from citations.providers import registry
from citations.providers.llm import Llm
from citations.providers.pauses import Pause
from citations.providers.prompts import MATERIAL_RULE, Prompt, clean_answer, marked
from citations.vectors import space as vector_space
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.stages import finish

EXPAND, EMBED = "expand", "embed"  # names of stages
HYDE_SECONDS = 6.0  # a search waits so long for a hypothetical answer,
EMBED_SECONDS = 20.0  # and for a vector
HYDE_AT_ONCE = 8  # requests to the language model; beyond them a search does without
HYPOTHESIS_TOKENS = 300
MAX_HYPOTHESIS = 1_500  # characters
_HYDE = (
    "You help a search in a collection of talks, lectures and documents. You are given a question "
    "between marks. Write the passage that would answer it, as it could stand in such a text: one "
    "paragraph of three to five sentences, in the language of the question, concrete, with the "
    "words that an expert would use. If you do not know the answer, write what such a passage "
    f"would most likely say. Write the passage and nothing else. {MATERIAL_RULE}"
)
_INSTEAD = "the question itself was searched for."
Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]
T = TypeVar("T")


def hyde_prompt(question: str) -> Prompt:
    """Ask for a hypothetical answer to a question (HyDE).

    Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels", 2022.
    """
    text = f"{marked('question', question)}\n\nThe passage:"
    return Prompt(system=_HYDE, text=text, max_tokens=HYPOTHESIS_TOKENS)


class QueryEmbedding:
    """The vectors of a question and of a hypothetical answer; starts at once, waits when needed."""

    def __init__(self, question: str, *, space: EmbeddingSpace, expands: bool) -> None:
        self.space = space
        self.hypothesis = ""
        self.stages: list[Stage] = []
        self._question = question
        self._expanding = _start_expansion(question) if expands else None
        self._embedding = None if expands else _start_embedding([question], space)
        self._vectors: Vectors | None = None

    @property
    def is_made(self) -> bool:
        """Whether ``vector`` returns at once."""
        return self._vectors is not None

    def question_vector(self) -> Vector:
        """Wait for the question's own vector. Raises as ``vector``."""
        own: Vector = self._embedded()[0]
        return own

    def vector(self) -> Vector:
        """Wait for the vector to search by: the question's, or the mean of it and the answer's.

        The answer of a small model may be far from the subject: alone, it leads the search astray.
        Raises ``InvalidProvider`` and, also if too slow, ``ModelError``.
        """
        total = self._embedded().sum(axis=0)
        length = np.linalg.norm(total)
        return np.asarray(total / length, dtype=np.float32) if length else self.question_vector()

    def _embedded(self) -> Vectors:
        """Return the vectors, of length 1: the question's first."""
        if self._vectors is None:
            self._embedding = self._embedding or _start_embedding(self._expanded(), self.space)
            try:
                embedded = self._embedding.result(EMBED_SECONDS)
            except TooSlow:
                self._embedding.cancel()
                raise ModelServerError(
                    f"The embedding model took more than {EMBED_SECONDS:g} seconds.",
                    hint="Try again.",
                ) from None
            self.stages.append(Stage(name=EMBED, milliseconds=embedded.milliseconds, count=1))
            finish("search", EMBED, milliseconds=embedded.milliseconds)
            self._vectors = embedded.value
        return self._vectors

    def _expanded(self) -> list[str]:
        """Return the question to embed, and the hypothetical answer if it arrives in time."""
        if self._expanding is None:
            return [self._question]
        try:
            expansion = self._expanding.result(HYDE_SECONDS)
            if expansion.value.hypothesis:
                pause.end()
        except TooSlow:
            pause.begin()
            note = f"The language model took more than {HYDE_SECONDS:g} seconds; {_INSTEAD}"
            expansion = _Timed(_Expansion(note=note), HYDE_SECONDS * 1000)
        self.hypothesis = expansion.value.hypothesis
        took, count = expansion.milliseconds, int(bool(self.hypothesis))
        finish("search", EXPAND, milliseconds=took)
        stage = Stage(name=EXPAND, milliseconds=took, count=count, note=expansion.value.note)
        self.stages.append(stage)
        return [text for text in (self._question, self.hypothesis) if text]


class _Timed(NamedTuple, Generic[T]):
    value: T
    milliseconds: float


class _Expansion(NamedTuple):
    hypothesis: str = ""
    note: str = ""


pause = Pause()

# More threads than cores, because those of a remote model only wait.
_executor = ThreadPoolExecutor(
    max_workers=max(4, os.cpu_count() or 1), thread_name_prefix="question"
)
hyde_turns = threading.BoundedSemaphore(HYDE_AT_ONCE)


def _start_embedding(texts: Sequence[str], space: EmbeddingSpace) -> "Future[_Timed[Vectors]]":
    def embed() -> Vectors:
        embedder = vector_space.embedder_of(space)
        if len(texts) == 1:
            return embedder.embed_query(texts[0])[np.newaxis]  # which is cached
        return embedder.embed_queries(texts)

    return _executor.submit(_timed, embed)


def _start_expansion(question: str) -> "Future[_Timed[_Expansion]]":
    future: Future[_Timed[_Expansion]] = Future()
    if pause.lasts:
        expansion = _Expansion(note=f"The language model was too slow before; {_INSTEAD}")
        future.set_result(_Timed(expansion, 0.0))
    elif hyde_turns.acquire(blocking=False):
        # A daemon thread, so that a hanging server cannot keep the process alive.
        threading.Thread(
            target=_settle,
            args=(future, lambda: _timed(lambda: _expand(question))),
            name="hyde",
            daemon=True,
        ).start()
    else:
        future.set_result(_Timed(_Expansion(note=f"The language model is busy; {_INSTEAD}"), 0.0))
    return future


def _settle(future: "Future[T]", call: Callable[[], T]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001  the waiting thread gets it
        future.set_exception(error)
    finally:
        hyde_turns.release()


def _expand(question: str) -> _Expansion:
    try:
        llm = registry.llm()
        answer = _answer(llm, question) if llm else ""
    except KnowledgeBaseError as error:
        return _Expansion(note=f"No hypothetical answer: {error.message} {_INSTEAD.capitalize()}")
    text = clean_answer(answer, MAX_HYPOTHESIS)
    note = "" if text else f"The language model gave no hypothetical answer; {_INSTEAD}"
    return _Expansion(hypothesis=text, note=note)


def _answer(llm: Llm, question: str) -> str:
    """Return the answer of a language model. Raises ``TooSlow`` once nobody waits for it any more:
    leaving off reading lets a server of one's own turn to what is asked next.
    """
    deadline = perf_counter() + HYDE_SECONDS
    read: list[str] = []
    with closing(llm.stream(hyde_prompt(question), tries=1)) as pieces:
        for piece in pieces:
            if perf_counter() > deadline:
                raise TooSlow
            read.append(piece)
    return "".join(read)


def _timed(call: Callable[[], T]) -> _Timed[T]:
    started = perf_counter()
    value = call()
    return _Timed(value, (perf_counter() - started) * 1000)
