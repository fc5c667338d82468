"""What stands for the sources as a whole, where a question names nothing that it is about: each of a few sources, or of many their largest topics."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from citations.library.filters import ResolvedFilter
from citations.models import Level
from citations.outline.search import NodeFilter, Summary, largest, place, typical
from citations.providers.languages import primary_language, probabilities
from transcripts.scope import Scope

FEW: Final = 6  # sources of which each is told; of more, their topics


class Whole(NamedTuple):
    """Nodes with their scores, 0 to 1, best first, and what people should know about the choice."""

    nodes: list[tuple[Summary, float]]
    note: str = ""


def of(scope: Scope, reach: ResolvedFilter, question: str, *, limit: int) -> Whole:
    """Return the nodes that stand for what can be seen, at most ``limit``; of a video's tracks those in the language of the question."""
    documents = in_its_language(
        largest(NodeFilter(scope, reach, (Level.DOCUMENT,)), limit=limit), question
    )
    if len(documents) > FEW:
        sections = in_its_language(
            typical(NodeFilter(scope, reach, (Level.SECTION,)), limit=limit), question
        )
        if len(sections) > 1:
            return Whole(
                _scored(sections),
                "There are many sources: this is a section of each of their largest topics.",
            )
        return Whole(_scored(documents), "There are many sources: this is of the longest ones.")
    sections = in_its_language(
        largest(NodeFilter(scope, reach, (Level.SECTION,)), limit=limit), question
    )
    return Whole(_scored([*documents, *sections]))


def in_its_language(nodes: Sequence[Summary], question: str) -> list[Summary]:
    """Leave out the tracks of a video that another one says in the language of the question, as far as it is recognised; else in that of the first."""
    asked = probabilities(question)
    tracks: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for one in nodes:
        if one.told.video is not None:
            tracks[one.told.video].setdefault(
                one.told.language, asked.get(primary_language(one.told.language), 0.0)
            )
    chosen = {
        video: max(languages, key=lambda language: languages[language])
        for video, languages in tracks.items()
    }
    return [
        one
        for one in nodes
        if one.told.video is None or chosen[one.told.video] == one.told.language
    ]


def _scored(nodes: Iterable[Summary]) -> list[tuple[Summary, float]]:
    """Order nodes by how much of their source they tell of, the whole first: what a question without a subject asks for."""
    sized = [(one, min(1.0, (one.last - one.first + 1) / max(1, one.told.chunks))) for one in nodes]
    return sorted(sized, key=lambda pair: (-pair[0].level, -pair[1], *place(pair[0])))
