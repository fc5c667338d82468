"""Ask the language model a question, and find out what it and its server can do."""

import time
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from pydantic_core import from_json

from citations.errors import ModelError
from citations.providers.llm import ChatReply, RemoteLlm
from citations.providers.prompts import Prompt, marked
from citations.text.thoughts import without_thoughts

NO_THOUGHTS, APART, INSIDE = "none", "apart from the answer", "in the answer, left out"
SLOW: Final = 4.0  # words a second, below which an answer takes half a minute
_QUESTION: Final = Prompt(
    system="You answer from numbered passages, in one sentence. End it with the number of the"
    " passage in brackets.",
    document=f"Passage [1]\n{marked('passage', 'The kettle clicks off at 96 degrees.')}",
    text=f"{marked('question', 'When does the kettle click off?')}\n\nYour answer:",
    max_tokens=100,
)
_JSON: Final = Prompt(text='Write the JSON object {"degrees": 96} and nothing else.', max_tokens=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTrial:
    """What a language model can do. ``advice`` is a sentence, "" where there is none to give.

    ``cites`` tells whether the answer names its passage, ``wait`` the seconds until it begins,
    ``speed`` the words a second from then on.
    """

    model: str
    server: str
    answers: bool = False
    answer: str = ""
    cites: bool = False
    streams: bool = False
    system_role: bool = False
    thoughts: str = NO_THOUGHTS
    json: bool = False
    wait: float = 0.0
    speed: float = 0.0
    seconds: float = 0.0  # until the answer was complete
    advice: str = ""


def try_model(llm: RemoteLlm) -> ModelTrial:
    """Ask two short questions. An error is an advice."""
    trial = ModelTrial(model=llm.model, server=llm.server)
    started, times, reply = time.monotonic(), [], ChatReply()
    try:
        for piece in llm.replies(_QUESTION, stream=True, tries=1):
            reply = reply.then(piece)
            times += [time.monotonic()] if piece.text else []
        answer = " ".join(without_thoughts(reply.text).split())
        if reply.error or not answer:
            raise llm.failure(reply)
    except ModelError as error:
        return replace(trial, advice=error.text)
    seconds = max(times[-1] - (times[0] if len(times) > 1 else started), 0.001)
    trial = replace(
        trial,
        answers=True,
        answer=answer[:300],
        cites="[1]" in answer,
        streams=len(times) > 1 and any(second > first for first, second in pairwise(times)),
        system_role="system" not in llm.form.refused,
        thoughts=APART if reply.has_thoughts else INSIDE if reply.has_marks else NO_THOUGHTS,
        json=_writes_json(llm),
        wait=round(times[0] - started, 1),
        speed=round(len(answer.split()) / seconds, 1),
        seconds=round(times[-1] - started, 1),
    )
    return replace(trial, advice=_advice(trial))


def _advice(trial: ModelTrial) -> str:
    if "96" not in trial.answer:
        return "It does not find a fact in a sentence: choose a larger LLM_MODEL."
    if trial.wait > 20 or trial.speed < SLOW:
        return "It is slow: choose a smaller LLM_MODEL, or lower LLM_CONTEXT_TOKENS."
    if trial.thoughts != NO_THOUGHTS:
        return "It thinks before it answers, which takes time: switch that off at its server."
    if not trial.cites:
        return "It does not name its passage, so the sources are searched for each sentence."
    return ""


def _writes_json(llm: RemoteLlm) -> bool:
    """Tell whether an answer is a JSON object, also between the marks of a code block."""
    try:
        text = llm.ask(_JSON, tries=1).text
        return isinstance(from_json(text.strip("` \n").removeprefix("json")), dict)
    except (ModelError, ValueError):
        return False
