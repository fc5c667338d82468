"""Measure whether a claim is told from what it has nothing to do with: answers that were written to gold questions, and quotes of the talks.

Run ``python bench/relating.py`` from the repository. A claim is a sentence of a written answer. *Its own* quote is some words of the sentence of its gold range
that has most words in common with it; the others are words of any sentence of the gold range of another question, of the same talk or of
another one: true quotes under claims that they do not prove. The data come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository).
"""

import argparse
import json
import random
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from environment import DATA, boot

boot()

from bm25 import write
from questions import SETS as FOLDERS

from citations.answers import relevance_check
from citations.answers.writing.term_matching import stems
from citations.providers import registry
from citations.text.sentences import split

TITLE: Final = "## Claims and what they cite"
WRITTEN: Final = {"qmsum": "written by people", "ergo_qa": "written by a language model"}
FEWEST: Final = 4  # words of a sentence that is quoted
QUOTED: Final = (4, 12)  # words of a quote
OWN, SAME, OTHER = "its own", "another of the same talk", "of another talk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question, the sentences that were written to answer it, and the text that they were made of."""

    talk: str
    query: str
    claims: Sequence[str]
    text: str
    sentences: Sequence[tuple[int, int]]


def main() -> None:
    """Measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=120, help="of each set, at most")
    options = parser.parse_args()
    lines = [
        f"{TITLE}\n\n`python {shlex.join(['bench/relating.py', *sys.argv[1:]])}`: claims that are taken to have nothing to do with a true quote.\n"
    ]
    lines += [
        f"| set | answers | claims | {OWN} | {SAME} | {OTHER} |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, by in WRITTEN.items():
        asked = list(read(name, options.questions))
        claims = sum(len(one.claims) for one in asked)
        lines.append(
            f"| {name} | {by} | {claims} | {' | '.join(f'{share:.1%}' for share in measured(asked))} |"
        )
    report = "\n".join([*lines, ""])
    print(report)
    write(report)


def read(name: str, most: int) -> Iterator[Answered]:
    """Read the questions of a set that were answered in writing, evenly drawn."""
    rows = [
        json.loads(line)
        for line in (DATA / "dev" / "gold" / f"{name}.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    rows = [row for row in rows if row.get("answer")]
    for row in rows[:: max(1, -(-len(rows) // most))]:
        text = said(FOLDERS[name], row["video"], row["gold"])
        sentences = [span for span in split(text) if len(text[slice(*span)].split()) >= FEWEST]
        answer = row["answer"]
        claims = [answer[slice(*span)].strip() for span in split(answer)]
        claims = [one for one in claims if len(stems(one)) >= relevance_check.FEWEST]
        if sentences and claims:
            yield Answered(
                talk=row["video"], query=row["query"], claims=claims, text=text, sentences=sentences
            )


def said(folder: str, talk: str, gold: Sequence[Sequence[float]]) -> str:
    """Return what is said in ranges of a talk."""
    cues = json.loads(
        (DATA / "dev" / "transcripts" / folder / f"{talk}.json").read_text(encoding="utf-8")
    )["cues"]
    return " ".join(
        cue["text"]
        for cue in cues
        if any(
            cue["start"] < last and cue["start"] + cue["duration"] > first for first, last in gold
        )
    )


def measured(asked: Sequence[Answered]) -> list[float]:
    """Return the shares that are told apart, with quotes of their own, of the same talk, and of another one."""
    chance = random.Random(0)
    found: dict[str, list[bool]] = {OWN: [], SAME: [], OTHER: []}
    for one in asked:
        for claim in one.claims:
            common = [
                len(set(stems(claim)) & set(stems(one.text[slice(*span)])))
                for span in one.sentences
            ]
            found[OWN].append(
                is_apart(claim, one.text, one.sentences[common.index(max(common))], chance)
            )
            beside = [
                other for other in asked if other.talk == one.talk and other.query != one.query
            ]
            away = [other for other in asked if other.talk != one.talk]
            for kind, others in ((SAME, beside), (OTHER, away)):
                if others:
                    other = chance.choice(others)
                    found[kind].append(
                        is_apart(claim, other.text, chance.choice(other.sentences), chance)
                    )
    return [sum(kind) / max(1, len(kind)) for kind in found.values()]


def is_apart(claim: str, text: str, sentence: tuple[int, int], chance: random.Random) -> bool:
    """Say whether a claim has nothing to do with a few words of a sentence."""
    words = [found.span() for found in re.finditer(r"\S+", text[slice(*sentence)])]
    count = min(len(words), chance.randint(*QUOTED))
    begin = chance.randrange(len(words) - count + 1)
    span = sentence[0] + words[begin][0], sentence[0] + words[begin + count - 1][1]
    return not relevance_check.relates(claim, text, span, rate)


def rate(claim: str, texts: Sequence[str]) -> list[float]:
    """Say how near texts are to a claim, as answers do it."""
    embedder = registry.configured_embedder()
    return [
        float(one) for one in embedder.embed_documents(list(texts)) @ embedder.embed_query(claim)
    ]


if __name__ == "__main__":
    main()
