"""Rerankers of servers: the request ``/rerank``, in the forms that servers know."""

import logging
import math
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooSlow
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any, Final

from pydantic import BaseModel, model_validator

from citations.conf import Remote
from citations.errors import ModelError, ModelServerError
from citations.providers.http import ModelServer
from citations.providers.pauses import Pause
from citations.providers.server_errors import Refusal, ServerNames
from citations.providers.text_requests import (
    RequestLimits,
    SentTexts,
    TextRequests,
    inner,
    raise_inner_error,
)
from transcripts.core.stages import timed

RERANK_SECONDS: Final = 2.0  # a search waits so long for all requests together
AT_ONCE: Final = 8  # searches that wait for the server; others do without
_LIMITS: Final = RequestLimits(texts=200, together=400_000, each=8_000)
_LISTS: Final = ("results", "data", "scores", "output")
_SCORES: Final = ("relevance_score", "score", "relevance", "similarity")
_NUMBERS: Final = ("index", "corpus_id", "document_index")
_TEXT_FIELDS: Final = ("documents", "texts")
_MOST_LOGIT: Final = 30.0  # further out, scores are none of a logistic function
logger = logging.getLogger(__name__)


class RankingReply(BaseModel):
    """Scores by the numbers of texts; None for one that is no number.

    Known forms: ``results``, ``data`` or a bare list, of objects with a number and a score under
    one of the usual names, best first or not; or a list of numbers in the texts' order.
    """

    scores: dict[int, float | None] = {}
    error: Any = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, reply: Any) -> dict[str, Any]:
        if isinstance(reply, dict) and reply.get("error"):
            return {"error": reply["error"]}
        reply = inner(reply, _LISTS)
        if not isinstance(reply, list) or not reply:
            raise ValueError("no scores")
        if not any(isinstance(item, dict) for item in reply):
            return {"scores": {place: _number(item) for place, item in enumerate(reply)}}
        try:
            scores = {int(inner(item, _NUMBERS)): _number(inner(item, _SCORES)) for item in reply}
        except (OverflowError, TypeError):
            raise ValueError("texts without a number") from None
        if len(scores) < len(reply):
            raise ValueError("a number occurs twice")
        return {"scores": scores}


def _number(value: Any) -> float | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


class ServedReranker:
    """A reranking model at a server. Thread safe.

    Raises ``ModelServerError`` without scores, also after ``RERANK_SECONDS``, and ``ModelRefused``.
    After a late answer, the server is not asked for a while.
    """

    def __init__(self, name: str, remote: Remote) -> None:
        """Send no request. Raises ``InvalidProvider`` for an invalid address or key."""
        self.name = name
        names = ServerNames(server=name, key="RERANKER_API_KEY", address="RERANKER_BASE_URL")
        self._server = ModelServer(names, replace(remote, timeout=2 * RERANK_SECONDS))
        unusable = self._invalid("gave a score that is no number")
        optional = ("top_n", "return_documents")
        self._requests = TextRequests[float](_LIMITS, optional=optional, unusable=unusable)
        self._text_field = ""  # the one that the server knows
        self._is_logit = False  # it has given scores that are no probabilities
        self._pause = Pause()
        self._turns = threading.BoundedSemaphore(AT_ONCE)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return scores of 0 to 1 in the order of the server's, of whatever scale.

        A text for which it gives none has 0.
        """
        if not texts:
            return []
        if self._pause.lasts:
            raise ModelServerError(f"{self.name} was too slow before.", hint="Try again later.")
        if not self._turns.acquire(blocking=False):
            raise ModelServerError(f"{self.name} is busy.", hint="Try again later.")
        future: Future[SentTexts[float]] = Future()
        work = partial(self._settle, future, query, texts)
        # A daemon thread, so that a hanging server cannot keep the process alive.
        threading.Thread(target=work, name="rerank", daemon=True).start()
        try:
            sent = future.result(RERANK_SECONDS)
        except TooSlow:
            self._pause.begin()
            raise ModelServerError(
                f"{self.name} took more than {RERANK_SECONDS:g} seconds.",
                hint="Lower RERANK_CANDIDATES, or choose a faster model.",
            ) from None
        self._pause.end()
        if not sent.values:
            raise next(iter(sent.faults.values()))
        if missing := len(texts) - len(sent.values):
            logger.warning("%s gave no score for %s of %s texts.", self.name, missing, len(texts))
        scaled = self._scaled(sent.values)
        return [scaled.get(index, 0.0) for index in range(len(texts))]

    def _settle(self, future: "Future[SentTexts[float]]", query: str, texts: Sequence[str]) -> None:
        try:
            send = partial(self._send, query, monotonic() + RERANK_SECONDS)
            future.set_result(self._requests.send(texts, send, tries=2, partly=True))
        except BaseException as error:  # noqa: BLE001  the waiting thread gets it
            future.set_exception(error)
        finally:
            self._turns.release()

    def _send(
        self, query: str, deadline: float, texts: list[str], omitted: frozenset[str], tries: int
    ) -> list[float | None]:
        if monotonic() > deadline:  # nobody waits for it any more
            raise TooSlow
        options = {"model": self.name, "top_n": len(texts), "return_documents": False}
        body = {"query": query, **{k: v for k, v in options.items() if k not in omitted}}
        with timed("model", f"rerank:{self.name}"):
            reply = self._post(body, texts, tries)
        raise_inner_error(reply.error, self.name)
        scores = reply.scores
        if unknown := scores.keys() - set(range(len(texts))):
            raise self._invalid(f"scored the text {min(unknown)} of {len(texts)}")
        return [scores.get(index) for index in range(len(texts))]

    def _post(self, body: dict[str, Any], texts: list[str], tries: int) -> RankingReply:
        """Send texts in the field that the server knows; until one is known, in the first."""
        first, *others = [self._text_field] if self._text_field else _TEXT_FIELDS
        try:
            return self._answered(body, first, texts, tries)
        except Refusal as refusal:
            for other in others if refusal.status in (400, 422) else ():
                try:
                    return self._answered(body, other, texts, tries)
                except ModelError:
                    continue
            raise

    def _answered(
        self, body: dict[str, Any], name: str, texts: list[str], tries: int
    ) -> RankingReply:
        reply = self._server.post("/rerank", {**body, name: texts}, RankingReply, tries=tries)
        self._text_field = name
        return reply

    def _scaled(self, scores: Mapping[int, float]) -> dict[int, float]:
        least, most = min(scores.values()), max(scores.values())
        self._is_logit = self._is_logit or least < 0 or most > 1
        if max(-least, most) > _MOST_LOGIT:
            room = most - least or 1.0
            return {index: (score - least) / room for index, score in scores.items()}
        if self._is_logit:
            return {index: 1 / (1 + math.exp(-score)) for index, score in scores.items()}
        return dict(scores)

    def _invalid(self, fault: str) -> ModelServerError:
        return ModelServerError(f"{self.name} at its server {fault}.", hint="Check RERANKER.")
