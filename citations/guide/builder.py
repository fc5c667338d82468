"""Make the guide to a source, and ask it the questions that it may answer."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, islice
from typing import Final

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import AnswerOutcome, FinalEvent, Quote
from citations.answers.writing.answer_types import definition_of
from citations.guide import facts, questions, terms
from citations.guide.items import GuideItem, SourceGuide
from citations.guide.questions import QuestionCandidate
from citations.guide.terms import CandidateTerm, Definition
from citations.library.filters import Filter
from citations.models import Level, Node, Source
from citations.outline import background
from citations.outline import storage as outline_storage
from citations.providers.languages import stop_words
from citations.quotes import source_texts
from citations.quotes.source_texts import SourceText
from citations.text import statements
from citations.text.key_sentences import Embed, centrality
from citations.text.sentences import Span
from citations.text.statements import SourceSentences, Statement, is_exercise
from citations.text.words import FunctionWords, Words, function_words, words_of
from citations.vectors import space as vector_space
from transcripts.core.scope import Scope
from transcripts.text.stemming import primary_language

TERMS: Final = 10
FEW_PLACES: Final = 2  # that may have the same heading, which is “Summary” otherwise
FREQUENT: Final = 30  # content words of the text that may be terms
QUESTIONS: Final = 5
DEFINITIONS_ASKED: Final = 16  # terms that the source is asked for
QUESTIONS_ASKED: Final = 20
HEADINGS_ASKED: Final = 5
TASKS: Final = 1 / 3  # of the sentences of a text with headings, given for tasks: a textbook’s

Meanwhile = Callable[[], object]


def build(source: Source, *, meanwhile: Meanwhile | None = None) -> SourceGuide:
    """Make the guide to an indexed source; ``meanwhile`` is called between its questions.

    Raises what ``answers.pipeline.ask`` raises. No language model is asked.
    """
    return _Builder(source, meanwhile or (lambda: None)).build()


class _Builder:
    def __init__(self, source: Source, meanwhile: Meanwhile) -> None:
        self._source, self._meanwhile = source, meanwhile
        self._known: SourceText = source_texts.of(source)
        self._code = primary_language(source.language) or "en"
        self._stops = stop_words(source.language)
        self._grammar: FunctionWords = function_words(self._code)
        read = statements.read(self._known.text, stops=self._stops, function_words=self._grammar)
        self._background = background.of(source)
        formula = self._background.formula_end(self._known.text)
        own = [
            each
            for each in read.statements
            if each.first >= formula
            and not (is_exercise(each.text) or is_exercise(self._known.heading_at(each.first)))
        ]
        self._sentences: SourceSentences = replace(read, statements=tuple(own))
        self._nodes = list(
            Node.objects.filter(source=source)
            .only("level", "title", "spans", "span_start", "span_end")
            .order_by("-level", "ordinal")
        )

    def build(self) -> SourceGuide:
        own = self._sentences
        expository = self._expository()
        names = [
            self._item(name.statement, label=name.text)
            for name in facts.names(own.statements, own.text)
        ]
        defined, of_terms = self._defined()
        undefined = islice(self._undefined(defined, names), terms.UNDEFINED)
        shown = [*defined, *undefined][:TERMS]
        known = {term.label.casefold() for term in shown}
        return SourceGuide(
            about=tuple(self._item(each) for each in self._about()),
            terms=tuple(shown),
            names=tuple(name for name in names if name.label.casefold() not in known),
            numbers=tuple(
                self._item(each) for each in facts.numbers(expository, own.counts, self._stops)
            ),
            questions=tuple(self._questions(of_terms, expository)),
        )

    @cached_property
    def _embed(self) -> Embed | None:
        """What embeds sentences on this machine, if anything does."""
        return outline_storage.embedder_of_phrases(self._source, vector_space.locked())

    @cached_property
    def _is_talk(self) -> bool:
        """Whether the source has no headings."""
        return not any(self._sections())

    # What stands in it

    def _expository(self) -> Sequence[Statement]:
        """Return the sentences without those that a textbook gives for its tasks."""
        own = self._sentences.statements
        expository = [statement for statement in own if not statement.is_given]
        is_textbook = len(own) - len(expository) > TASKS * len(own) and any(self._sections())
        return expository if is_textbook else own

    def _about(self) -> list[Statement]:
        title = words_of(self._source.title, self._stops)
        subjects = [self._source.title, *title]
        return facts.overview(
            self._sentences.statements,
            summaries={
                (first, last)
                for node in self._nodes
                if node.level >= Level.SECTION
                for first, last in node.spans
            },
            title=title,
            definitions=[definition_of(subject) for subject in subjects if subject.strip()],
            counts=self._sentences.counts,
            length=len(self._known.text),
            is_talk=self._is_talk,
            function_words=self._grammar,
            rate=partial(self._rate, title),
        )

    def _rate(self, title: Words, among: Sequence[Statement]) -> list[float]:
        """Rate how much sentences say about the whole, by their meaning or else by their words."""
        own = Node.objects.filter(source=self._source, level=Level.DOCUMENT)
        whole = own.filter(space=vector_space.locked()).first()
        if self._embed is None or whole is None or whole.vector is None:
            counts = self._sentences.counts
            return [
                each.salience(counts) * (1 + len(title.keys() & each.words.keys()))
                for each in among
            ]
        texts, vector = [each.flat for each in among], outline_storage.as_floats(whole.vector)
        return centrality(texts, whole=vector, title=self._source.title, embed=self._embed)

    def _terms(self) -> list[CandidateTerm]:
        places = Counter(heading for heading, _ in self._sections())
        headings = [heading for heading, count in places.items() if count <= FEW_PLACES]
        phrases = [
            phrase.strip()
            for node in self._nodes
            for title in node.title.split(" · ")
            if places[title] <= FEW_PLACES
            for phrase in title.split(",")
        ]
        frequent = [word for word, _ in self._sentences.counts.most_common(FREQUENT)]
        return terms.candidates(
            self._known.text, headings=headings, phrases=[*phrases, *frequent], stops=self._stops
        )

    def _parts(self) -> Iterator[tuple[str, Span]]:
        """Yield the phrases that name the parts of the outline, with their characters."""
        for node in self._nodes:
            if node.level == Level.SECTION:
                for phrase in re.split(r" · |, ", node.title):
                    if terms.is_term(phrase, self._stops):
                        yield phrase, (node.span_start, node.span_end)

    def _words_of_titles(self) -> set[str]:
        titles = (self._source.title, *(heading for heading, _ in self._sections()))
        words = {word for title in titles for word in words_of(title, self._stops)}
        return {word for word in words if not self._background.is_common(word)}

    def _sections(self) -> Iterator[tuple[str, Span]]:
        """Yield the headings with the characters below them."""
        chunks = self._source.chunks.order_by("ordinal")
        heading, first, last = "", 0, 0
        for own, start, end in chunks.values_list("heading", "span_start", "span_end"):
            if own != heading:
                if heading:
                    yield heading, (first, last)
                heading, first = own, start
            last = end
        if heading:
            yield heading, (first, last)

    # What it answers

    def _ask(self, question: str) -> tuple[Quote, ...]:
        """Return the quotes of the answer of this source alone; none of a refusal."""
        self._meanwhile()
        scope = Scope(readable=frozenset({self._source.collection_id}))
        only = Filter(keys=frozenset({self._source.pk}))
        events = answer_pipeline.ask(scope, question, filter=only, uses_llm=False)
        for event in events:
            if isinstance(event, FinalEvent):
                reply = event.reply
                return reply.quotes if reply.outcome == AnswerOutcome.ANSWERED else ()
        return ()

    def _defined(self) -> tuple[list[GuideItem], dict[QuestionCandidate, GuideItem]]:
        """Return the terms that an answer defines, and the questions that it begins with them."""
        items: list[GuideItem] = []
        answered: dict[QuestionCandidate, GuideItem] = {}
        for term, definitions in islice(self._definable(), DEFINITIONS_ASKED):
            if len(items) == TERMS:
                break
            if any(terms.are_alike(term, item.label) for item in items):
                continue
            quotes = self._ask(definitions[0].question)
            chosen = next(
                (
                    (quote, definition)
                    for quote in quotes
                    for definition in definitions
                    if quote.locator.span[0] <= definition.statement.first
                    and definition.statement.last <= quote.locator.span[1]
                ),
                None,
            )
            if chosen is None:
                continue
            quote, definition = chosen
            items.append(self._item(definition.statement, label=term))
            if quote is quotes[0]:
                question, within = definitions[0].question, definition.statement.span
                candidate = QuestionCandidate(text=question, within=within)
                answered[candidate] = self._quoted(candidate, quote)
        return items, answered

    def _definable(self) -> Iterator[tuple[str, list[Definition]]]:
        for term in self._terms():
            own = terms.definitions(
                term.text, self._sentences.statements, language=self._code, stops=self._stops
            )
            if own and own[0].question:
                yield term.text, own

    def _undefined(
        self, defined: Sequence[GuideItem], names: Sequence[GuideItem]
    ) -> Iterator[GuideItem]:
        """Yield the terms of several words that occur often, with what is said about each, or else
        where it first occurs.

        The names in a talk are none; in a text with headings, they name theorems and methods.
        """
        known = [item.label for item in defined]
        people = {name.label.casefold() for name in names if self._is_talk}
        for term in self._terms():
            if " " not in term.text or term.times < terms.OFTEN or term.text.casefold() in people:
                continue
            place = terms.first_place(term.text, self._known.text)
            if place and not any(terms.are_alike(term.text, other) for other in known):
                known.append(term.text)
                said = self._said_about(term.text)
                empty = GuideItem(locator=self._known.locate(place), label=term.text)
                yield self._item(said, label=term.text) if said else empty

    def _said_about(self, term: str) -> Statement | None:
        """Return the sentence that says best what a term is; None without one, or a model."""
        own = terms.statements_about(term, self._sentences.statements)
        if not own or self._embed is None:
            return None
        question, *rows = self._embed([f"What is {term}?", *(each.flat for each in own)])
        cosines = [float(row @ question) for row in rows]
        best = max(cosines)
        return own[cosines.index(best)] if best >= terms.SAYING else None

    def _questions(
        self, known: Mapping[QuestionCandidate, GuideItem], expository: Sequence[Statement]
    ) -> Iterator[GuideItem]:
        """Yield questions that this source answers where they come from: of each kind in turn, and
        where these are too few, what is said about its terms, then about its parts. The answers to
        some are ``known``.
        """
        own = self._sentences
        headings = [*islice(questions.of_headings(self._sections()), HEADINGS_ASKED)]
        spoken = questions.of_text(expository, own.counts, self._grammar)
        forms = questions.of_sentences(
            own.statements,
            own.counts,
            own.text,
            language=self._code,
            stops=self._stops,
            function_words=self._grammar,
        )
        about = questions.of_terms(
            (term.text for term in self._terms()),
            own.text,
            titles=self._words_of_titles(),
            language=self._code,
            function_words=self._grammar,
        )
        parts = questions.of_parts(self._parts(), own.text, language=self._code)
        tries, subjects, places = 0, list[str](), set[int]()
        in_turns = questions.in_turns(headings, spoken, *forms, [*known])
        for candidate in chain(in_turns, about, parts):
            subject = candidate.about or candidate.text
            if len(subjects) == QUESTIONS or tries == QUESTIONS_ASKED:
                break
            if subject.casefold() in subjects:  # a speaker asks the same again
                continue
            if candidate.about and any(terms.are_alike(subject, other) for other in subjects):
                continue
            item = known.get(candidate)
            if item is None:
                tries += 1
                item = self._answered(candidate)
            if item is None or item.span[0] in places:
                continue
            places.add(item.span[0])
            subjects.append(subject.casefold())
            yield item

    def _answered(self, candidate: QuestionCandidate) -> GuideItem | None:
        quotes = self._ask(candidate.text)
        if not quotes:
            return None
        is_right = questions.is_answered(candidate, quotes[0].locator.span, self._known.text)
        return self._quoted(candidate, quotes[0]) if is_right else None

    def _quoted(self, candidate: QuestionCandidate, quote: Quote) -> GuideItem:
        return GuideItem(label=candidate.text, text=quote.text, locator=quote.locator)

    def _item(self, statement: Statement, *, label: str = "") -> GuideItem:
        locator = self._known.locate(statement.span)
        return GuideItem(locator=locator, text=statement.text, label=label)
