"""Choose nodes for questions without a subject: whole sources, or the largest topics of many."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from citations.library.filters import ResolvedFilter
from citations.models import Level
from citations.outline.search import NodeFilter, Summary, largest, sort_key, typical
from citations.providers.languages import primary_language, probabilities
from transcripts.scope import Scope

FEW: Final = 6  # sources that are shown one by one; of more, their topics


class Whole(NamedTuple):
    """Nodes with their scores (0 to 1), best first, and a note for the reader."""

    nodes: list[tuple[Summary, float]]
    note: str = ""


def of(scope: Scope, resolved: ResolvedFilter, question: str, *, limit: int) -> Whole:
    """Return at most ``limit`` nodes of the sources; of a video, in the question's language."""
    of_documents = NodeFilter(scope, resolved, (Level.DOCUMENT,))
    of_sections = NodeFilter(scope, resolved, (Level.SECTION,))
    documents = in_its_language(largest(of_documents, limit=limit), question)
    if len(documents) <= FEW:
        sections = in_its_language(largest(of_sections, limit=limit), question)
        return Whole(_scored([*documents, *sections]))
    sections = in_its_language(typical(of_sections, limit=limit), question)
    if len(sections) > 1:
        note = "There are many sources: these are sections of their largest topics."
        return Whole(_scored(sections), note)
    return Whole(_scored(documents), "There are many sources: these are the longest ones.")


def in_its_language(nodes: Sequence[Summary], question: str) -> list[Summary]:
    """Keep, of each video's tracks, only the one in the question's language, else the first."""
    likelihood = probabilities(question)
    tracks: defaultdict[int | None, dict[str, float]] = defaultdict(dict)
    for candidate in (node.passage for node in nodes):
        share = likelihood.get(primary_language(candidate.language), 0.0)
        tracks[candidate.video].setdefault(candidate.language, share)
    chosen = {
        video: max(languages, key=lambda language: languages[language])
        for video, languages in tracks.items()
    }
    return [
        node
        for node in nodes
        if node.passage.video is None or chosen[node.passage.video] == node.passage.language
    ]


def _scored(nodes: Iterable[Summary]) -> list[tuple[Summary, float]]:
    """Order nodes by the share of their source that they cover."""
    shares = [
        (node, min(1.0, (node.last - node.first + 1) / max(1, node.passage.chunks)))
        for node in nodes
    ]
    return sorted(shares, key=lambda pair: (-pair[0].level, -pair[1], *sort_key(pair[0])))
