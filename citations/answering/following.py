"""Questions that follow on what was said before, put so that they can be looked up by themselves."""

import re
from collections.abc import Sequence
from typing import Final

from citations import synthesis
from citations.errors import ModelError
from citations.providers.llm import Llm
from transcripts.library import MAX_QUERY
from transcripts.plaintext import clean

MAX_TURNS: Final = 20  # that are looked at
KEPT: Final = 0.5  # share of the question's words that a rewritten one has to keep, and of its own that have to come from what was said

_PRONOUN: Final = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|he|him|his|she|her|there|er|sie|es|ihn|ihm|ihr|dies|diese[rsmn]?|dessen|deren|il|elle|ils|elles|cela|ça)\b",
    re.IGNORECASE,
)
_FOLLOWS: Final = re.compile(
    r"^\W*(?:and|but|so|or|then|also|what about|how about|why|how so|when|where|which one|und|aber|was ist mit|wie ist es mit|warum|et|mais|pourquoi)\b",
    re.IGNORECASE,
)
_FEW: Final = 2  # words that say something: a question of fewer leans on the one before it
_SUBJECT: Final = re.compile(r"\b(?:it|they|them|this|that|these|those|he|him|she)\b", re.IGNORECASE)


def rewritten(question: str, history: Sequence[tuple[str, str]], *, llm: Llm | None = None) -> str:
    """Return a question that can be understood without ``history``, which has (question, answer), oldest first.

    A language model is asked, with as much of the history as its budget takes; what it answers is taken only where it is made of what was said. Else, and
    where it fails, what the last question was about stands for pronouns, or is added to a question that leans on it. Never longer than a search takes.
    """
    said = [turn for turn in history if turn[0].strip()][-MAX_TURNS:]
    if not said:
        return question
    return ((_asked(llm, question, said) if llm else "") or _by_rules(question, said[-1][0]))[:MAX_QUERY]


def _asked(llm: Llm, question: str, said: Sequence[tuple[str, str]]) -> str:
    prompt = synthesis.rewriting(question, said, budget=llm.budget)
    try:
        answer = llm.complete(prompt.text, system=prompt.system, document=prompt.document, max_tokens=prompt.max_tokens, tries=1)
    except ModelError:
        return ""
    line = next(synthesis.drafts([answer]), None)
    text = clean(line.text, MAX_QUERY) if line else ""
    return text if _is_same(text, question, said) else ""


def _is_same(text: str, question: str, said: Sequence[tuple[str, str]]) -> bool:
    """Say whether a rewritten question keeps the old one's words, and has its others from what was said."""
    new, old = set(synthesis.stems(text)), set(synthesis.stems(question))
    known = old.union(*(synthesis.stems(f"{asked} {answer}") for asked, answer in said))
    return bool(new) and len(new & known) >= KEPT * len(new) and len(new & old) >= KEPT * len(old)


def _by_rules(question: str, before: str) -> str:
    subject = synthesis.subject(before)
    own, its = set(synthesis.stems(question)), set(synthesis.stems(subject))
    leans = _PRONOUN.search(question) or _FOLLOWS.match(question) or len(own) < _FEW
    if not leans or not its or its <= own:
        return question
    put_in, done = _SUBJECT.subn(lambda _: subject, question, count=1)
    return put_in if done else f"{question} ({subject})"
