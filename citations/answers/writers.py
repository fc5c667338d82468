"""Who writes an answer: a language model whose quotes are checked, or nobody, and the sources speak for themselves."""

from collections.abc import Iterator

from citations import conf
from citations.answers import confidence
from citations.answers.answer import Breadth, Claim, Event, Progress
from citations.answers.draft import GROUND, AnswerRun
from citations.answers.relevance_check import relates
from citations.answers.writing import (
    claim_support,
    excerpts,
    extractive,
    output_parser,
    term_matching,
)
from citations.answers.writing import prompts as writing_prompts
from citations.answers.writing.extractive import Extract
from citations.answers.writing.output_parser import CitedQuote, ClaimDraft, UnansweredPart
from citations.answers.writing.sentence_ranking import Rate
from citations.errors import ModelError
from citations.providers.llm import Llm, Usage
from citations.providers.prompts import Prompt, prompt_tokens

ECHOED = 0.5  # share of its words that a remark on what is missing has to have from the question


def write(run: AnswerRun, llm: Llm | None, *, rate: Rate | None) -> Iterator[Event]:
    """Write the answer, telling each claim when it is checked. Where a language model fails before it has said anything, the sources speak."""
    extracts = extractive.extract(
        run.route.parts, run.evidence, rate=rate, read=run.proof.around, told=run.asked.told
    )
    run.signs = [_known(run, extract) for extract in extracts]
    run.goes_on = any(extract.goes_on for extract in extracts)
    if llm is not None and run.evidence:
        try:
            yield from _by_model(run, llm, rate if run.knows_meaning else None)
            return
        except ModelError as error:
            run.was_cut = bool(run.claims)
            run.said.append(_failed(llm, error, was_cut=run.was_cut))
        if run.was_cut:
            return
    run.model = ""
    yield Progress(stage=GROUND)
    for place, extract in enumerate(extracts):
        if (
            extract.part.is_of_the_whole
        ):  # what the sources are about stands in them, whichever words the question has
            yield from _extracted(run, extract, sure=None)
        elif confidence.is_answered(run.signs[place]):
            sure = (
                None if extract.goes_on else confidence.estimate(run.signs[place])
            )  # the signs are those of what was told
            yield from _extracted(run, extract, sure=sure)
        else:
            run.missing.append(extract.part.text)


def _known(run: AnswerRun, extract: Extract) -> dict[str, float]:
    """Return the signs that are measured as they were when confidence was calibrated."""
    strange = (() if run.is_fused else confidence.FUSED) + (
        () if run.knows_meaning else confidence.NEAR
    )
    return {
        name: value for name, value in extract.signs.as_numbers().items() if name not in strange
    }


def _failed(llm: Llm, error: ModelError, *, was_cut: bool) -> str:
    what = "The answer breaks off" if was_cut else "Answered with the sources' own sentences"
    return f"{what}: {llm.name} failed. {error.message} {error.hint}".rstrip()


# The sources themselves


def _extracted(run: AnswerRun, extract: Extract, *, sure: float | None) -> Iterator[Event]:
    told = 0
    run.confidence = sure if run.confidence is None else run.confidence
    for pick in extract.picks:
        known = len(run.proof.quotes)
        place = run.proof.look_up(CitedQuote(quote=pick.text, passage=pick.evidence.number))
        if place and (number := run.proof.number(place)):
            told += 1
            yield run.tell(
                _claim(run, pick.text, number, is_overview=extract.part.breadth == Breadth.BROAD),
                known=known,
            )
    if not told:
        run.missing.append(extract.part.text)


def _claim(run: AnswerRun, text: str, number: int, *, is_overview: bool) -> Claim:
    """Return an excerpt as a claim; in an overview it says once under which heading, or in which source, it and those behind it stand."""
    label = _place(run, number) if is_overview else ""
    before = _place(run, run.claims[-1].citations[0]) if label and run.claims else ""
    return Claim(
        text=" ".join(text.split()), label="" if label == before else label, citations=(number,)
    )


def _place(run: AnswerRun, number: int) -> str:
    quote = run.proof.quotes[number - 1]
    return " ".join((quote.heading or quote.origin.title).split())


# A language model


def _by_model(run: AnswerRun, llm: Llm, rate: Rate | None) -> Iterator[Event]:
    run.model = llm.name
    prompt = writing_prompts.prompt(
        run.asked_as, run.route.parts, run.evidence, budget=llm.budget, told=run.asked.told
    )
    pieces = llm.stream(
        prompt.text,
        system=prompt.system,
        document=prompt.document,
        max_tokens=prompt.max_tokens,
        told=lambda usage: _count(run, usage, prompt),
    )
    yield Progress(stage=GROUND)
    waiting: list[Claim] = []  # claims without a proof are not told before one that has it
    for draft in output_parser.drafts(pieces):
        known = len(run.proof.quotes)
        if isinstance(draft, UnansweredPart):
            run.missing.append(_missing(run, draft))
        elif (claim := _checked(run, draft, rate)).is_supported or conf.marks_unsupported():
            waiting.append(claim)
        if any(one.is_supported for one in (*run.claims, *waiting)):
            yield from (run.tell(one, known=known) for one in waiting)
            waiting = []
    run.confidence = None if run.goes_on else _sure(run)
    if run.proof.checks and not any(claim.is_supported for claim in run.claims):
        proves = "is new and proves it" if run.goes_on else "proves it"
        run.said.append(
            f"{llm.name} wrote an answer, but none of what it quotes {proves}, so it is not shown."
        )


def _sure(run: AnswerRun) -> float | None:
    """Return the confidence in the first citation: that of the part whose passage it is from, by how many of the model's quotes were true."""
    cited = [check.number > 0 for check in run.proof.checks]
    first = next(
        (
            run.evidence[check.evidence - 1].part
            for check in run.proof.checks
            if check.number == 1 and check.evidence
        ),
        0,
    )
    return (
        confidence.estimate(run.signs[first], proven=sum(cited) / len(cited))
        if any(cited)
        else None
    )


def _count(run: AnswerRun, usage: Usage, prompt: Prompt) -> None:
    """Note what it cost; what a server does not say is estimated."""
    asked = usage.asked or prompt_tokens(prompt)
    run.tokens = {
        "asked": asked,
        "cached": usage.cached,
        "stored": usage.stored,
        "answered": usage.answered,
    }


def _checked(run: AnswerRun, draft: ClaimDraft, rate: Rate | None) -> Claim:
    """Keep of a claim's quotes those that stand in the sources, and speak of what it says; without one, or with a number that none of their passages has, it
    has no support.
    """
    found = [
        place
        for one in draft.cited
        if (place := run.proof.look_up(one)) and not excerpts.is_told(one.quote, run.asked.told)
    ]
    places = [
        place for place in found if relates(draft.text, run.proof.text(place), place.span, rate)
    ]
    if len(places) < len(found):
        run.notes.append(
            "Left out true quotes that have nothing to do with what the language model wrote above them."
        )
    is_backed = claim_support.is_backed(
        draft.text, [run.asked_as, *(place.around for place in places)]
    )
    numbers = (
        tuple(dict.fromkeys(number for place in places if (number := run.proof.number(place))))
        if is_backed
        else ()
    )
    return Claim(text=draft.text, citations=numbers, is_supported=bool(numbers))


def _missing(run: AnswerRun, draft: UnansweredPart) -> str:
    """Return what is missing in the model's words where they are the question's, else the question."""
    said, asked = set(term_matching.stems(draft.text)), set(term_matching.stems(run.asked_as))
    return draft.text if said and len(said & asked) >= ECHOED * len(said) else run.asked_as
