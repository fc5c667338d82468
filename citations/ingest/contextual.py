"""Contextual retrieval: a language model writes for each chunk what it is about within its source.

Nothing is stored here: each context goes to the caller when it arrives, so that a killed run loses
only the requests in progress.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import astuple, dataclass
from functools import lru_cache
from itertools import groupby, islice
from operator import add, itemgetter
from typing import Final, TypeAlias

from django.db.models import F, Q

from citations import conf
from citations.errors import ModelError, ModelMissing, ModelRefused
from citations.models import Chunk, Source, State
from citations.providers import registry
from citations.providers.llm import Llm, Usage
from citations.providers.prompts import (
    MATERIAL_RULE,
    Prompt,
    clean_answer,
    marked,
    prompt_tokens,
    tokens,
)
from citations.readers import source_blocks
from citations.text import blocks
from transcripts.core.errors import Unavailable

_MOST_TITLE: Final = 300  # characters
_MOST_PIECE: Final = 4_000
_MARKS: Final = 100  # tokens around text and piece
_LEAST_ROOM: Final = 300  # tokens of text below which a context makes no sense
_HEAD: Final = 5  # a fifth of the excerpt of a long text is its beginning
_GIVES_UP: Final = 5  # failures in a row
_KEPT_FROM: Final = 1_024  # tokens from which services cache a document
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

WITHOUT_CONTEXTS = Q(chunk_count__gt=0) & ~Q(contexts_digest=F("digest"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """A piece that needs a context, its characters in the text, and a key to return with it."""

    key: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResult:
    """How many contexts were written, how many are missing, and the tokens used."""

    written: int
    failed: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Cost:
    """Estimated tokens of contexts: ``input``, of which ``cached`` are cheaper with services that
    cache documents, and ``output``. Rounded up.
    """

    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(*map(add, astuple(self), astuple(other)))


def context_prompt(*, title: str, text: str, piece: str) -> Prompt:
    """Return the prompt for a piece. Equal titles and texts share their ``document``."""
    return Prompt(
        system=_CONTEXT,
        document=_marked_text(title, text),
        text=f"{marked('piece', piece)}\n\nThe one or two sentences about this piece:",
        max_tokens=CONTEXT_TOKENS,
    )


@lru_cache(8)  # the pieces of a source follow one another
def _marked_text(title: str, text: str) -> str:
    return marked("text", f"{title.strip()}\n\n{text}")


def clean_context(answer: str, *, piece: str = "") -> str:
    """Return a context on one line, or "" if it only repeats the piece."""
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
) -> ContextResult:
    """Request a context for each piece, several at once, and pass each to ``save`` in this thread.

    ``concurrency`` 0 means that of the settings or the model. Single failures are counted and
    skipped. Raises ``ModelRefused`` and ``ModelMissing`` at once, any ``ModelError`` after several
    in a row, and what ``save`` raises; requests in progress are finished and saved before.
    """
    tally = _Tally(save)
    at_once = concurrency or conf.llm().concurrency or llm.concurrency
    with ThreadPoolExecutor(at_once, thread_name_prefix="contexts") as executor:
        for turn in _turns(_excerpts(text, pieces, llm.budget), waits=llm.caches):
            _take(
                turn,
                lambda excerpt, piece: executor.submit(_ask, llm, title, excerpt, piece),
                at_once,
                tally,
            )
            if tally.fatal:
                raise tally.fatal
    return ContextResult(written=tally.written, failed=tally.failed, usage=tally.usage)


def estimate(*, title: str, text: str, pieces: Sequence[ContextRequest], budget: int) -> Cost:
    """Estimate the cost of ``write`` for a model that reads ``budget`` tokens. Pure."""
    bare = prompt_tokens(context_prompt(title="", text="", piece=""))
    cost = Cost()
    for excerpt, ours in _excerpts(text, pieces, budget):
        shared = tokens(excerpt) + tokens(title[:_MOST_TITLE])
        cost += Cost(
            calls=len(ours),
            input=sum(bare + shared + tokens(piece.text[:_MOST_PIECE]) for piece in ours),
            cached=shared * (len(ours) - 1) if shared >= _KEPT_FROM else 0,
            output=_USUAL_ANSWER * len(ours),
        )
    return cost


class _Tally:
    """The contexts so far; ``fatal`` is the error that ends the run."""

    def __init__(self, save: Callable[[int, str], None]) -> None:
        self._save = save
        self.written = self.failed = self._in_a_row = 0
        self.usage = Usage()
        self.fatal: ModelError | None = None

    def succeed(self, piece: ContextRequest, context: str, usage: Usage) -> None:
        self.usage += usage
        self._in_a_row = 0
        if context:
            self._save(piece.key, context)
            self.written += 1
        else:
            self.failed += 1

    def fail(self, error: ModelError) -> None:
        self.failed += 1
        self._in_a_row += 1
        _logger.warning("A context was not written: %s", error)
        if isinstance(error, ModelRefused | ModelMissing) or self._in_a_row >= _GIVES_UP:
            self.fatal = self.fatal or error


_Answer: TypeAlias = "Future[tuple[str, Usage]]"
_Turn: TypeAlias = list[tuple[str, ContextRequest]]  # requests that may run at once
_Group: TypeAlias = tuple[str, list[ContextRequest]]  # an excerpt and its pieces


def _ask(llm: Llm, title: str, excerpt: str, piece: ContextRequest) -> tuple[str, Usage]:
    text = piece.text[:_MOST_PIECE]
    reply = llm.ask(context_prompt(title=title[:_MOST_TITLE], text=excerpt, piece=text))
    return clean_context(reply.text, piece=text), reply.usage


def _take(
    turn: _Turn, start: Callable[[str, ContextRequest], _Answer], at_once: int, tally: _Tally
) -> None:
    """Run the requests of a turn, at most ``at_once`` together, until a fatal error."""
    waiting = iter(turn)
    in_progress: dict[_Answer, ContextRequest] = {}
    while True:
        room = 0 if tally.fatal else at_once - len(in_progress)
        in_progress |= {start(excerpt, piece): piece for excerpt, piece in islice(waiting, room)}
        if not in_progress:
            return
        for answer in wait(in_progress, return_when=FIRST_COMPLETED).done:
            piece = in_progress.pop(answer)
            try:
                context, usage = answer.result()
            except ModelError as error:
                tally.fail(error)
            else:
                tally.succeed(piece, context, usage)


def _turns(groups: list[_Group], *, waits: bool) -> Iterator[_Turn]:
    """Yield requests that may run at once; a cached excerpt waits for its first request."""
    if not waits:
        yield [(excerpt, piece) for excerpt, pieces in groups for piece in pieces]
        return
    for excerpt, (first, *others) in groups:
        yield [(excerpt, first)]
        yield [(excerpt, piece) for piece in others]


def _excerpts(text: str, pieces: Sequence[ContextRequest], budget: int) -> list[_Group]:
    """Return the excerpt for each piece: the whole text, or its beginning and the piece's part.

    Parts overlap by half and start at fixed positions, so that neighbouring pieces share one.
    """
    body = text.encode(errors="replace")
    ordered = sorted(pieces, key=lambda piece: piece.start)
    # The tokens of a request without the text, and of its answer.
    bare = context_prompt(title="", text="", piece="")
    longest = max((tokens(piece.text[:_MOST_PIECE]) for piece in ordered), default=0)
    overhead = prompt_tokens(bare) + bare.max_tokens + _MOST_TITLE + _MARKS + longest
    room = 3 * max(_LEAST_ROOM, budget - overhead)
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


def _middles(text: str, pieces: Sequence[ContextRequest]) -> Iterator[int]:
    """Yield the middle byte of each piece (in order), encoding the text only once."""
    end = position = 0
    for piece in pieces:
        middle = min(len(text), max(end, (piece.start + piece.end) // 2))
        position += len(text[end:middle].encode(errors="replace"))
        end = middle
        yield position


def _window(middle: int, wide: int, length: int) -> int:
    """Return the start of the part that is best centred on ``middle``."""
    step = wide // 2
    return min(max(0, round((middle - wide / 2) / step) * step), length - wide)


def _excerpt(body: bytes, start: int, wide: int, head: int) -> str:
    part = body[start : start + wide].decode(errors="ignore")
    if start <= head:
        return body[: start + wide].decode(errors="ignore")
    return body[:head].decode(errors="ignore") + _GAP + part


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """The missing contexts, and their cost with the configured language model."""

    model: str
    sources: int
    pieces: int
    cost: Cost


def plan() -> ContextPlan:
    """Estimate the cost of missing contexts. Raises ``Unavailable`` without a language model."""
    llm = registry.llm()
    if llm is None:
        raise Unavailable("No language model is configured.", hint="Set LLM_PROVIDER.")
    sources = pieces = 0
    cost = Cost()
    for source in Source.objects.filter(
        WITHOUT_CONTEXTS, state__in=(State.WORDS, State.READY)
    ).order_by("pk"):
        requests = requests_for(Chunk.objects.filter(source=source, context=""))
        cost += estimate(
            title=source.title,
            text=blocks.text_of(source_blocks.read(source)),
            pieces=requests,
            budget=llm.budget,
        )
        sources += 1
        pieces += len(requests)
    return ContextPlan(model=llm.name, sources=sources, pieces=pieces, cost=cost)


def requests_for(chunks: Iterable[Chunk]) -> list[ContextRequest]:
    """Return a context request for each chunk."""
    return [
        ContextRequest(key=chunk.pk, text=chunk.text, start=chunk.span_start, end=chunk.span_end)
        for chunk in chunks
    ]
