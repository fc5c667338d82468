"""Understands a question: by itself, in parts, and with the sources that it names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from time import perf_counter
from typing import Final

from django.db.models import F, Q, TextField, Value

from citations.answers.answer import Route
from citations.answers.question import named_sources, router
from citations.answers.question.named_sources import (
    NUMBERED,
    Heading,
    find_named_section,
    section_span,
)
from citations.answers.question.router import SourceFact, asked_fact
from citations.answers.question.wording import (
    MAX_PARTS,
    asks_what_is,
    content_words,
    in_context,
    refers_back,
    separated,
    without_connective,
)
from citations.answers.writing import answer_types, output_parser
from citations.answers.writing import prompts as writing_prompts
from citations.answers.writing.sentence_ranking import stems
from citations.errors import InvalidProvider, ModelError
from citations.formats import VIDEO
from citations.library.filters import Filter, matching
from citations.models import Chunk
from citations.passages import SearchMode, Stage
from citations.providers import registry
from citations.providers.embedding import LOCAL, Embedder
from citations.providers.llm import Llm
from citations.search import pipeline as search_pipeline
from citations.vectors import space as vector_space
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean
from transcripts.core.scope import Scope
from transcripts.core.stages import finish
from transcripts.text.tokenizer import tokenize

ROUTE: Final = "route"
QUICK: Final = (*LOCAL, registry.FAKE)  # embedders fast enough to be waited for
MAX_TURNS: Final = 20  # of a conversation, that are looked at
# Share of the question's words that a rewriting keeps, and of its own words that are known.
MIN_KEPT: Final = 0.5
MAX_TITLES: Final = 5_000  # titles with a word of the question; of more, none is meant
MAX_NUMBERED: Final = 20  # sources with numbered headings, of which one may have a named section
FAR_LONGER: Final = 5  # times as long as any other “chapter 4” or document: a book
MIN_TERM_WORDS: Final = 2  # words of a term that is a name by itself, as “the cost” is not
MAX_JOINT_PASSAGES: Final = 20  # passages that may have a term together with the question before it
_SHOWN: Final = 120  # characters of a title


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedSources:
    """Named sources, by primary key, the question without their names, and their titles.

    ``span`` are the characters of a named section of the only source.
    """

    keys: frozenset[int]
    question: str
    titles: str
    span: tuple[int, int] | None = None

    @property
    def note(self) -> str:
        return f"Looked only in {self.titles}, which the question names."

    @property
    def miss_note(self) -> str:
        return (
            f"Nothing that answers was found in {self.titles}, which the question names;"
            " looked everywhere."
        )


@dataclass(frozen=True, slots=True)
class AnswerModels:
    """The models that are used on the way to an answer."""

    llm: Llm | None
    embedder: Embedder | None

    def route(self, question: str) -> Route:
        llm = self.llm
        if llm is None or not llm.fills_forms:
            return router.route(question)

        def ask(text: str) -> str:
            prompt = writing_prompts.routing(text, most=MAX_PARTS)
            return llm.ask(prompt, tries=1).text

        return router.route_by_model(question, ask=ask, model=llm.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """What is looked up, and in which sources; ``fact``: what is asked about these themselves."""

    full_question: str
    route: Route
    filter: Filter
    selected: SelectedSources | None
    models: AnswerModels
    notes: tuple[str, ...]
    stage: Stage
    fact: SourceFact | None = None


def understand(
    scope: Scope,
    question: str,
    *,
    history: Sequence[tuple[str, str]],
    filter: Filter,
    uses_llm: bool = True,
) -> Understanding:
    """Find out what a question asks after the turns of ``history``."""
    started, llm, notes = perf_counter(), None, list[str]()
    try:
        llm = registry.llm() if uses_llm else None
    except InvalidProvider as error:
        notes.append(f"Answered without a language model: {error.text}")
    models = AnswerModels(llm, _embedder())
    full_question = rewrite(question, history, llm=llm)
    selected = _select_sources(scope, filter, full_question)
    named = {"keys": selected.keys, "span": selected.span} if selected else {}
    within = filter.model_copy(update=named)
    looked_up = selected.question if selected else full_question
    route = _without_unrelated_context(scope, within, models.route(looked_up))
    own, context = separated(full_question)
    if context and own == question:
        notes.append(f"Searched together with the question before it: “{context}”.")
    milliseconds = (perf_counter() - started) * 1000
    finish("answer", ROUTE, milliseconds=milliseconds)
    return Understanding(
        full_question=full_question,
        route=route,
        filter=within,
        selected=selected,
        models=models,
        notes=tuple(notes),
        stage=Stage(name=ROUTE, milliseconds=milliseconds),
        fact=asked_fact(looked_up),
    )


def understand_everywhere(
    scope: Scope, understanding: Understanding, *, filter: Filter
) -> Understanding:
    """Understand a question again: what it names may be its subject, and no source."""
    started = perf_counter()
    route = understanding.models.route(understanding.full_question)
    route = _without_unrelated_context(scope, filter, route)
    milliseconds = (perf_counter() - started) * 1000
    return replace(
        understanding,
        route=route,
        filter=filter,
        selected=None,
        fact=None,
        stage=Stage(name=ROUTE, milliseconds=milliseconds),
    )


def _embedder() -> Embedder | None:
    """Return the model of the library's embeddings, if it is fast enough."""
    space = vector_space.active()
    if space is None or space.provider not in QUICK:
        return None
    try:
        return vector_space.embedder_of(space)
    except (ModelError, InvalidProvider):
        return None


# Follow-up questions


def rewrite(question: str, history: Sequence[tuple[str, str]], *, llm: Llm | None = None) -> str:
    """Return a question that can be looked up without ``history``, (question, answer) pairs.

    A language model rewrites it, with as much history as its budget takes, one that does not fill
    forms only if the question seems to refer to the one before it. Its rewriting counts if it is
    made of the conversation's words, and no earlier question. Otherwise a question that refers to
    the one before it is searched together with it. Returns at most ``MAX_QUERY_CHARACTERS``
    characters.
    """
    turns = [turn for turn in history if turn[0].strip()][-MAX_TURNS:]
    if not turns:
        return question
    rewritten = ""
    if llm and (llm.fills_forms or refers_back(question)):
        rewritten = _rewritten(llm, question, turns)
    return (rewritten or _with_context(question, turns))[:MAX_QUERY_CHARACTERS]


def _rewritten(llm: Llm, question: str, turns: Sequence[tuple[str, str]]) -> str:
    prompt = writing_prompts.rewriting(question, turns, budget=llm.budget)
    try:
        answer = llm.ask(prompt, tries=1).text
    except ModelError:
        return ""
    line = next(output_parser.parse_drafts([answer]), None)
    text = clean(line.text, MAX_QUERY_CHARACTERS) if line else ""
    return text if _is_same(text, question, turns) else ""


def _is_same(text: str, question: str, turns: Sequence[tuple[str, str]]) -> bool:
    """Tell whether a rewriting keeps the question's words, takes its others from the turns, and
    does not repeat one of their questions.
    """
    if any(tokenize(text, shortest=1) == tokenize(earlier, shortest=1) for earlier, _ in turns):
        return False
    new, old = set(stems(text)), set(stems(question))
    vocabulary = old.union(*(stems(f"{earlier} {answer}") for earlier, answer in turns))
    is_known = bool(new) and len(new & vocabulary) >= MIN_KEPT * len(new)
    return is_known and len(new & old) >= MIN_KEPT * len(old)


def _with_context(question: str, turns: Sequence[tuple[str, str]]) -> str:
    def join(earlier: str, later: str) -> str:
        has_context = set(content_words(earlier)) <= set(content_words(later))
        if has_context or not refers_back(later):
            return later
        return in_context(later, earlier)[:MAX_QUERY_CHARACTERS]

    return reduce(join, [*(query[:MAX_QUERY_CHARACTERS] for query, _ in turns), question])


def _without_unrelated_context(scope: Scope, filter: Filter, route: Route) -> Route:
    """Drop the carried-over question from a part that asks what a term means, where no passage has
    the term and a word of that question: “And what is the trapezoidal rule?” starts afresh.
    """
    parts = (
        replace(part, text=without_connective(part.own), own="")
        if part.own and _is_unrelated_context(scope, filter, part.text)
        else part
        for part in route.parts
    )
    return replace(route, parts=tuple(parts))


def _is_unrelated_context(scope: Scope, filter: Filter, question: str) -> bool:
    own, context = separated(question)
    plain = without_connective(own)
    term = set(stems(answer_types.term(plain))) if context else set()
    if len(term) < (1 if asks_what_is(plain) else MIN_TERM_WORDS):
        return False
    results = search_pipeline.search(
        scope,
        f"{own} {context}"[:MAX_QUERY_CHARACTERS],
        mode=SearchMode.WORDS,
        filter=filter,
        rerank=False,
        limit=MAX_JOINT_PASSAGES,
    )
    subject = set(stems(" ".join(content_words(context)))) - term
    texts = [set(stems(passage.text)) for passage in results.passages]
    return not any(term <= text and subject & text for text in texts)


# Named sources


def _select_sources(scope: Scope, filter: Filter, question: str) -> SelectedSources | None:
    """Return the sources that a question names, or the section; None without any.

    With a filter by source, only a section is looked for.
    """
    if filter.sources or filter.keys is not None:
        return _select_section(scope, filter, question)
    titles = _titles(scope, filter, question)
    named = named_sources.find_named_sources(question, titles)
    chosen = [title for title in titles if title[0] in named.keys]
    selected = _selected(chosen, named.question) if chosen else _only_one(scope, filter, question)
    within = filter.model_copy(update={"keys": selected.keys}) if selected else filter
    section = _select_section(scope, within, selected.question if selected else question)
    return section or selected


def _titles(scope: Scope, filter: Filter, question: str) -> list[tuple[int, str]]:
    """Return the titles with a word that may name one, and those that stand in the question."""
    is_possible = Q(asked__icontains=F("title"))
    for word in named_sources.title_words(question):
        is_possible |= Q(title__icontains=word)
    sought = Value(question, output_field=TextField())
    rows = matching(scope, filter).alias(asked=sought).filter(is_possible, chunk_count__gt=0)
    titles = list(rows.order_by("pk").values_list("pk", "title")[: MAX_TITLES + 1])
    return titles if len(titles) <= MAX_TITLES else []


def _only_one(scope: Scope, filter: Filter, question: str) -> SelectedSources | None:
    """Return the only document (or by far the longest) or recording that “the book” may mean."""
    kind = named_sources.definite_kind(question)
    if not kind:
        return None
    sources = matching(scope, filter).filter(chunk_count__gt=0)
    of_kind = Q(kind=VIDEO) if kind == "recording" else ~Q(kind=VIDEO)
    candidates = sources.filter(of_kind)
    work = "pk" if kind == "document" else "video"
    works = candidates.order_by().values_list("video", work).distinct()[:2]
    longest = [*candidates.order_by("-characters")[:2]] if kind == "document" else []
    if len(longest) > 1 and longest[0].characters >= FAR_LONGER * longest[1].characters:
        return _selected([(longest[0].pk, longest[0].title)], question)
    if len(works) != 1 or not sources.exclude(pk__in=candidates).exists():
        return None
    return _selected(list(candidates.order_by("pk").values_list("pk", "title")), question)


def _select_section(scope: Scope, filter: Filter, question: str) -> SelectedSources | None:
    """Return the section that a question names, if one source has it, or by far the longest."""
    named = find_named_section(question)
    if named is None:
        return None
    numbered = matching(scope, filter).filter(chunks__heading__regex=NUMBERED).distinct()
    sources = list(numbered.order_by("pk").values_list("pk", "title")[: MAX_NUMBERED + 1])
    sections = []
    for key, title in sources if len(sources) <= MAX_NUMBERED else ():
        rows = Chunk.objects.filter(source=key).order_by("ordinal")
        headings = rows.values_list("heading", "span_start", "span_end")
        if span := section_span(named.number, [Heading(*row) for row in headings]):
            sections.append((key, title, span))
    sections.sort(key=lambda section: section[2][0] - section[2][1])
    lengths = [last - first for _, _, (first, last) in sections]
    if not sections or (len(sections) > 1 and lengths[0] < FAR_LONGER * lengths[1]):
        return None
    key, title, span = sections[0]
    return SelectedSources(
        keys=frozenset({key}),
        question=named.question,
        titles=f"{named.name} of “{title[:_SHOWN]}”",
        span=span,
    )


def _selected(titles: Sequence[tuple[int, str]], question: str) -> SelectedSources:
    quoted = dict.fromkeys(f"“{title[:_SHOWN]}”" for _, title in titles)
    return SelectedSources(
        keys=frozenset(key for key, _ in titles), question=question, titles=" and ".join(quoted)
    )
