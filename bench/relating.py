"""Measure how well unrelated quotes are told from a claim's own: ``python bench/relating.py``.

A claim is a sentence of an answer that was written to a gold question. *Its own* quote is words of
the sentence of its gold range that shares most words with it; the others are of the gold range of
another question, of the same talk or of another one: true, but no proof of the claim.
"""

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from harness.environment import arguments, boot, command

boot()

from harness.report import publish, share, table
from harness.sets import SPEECH, TRANSCRIPTS, cues, drawn, jsonl

from citations.answers import citation_check
from citations.answers.writers import SentenceRater
from citations.answers.writing.sentence_ranking import stems
from citations.providers import registry
from citations.text.sentences import split

WRITTEN: Final = {"qmsum": "written by people", "ergo_qa": "written by a language model"}
MIN_WORDS: Final = 4  # words of a sentence that is quoted
QUOTED: Final = (4, 12)  # words of a quote
OWN, SAME, OTHER = "its own", "another of the same talk", "of another talk"


class WrittenAnswer(NamedTuple):
    """A talk, the sentences of an answer, and the text that these are based on, with its own."""

    talk: str
    claims: Sequence[str]
    text: str
    sentences: Sequence[tuple[int, int]]


def main() -> None:
    options = arguments(__doc__, questions=120)
    rows = []
    for name, by in WRITTEN.items():
        answers = [*read(name, options.questions)]
        claims = sum(len(answer.claims) for answer in answers)
        rows.append((name, by, claims, *(share(kind, 1) for kind in measured(answers))))
    publish(
        "Claims and what they cite",
        f"{command()}: claims that a true quote is found unrelated to.",
        table(("set", "answers", "claims", OWN, SAME, OTHER), rows, left=2),
    )


def read(name: str, most: int) -> Iterator[WrittenAnswer]:
    """Read the questions of a set that have a written answer, evenly drawn."""
    for row in drawn([row for row in jsonl(f"dev/gold/{name}.jsonl") if row.get("answer")], most):
        text = " ".join(
            cue["text"]
            for cue in cues(SPEECH / TRANSCRIPTS[name] / f"{row['video']}.json")
            if any(cue["start"] < b and cue["start"] + cue["duration"] > a for a, b in row["gold"])
        )
        sentences = [span for span in split(text) if len(text[slice(*span)].split()) >= MIN_WORDS]
        claims = [row["answer"][slice(*span)].strip() for span in split(row["answer"])]
        claims = [claim for claim in claims if len(stems(claim)) >= citation_check.MIN_WORDS]
        if sentences and claims:
            yield WrittenAnswer(row["video"], claims, text, sentences)


def measured(answers: Sequence[WrittenAnswer]) -> list[list[bool]]:
    """Tell which quotes are unrelated: own ones, of the same talk, and of another one."""
    chance = random.Random(0)
    verdicts: dict[str, list[bool]] = {OWN: [], SAME: [], OTHER: []}
    for answer in answers:
        beside = [each for each in answers if each.talk == answer.talk and each is not answer]
        away = [each for each in answers if each.talk != answer.talk]
        for claim in answer.claims:
            own = {span: {*stems(answer.text[slice(*span)])} for span in answer.sentences}
            closest = max(own, key=lambda span: len(own[span].intersection(stems(claim))))
            verdicts[OWN].append(is_unrelated(claim, answer.text, closest, chance))
            for kind, group in ((SAME, beside), (OTHER, away)):
                if group:
                    other = chance.choice(group)
                    sentence = chance.choice(other.sentences)
                    verdicts[kind].append(is_unrelated(claim, other.text, sentence, chance))
    return list(verdicts.values())


def is_unrelated(claim: str, text: str, sentence: tuple[int, int], chance: random.Random) -> bool:
    """Tell whether a few words of a sentence are found unrelated to a claim."""
    words = [match.span() for match in re.finditer(r"\S+", text[slice(*sentence)])]
    count = min(len(words), chance.randint(*QUOTED))
    begin = chance.randrange(len(words) - count + 1)
    span = sentence[0] + words[begin][0], sentence[0] + words[begin + count - 1][1]
    rater = SentenceRater(registry.configured_embedder())
    return not citation_check.relates(claim, text, span, rater)


if __name__ == "__main__":
    main()
