"""Answers as language models of one to eight billion parameters write them: in the form that was
asked for, in forms of their own, and with lies among the truth.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence of a source, how models repeat it, and what they make of it.

    ``near`` has the sentence's words or nearly so, ``loose`` other words, ``garbled`` is a quote
    with a slip. ``lies`` say something else.
    """

    title: str
    sentence: str
    near: str
    loose: str
    garbled: str
    lies: tuple[str, ...]


FACTS: Final = (
    Fact(
        "Networks",
        "Backpropagation carries the error from the end to the start.",
        "Backpropagation carries the error from the end to the start.",
        "Backpropagation is how the error gets carried back from the end to the network's start.",
        "Backpropagation carry the error from end to the start",
        (
            "Backpropagation carries the error from the start to the end.",
            "Backpropagation never carries the error from the end to the start.",
            "Backpropagation was invented by Ada Lovelace.",
        ),
    ),
    Fact(
        "Networks",
        "The rate is 0.5 at first and falls to 0.25 after 1000 steps.",
        "The rate is 0.5 at first and falls to 0.25 after 1000 steps.",
        "At first the learning rate is 0.5, and after 1000 steps it has fallen to 0.25.",
        "The rate is 0.5 at first, falling to 0.25 after 1,000 step",
        (
            "The rate is 0.5 at first and falls to 0.52 after 1000 steps.",
            "The rate is 0.25 at first and rises to 0.5 after 1000 steps.",
            "The rate stays at 0.5 for 1000 steps.",
        ),
    ),
    Fact(
        "Networks",
        "Each weight of the network moves a little against its gradient.",
        "Each weight of the network moves a little against its gradient.",
        "A weight of the network is moved a little bit against its own gradient.",
        "Each weight moves little against its gradients",
        (
            "Each weight of the network moves a lot against its gradient.",
            "Each weight of the network moves a little along its gradient.",
            "No weight of the network moves against its gradient.",
        ),
    ),
    Fact(
        "Soup",
        "Soup gets its taste from bones that simmer for nine hours.",
        "Soup gets its taste from bones that simmer for nine hours.",
        "The taste of soup comes from bones; they simmer for nine hours.",
        "Soup gets the taste from bones which simmer nine hours",
        (
            "Soup gets its taste from bones that simmer for six hours.",
            "Soup gets its taste from bread that simmers for nine hours.",
            "Soup does not get its taste from bones that simmer for nine hours.",
        ),
    ),
    Fact(
        "Soup",
        "Salt is added at the end, never at the start.",
        "Salt is added at the end, never at the start.",
        "You add the salt at the end and never at the start.",
        "Salt is add at the end, never at start",
        (
            "Salt is added at the start.",
            "Salt is added at the start, never at the end.",
            "Salt is never added at the end.",
        ),
    ),
)
Numbers = dict[str, int]
Form = Callable[[Sequence[tuple[str, str, int]]], str]
"""Write (claim, quote, passage) down; the quote may be empty."""


@dataclass(frozen=True, slots=True)
class Output:
    """How an answer is written, which facts it repeats, and which lies it tells."""

    form: str
    manner: str
    facts: tuple[Fact, ...]
    lies: tuple[tuple[Fact, str], ...]

    def text(self, numbers: Numbers) -> str:
        """Return the answer for passages with these numbers."""
        rows = [_row(fact, self.manner, numbers) for fact in self.facts]
        lies = [(lie, lie.rstrip("."), numbers.get(fact.title, 1)) for fact, lie in self.lies]
        mixed = [row for pair in zip(rows, lies, strict=False) for row in pair]
        return FORMS[self.form](mixed + rows[len(lies) :] + lies[len(rows) :])


def outputs() -> Iterator[Output]:
    """Yield 200 answers: every form in every manner, with every fact and every lie."""
    manners = ("near", "loose", "garbled", "lying")
    for number in range(200):
        form = [*FORMS][number % len(FORMS)]
        manner = manners[number // len(FORMS) % len(manners)]
        first = number // (len(FORMS) * len(manners)) + number
        facts = tuple(FACTS[(first + step) % len(FACTS)] for step in range(2))
        liar = FACTS[(first + 2) % len(FACTS)]
        is_lying = manner == "lying" or number % 3 == 0
        lies = tuple((liar, lie) for lie in liar.lies) if is_lying else ()
        yield Output(form, "near" if manner == "lying" else manner, facts, lies)


def _row(fact: Fact, manner: str, numbers: Numbers) -> tuple[str, str, int]:
    claim = fact.loose if manner == "loose" else fact.near
    quote = fact.garbled if manner == "garbled" else fact.sentence.rstrip(".")
    return claim, quote, numbers.get(fact.title, 1)


def _joined(rows: Sequence[tuple[str, str, int]], line: str, between: str = "\n") -> str:
    return between.join(
        line.format(claim=claim, bare=claim.rstrip("."), quote=quote, number=number, place=place)
        for place, (claim, quote, number) in enumerate(rows, start=1)
    )


def _footnotes(rows: Sequence[tuple[str, str, int]]) -> str:
    notes = _joined(rows, '[^{place}]: Passage {number}: "{quote}"')
    return f"{_joined(rows, '{bare}.[^{place}]', ' ')}\n\n{notes}"


def _plain_footnotes(rows: Sequence[tuple[str, str, int]]) -> str:
    notes = _joined(rows, "[^{place}]: Passage [{number}]")
    return f"{_joined(rows, '{bare} [^{place}].', ' ')}\n\n{notes}"


def _objects(rows: Sequence[tuple[str, str, int]], name: str) -> list[dict[str, object]]:
    return [{name: claim, "quote": quote, "passage": number} for claim, quote, number in rows]


def _nested(rows: Sequence[tuple[str, str, int]]) -> str:
    claims = [
        {"text": claim, "citations": [{"passage": number, "quote": quote}]}
        for claim, quote, number in rows
    ]
    return json.dumps({"answer": {"claims": claims}}, indent=2)


FORMS: Final[dict[str, Form]] = {
    "as asked for": lambda rows: _joined(
        rows, 'CLAIM: {claim}\nQUOTE [{number}]: "{quote}"', "\n\n"
    ),
    "as asked for, in bold": lambda rows: _joined(
        rows, "**Claim {place}:** {claim}\n> **Quote [{number}]:** “{quote}”", "\n\n"
    ),
    "numbers behind sentences": lambda rows: (
        "Here is the answer based on the passages.\n\n" + _joined(rows, "{bare} [{number}].", " ")
    ),
    "numbers behind stops": lambda rows: (
        _joined(rows, "{claim} [{number}]", " ") + "\n\nI hope this helps!"
    ),
    "passages named": lambda rows: _joined(rows, "{bare} (Passage {number}).", " "),
    "a list": lambda rows: "### Answer\n\n" + _joined(rows, "- **{bare}** [{number}]"),
    "a numbered list": lambda rows: _joined(rows, "{place}. {claim} (Source {number})"),
    "block quotes": lambda rows: _joined(rows, '{claim}\n\n> "{quote}" [{number}]', "\n\n"),
    "quotes in the sentence": lambda rows: _joined(
        rows, 'The text says "{quote}" [{number}].', " "
    ),
    "footnotes with quotes": _footnotes,
    "footnotes": _plain_footnotes,
    "objects": lambda rows: json.dumps(_objects(rows, "claim"), indent=1),
    "fenced objects": lambda rows: (
        f"Sure!\n```json\n{json.dumps({'claims': _objects(rows, 'statement')})}\n```"
    ),
    "nested objects": _nested,
    "objects that break off": lambda rows: json.dumps(_objects(rows, "text"), indent=1)[:-12],
    "nothing but sentences": lambda rows: _joined(rows, "{claim}", " "),
    "one paragraph each": lambda rows: _joined(rows, "{claim}", "\n\n"),
}
