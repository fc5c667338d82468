"""Contextual retrieval for one source: a language model says of each piece what it is about within the whole.

Nothing is stored here: each context goes to the caller as soon as it comes, so that a killed run loses only those that were on their way.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from typing import Final, TypeAlias

from citations import conf
from citations.errors import ModelError, ModelMissing, ModelRefused
from citations.providers.llm import Llm, Usage
from citations.providers.prompts import (
    MATERIAL_RULE,
    Prompt,
    clean_answer,
    marked,
    prompt_tokens,
    tokens,
)

_MOST_TITLE: Final = 300  # characters
_MOST_PIECE: Final = 4_000
_MARKS: Final = 100  # tokens around text and piece
_LEAST_ROOM: Final = 300  # tokens of a text below which asking makes no sense
_HEAD: Final = 5  # a fifth of what a model reads of a long text is its beginning
_GIVES_UP: Final = 5  # failures in a row
_KEPT_FROM: Final = 1_024  # tokens from which services keep a document
_USUAL_ANSWER: Final = 60  # tokens
_GAP: Final = "\n\n[…]\n\n"

CONTEXT_TOKENS: Final = 150
MAX_CONTEXT: Final = 500  # characters
_CONTEXT: Final = (
    "You prepare texts for a search. You are given a text between marks, then a piece of it "
    "between other marks. Write one or two short sentences that say what the piece is about within "
    "the whole text and name the people, things and topics that the piece itself only hints at. "
    "Write in the language of the piece. Write only these sentences, with no introduction. "
    + MATERIAL_RULE
)

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """A piece of a text that wants a context: ``start`` and ``end`` are its place in characters; ``key`` is handed back with the context."""

    key: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of it: contexts written, pieces that got none (they may be asked for again), and tokens used."""

    written: int
    failed: int
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What contexts would cost, in tokens and rather too many: ``asked`` in all, of which ``cached`` come at a fraction of the price where the service
    keeps a document that it has just seen, and ``answered``.
    """

    calls: int = 0
    asked: int = 0
    cached: int = 0
    answered: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        """Add up two."""
        return Cost(
            calls=self.calls + other.calls,
            asked=self.asked + other.asked,
            cached=self.cached + other.cached,
            answered=self.answered + other.answered,
        )


def context_prompt(*, title: str, text: str, piece: str) -> Prompt:
    """Ask what ``piece`` is about within ``text``, a source's text or an excerpt of it.

    All prompts with the same title and text share their ``document``.
    """
    return Prompt(
        system=_CONTEXT,
        document=_marked_text(title, text),
        text=f"{marked('piece', piece)}\n\nThe one or two sentences about this piece:",
        max_tokens=CONTEXT_TOKENS,
    )


@lru_cache(8)  # the pieces of a source are asked about one after the other
def _marked_text(title: str, text: str) -> str:
    return marked("text", f"{title.strip()}\n\n{text}")


def clean_context(answer: str, *, piece: str = "") -> str:
    """Return a context on one line, "" if it says nothing beyond the piece."""
    context = clean_answer(answer, MAX_CONTEXT)
    return "" if context and context in " ".join(piece.split()) else context


def write(
    llm: Llm,
    *,
    title: str,
    text: str,
    pieces: Sequence[ContextRequest],
    save: Callable[[int, str], None],
    concurrency: int = 0,
) -> Written:
    """Ask for the context of each piece of ``text``, several at once (0: as LLM_CONCURRENCY says), and give each to ``save`` in the caller's thread.

    Single failures are counted and passed over. Raises ``ModelRefused`` and ``ModelMissing`` as soon as one comes, any ``ModelError`` after several in a
    row, and what ``save`` raises; contexts that were on their way are saved before.
    """
    tally = _Tally(save)
    at_once = concurrency or conf.llm().concurrency
    with ThreadPoolExecutor(at_once, thread_name_prefix="contexts") as executor:
        for turn in _turns(_excerpts(text, pieces, llm.budget), waits=llm.caches):
            _take(
                turn,
                lambda excerpt, piece: executor.submit(_ask, llm, title, excerpt, piece),
                at_once,
                tally,
            )
            if tally.over:
                raise tally.over
    return Written(written=tally.written, failed=tally.failed, usage=tally.usage)


def estimate(*, title: str, text: str, pieces: Sequence[ContextRequest], budget: int) -> Cost:
    """Say beforehand what ``write`` costs with a language model of that ``budget``. Pure."""
    bare = prompt_tokens(context_prompt(title="", text="", piece=""))
    cost = Cost()
    for excerpt, ours in _excerpts(text, pieces, budget):
        shared = tokens(excerpt) + tokens(title[:_MOST_TITLE])
        cost += Cost(
            calls=len(ours),
            asked=sum(bare + shared + tokens(piece.text[:_MOST_PIECE]) for piece in ours),
            cached=shared * (len(ours) - 1) if shared >= _KEPT_FROM else 0,
            answered=_USUAL_ANSWER * len(ours),
        )
    return cost


class _Tally:
    """What has come so far; ``over`` is the error that ends it."""

    def __init__(self, save: Callable[[int, str], None]) -> None:
        self._save = save
        self.written = self.failed = self._in_a_row = 0
        self.usage = Usage()
        self.over: ModelError | None = None

    def came(self, piece: ContextRequest, context: str, usage: Usage) -> None:
        self.usage += usage
        self._in_a_row = 0
        if context:
            self._save(piece.key, context)
            self.written += 1
        else:
            self.failed += 1

    def missed(self, error: ModelError) -> None:
        self.failed += 1
        self._in_a_row += 1
        _logger.warning("A context was not written: %s", error)
        if isinstance(error, ModelRefused | ModelMissing) or self._in_a_row >= _GIVES_UP:
            self.over = self.over or error


_Answer: TypeAlias = "Future[tuple[str, Usage]]"
_Turn: TypeAlias = list[tuple[str, ContextRequest]]  # what may be asked at once
_Group: TypeAlias = tuple[
    str, list[ContextRequest]
]  # an excerpt, and the pieces that are asked about with it


def _ask(llm: Llm, title: str, excerpt: str, piece: ContextRequest) -> tuple[str, Usage]:
    text = piece.text[:_MOST_PIECE]
    done = llm.ask(context_prompt(title=title[:_MOST_TITLE], text=excerpt, piece=text))
    return clean_context(done.text, piece=text), done.usage


def _take(
    turn: _Turn, start: Callable[[str, ContextRequest], _Answer], at_once: int, tally: _Tally
) -> None:
    """Ask about each piece of a turn, never more ``at_once`` than that, the ones that wait to be saved included; nothing new once it is over."""
    waiting = iter(turn)
    under_way: dict[_Answer, ContextRequest] = {}
    while True:
        room = 0 if tally.over else at_once - len(under_way)
        under_way |= {start(excerpt, piece): piece for excerpt, piece in islice(waiting, room)}
        if not under_way:
            return
        for answer in wait(under_way, return_when=FIRST_COMPLETED).done:
            _note(answer, under_way.pop(answer), tally)


def _note(answer: _Answer, piece: ContextRequest, tally: _Tally) -> None:
    try:
        context, usage = answer.result()
    except ModelError as error:
        tally.missed(error)
    else:
        tally.came(piece, context, usage)


def _turns(groups: list[_Group], *, waits: bool) -> Iterator[_Turn]:
    """Yield what is asked at once. Where a service keeps what it has read, the first question about an excerpt has to be answered before the others."""
    if not waits:
        yield [(excerpt, piece) for excerpt, pieces in groups for piece in pieces]
        return
    for excerpt, (first, *others) in groups:
        yield [(excerpt, first)]
        yield [(excerpt, piece) for piece in others]


def _excerpts(text: str, pieces: Sequence[ContextRequest], budget: int) -> list[_Group]:
    """Return what of the text is read for each piece: all of it, or its beginning and a part around the piece.

    Such parts overlap by half and start at fixed places, so that neighbouring pieces share one, and it is paid for once.
    """
    body = text.encode(errors="replace")
    ordered = sorted(pieces, key=lambda piece: piece.start)
    room = 3 * max(_LEAST_ROOM, budget - _overhead(ordered))
    if len(body) <= room:
        return [(text, ordered)] if ordered else []
    head = room // _HEAD
    wide = room - head - len(_GAP.encode())
    starts = [_window(middle, wide, len(body)) for middle in _middles(text, ordered)]
    grouped = groupby(zip(starts, ordered, strict=True), key=itemgetter(0))
    return [
        (_excerpt(body, start, wide, head), [piece for _, piece in group])
        for start, group in grouped
    ]


def _overhead(pieces: Sequence[ContextRequest]) -> int:
    """The tokens of a question beside the text, and of its answer."""
    longest = max((tokens(piece.text[:_MOST_PIECE]) for piece in pieces), default=0)
    bare = context_prompt(title="", text="", piece="")
    return prompt_tokens(bare) + bare.max_tokens + _MOST_TITLE + _MARKS + longest


def _middles(text: str, pieces: Sequence[ContextRequest]) -> Iterator[int]:
    """Yield the byte in the middle of each piece; pieces are in order, and so the text is encoded once in all."""
    seen = place = 0
    for piece in pieces:
        middle = min(len(text), max(seen, (piece.start + piece.end) // 2))
        place += len(text[seen:middle].encode(errors="replace"))
        seen = middle
        yield place


def _window(middle: int, wide: int, length: int) -> int:
    """Where the part that has ``middle`` most in its middle starts."""
    step = wide // 2
    return min(max(0, round((middle - wide / 2) / step) * step), length - wide)


def _excerpt(body: bytes, start: int, wide: int, head: int) -> str:
    part = body[start : start + wide].decode(errors="ignore")
    if start <= head:
        return body[: start + wide].decode(errors="ignore")
    return body[:head].decode(errors="ignore") + _GAP + part
