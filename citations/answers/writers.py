"""Writes answers: by a language model whose quotes are checked, or from the sources' sentences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from citations.answers.answer import (
    GROUND,
    Breadth,
    Claim,
    ClaimEvent,
    Draft,
    Progress,
    QuestionPart,
    Writing,
    WritingTask,
)
from citations.answers.citation_check import LANGUAGE, Proof
from citations.answers.model_writer import ModelWriter
from citations.answers.question.wording import asks_for_more, is_question
from citations.answers.sections import heading
from citations.answers.writing import extractive, sentence_ranking
from citations.answers.writing.excerpts import Pick
from citations.answers.writing.extractive import Extract, asks_for_list
from citations.answers.writing.output_parser import CitedQuote
from citations.errors import ModelError
from citations.providers.embedding import DocumentVectors, Embedder
from citations.providers.languages import is_in
from citations.providers.llm import Llm

SURE: Final = 0.6  # confidence in the sources' sentences that a small model's "not found" must beat
ALL: Final = 0.999  # share of a question's words, of which rounding leaves a little


class SentenceRater:
    """Rates how near sentences are to a question, by an embedding model whose failure is noted."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.notes: list[str] = []

    @property
    def is_calibrated(self) -> bool:
        """Whether confidence was calibrated with this model."""
        return self._embedder.model == sentence_ranking.trained_model()

    def __call__(self, question: str, sentences: Sequence[str]) -> Sequence[float] | None:
        embedder = self._embedder
        try:
            vectors = embedder.embed_documents(list(sentences))
            if isinstance(vectors, DocumentVectors) and vectors.faults:
                raise next(iter(vectors.faults.values()))
            cosines = vectors @ embedder.embed_query(question)
        except ModelError as error:
            self.notes.append(f"Sentences were chosen by their words: {error.message}")
            return None
        return [float(cosine) for cosine in cosines]


def calibrated(rater: SentenceRater | None) -> SentenceRater | None:
    """Return a rater whose cosines may be compared with fixed numbers; None for any other."""
    return rater if rater is not None and rater.is_calibrated else None


def write(task: WritingTask, proof: Proof, llm: Llm | None, rater: SentenceRater | None) -> Writing:
    """Write an answer, yielding each claim once it is checked.

    If a language model fails before its first claim, or nothing that it writes can be verified, the
    sources' sentences answer. They also stand below the claims of a model that does not fill forms,
    and in place of its "not found" where their confidence is high: such models are small.
    """
    extracts = extractive.extract(
        task.parts,
        task.evidence.evidence,
        rate=rater,
        read=proof.around,
        rows=proof.rows,
        earlier_quotes=task.earlier_quotes,
        asks_for_more=asks_for_more(task.full_question),
    )
    extracts = [
        replace(extract, absence=_absence(task, extract.part, number))
        for number, extract in enumerate(extracts)
    ]
    trusted = calibrated(rater)
    basis = Draft(
        signs=tuple(
            _signs(task, extract, is_calibrated=trusted is not None) for extract in extracts
        ),
        repeats=any(extract.repeats for extract in extracts),
    )
    if llm is None or not task.evidence.evidence:
        return (yield from _extractive(task, basis, extracts, proof))
    draft = yield from ModelWriter(task, proof, llm, trusted).write(basis)
    if draft.claims and not llm.fills_forms:
        return (yield from _with_more(task, draft, extracts, proof))
    is_sure = any(map(_is_sure, extracts, basis.signs))
    if draft.model and (llm.fills_forms or not is_sure):
        return draft
    no_answer = f"These are the sources' sentences: {llm.name} found no answer in the passages."
    failed = replace(
        basis, remarks=draft.remarks or (no_answer,), notes=draft.notes, tokens=draft.tokens
    )
    return (yield from _extractive(task, failed, extracts, proof))


def _signs(task: WritingTask, extract: Extract, *, is_calibrated: bool) -> dict[str, float]:
    """Return the signs that are measured as they were when confidence was calibrated."""
    unknown = {
        *(() if task.evidence.is_fused else sentence_ranking.FUSED),
        *(() if is_calibrated else sentence_ranking.MODEL_SIGNS),
    }
    return {name: value for name, value in extract.signs.items() if name not in unknown}


def _is_sure(extract: Extract, signs: Mapping[str, float]) -> bool:
    """Tell whether the sources' sentences answer a question with high confidence.

    What the sources are about stands in them. The signs of sentences that were quoted before say
    nothing about new ones.
    """
    if not extract.picks or extract.repeats:
        return False
    is_near = sentence_ranking.confidence(signs) >= SURE
    return extract.part.is_of_the_whole or (is_near and _is_answered(extract, signs))


def _is_answered(extract: Extract, signs: Mapping[str, float]) -> bool:
    """Tell whether the sources' sentences answer a question at all; one with all its words does,
    whatever an embedding model makes of words that it does not know.
    """
    has_all = signs.get("together", 0.0) > ALL and is_question(extract.part.text)
    is_near = not extract.absence and (has_all or sentence_ranking.is_answered(signs))
    return extract.part.is_of_the_whole or is_near


def _absence(task: WritingTask, part: QuestionPart, number: int) -> str:
    """Say which names or numbers in an English question no passage has: its answer is not there.

    Elsewhere nouns have capitals, too, and so have headings.
    """
    question = part.own or part.text
    if part.breadth == Breadth.BROAD or not (is_question(question) and is_in(question, LANGUAGE)):
        return ""
    passages = [passage for passage in task.evidence.evidence if passage.part == number]
    absent, present = sentence_ranking.absent_names(question, passages)
    speak_of = f"speak of {' and '.join(present)}, not of" if present else "do not mention"
    return f"The sources {speak_of} {' or '.join(absent)}." if absent else ""


# The sources' sentences


def _extractive(
    task: WritingTask, draft: Draft, extracts: Sequence[Extract], proof: Proof
) -> Writing:
    yield Progress(stage=GROUND)
    answered: list[_PartAnswer] = []
    for extract, signs in zip(extracts, draft.signs, strict=True):
        before = len(draft.claims)
        if _is_answered(extract, signs):
            if not extract.part.is_of_the_whole and not extract.repeats:
                share, heading = sentence_ranking.confidence(signs), _heading(task, extract.part)
                confidences = {heading: share, **draft.confidences} if heading else {}
                draft = replace(
                    draft,
                    confidence=draft.confidence if heading else share,
                    confidences=confidences or draft.confidences,
                )
            answered.append(_part_answer(task, extract.part, extract.picks))
            draft = yield from _cite_shown(draft, answered[-1], proof)
        if len(draft.claims) == before:
            remarks = (*draft.remarks, extract.absence) if extract.absence else draft.remarks
            draft = replace(draft, missing=(*draft.missing, extract.part.text), remarks=remarks)
    return (yield from _cite_folded(draft, answered, proof))


def _with_more(
    task: WritingTask, draft: Draft, extracts: Sequence[Extract], proof: Proof
) -> Writing:
    """Add the sources' sentences beyond the places that the claims of a language model cite: for
    what it did not find, those with high confidence. ``missing`` are the questions without a claim.
    """
    answered: list[_PartAnswer] = []
    for extract, signs in zip(extracts, draft.signs, strict=True):
        is_answered = _is_sure if extract.part.text in draft.missing else _is_answered
        if extract.part.breadth == Breadth.BROAD or not is_answered(extract, signs):
            continue
        picks = [
            pick
            for pick in extract.picks
            if not any(
                quote.source == pick.evidence.source
                and quote.locator.span[0] < pick.span[1]
                and pick.span[0] < quote.locator.span[1]
                for quote in proof.quotes
            )
        ]
        answered.append(_part_answer(task, extract.part, picks))
        draft = yield from _cite_shown(draft, answered[-1], proof)
    draft = yield from _cite_folded(draft, answered, proof)
    headings = {claim.heading for claim in draft.claims}
    missing = (part.text for part in task.parts if _heading(task, part) not in headings)
    return replace(draft, missing=tuple(missing))


def _heading(task: WritingTask, part: QuestionPart) -> str:
    return heading(part.text) if len(task.parts) > 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _PartAnswer:
    """The sentences for a part that are not cited yet; ``is_listed``: each is shown."""

    part: QuestionPart
    heading: str
    is_listed: bool
    picks: Iterator[Pick]


def _part_answer(task: WritingTask, part: QuestionPart, picks: Iterable[Pick]) -> _PartAnswer:
    is_several = part.breadth == Breadth.BROAD or asks_for_list(part.text)
    asks_again = bool(task.earlier_quotes) or asks_for_more(task.full_question)
    return _PartAnswer(
        part=part,
        heading=_heading(task, part),
        is_listed=is_several or asks_again,
        picks=iter(picks),
    )


def _cite_shown(draft: Draft, answer: _PartAnswer, proof: Proof) -> Writing:
    """Add the sentences of a part that are shown at once: all, or the first places; none below the
    claims of a language model.
    """
    if answer.is_listed:
        return (yield from _cite(draft, answer, proof))
    if any(claim.heading == answer.heading for claim in draft.claims):
        return draft
    most = len(draft.claims) + extractive.SHOWN
    while len(draft.claims) < most and (pick := next(answer.picks, None)):
        draft = yield from _cite(draft, replace(answer, picks=iter([pick])), proof)
    return draft


def _cite_folded(draft: Draft, answers: Sequence[_PartAnswer], proof: Proof) -> Writing:
    """Add the sentences that are left, as more of them: after what is shown of every part, so that
    the citations which are shown at once are numbered without holes.
    """
    for answer in answers:
        draft = yield from _cite(draft, answer, proof, is_more=True)
    return draft


def _cite(draft: Draft, answer: _PartAnswer, proof: Proof, *, is_more: bool = False) -> Writing:
    """Add sentences of a part, each with its citation."""
    is_overview = answer.part.breadth == Breadth.BROAD
    for pick in answer.picks:
        count = len(proof.quotes)
        match = proof.look_up(CitedQuote(quote=pick.text, passage=pick.evidence.number))
        if match and (number := proof.number(match)):
            text = " ".join(pick.text.split())
            text = extractive.row_text(pick, answer.part.text) if pick.header else text
            claim = Claim(
                text=text[:1].upper() + text[1:] if is_overview else text,
                label=_label(draft, number, proof, pick) if is_overview else "",
                citations=(number,),
                is_more=is_more,
                heading=answer.heading,
                answer=" ".join(pick.answer.split()),
            )
            draft = replace(draft, claims=(*draft.claims, claim))
            yield ClaimEvent(claim=claim, quotes=tuple(proof.quotes[count:]))
    return draft


def _label(draft: Draft, number: int, proof: Proof, pick: Pick) -> str:
    """Return the heading or title of a claim in an overview; empty if the last one has it."""
    quote = proof.quotes[number - 1]
    label = " ".join((pick.evidence.heading or quote.heading or quote.origin.title).split())
    last = next((claim.label for claim in reversed(draft.claims) if claim.label), "")
    return "" if label == last else label
