"""Lets a language model write an answer, and checks what it writes."""

from collections.abc import Generator
from dataclasses import replace
from typing import Final

from citations import conf
from citations.answers.answer import (
    GROUND,
    Claim,
    ClaimEvent,
    Draft,
    Event,
    Progress,
    Writing,
    WritingTask,
)
from citations.answers.citation_check import Proof, relates
from citations.answers.question.wording import is_question
from citations.answers.sections import heading
from citations.answers.writing import claim_support, excerpts, output_parser, sentence_ranking
from citations.answers.writing import prompts as writing_prompts
from citations.answers.writing.claim_support import attribute
from citations.answers.writing.output_parser import CitedQuote, ClaimDraft, UnansweredPart
from citations.answers.writing.sentence_ranking import Rate, stems
from citations.errors import ModelError
from citations.providers.llm import Llm, Usage
from citations.providers.prompts import Prompt, prompt_tokens
from citations.quotes import matching
from citations.text.sentences import asks
from citations.text.thoughts import is_about_task, names_passage
from transcripts.core.locks import release_connection

ECHOED: Final = 0.5  # share of its words that a "not found" must have from the question


class ModelWriter:
    """Reads the claims of a language model, and checks them one by one."""

    def __init__(self, task: WritingTask, proof: Proof, llm: Llm, rate: Rate | None) -> None:
        self._task, self._proof, self._llm, self._rate = task, proof, llm, rate
        self._claims: list[Claim] = []
        self._missing: list[str] = []
        self._notes: list[str] = []
        self._tokens: dict[str, int] = {}

    def write(self, basis: Draft) -> Writing:
        """Write the answer, a second time if nothing in it can be verified.

        A failure is a remark. ``model`` stays empty where the model has verified nothing and does
        not say that anything is missing.
        """
        error: ModelError | None = None
        try:
            budget = self._llm.budget
            try:
                written = yield from self._read()
            except ModelError:
                if self._claims or self._llm.budget >= budget:
                    raise
                written = yield from self._read()  # with less text: that was too much for it
            if written and not self._has_answered:
                self._notes.append("Nothing was verified, so it was asked once more.")
                yield from self._read(failed=written)
        except ModelError as failure:
            error = failure
        return replace(
            basis,
            claims=tuple(self._claims),
            missing=tuple(self._missing),
            remarks=self._remarks(basis, error),
            notes=tuple(self._notes),
            confidence=None if error or basis.repeats else self._confidence(basis),
            is_cut_off=error is not None and bool(self._claims),
            model=self._llm.name if self._claims or (self._missing and not error) else "",
            tokens=self._tokens,
        )

    @property
    def _has_answered(self) -> bool:
        return bool(self._claims or self._missing)

    def _read(self, *, failed: str = "") -> Generator[Event, None, str]:
        """Read and check an answer, and return what it says."""
        task, llm, question = self._task, self._llm, self._task.full_question
        if not (llm.fills_forms or is_question(question)):
            # A small model finds nothing about a bare subject.
            question = f"What is said about “{question}”?"
        prompt = writing_prompts.prompt(
            question,
            task.parts,
            task.evidence.evidence,
            budget=llm.budget,
            fills_forms=llm.fills_forms,
            earlier_quotes=task.earlier_quotes,
            failed=failed,
        )
        written: list[str] = []
        pieces = llm.stream(prompt, on_usage=lambda usage: self._count(usage, prompt))
        release_connection()  # a model may write for a minute
        waiting: list[Claim] = []  # unsupported claims wait for a supported one
        for draft in output_parser.parse_drafts(pieces):
            if not written:
                yield Progress(stage=GROUND)
            written.append(draft.text)
            count = len(self._proof.quotes)
            if isinstance(draft, UnansweredPart):
                self._missing.append(self._unanswered(draft))
            else:
                waiting += self._verified(draft)
            if any(claim.is_supported for claim in (*self._claims, *waiting)):
                self._claims += waiting
                quotes = tuple(self._proof.quotes[count:])
                yield from (ClaimEvent(claim=claim, quotes=quotes) for claim in waiting)
                waiting = []
        return "\n".join(written)

    def _verified(self, draft: ClaimDraft) -> list[Claim]:
        """Return a claim with its quotes, or else with the sentences that it stands on; nothing
        where neither is to be had, or where the claim is the question.
        """
        if asks(draft.text) and set(stems(draft.text)) <= set(stems(self._task.full_question)):
            return []
        if self._is_about_task(draft.text):
            claim = (
                self._attributed(draft, keeps_words=False) if names_passage(draft.text) else None
            )
            return [claim] if claim and claim not in self._claims else []
        claim = self._checked(draft) if draft.cited else None
        if claim is None or not claim.is_supported:
            claim = self._attributed(draft) or claim
        if claim is None and conf.marks_unsupported():
            claim = Claim(text=draft.text, is_supported=False)
        claim = replace(claim, heading=self._heading(claim)) if claim else None
        is_shown = claim is not None and (claim.is_supported or conf.marks_unsupported())
        return [claim] if claim and is_shown and claim not in self._claims else []

    def _is_about_task(self, text: str) -> bool:
        """Tell whether a text speaks of the user or the passages, where no passage does so."""
        evidence = self._task.evidence.evidence
        return is_about_task(text) and not any(is_about_task(passage.text) for passage in evidence)

    def _heading(self, claim: Claim) -> str:
        """Return which of several questions a claim answers: the one that shares most words with it
        and its quotes, or else for which its passage was found; without a quote, that of the claim
        before it.
        """
        parts, evidence, proof = self._task.parts, self._task.evidence.evidence, self._proof
        if len(parts) == 1 or not claim.citations:
            return self._claims[-1].heading if self._claims else ""
        quotes = (proof.quotes[number - 1].text for number in claim.citations)
        words = set(stems(" ".join((claim.text, *quotes))))
        shared = self._shared(words)
        passages = {check.number: check.evidence for check in proof.checks if check.evidence}
        passage = passages.get(claim.citations[0])
        found_for = evidence[passage - 1].part if passage else 0
        is_best = shared[found_for] == max(shared)
        return heading(parts[found_for if is_best else shared.index(max(shared))].text)

    def _shared(self, words: set[str]) -> list[int]:
        """Count how many of these stems each question has."""
        questions = (heading(part.text) for part in self._task.parts)
        return [len(words & set(stems(question))) for question in questions]

    def _attributed(self, draft: ClaimDraft, *, keeps_words: bool = True) -> Claim | None:
        """Return a claim that its passages prove: in its words if they say them, else in theirs."""
        numbers = {*draft.passages, *(cited.passage for cited in draft.cited)}
        evidence = self._task.evidence.evidence
        named = [passage for passage in evidence if passage.number in numbers]
        place = attribute(draft.text, named or evidence, rate=self._rate)
        if place is None or excerpts.is_repeated(place.pick.text, self._task.earlier_quotes):
            return None
        quote = CitedQuote(quote=place.pick.text, passage=place.pick.evidence.number)
        match = self._proof.look_up(quote)
        number = self._proof.number(match) if match else 0
        if not number:
            return None
        is_said = (
            keeps_words
            and place.is_said
            and claim_support.is_backed(draft.text, [place.pick.text], contains=matching.occurs)
        )
        text = draft.text if is_said else " ".join(place.pick.text.split())
        return Claim(text=text, citations=(number,))

    def _checked(self, draft: ClaimDraft) -> Claim:
        """Keep a claim's quotes that stand in the sources and relate to it.

        A claim has no support without one, or with a number that none of their passages has.
        """
        proof, earlier_quotes = self._proof, self._task.earlier_quotes
        true = [
            match
            for cited in draft.cited
            if (match := proof.look_up(cited))
            and not excerpts.is_repeated(cited.quote, earlier_quotes)
        ]
        matches = [
            match
            for match in true
            if relates(draft.text, proof.text(match), match.span, self._rate)
        ]
        if len(matches) < len(true):
            self._notes.append(
                "Left out true quotes that do not relate to what the language model wrote above"
                " them."
            )
        texts = [self._task.full_question, *(match.around for match in matches)]
        if not claim_support.is_backed(draft.text, texts, contains=matching.occurs):
            return Claim(text=draft.text, is_supported=False)
        numbers = dict.fromkeys(number for match in matches if (number := proof.number(match)))
        return Claim(text=draft.text, citations=tuple(numbers), is_supported=bool(numbers))

    def _unanswered(self, draft: UnansweredPart) -> str:
        """Return what is missing: of several questions the one that the model means, else what it
        says if these are the question's words.
        """
        words, task = set(stems(draft.text)), self._task
        if not words or len(words & set(stems(task.full_question))) < ECHOED * len(words):
            return task.full_question
        shared = self._shared(words)
        is_clear = len(shared) > 1 and shared.count(max(shared)) == 1
        return task.parts[shared.index(max(shared))].text if is_clear else draft.text

    def _remarks(self, basis: Draft, error: ModelError | None) -> tuple[str, ...]:
        name = self._llm.name
        if error:
            outcome = (
                "The answer breaks off" if self._claims else "These are the sources' sentences"
            )
            return (f"{outcome}: {name} failed. {error.text}",)
        if self._has_answered:
            return ()
        proves = "is new and can be verified" if basis.repeats else "can be verified"
        return (f"These are the sources' sentences: nothing that {name} wrote {proves}.",)

    def _confidence(self, basis: Draft) -> float | None:
        """Estimate the confidence in the first citation, by the signs of its part."""
        checks = self._proof.checks
        cited = [check.number > 0 for check in checks]
        if not any(cited):
            return None
        passages = (check.evidence for check in checks if check.number == 1 and check.evidence)
        first = next(passages, 0)
        part = self._task.evidence.evidence[first - 1].part if first else 0
        return sentence_ranking.confidence(basis.signs[part], proven=sum(cited) / len(cited))

    def _count(self, usage: Usage, prompt: Prompt) -> None:
        """Add up the tokens; estimate what the server does not report."""
        counted = {
            "input": usage.input or prompt_tokens(prompt),
            "cached": usage.cached,
            "stored": usage.stored,
            "output": usage.output,
        }
        self._tokens = {name: self._tokens.get(name, 0) + counted[name] for name in counted}
