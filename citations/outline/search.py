"""Where a question meets the levels above the chunks: the nodes that are near it, those above chunks that were found, and what they say as it stands now."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.db import connection
from numpy.typing import NDArray
from pgvector import HalfVector

from citations.library.filters import ResolvedFilter
from citations.models import EmbeddingSpace, visible_sources_sql
from citations.search.candidates import Candidate
from transcripts.scope import Scope

FOREVER: Final = 1 << 62  # ms


class Summary(NamedTuple):
    """A node: ``first`` to ``last`` are the ordinals of its chunks, ``told`` is what it says, and of what source. ``cosine``: None where it has no vector."""

    node: int
    level: int
    parent: int | None
    first: int
    last: int
    spans: tuple[tuple[int, int], ...]
    cosine: float | None
    told: Candidate


class NodeFilter(NamedTuple):
    """Which nodes are looked for: as far as a scope and a reach go, of these levels, and below or above others where these are given."""

    scope: Scope
    reach: ResolvedFilter
    levels: Collection[int]
    parents: Collection[int] | None = None  # only right below these nodes
    above: Collection[tuple[int, int]] | None = (
        None  # only above one of these chunks: (source, ordinal)
    )


def place(one: Summary) -> tuple[int, int, int]:
    """Return what orders nodes that are worth the same, whenever they were made: the wider first, then as they stand in their sources."""
    return -one.level, one.told.source, one.first


def near(
    wanted: NodeFilter, vector: NDArray[Any], *, space: EmbeddingSpace, limit: int
) -> list[Summary]:
    """Find, of each level, the ``limit`` nodes that are nearest to a vector of length 1, nearest first. All are looked at: they are few beside the chunks."""
    if wanted.reach.is_empty or limit <= 0:
        return []
    conditions, values = _conditions(wanted)
    values |= {"vector": HalfVector(vector).to_text(), "space": space.pk, "limit": limit}
    distance = f"node.vector <=> %(vector)s::halfvec({space.dimensions})"
    own = " AND ".join(
        (
            "node.space_id = %(space)s",
            "node.vector IS NOT NULL",
            "node.level = step.level",
            *conditions,
        )
    )
    ranked = f"""
        SELECT near.id, 1 - near.distance AS cosine FROM unnest(%(levels)s::int[]) AS step(level), LATERAL (
            SELECT node.id, {distance} AS distance FROM citations_node node WHERE {own} ORDER BY {distance}, node.id LIMIT %(limit)s
        ) near
    """
    return _fetched(ranked, values, wanted.scope)


def largest(wanted: NodeFilter, *, limit: int) -> list[Summary]:
    """Return, of each level, the ``limit`` nodes with the most chunks, in no order, without cosines."""
    if wanted.reach.is_empty or limit <= 0:
        return []
    conditions, values = _conditions(wanted)
    own = " AND ".join(("node.level = step.level", *conditions))
    ranked = f"""
        SELECT most.id, NULL::float AS cosine FROM unnest(%(levels)s::int[]) AS step(level), LATERAL (
            SELECT node.id FROM citations_node node WHERE {own} ORDER BY node.last - node.first DESC, node.id LIMIT %(limit)s
        ) most
    """
    return _fetched(ranked, {**values, "limit": limit}, wanted.scope)


def typical(wanted: NodeFilter, *, limit: int) -> list[Summary]:
    """Return a section for each of the ``limit`` topics with the most sections: that which belongs to it most; in no order, without cosines."""
    if wanted.reach.is_empty or limit <= 0:
        return []
    conditions, values = _conditions(wanted)
    own = " AND ".join(
        (
            "node.level = ANY(%(levels)s)",
            f"source.id IN ({visible_sources_sql(wanted.scope)[0]})",
            *conditions,
        )
    )
    ranked = f"""
        SELECT most.id, NULL::float AS cosine FROM (
            SELECT DISTINCT ON (member.topic_id) node.id, count(*) OVER (PARTITION BY member.topic_id) AS sections
            FROM citations_topicmember member JOIN citations_node node ON node.id = member.node_id
            JOIN citations_source source ON source.id = node.source_id WHERE {own} ORDER BY member.topic_id, member.weight DESC, node.id
        ) most ORDER BY most.sections DESC LIMIT %(limit)s
    """
    return _fetched(ranked, {**values, "limit": limit}, wanted.scope)


def over(wanted: NodeFilter) -> list[Summary]:
    """Return the nodes above chunks, in no order, without cosines."""
    if wanted.reach.is_empty or not wanted.above:
        return []
    conditions, values = _conditions(wanted)
    sql = f"SELECT node.id, NULL::float AS cosine FROM citations_node node WHERE {' AND '.join(('node.level = ANY(%(levels)s)', *conditions))}"
    return _fetched(sql, values, wanted.scope)


def as_it_stands(found: Iterable[Summary]) -> dict[int, str]:
    """Return the digests of the texts that the spans of nodes count in, for those whose sentences stand there now.

    A source that was cut anew a moment ago has its nodes from before until these are made anew.
    """
    nodes = {one.node: one for one in found if one.spans}
    if not nodes:
        return {}
    sentences = [
        (one.node, one.told.source, start, end)
        for one in nodes.values()
        for start, end in one.spans
    ]
    columns = dict(
        zip(
            ("nodes", "sources", "starts", "ends"),
            map(list, zip(*sentences, strict=True)),
            strict=True,
        )
    )
    with connection.cursor() as cursor:
        cursor.execute(_SENTENCES, columns)
        rows = cursor.fetchall()
    said: dict[int, dict[int, str]] = {}
    digests: dict[int, str] = {}
    for node, start, text, digest in rows:
        said.setdefault(node, {})[start] = text
        digests[node] = digest
    return {
        pk: digests[pk]
        for pk, one in nodes.items()
        if " ".join(said.get(pk, {}).get(start, "") for start, _ in one.spans) == one.told.text
    }


# A sentence stands in one chunk: they are cut at sentences.
_SENTENCES = """
    SELECT asked.node, asked.first, substr(chunk.text, asked.first - chunk.span_start + 1, asked.last - asked.first), source.digest
    FROM unnest(%(nodes)s::bigint[], %(sources)s::bigint[], %(starts)s::int[], %(ends)s::int[]) AS asked(node, source, first, last)
    JOIN citations_chunk chunk ON chunk.source_id = asked.source AND chunk.span_start <= asked.first AND chunk.span_end >= asked.last
    JOIN citations_source source ON source.id = asked.source
"""


# The columns are those of ``Candidate``: what may be seen, and how it is called and linked, is the same for a node and for a chunk.
_FETCH = """
    SELECT node.id, node.level, node.parent_id, node.first, node.last, node.spans, ranked.cosine,
        0, 0, node.first, node.text, '', node.title, node.span_start, node.span_end, node.start, node.end,
        node.page, node.last_page, source.id, source.chunk_count, source.digest, source.uuid, source.kind, source.title, source.author, source.url,
        source.language, source.tags, shelf.slug, video.id, video.key, video.youtube_id
    FROM ranked JOIN citations_node node ON node.id = ranked.id
    JOIN citations_source source ON source.id = node.source_id
    JOIN transcripts_collection shelf ON shelf.id = source.collection_id
    LEFT JOIN transcripts_video video ON video.id = source.video_id
    WHERE source.id IN ({visible})
    ORDER BY ranked.cosine DESC, node.id
"""
_OWN: Final = Summary._fields.index("told")
_TAGS: Final = _OWN + Candidate._fields.index("tags")


def _fetched(ranked: str, values: Mapping[str, Any], scope: Scope) -> list[Summary]:
    visible, scope_values = visible_sources_sql(scope)
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH ranked AS MATERIALIZED ({ranked}) {_FETCH.format(visible=visible)}",
            {**values, **scope_values},
        )
        return [_summary(row) for row in cursor.fetchall()]


def _summary(row: Sequence[Any]) -> Summary:
    told = Candidate._make((*row[_OWN:_TAGS], json.loads(row[_TAGS]), *row[_TAGS + 1 :]))
    node, level, parent, first, last, spans, cosine = row[:_OWN]
    return Summary(
        node,
        level,
        parent,
        first,
        last,
        tuple((start, end) for start, end in json.loads(spans)),
        cosine,
        told,
    )


def _conditions(wanted: NodeFilter) -> tuple[list[str], dict[str, Any]]:
    """Write out which nodes are looked for. Of a time range only nodes that lie within it: the sentences of others may stand outside."""
    reach = wanted.reach
    conditions: list[str] = []
    values: dict[str, Any] = {"levels": [int(level) for level in wanted.levels]}
    # Those of sources that are not visible must not crowd out the others: a reach without a list of sources sees all there are.
    if reach.sources is not None:
        conditions.append("node.source_id = ANY(%(among)s)")
        values["among"] = [*reach.sources]
    if reach.narrows_time:
        conditions.append('node.start >= %(from)s AND node."end" <= %(until)s')
        values |= {"from": reach.start or 0, "until": FOREVER if reach.end is None else reach.end}
    if wanted.parents is not None:
        conditions.append("node.parent_id = ANY(%(parents)s)")
        values["parents"] = [*wanted.parents]
    if wanted.above is not None:
        conditions.append(
            "EXISTS (SELECT FROM unnest(%(of)s::bigint[], %(at)s::int[]) AS chunk(source, ordinal)"
            " WHERE chunk.source = node.source_id AND chunk.ordinal BETWEEN node.first AND node.last)"
        )
        values |= {
            "of": [source for source, _ in wanted.above],
            "at": [ordinal for _, ordinal in wanted.above],
        }
    return conditions, values
