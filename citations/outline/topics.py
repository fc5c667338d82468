"""Group the sections of a collection into topics, and keep them up to date source by source.

All topics of a collection are rebuilt only after it has grown by half, so the cost stays
proportional to the number of sections ever added.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from django.db import connection, transaction
from django.db.models import Count, Exists, F, OuterRef, Sum
from numpy.typing import NDArray
from pgvector import HalfVector

from citations.models import EmbeddingSpace, Level, Node, Source, Topic, TopicMember
from citations.outline.storage import as_floats, half_vector
from citations.providers import clustering
from citations.providers.languages import stop_words
from citations.text.words import rarity, words_of
from citations.vectors import space as vector_space
from transcripts.core import locks
from transcripts.core.locks import Lock
from transcripts.models import Collection

MIN_SECTIONS: Final = 8  # sections of a collection with topics
MAX_TOPICS: Final = 200  # topics of a collection
PARTS: Final = 3  # topics of a section, at most
MIN_SHARE: Final = 0.2
SHARPNESS: Final = 12.0  # shares are proportional to exp(SHARPNESS · cosine)
GROWTH: Final = 1.5
MOST: Final = 20  # collections that are tended at once, and sources
TERMS: Final = 12
LABEL_WORDS: Final = 3
NAMED_AFTER: Final = 100  # sections, those of the largest weight

Vectors = NDArray[np.float32]


def update(source: Source) -> int:
    """Assign a source's sections to topics, if there are any; return how many topics changed."""
    space = vector_space.locked()
    with transaction.atomic():
        _lock(source.collection_id)
        topics = list(
            Topic.objects.filter(collection=source.collection_id, space=space).order_by("pk")
        )
        if space is None or not topics:
            return 0
        members = TopicMember.objects.filter(node__source=source)
        previous = set(members.values_list("topic_id", flat=True))
        members.delete()
        current = _join(topics, _sections(space, source=source.pk))
        touched = previous | current | {topic.pk for topic in _stale(source.collection_id)}
        _summarize([topic for topic in topics if topic.pk in touched], topics)
        return len(touched)


def rebuild(collection: Collection) -> int:
    """Rebuild the topics of a collection; return their number."""
    space = vector_space.locked()
    with transaction.atomic():
        _lock(collection.pk)
        Topic.objects.filter(collection=collection).delete()
        sections = _sections(space, collection=collection.pk) if space else {}
        if space is None or len(sections) < MIN_SECTIONS:
            return 0
        vectors = np.stack([*sections.values()])
        count = min(MAX_TOPICS, max(2, round(math.sqrt(len(sections)))))
        topics = Topic.objects.bulk_create(
            Topic(collection=collection, space=space, vector=HalfVector(centre))
            for centre in clustering.centres(vectors, count=count)
        )
        _join(topics, sections)
        _summarize(topics, topics)
        Topic.objects.filter(collection=collection).update(size_at_rebuild=F("size"))
        return Topic.objects.filter(collection=collection).count()


def tend() -> int:
    """Rebuild the topics of collections that have grown, assign sections without a topic, and
    update topics that lost sections.

    Does some of each; returns how many it did.
    """
    space = vector_space.locked()
    if space is None:
        return 0
    # Sources may have moved to another collection.
    TopicMember.objects.exclude(topic__collection=F("node__source__collection")).delete()
    collections = Collection.objects.order_by("pk")
    due = [collection for collection in collections if _is_due(collection, space)][:MOST]
    for collection in due:
        rebuild(collection)
    # Sources with sections in no topic although their collection has topics.
    alone = Node.objects.filter(
        source=OuterRef("pk"), level=Level.SECTION, space=space, topics=None
    )
    topics = Topic.objects.filter(collection=OuterRef("collection"), space=space)
    late = list(Source.objects.filter(Exists(alone), Exists(topics)).order_by("pk")[:MOST])
    for source in late:
        update(source)
    shrunk = {topic.collection_id for topic in _stale()}
    for pk in shrunk:
        with transaction.atomic():
            _lock(pk)
            _summarize(_stale(pk), list(Topic.objects.filter(collection=pk, space=space)))
    return len(due) + len(late) + len(shrunk)


def of(collection: Collection) -> list[Topic]:
    """Return the topics of a collection, largest first, with their ``sections`` and ``sources``."""
    counted = Topic.objects.filter(collection=collection).annotate(
        sections=Count("members"), sources=Count("members__node__source", distinct=True)
    )
    return list(counted.defer("vector").order_by("-sections", "label"))


def _lock(collection: int) -> None:
    """Lock the topics of a collection until the transaction ends."""
    locks.hold_for_transaction(Lock.TOPICS, collection)


def _is_due(collection: Collection, space: EmbeddingSpace) -> bool:
    topics = Topic.objects.filter(collection=collection, space=space)
    built = topics.aggregate(all=Sum("size_at_rebuild"))["all"] or 0
    if built:
        return TopicMember.objects.filter(topic__in=topics).count() > GROWTH * built
    own = Node.objects.filter(source__collection=collection, level=Level.SECTION, space=space)
    return own.count() >= MIN_SECTIONS


def _stale(collection: int | None = None) -> list[Topic]:
    """Return topics whose number of sections has changed since their last update."""
    own = Topic.objects.all() if collection is None else Topic.objects.filter(collection=collection)
    return list(own.annotate(now=Count("members")).exclude(now=F("size")))


_SECTIONS = """
    SELECT n.id, halfvec_send(n.vector)
    FROM citations_node n JOIN citations_source s ON s.id = n.source_id
    WHERE n.level = 2 AND n.space_id = %(space)s AND n.vector IS NOT NULL
        AND (%(source)s::bigint IS NULL OR n.source_id = %(source)s)
        AND (%(collection)s::bigint IS NULL OR s.collection_id = %(collection)s)
    ORDER BY n.source_id, n.ordinal
"""
_MEMBERS = """
    SELECT m.topic_id, m.weight, halfvec_send(n.vector)
    FROM citations_topicmember m JOIN citations_node n ON n.id = m.node_id
    WHERE m.topic_id = ANY(%s) AND n.vector IS NOT NULL
"""


def _sections(
    space: EmbeddingSpace, *, source: int | None = None, collection: int | None = None
) -> dict[int, Vectors]:
    """Return the vectors of sections, by the keys of their nodes."""
    with connection.cursor() as cursor:
        cursor.execute(_SECTIONS, {"space": space.pk, "source": source, "collection": collection})
        return {pk: half_vector(data).astype(np.float32) for pk, data in cursor.fetchall()}


def _join(topics: Sequence[Topic], sections: Mapping[int, Vectors]) -> set[int]:
    """Assign sections to topics; return the primary keys of those topics."""
    if not sections:
        return set()
    centres = np.stack([as_floats(topic.vector) for topic in topics])
    cosines = np.stack([*sections.values()]) @ centres.T
    members = [
        TopicMember(topic=topics[index], node_id=node, weight=weight)
        for node, row in zip(sections, cosines, strict=True)
        for index, weight in _shares(row)
    ]
    TopicMember.objects.bulk_create(members, batch_size=1_000)
    return {member.topic_id for member in members}


def _shares(cosines: Vectors) -> list[tuple[int, float]]:
    """Distribute a section among the nearest topics; the shares add up to 1."""
    nearest = np.argsort(-cosines, kind="stable")[:PARTS]
    weights = np.exp(SHARPNESS * (cosines[nearest] - cosines[nearest[0]]).astype(np.float64))
    weights /= weights.sum()
    is_large = weights >= MIN_SHARE
    shares = weights[is_large] / weights[is_large].sum()
    pairs = zip(nearest[is_large], shares, strict=True)
    return [(int(index), min(1.0, float(weight))) for index, weight in pairs]


def _summarize(touched: Sequence[Topic], topics: Sequence[Topic]) -> None:
    """Update vector, terms and label of topics from their sections; delete topics without any."""
    keys = [topic.pk for topic in touched]
    members = TopicMember.objects.filter(topic__in=keys)
    sizes = dict(members.values_list("topic").annotate(Count("pk")))
    Topic.objects.filter(pk__in=[pk for pk in keys if pk not in sizes]).delete()
    living = [topic for topic in touched if topic.pk in sizes]
    means, words = _means([*sizes]), {pk: _words(pk) for pk in sizes}
    for topic in living:
        topic.size = sizes[topic.pk]
        topic.terms = [word for word, _ in words[topic.pk].most_common(TERMS)]
        topic.vector = HalfVector(means.get(topic.pk, as_floats(topic.vector)))
    spread = Counter(word for topic in topics for word in topic.terms)
    for topic in living:
        counts = words[topic.pk]
        worth = {word: counts[word] * rarity(spread[word], len(topics)) for word in topic.terms}
        best = sorted(worth, key=lambda word: (-worth[word], word))[:LABEL_WORDS]
        topic.label = ", ".join(best)[:200]
    Topic.objects.bulk_update(
        living, ["size", "terms", "vector", "label", "updated_at"], batch_size=100
    )


def _means(keys: Sequence[int]) -> Mapping[int, Vectors]:
    sums: dict[int, Vectors] = defaultdict(lambda: np.zeros(1, dtype=np.float32))
    with connection.cursor() as cursor:
        cursor.execute(_MEMBERS, [[*keys]])
        for topic, weight, data in cursor.fetchall():
            sums[topic] = sums[topic] + weight * half_vector(data).astype(np.float32)
    lengths = {topic: np.linalg.norm(total) for topic, total in sums.items()}
    return {topic: sums[topic] / length for topic, length in lengths.items() if length > 0}


def _words(topic: int) -> "Counter[str]":
    """Count in how many of its main sections each word of a topic occurs."""
    counts: Counter[str] = Counter()
    members = TopicMember.objects.filter(topic=topic).order_by("-weight", "node_id")
    columns = ("node__title", "node__text", "node__source__language")
    for title, text, language in members.values_list(*columns)[:NAMED_AFTER]:
        counts.update([*dict.fromkeys(words_of(f"{title} {text}", stop_words(language)))])
    return counts
