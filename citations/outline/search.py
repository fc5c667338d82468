"""Search the summary trees: nodes near a question, above chunks, or for one without a subject."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector

from citations.library.filters import ResolvedFilter
from citations.models import EmbeddingSpace, Level, visible_sources_sql
from citations.providers.languages import probabilities
from citations.search.chunk_rows import Candidate
from transcripts.core.scope import Scope
from transcripts.text.stemming import primary_language

MAX_SECTIONS: Final = 500  # that are read for an overview
FEW: Final = 6  # sources that are shown one by one; of more, their topics


class Summary(NamedTuple):
    """A node with its first and last chunk, text and source; without a vector, no ``cosine``."""

    node: int
    level: int
    parent: int | None
    first: int
    last: int
    spans: tuple[tuple[int, int], ...]
    cosine: float | None
    passage: Candidate


class Whole(NamedTuple):
    """Nodes with their scores (0 to 1), best first, and a note for the reader."""

    nodes: list[tuple[Summary, float]]
    note: str = ""


class NodeFilter(NamedTuple):
    """Which nodes to search, of some levels, perhaps only above some chunks."""

    scope: Scope
    resolved: ResolvedFilter
    levels: Collection[int]
    # Only nodes above one of these chunks: (source, ordinal).
    above: Collection[tuple[int, int]] | None = None


def sort_key(node: Summary) -> tuple[int, int, int]:
    """Return the key that orders nodes of equal score: wider first, then by source and position."""
    return -node.level, node.passage.source, node.first


def near(
    node_filter: NodeFilter, vector: NDArray[Any], *, space: EmbeddingSpace, limit: int
) -> list[Summary]:
    """Return, of each level, the ``limit`` nodes nearest to a vector of length 1, in order."""
    distance = f"node.vector <=> %(vector)s::halfvec({space.dimensions})"
    ranked = f"""
        SELECT near.id, 1 - near.distance AS cosine
        FROM unnest(%(levels)s::int[]) AS step(level), LATERAL (
            SELECT node.id, {distance} AS distance FROM citations_node node
            WHERE {{conditions}} AND node.level = step.level
                AND node.space_id = %(space)s AND node.vector IS NOT NULL
            ORDER BY {distance}, node.id LIMIT %(limit)s
        ) near
    """
    encoded = HalfVector(vector).to_text()
    return _fetched(node_filter, ranked, limit=limit, vector=encoded, space=space.pk)


def largest(node_filter: NodeFilter, *, limit: int) -> list[Summary]:
    """Return, of each level, the ``limit`` nodes with the most chunks, in no order."""
    ranked = """
        SELECT most.id, NULL::float AS cosine
        FROM unnest(%(levels)s::int[]) AS step(level), LATERAL (
            SELECT node.id FROM citations_node node
            WHERE {conditions} AND node.level = step.level
            ORDER BY node.last - node.first DESC, node.id LIMIT %(limit)s
        ) most
    """
    return _fetched(node_filter, ranked, limit=limit)


def typical(node_filter: NodeFilter, *, limit: int) -> list[Summary]:
    """Return the typical section of each of the ``limit`` largest topics, in no order."""
    ranked = """
        SELECT most.id, NULL::float AS cosine FROM (
            SELECT DISTINCT ON (member.topic_id) node.id,
                count(*) OVER (PARTITION BY member.topic_id) AS sections
            FROM citations_topicmember member JOIN citations_node node ON node.id = member.node_id
            JOIN citations_source source ON source.id = node.source_id
            WHERE {conditions} AND source.id IN ({visible})
            ORDER BY member.topic_id, member.weight DESC, node.id
        ) most ORDER BY most.sections DESC, most.id LIMIT %(limit)s
    """
    return _fetched(node_filter, ranked, limit=limit)


def over(node_filter: NodeFilter) -> list[Summary]:
    """Return the nodes above chunks; unordered, without cosines."""
    if not node_filter.above:
        return []
    sql = "SELECT node.id, NULL::float AS cosine FROM citations_node node WHERE {conditions}"
    return _fetched(node_filter, sql)


def overview(scope: Scope, resolved: ResolvedFilter, question: str, *, limit: int) -> Whole:
    """Return at most ``limit`` nodes of the sources; of a video, in the question's language."""
    of_documents = NodeFilter(scope, resolved, (Level.DOCUMENT,))
    of_sections = NodeFilter(scope, resolved, (Level.SECTION,))
    documents = in_its_language(largest(of_documents, limit=limit), question)
    if len(documents) <= FEW:
        sections = in_its_language(largest(of_sections, limit=MAX_SECTIONS), question)
        room = max(1, (limit - len(documents)) // max(1, len(documents)))
        return Whole(_scored([*documents, *_spread(sections, most=room)]))
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
    chosen = {video: max(shares, key=shares.__getitem__) for video, shares in tracks.items()}
    return [
        node
        for node in nodes
        if node.passage.video is None or chosen[node.passage.video] == node.passage.language
    ]


def _spread(sections: Iterable[Summary], *, most: int) -> Iterator[Summary]:
    """Yield at most so many sections of each source, the largest one of each stretch."""
    sources: defaultdict[int, defaultdict[int, list[Summary]]]
    sources = defaultdict(lambda: defaultdict(list))
    for section in sorted(sections, key=lambda section: section.first):
        stretch = (section.first + section.last) // 2 * most // max(1, section.passage.chunks)
        sources[section.passage.source][stretch].append(section)
    for stretches in sources.values():
        for own in stretches.values():
            yield max(own, key=lambda section: section.last - section.first)


def _scored(nodes: Iterable[Summary]) -> list[tuple[Summary, float]]:
    """Order nodes by the share of their source that they cover."""
    shares = [
        (node, min(1.0, (node.last - node.first + 1) / max(1, node.passage.chunks)))
        for node in nodes
    ]
    return sorted(shares, key=lambda pair: (-pair[0].level, -pair[1], *sort_key(pair[0])))


def current_digests(summaries: Iterable[Summary]) -> dict[int, str]:
    """Return the source's digest for nodes whose sentences still stand in its text."""
    nodes = {summary.node: summary for summary in summaries if summary.spans}
    if not nodes:
        return {}
    sentences = [
        (summary.node, summary.passage.source, start, end)
        for summary in nodes.values()
        for start, end in summary.spans
    ]
    with connection.cursor() as cursor:
        cursor.execute(_SENTENCES, [list(column) for column in zip(*sentences, strict=True)])
        rows = cursor.fetchall()
    texts = {(node, start): text for node, start, text, _ in rows}
    digests = {node: digest for node, _, _, digest in rows}
    return {
        pk: digests[pk]
        for pk, summary in nodes.items()
        if " ".join(texts.get((pk, start), "") for start, _ in summary.spans)
        == summary.passage.text
    }


# Each sentence is within one chunk, since chunks end at sentence ends.
_SENTENCES = """
    SELECT span.node, span.first,
        substr(chunk.text, span.first - chunk.span_start + 1, span.last - span.first), source.digest
    FROM unnest(%s::bigint[], %s::bigint[], %s::int[], %s::int[]) AS span(node, source, first, last)
    JOIN citations_chunk chunk ON chunk.source_id = span.source
        AND chunk.span_start <= span.first AND chunk.span_end >= span.last
    JOIN citations_source source ON source.id = span.source
"""


# From the eighth on, the columns are those of ``Candidate``.
_FETCH = """
    SELECT node.id, node.level, node.parent_id, node.first, node.last, node.spans, ranked.cosine,
        0, 0, node.first, node.text, '', node.title, node.span_start, node.span_end,
        node.start, node.end, node.page, node.last_page, source.id, source.chunk_count,
        source.digest, source.state, source.uuid, source.kind, source.has_slides, source.title,
        source.author, source.url, source.language, source.tags, collection.slug, video.id,
        video.key, video.youtube_id, media.id IS NOT NULL
    FROM ranked JOIN citations_node node ON node.id = ranked.id
    JOIN citations_source source ON source.id = node.source_id
    JOIN transcripts_collection collection ON collection.id = source.collection_id
    LEFT JOIN transcripts_video video ON video.id = source.video_id
    LEFT JOIN transcripts_mediafile media ON media.video_id = video.id
    WHERE source.id IN ({visible})
    ORDER BY ranked.cosine DESC, node.id
"""
_OWN: Final = Summary._fields.index("passage")
_TAGS: Final = _OWN + Candidate._fields.index("tags")


def _fetched(
    node_filter: NodeFilter, ranked: str, *, limit: int = 1, **values: Any
) -> list[Summary]:
    """Return the nodes, best first, whose ids and cosines the SQL ``ranked`` selects."""
    if node_filter.resolved.is_empty or limit <= 0:
        return []
    conditions, own_values = _conditions(node_filter)
    visible, scope_values = visible_sources_sql(node_filter.scope)
    sql = f"WITH ranked AS MATERIALIZED ({ranked}) {_FETCH}"
    with connection.cursor() as cursor:
        cursor.execute(
            sql.format(conditions=" AND ".join(conditions), visible=visible),
            {**values, **own_values, **scope_values, "limit": limit},
        )
        rows = cursor.fetchall()
    summaries = []
    for row in rows:
        tags, no_speaker, no_sentences = json.loads(row[_TAGS]), (), ()
        passage = Candidate._make(
            (*row[_OWN:_TAGS], tags, *row[_TAGS + 1 :], no_speaker, no_sentences)
        )
        node, level, parent, first, last, spans, cosine = row[:_OWN]
        spans = tuple((start, end) for start, end in json.loads(spans))
        summaries.append(Summary(node, level, parent, first, last, spans, cosine, passage))
    return summaries


def _conditions(node_filter: NodeFilter) -> tuple[list[str], dict[str, Any]]:
    """Write the SQL conditions. In a time range, or of a speaker, only whole nodes match."""
    resolved = node_filter.resolved
    conditions = ["node.level = ANY(%(levels)s)"]
    values: dict[str, Any] = {"levels": [int(level) for level in node_filter.levels]}
    # A filter without a list of sources sees all of them, so no invisible ones crowd out others.
    if resolved.sources is not None:
        conditions.append("node.source_id = ANY(%(among)s)")
        values["among"] = [*resolved.sources]
    values |= resolved.passage_values
    if resolved.start is not None or resolved.end is not None:
        conditions.append('node.start >= %(start)s AND node."end" <= %(end)s')
    if resolved.speakers:
        conditions.append(
            "NOT EXISTS (SELECT FROM citations_chunk said WHERE said.source_id = node.source_id"
            " AND said.ordinal BETWEEN node.first AND node.last"
            " AND said.speaker <> ALL(%(speakers)s))"
        )
    if node_filter.above is not None:
        conditions.append(
            "EXISTS (SELECT FROM unnest(%(of)s::bigint[], %(at)s::int[]) AS chunk(source, ordinal)"
            " WHERE chunk.source = node.source_id"
            " AND chunk.ordinal BETWEEN node.first AND node.last)"
        )
        values |= {
            "of": [source for source, _ in node_filter.above],
            "at": [ordinal for _, ordinal in node_filter.above],
        }
    return conditions, values
