"""Questions that follow on what was said before, put so that they can be looked up by themselves."""

from collections.abc import Sequence
from functools import reduce
from typing import Final

from citations.answers.question.completion_rules import asks_for_more, completed
from citations.answers.writing import output_parser, term_matching
from citations.answers.writing import prompts as writing_prompts
from citations.errors import ModelError
from citations.providers.llm import Llm
from transcripts.sanitize import clean
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

__all__ = ["asks_for_more", "rewritten"]

MAX_TURNS: Final = 20  # that are looked at
KEPT: Final = 0.5  # share of the question's words that a rewritten one has to keep, and of its own that have to come from what was said


def rewritten(question: str, history: Sequence[tuple[str, str]], *, llm: Llm | None = None) -> str:
    """Return a question that can be understood without ``history``, which has (question, answer), oldest first.

    A language model is asked, with as much of the history as its budget takes; what it answers is taken only where it is made of what was said. Else, and
    where it fails, rules put in what the question leaves out. Never longer than a search takes.
    """
    said = [turn for turn in history if turn[0].strip()][-MAX_TURNS:]
    if not said:
        return question
    return ((_asked(llm, question, said) if llm else "") or _by_rules(question, said))[
        :MAX_QUERY_CHARACTERS
    ]


def _asked(llm: Llm, question: str, said: Sequence[tuple[str, str]]) -> str:
    prompt = writing_prompts.rewriting(question, said, budget=llm.budget)
    try:
        answer = llm.complete(
            prompt.text,
            system=prompt.system,
            document=prompt.document,
            max_tokens=prompt.max_tokens,
            tries=1,
        )
    except ModelError:
        return ""
    line = next(output_parser.drafts([answer]), None)
    text = clean(line.text, MAX_QUERY_CHARACTERS) if line else ""
    return text if _is_same(text, question, said) else ""


def _is_same(text: str, question: str, said: Sequence[tuple[str, str]]) -> bool:
    """Say whether a rewritten question keeps the old one's words, and has its others from what was said."""
    new, old = set(term_matching.stems(text)), set(term_matching.stems(question))
    known = old.union(*(term_matching.stems(f"{asked} {answer}") for asked, answer in said))
    return bool(new) and len(new & known) >= KEPT * len(new) and len(new & old) >= KEPT * len(old)


def _by_rules(question: str, said: Sequence[tuple[str, str]]) -> str:
    """Make each question whole by the one before it, from the first on: the last one may itself have left something out."""
    return reduce(
        lambda before, asked: completed(asked, before)[:MAX_QUERY_CHARACTERS],
        [*(asked[:MAX_QUERY_CHARACTERS] for asked, _ in said), question],
    )
