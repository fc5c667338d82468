"""A question becomes an answer whose every citation was checked, or a refusal: one function a stage."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Final, NamedTuple, TypeVar
from urllib.parse import quote as quoted

from django.contrib.auth.models import User

from citations import readers, retrieval, synthesis
from citations.chunking import Block
from citations.filters import Filter, resolve
from citations.models import Chunk, Source
from citations.passages import Locator, Origin, Passage, Stage
from citations.replies import Checked, Claim, Claimed, Event, Evidence, Finished, Outcome, Part, Progress, Quote, Reply, Route, Trace
from citations.synthesis import Pick
from transcripts.errors import EmptyQuery, InvalidInput
from transcripts.library import MAX_QUERY
from transcripts.scope import Scope

ROUTE, RETRIEVE, WRITE, GROUND = "route", "retrieve", "write", "ground"
AROUND: Final = 100  # characters that are kept on either side of a quote
NEAREST: Final = 3  # passages that a refusal shows
LIMIT: Final = 10  # passages for each part of a question
T = TypeVar("T")


class Exchange(NamedTuple):
    """What was asked, by itself, and what was answered."""

    question: str
    answer: str


def ask(
    scope: Scope,
    question: str,
    *,
    history: Sequence[tuple[str, str]] = (),
    wanted: Filter = Filter(),  # noqa: B008  frozen
    user: User | None = None,
    asked_as: str = "",
) -> Iterator[Event]:
    """Answer a question out of what the scope may read, telling how far it is; the last event is ``Finished``.

    ``history`` has what was asked and answered before, oldest first (``Exchange``); ``asked_as`` is the question by itself where that is known already.
    Raises at once ``EmptyQuery``; ``InvalidInput`` for more than 1,000 characters; what ``filters.resolve`` raises. What fails on the way is noted in the
    answer where it can be done without.
    """
    text = _checked(question)
    resolve(scope, wanted)
    return _answered(_Asked(scope, text, tuple(Exchange(*one) for one in history), wanted, user, asked_as.strip()))


def rewritten(question: str, history: Sequence[tuple[str, str]]) -> str:
    """Return a question that can be understood without what was said before."""
    return question


@dataclass(frozen=True, slots=True)
class _Asked:
    scope: Scope
    question: str
    history: tuple[Exchange, ...]
    wanted: Filter
    user: User | None
    asked_as: str


def _checked(question: str) -> str:
    text = " ".join(question.split())
    if len(text) > MAX_QUERY:
        raise InvalidInput(f"The question is longer than {MAX_QUERY:,} characters.", hint="Ask more briefly.")
    if not any(mark.isalnum() for mark in text):
        raise EmptyQuery("There is nothing to answer.", hint="Ask something in words.")
    return text


@dataclass(slots=True)
class _Log:
    stages: list[Stage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    def timed(self, name: str, call: Callable[[], T]) -> T:
        started = perf_counter()
        result = call()
        count = len(result) if isinstance(result, list | tuple | dict) else 0
        self.stages.append(Stage(name=name, milliseconds=(perf_counter() - started) * 1000, count=count))
        return result


def _answered(asked: _Asked) -> Iterator[Event]:
    log = _Log()
    yield Progress(stage=ROUTE)
    asked_as = asked.asked_as or rewritten(asked.question, asked.history)
    route = Route(parts=(Part(text=asked_as),))
    yield Progress(stage=RETRIEVE)
    evidence = log.timed(RETRIEVE, lambda: _retrieved(asked, route, log))
    yield Progress(stage=WRITE)
    picks = log.timed(WRITE, lambda: synthesis.extract(route.parts, evidence))
    yield Progress(stage=GROUND)
    library = _Library()
    claims: list[Claim] = []
    quotes: list[Quote] = []
    for pick in picks:
        made = library.quote(pick, number=len(quotes) + 1)
        if made:
            quotes.append(made)
            claims.append(Claim(text=" ".join(made.text.split()), citations=(made.number,)))
            yield Claimed(claim=claims[-1], quotes=(made,))
    checks = tuple(Checked(quote=one.text, verdict="verbatim", number=one.number) for one in quotes)
    trace = Trace(route=route, evidence=tuple(evidence), checks=checks, stages=tuple(log.stages), notes=tuple(dict.fromkeys(log.notes)))
    reply = Reply(
        question=asked.question,
        asked_as=asked_as,
        outcome=Outcome.ANSWERED if claims else Outcome.REFUSED,
        trace=trace,
        claims=tuple(claims),
        quotes=tuple(quotes),
        nearest=() if claims else tuple(evidence[:NEAREST]),
        note="" if claims else f"I cannot find information about {synthesis.subject(asked_as)} in the sources.",
        milliseconds=(perf_counter() - log.started) * 1000,
    )
    yield Finished(reply=reply)


# Passages


def _retrieved(asked: _Asked, route: Route, log: _Log) -> list[Evidence]:
    found: list[Evidence] = []
    for number, part in enumerate(route.parts):
        results = retrieval.search(asked.scope, part.text, wanted=asked.wanted, limit=LIMIT, user=asked.user)
        log.stages += results.stages
        log.notes += results.notes
        found += _evidence(results.passages, part=number)
    return [replace(one, number=number) for number, one in enumerate(found, start=1)]


def _evidence(passages: Sequence[Passage], *, part: int) -> Iterator[Evidence]:
    rows = {
        pk: (source, digest)
        for pk, source, digest in Chunk.objects.filter(pk__in=[one.chunk for one in passages]).values_list("pk", "source", "source__digest")
    }
    for one in passages:
        if one.chunk in rows:
            source, digest = rows[one.chunk]
            yield Evidence(
                number=0,
                source=source,
                origin=one.origin,
                locator=one.locator,
                text=one.text,
                spans=(one.locator.span,),
                digest=digest,
                level=0,
                score=one.score,
                heading=one.heading,
                link=one.link,
                part=part,
            )


# Quotes


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    digest: str
    blocks: list[Block]

    def locator(self, span: tuple[int, int]) -> Locator:
        offsets = [block.offset for block in self.blocks]
        first, last = (self.blocks[max(0, bisect_right(offsets, place) - 1)] for place in (span[0], span[1] - 1))
        return Locator(span=span, start=first.start, end=last.end, page=first.page, last_page=last.page)


class _Library:
    """Texts of sources, read once for an answer."""

    def __init__(self) -> None:
        self._texts: dict[int, _Text | None] = {}

    def quote(self, pick: Pick, *, number: int) -> Quote | None:
        """Make a quote of a sentence; None where the source has changed since it was found."""
        one = pick.evidence
        read = self._text(one.source)
        start, end = pick.span
        if read is None or read.digest != one.digest or read.text[start:end] != pick.text:
            return None
        locator = read.locator(pick.span)
        return Quote(
            number=number,
            source=one.source,
            origin=one.origin,
            locator=locator,
            text=pick.text,
            before=read.text[max(0, start - AROUND) : start],
            behind=read.text[end : end + AROUND],
            digest=read.digest,
            heading=one.heading,
            link=_link(one.origin, locator),
        )

    def _text(self, pk: int) -> _Text | None:
        if pk not in self._texts:
            source = Source.objects.select_related("transcript").filter(pk=pk).first()
            blocks = readers.read(source) if source else []
            self._texts[pk] = _Text(readers.text_of(blocks), readers.digest_of(blocks), blocks) if blocks else None
        return self._texts[pk]


def _link(origin: Origin, locator: Locator) -> str:
    if origin.video_pk is None:
        page = f"pages/{locator.page}/?from={locator.span[0]}&to={locator.span[1]}" if locator.page else ""
        return f"/sources/{origin.id}/{page}"
    until = f"&until={-(-locator.end // 1000)}" if locator.end else ""
    language = f"&lang={quoted(origin.language)}" if origin.language else ""
    return f"/videos/{origin.video_pk}/?t={(locator.start or 0) // 1000}s{until}{language}"
