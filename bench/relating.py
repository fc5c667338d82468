"""Measure how well unrelated quotes are told from a claim's own.

Run ``python bench/relating.py`` from the repository. A claim is a sentence of an answer that was
written to a gold question. *Its own* quote is some words of the sentence of its gold range that
shares most words with it. The others are words of the gold range of another question, of the same
talk or of another one: true quotes that do not prove the claim.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.environment import arguments, boot, command

boot()

from harness.report import publish, share, table
from harness.sets import SPEECH, TRANSCRIPTS, cues, drawn, jsonl

from citations.answers import citation_check
from citations.answers.writing.sentence_ranking import stems
from citations.providers import registry
from citations.text.sentences import split

WRITTEN: Final = {"qmsum": "written by people", "ergo_qa": "written by a language model"}
MIN_WORDS: Final = 4  # words of a sentence that is quoted
QUOTED: Final = (4, 12)  # words of a quote
OWN, SAME, OTHER = "its own", "another of the same talk", "of another talk"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAnswer:
    """A question, the sentences of its answer, and the text that these are based on."""

    talk: str
    query: str
    claims: Sequence[str]
    text: str
    sentences: Sequence[tuple[int, int]]


def main() -> None:
    options = arguments(__doc__, questions=120)
    rows = []
    for name, by in WRITTEN.items():
        answers = list(read(name, options.questions))
        claims = sum(len(answer.claims) for answer in answers)
        rows.append((name, by, claims, *(share(kind, 1) for kind in measured(answers))))
    publish(
        "Claims and what they cite",
        f"{command()}: claims that a true quote is found unrelated to.",
        table(("set", "answers", "claims", OWN, SAME, OTHER), rows, left=2),
    )


def read(name: str, most: int) -> Iterator[WrittenAnswer]:
    """Read the questions of a set that have a written answer, evenly drawn."""
    rows = [row for row in jsonl(f"dev/gold/{name}.jsonl") if row.get("answer")]
    for row in drawn(rows, most):
        text = spoken(TRANSCRIPTS[name], row["video"], row["gold"])
        sentences = [span for span in split(text) if len(text[slice(*span)].split()) >= MIN_WORDS]
        answer = row["answer"]
        claims = [answer[slice(*span)].strip() for span in split(answer)]
        claims = [claim for claim in claims if len(stems(claim)) >= citation_check.MIN_WORDS]
        if sentences and claims:
            yield WrittenAnswer(
                talk=row["video"], query=row["query"], claims=claims, text=text, sentences=sentences
            )


def spoken(folder: str, talk: str, gold: Sequence[Sequence[float]]) -> str:
    """Return the text of some ranges of a talk, in seconds."""
    return " ".join(
        cue["text"]
        for cue in cues(SPEECH / folder / f"{talk}.json")
        if any(
            cue["start"] < last and cue["start"] + cue["duration"] > first for first, last in gold
        )
    )


def measured(answers: Sequence[WrittenAnswer]) -> list[list[bool]]:
    """Tell which quotes are unrelated: own ones, of the same talk, and of another one."""
    chance = random.Random(0)
    verdicts: dict[str, list[bool]] = {OWN: [], SAME: [], OTHER: []}
    for answer in answers:
        beside = [
            other for other in answers if other.talk == answer.talk and other.query != answer.query
        ]
        away = [other for other in answers if other.talk != answer.talk]
        for claim in answer.claims:
            sentence = closest(claim, answer)
            verdicts[OWN].append(is_unrelated(claim, answer.text, sentence, chance))
            for kind, others in ((SAME, beside), (OTHER, away)):
                if others:
                    other = chance.choice(others)
                    sentence = chance.choice(other.sentences)
                    verdicts[kind].append(is_unrelated(claim, other.text, sentence, chance))
    return list(verdicts.values())


def closest(claim: str, answer: WrittenAnswer) -> tuple[int, int]:
    """Return the sentence that shares most words with a claim."""
    wanted = set(stems(claim))
    return max(
        answer.sentences, key=lambda span: len(wanted & set(stems(answer.text[slice(*span)])))
    )


def is_unrelated(claim: str, text: str, sentence: tuple[int, int], chance: random.Random) -> bool:
    """Tell whether a few words of a sentence are found unrelated to a claim."""
    words = [match.span() for match in re.finditer(r"\S+", text[slice(*sentence)])]
    count = min(len(words), chance.randint(*QUOTED))
    begin = chance.randrange(len(words) - count + 1)
    span = sentence[0] + words[begin][0], sentence[0] + words[begin + count - 1][1]
    return not citation_check.relates(claim, text, span, rate)


def rate(claim: str, texts: Sequence[str]) -> list[float]:
    """Return the cosine of each text with a claim, as answers measure it."""
    embedder = registry.configured_embedder()
    cosines = embedder.embed_documents(list(texts)) @ embedder.embed_query(claim)
    return [float(cosine) for cosine in cosines]


if __name__ == "__main__":
    main()
