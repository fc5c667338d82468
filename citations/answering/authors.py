"""Who writes an answer: a language model whose quotes are checked, or nobody, and the sources speak for themselves."""

from collections.abc import Iterator

from citations import conf, synthesis
from citations.answering.run import GROUND, Run
from citations.errors import ModelError
from citations.providers.llm import Llm, Usage
from citations.replies import Claim, Event, Progress
from citations.synthesis import Cited, Drafted, Extract, Rate, Unanswered

ECHOED = 0.5  # share of its words that a remark on what is missing has to have from the question


def write(run: Run, llm: Llm | None, *, rate: Rate | None) -> Iterator[Event]:
    """Write the answer, telling each claim when it is checked. Where a language model fails before it has said anything, the sources speak."""
    extracts = synthesis.extract(run.route.parts, run.evidence, rate=rate)
    if llm is not None and run.evidence:
        try:
            yield from _by_model(run, llm)
            return
        except ModelError as error:
            run.was_cut = bool(run.claims)
            run.notes.append(_failed(llm, error, was_cut=run.was_cut))
        if run.was_cut:
            return
    run.model = ""
    yield Progress(stage=GROUND)
    for extract in extracts:
        yield from _extracted(run, extract)


def _failed(llm: Llm, error: ModelError, *, was_cut: bool) -> str:
    what = "The answer breaks off" if was_cut else "Answered with the sources' own sentences"
    return f"{what}: {llm.name} failed. {error.message} {error.hint}".rstrip()


# The sources themselves


def _extracted(run: Run, extract: Extract) -> Iterator[Event]:
    told = 0
    for pick in extract.picks:
        known = len(run.proof.quotes)
        place = run.proof.look_up(Cited(quote=pick.text, passage=pick.evidence.number))
        if place and (number := run.proof.number(place)):
            told += 1
            yield run.tell(Claim(text=" ".join(pick.text.split()), citations=(number,)), known=known)
    if not told:
        run.missing.append(extract.part.text)


# A language model


def _by_model(run: Run, llm: Llm) -> Iterator[Event]:
    run.model = llm.name
    prompt = synthesis.prompt(run.asked_as, run.route.parts, run.evidence, budget=llm.budget)
    pieces = llm.stream(prompt.text, system=prompt.system, document=prompt.document, max_tokens=prompt.max_tokens, told=lambda usage: _count(run, usage))
    yield Progress(stage=GROUND)
    waiting: list[Claim] = []  # claims without a proof are not told before one that has it
    for draft in synthesis.drafts(pieces):
        known = len(run.proof.quotes)
        if isinstance(draft, Unanswered):
            run.missing.append(_missing(run, draft))
        elif (claim := _checked(run, draft)).is_supported or conf.marks_unsupported():
            waiting.append(claim)
        if any(one.is_supported for one in (*run.claims, *waiting)):
            yield from (run.tell(one, known=known) for one in waiting)
            waiting = []


def _count(run: Run, usage: Usage) -> None:
    run.tokens = {"asked": usage.asked, "cached": usage.cached, "stored": usage.stored, "answered": usage.answered}


def _checked(run: Run, draft: Drafted) -> Claim:
    """Keep of a claim's quotes those that stand in the sources; without one, or with a number that none of their passages has, it has no support."""
    places = [place for one in draft.cited if (place := run.proof.look_up(one))]
    is_backed = synthesis.is_backed(draft.text, [run.asked_as, *(place.around for place in places)])
    numbers = tuple(dict.fromkeys(number for place in places if (number := run.proof.number(place)))) if is_backed else ()
    return Claim(text=draft.text, citations=numbers, is_supported=bool(numbers))


def _missing(run: Run, draft: Unanswered) -> str:
    """Return what is missing in the model's words where they are the question's, else the question."""
    said, asked = set(synthesis.stems(draft.text)), set(synthesis.stems(run.asked_as))
    return draft.text if said and len(said & asked) >= ECHOED * len(said) else run.asked_as
