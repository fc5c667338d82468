"""Makes a follow-up question one that can be looked up by itself."""

from collections.abc import Sequence
from functools import reduce
from typing import Final

from citations.answers.question.wording import content_words, in_context, refers_back
from citations.answers.writing import output_parser
from citations.answers.writing import prompts as writing_prompts
from citations.answers.writing.sentence_ranking import stems
from citations.errors import ModelError
from citations.providers.llm import Llm
from transcripts.sanitize import clean
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

MAX_TURNS: Final = 20  # of a conversation, that are looked at
KEPT: Final = 0.5  # of the question's words that a rewriting keeps, and of its own that are known


def rewrite(question: str, history: Sequence[tuple[str, str]], *, llm: Llm | None = None) -> str:
    """Return a question that can be looked up without ``history``, (question, answer) pairs.

    A language model rewrites it, with as much history as its budget takes; its rewriting counts
    only if it is made of the conversation's words. Otherwise a question that refers to the one
    before it is searched together with it. Returns at most ``MAX_QUERY_CHARACTERS`` characters.
    """
    turns = [turn for turn in history if turn[0].strip()][-MAX_TURNS:]
    if not turns:
        return question
    rewritten = _rewritten(llm, question, turns) if llm else ""
    return (rewritten or _with_context(question, turns))[:MAX_QUERY_CHARACTERS]


def _rewritten(llm: Llm, question: str, turns: Sequence[tuple[str, str]]) -> str:
    prompt = writing_prompts.rewriting(question, turns, budget=llm.budget)
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
    line = next(output_parser.parse_drafts([answer]), None)
    text = clean(line.text, MAX_QUERY_CHARACTERS) if line else ""
    return text if _is_same(text, question, turns) else ""


def _is_same(text: str, question: str, turns: Sequence[tuple[str, str]]) -> bool:
    """Tell whether a rewriting keeps the question's words, and takes its others from the turns."""
    new, old = set(stems(text)), set(stems(question))
    known = old.union(*(stems(f"{asked} {answer}") for asked, answer in turns))
    return bool(new) and len(new & known) >= KEPT * len(new) and len(new & old) >= KEPT * len(old)


def _with_context(question: str, turns: Sequence[tuple[str, str]]) -> str:
    def join(earlier: str, later: str) -> str:
        has_context = set(content_words(earlier)) <= set(content_words(later))
        if has_context or not refers_back(later):
            return later
        return in_context(later, earlier)[:MAX_QUERY_CHARACTERS]

    return reduce(join, [*(asked[:MAX_QUERY_CHARACTERS] for asked, _ in turns), question])
