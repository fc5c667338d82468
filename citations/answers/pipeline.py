"""The stages of an answer, one after the other, and what is told meanwhile."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter

from django.contrib.auth.models import User

from citations import conf
from citations.answers import confidence, writers
from citations.answers import evidence as answer_evidence
from citations.answers.answer import (
    AnswerOutcome,
    AnswerTrace,
    Event,
    Evidence,
    FinalEvent,
    Progress,
    Reply,
    Route,
)
from citations.answers.draft import GROUND, RETRIEVE, ROUTE, WRITE, AnswerRequest, AnswerRun
from citations.answers.follow_up import asks_for_more, rewritten
from citations.answers.question import router
from citations.answers.source_selection import Aim, aim, speaks
from citations.answers.writing import sentence_ranking, term_matching
from citations.errors import InvalidProvider, ModelError
from citations.library.filters import Filter, resolve
from citations.passages import Stage
from citations.providers import registry
from citations.providers.embedding import LOCAL, Embedder
from citations.providers.llm import Llm
from citations.search import pipeline as search_pipeline
from citations.vectors import space as vector_space
from transcripts.errors import EmptyQuery, InvalidInput
from transcripts.sanitize import clean
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

LIMIT = 10  # passages for each part of a question
MOST = 30  # of one that asks for more
NEAREST = 3  # passages that a refusal shows
QUICK = (*LOCAL, registry.FAKE)  # embedders that nobody waits for


def ask(
    scope: Scope,
    question: str,
    *,
    history: Sequence[tuple[str, str]] = (),
    filter: Filter = Filter(),
    user: User | None = None,
    asked_as: str = "",
    told: Iterable[str] = (),
) -> Iterator[Event]:
    """Answer a question out of what the scope may read, telling how far it is; the last event is ``FinalEvent``.

    ``history`` has (question, answer) of what was said before, oldest first; ``asked_as`` is the question by itself where that is known already. ``told`` are
    the quotes of earlier answers, which one that asks for more does not hear again; no other looks at them.
    Raises at once ``EmptyQuery``; ``InvalidInput`` for more than 1,000 characters; what ``filters.resolve`` raises. What fails on the way and can be done
    without is noted in the answer; else the iterator raises what ``leveled.find`` raises.
    """
    text = _checked(question)
    resolve(scope, filter)
    heard = tuple(told) if asks_for_more(text) else ()
    return _events(
        AnswerRequest(
            scope=scope,
            question=text,
            history=tuple(history),
            filter=filter,
            user=user,
            asked_as=clean(asked_as, MAX_QUERY_CHARACTERS),
            told=heard,
        )
    )


def _checked(question: str) -> str:
    if len(question) > MAX_QUERY_CHARACTERS:
        raise InvalidInput(
            f"The question is longer than {MAX_QUERY_CHARACTERS:,} characters.",
            hint="Ask more briefly.",
        )
    text = clean(question, MAX_QUERY_CHARACTERS)
    if not any(mark.isalnum() for mark in text):
        raise EmptyQuery("There is nothing to answer.", hint="Ask something in words.")
    return text


def _events(asked: AnswerRequest) -> Iterator[Event]:
    run = AnswerRun(asked=asked)
    yield Progress(stage=ROUTE)
    llm = _llm(run)
    named = run.timed(ROUTE, lambda: _routed(run, llm))
    yield Progress(stage=RETRIEVE)
    run.take(_retrieved(run))
    if named is None or speaks(run, _rate(run)):
        yield from _written(run, llm)
    if named and not any(claim.is_supported for claim in run.claims):
        yield from _everywhere(run, asked, named, llm)
    yield FinalEvent(reply=_reply(run))


def _everywhere(
    run: AnswerRun, asked: AnswerRequest, named: Aim, llm: Llm | None
) -> Iterator[Event]:
    """Begin anew where the sources that were named say nothing: a title may be a subject, too."""
    spent = run.tokens
    run.begin_anew(asked)
    run.notes = [named.missed, *(note for note in run.notes if note != named.note)]
    run.route = run.timed(ROUTE, lambda: _route(run.asked_as, llm))
    run.take(_retrieved(run))
    yield from _written(run, llm)
    run.tokens = {
        name: spent.get(name, 0) + run.tokens.get(name, 0) for name in {**spent, **run.tokens}
    }


def _written(run: AnswerRun, llm: Llm | None) -> Iterator[Event]:
    yield Progress(stage=WRITE)
    started = perf_counter()
    yield from writers.write(run, llm, rate=_rate(run))
    writing = (perf_counter() - started) * 1000 - run.proof.milliseconds
    run.stages += [Stage(name=WRITE, milliseconds=writing, count=len(run.claims)), _grounded(run)]


def _grounded(run: AnswerRun) -> Stage:
    return Stage(name=GROUND, milliseconds=run.proof.milliseconds, count=len(run.proof.checks))


# Route and retrieve


def _llm(run: AnswerRun) -> Llm | None:
    try:
        return registry.llm()
    except InvalidProvider as error:
        run.notes.append(
            f"Answered without a language model: {error.message} {error.hint}".rstrip()
        )
        return None


def _routed(run: AnswerRun, llm: Llm | None) -> Aim | None:
    """Say what is looked up, and where: in the sources that the question names, else in all that were asked for."""
    asked = run.asked
    run.asked_as = asked.asked_as or rewritten(asked.question, asked.history, llm=llm)
    named = aim(asked, run.asked_as)
    if named:
        run.asked = replace(asked, filter=replace(asked.filter, keys=named.keys))
        run.notes.append(named.note)
    run.route = _route(named.question if named else run.asked_as, llm)
    return named


def _route(question: str, llm: Llm | None) -> Route:
    embedder = _embedder()
    tell = (lambda prompt: llm.complete(prompt, max_tokens=200, tries=1)) if llm else None
    return router.route(
        question,
        embed=embedder.embed_queries if embedder else None,
        ask=tell,
        model=llm.name if llm else "",
    )


def _embedder() -> Embedder | None:
    """Return the model that the library is embedded with, where it answers at once."""
    if vector_space.active() is None or conf.embedding().provider not in QUICK:
        return None
    try:
        return registry.configured_embedder()
    except (ModelError, InvalidProvider):
        return None


def _rate(run: AnswerRun) -> sentence_ranking.Rate | None:
    """Return what says how near sentences are to a question; None where a person would wait for it. Its failure costs no answer."""
    made = _embedder()

    def rate(question: str, sentences: Sequence[str]) -> Sequence[float] | None:
        if made is None:
            return None
        try:
            vectors = made.embed_documents(list(sentences)) @ made.embed_query(question)
        except ModelError as error:
            run.notes.append(f"Sentences were chosen by their words: {error.message}")
            return None
        run.knows_meaning = made.model == confidence.model()
        return [float(one) for one in vectors]

    return rate if made else None


def _retrieved(run: AnswerRun) -> Iterator[Evidence]:
    limit = min(MOST, LIMIT + len(run.asked.told))  # what was told is found again
    for number, part in enumerate(run.route.parts):
        found = answer_evidence.find(
            run.asked.scope, part, filter=run.asked.filter, limit=limit, user=run.asked.user
        )
        run.stages += found.stages
        run.is_fused = vector_space.active() is not None and not any(
            one.name == search_pipeline.RERANK for one in found.stages
        )
        run.notes += found.notes
        yield from (replace(one, part=number) for one in found.evidence)


# The reply


def _reply(run: AnswerRun) -> Reply:
    outcome = _outcome(run)
    claims = () if outcome == AnswerOutcome.REFUSED else tuple(run.claims)
    return Reply(
        question=run.asked.question,
        asked_as=run.asked_as,
        outcome=outcome,
        trace=_trace(run),
        claims=claims,
        quotes=tuple(run.proof.quotes) if claims else (),
        nearest=_nearest(run) if outcome == AnswerOutcome.REFUSED else (),
        note=_note(run, outcome),
        confidence=run.confidence if claims else None,
        model=run.model,
        milliseconds=run.milliseconds,
    )


def _outcome(run: AnswerRun) -> AnswerOutcome:
    if not any(claim.is_supported for claim in run.claims):
        return AnswerOutcome.REFUSED
    return AnswerOutcome.PARTIAL if run.missing or run.was_cut else AnswerOutcome.ANSWERED


def _note(run: AnswerRun, outcome: AnswerOutcome) -> str:
    missing = (
        [run.asked_as]
        if outcome == AnswerOutcome.REFUSED and len(run.missing) < len(run.route.parts)
        else run.missing
    )
    what = "more information" if run.goes_on else "information"
    refused = (
        f"I cannot find {what} about {term_matching.named(one)} in the sources."
        for one in dict.fromkeys(missing)
    )
    return " ".join((*refused, *run.said))


def _nearest(run: AnswerRun) -> tuple[Evidence, ...]:
    return tuple(sorted(run.evidence, key=lambda one: -one.score)[:NEAREST])


def _trace(run: AnswerRun) -> AnswerTrace:
    return AnswerTrace(
        route=run.route,
        evidence=tuple(run.evidence),
        checks=tuple(run.proof.checks),
        stages=tuple(run.stages),
        tokens=run.tokens,
        signs=tuple(run.signs),
        notes=tuple(dict.fromkeys(run.notes)),
    )
