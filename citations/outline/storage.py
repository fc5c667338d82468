"""Store summary trees: build one when a source is indexed, and read it again."""

import logging
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from time import monotonic
from typing import Any, Final, NamedTuple

import numpy as np
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from numpy.typing import NDArray
from pgvector import HalfVector

from citations import conf
from citations.errors import ModelError, ModelServerError
from citations.models import (
    LOCATION,
    AbstractsRequest,
    Chunk,
    EmbeddingSpace,
    Level,
    Node,
    Source,
    State,
    keep_switch_out,
)
from citations.outline import background
from citations.outline import tree as outline_tree
from citations.outline.tree import NodeDraft, OutlineChunk
from citations.providers import registry, weights
from citations.providers.embedding import LOCAL
from citations.providers.languages import stop_words
from citations.providers.prompts import MATERIAL_RULE, Prompt, clean_answer, marked
from citations.text.key_sentences import Embed
from citations.text.words import function_words
from citations.vectors import space as vector_space
from transcripts.text.stemming import primary_language

logger = logging.getLogger(__name__)

MIN_CHAPTER: Final = 240_000  # ms from the beginning of a chapter to that of the next
MAX_PARTS = 200  # of an outline
CATCH_UP = 20  # seconds, after which other work is done
ABSTRACT_TOKENS = 300
ABSTRACT_TRIES = 3  # of a request
MAX_ABSTRACT = 1_200  # characters
_ABSTRACT = (
    "You summarise texts for readers who want to know what is in them. You are given a text "
    "between marks. Write two to four sentences, in the language of the text, that say what it is "
    "about and what it comes to: only what the text itself says, concrete, without praise. Write "
    f"only these sentences, with no introduction. {MATERIAL_RULE}"
)
_COPIED = ("level", "ordinal", "text", "first", "last", *LOCATION, "digest")
_UPDATED = (
    *("ordinal", "parent", "title", "text", "spans", "first", "last", *LOCATION),
    *("space", "vector"),
)


class NodeChanges(NamedTuple):
    """How many nodes stayed (``moved``: with changes), were created and deleted."""

    kept: int = 0
    made: int = 0
    deleted: int = 0
    moved: int = 0

    @property
    def is_change(self) -> bool:
        return bool(self.made or self.deleted or self.moved)


def refresh(source: Source) -> NodeChanges:
    """Build the tree of a source from its chunks and their vectors, and store the changes. The
    caller holds the source.

    A node that summarizes the same text stays, with its abstract. Unless all chunks have vectors,
    the tree is built from words, and its nodes have no vectors.
    """
    space = vector_space.locked()
    pieces = _pieces(source, space)
    around = background.of(source)
    build = partial(
        outline_tree.build,
        pieces,
        stops=stop_words(source.language),
        function_words=function_words(source.language),
        language=source.language,
        title=source.title,
        formula=around.formula_end(_beginning(pieces)),
        others=around.passages,
    )
    try:
        drafts = build(embed=embedder_of_phrases(source, space))
    except ModelError as error:
        logger.warning("The outline of %s is named without vectors: %s", source, error)
        drafts = build()
    with transaction.atomic():
        keep_switch_out()
        if not Source.objects.select_for_update(no_key=True).filter(pk=source.pk).values_list("pk"):
            return NodeChanges()  # it was deleted meanwhile
        if space is not None and not EmbeddingSpace.objects.filter(pk=space.pk).exists():
            space = None
        return _replace_nodes(source, drafts, space)


def embedder_of_phrases(source: Source, space: EmbeddingSpace | None) -> Embed | None:
    """Return what embeds phrases and sentences of a source: the space's model if it runs on this
    machine and was made for the source's language. Raises ``ModelError``.
    """
    if space is None or space.provider not in LOCAL:
        return None
    only = weights.language_of(space.model)
    if only and primary_language(source.language) not in ("", only):
        return None
    return vector_space.embedder_of(space).embed_documents


def catch_up() -> int:
    """Build missing trees, as after a migration, for a while; return how many are left."""
    space = vector_space.locked()
    if space is None:
        return 0
    own = Node.objects.filter(source=OuterRef("pk"), space=space)
    late = Source.objects.filter(~Exists(own), state=State.READY, chunk_count__gt=0).order_by("pk")
    deadline = monotonic() + CATCH_UP
    for source in late:
        if monotonic() > deadline:
            break
        with source.hold() as mine:
            if mine:
                refresh(source)
    return late.all().count()


def of(source: Source) -> list[Node]:
    """Return the nodes of a source, without vectors: the document, its sections, their groups."""
    nodes = Node.objects.filter(source=source).defer("vector", "digest")
    return _following_each_other(list(nodes.order_by("-level", "ordinal")))


def _following_each_other(nodes: list[Node]) -> list[Node]:
    """Have each node of a recording end where the next of its level begins, if not before: their
    chunks overlap, the parts that people read of do not.
    """
    for node, following in pairwise(nodes):
        is_beside = node.level == following.level
        if is_beside and node.end is not None and following.start is not None:
            node.end = min(node.end, following.start)
    return nodes


def lacks_abstracts(source: Source) -> bool:
    """Tell whether a language model could still summarize nodes of the source."""
    return conf.prepares_sources() and _unsummarized(source).exists()


def ensure_abstracts(source: Source) -> int:
    """Let the language model summarize the nodes that lack an abstract; return how many it
    summarized.

    Sections come first, then the document; each abstract is stored at once. Does nothing without a
    language model. Raises ``ModelError``.
    """
    llm = registry.llm()
    if llm is None:
        return 0
    summarized = 0
    for node in _unsummarized(source):
        text = " ".join(_texts_below(node))[: 3 * llm.budget // 2]
        prompt = abstract_prompt(title=source.title, text=text)
        if abstract := clean_answer(llm.ask(prompt).text, MAX_ABSTRACT):
            same = Node.objects.filter(pk=node.pk, digest=node.digest)
            summarized += same.update(abstract=abstract)
    return summarized


def request_abstracts(source: Source) -> AbstractsRequest | None:
    """Return the request for the abstracts that a source lacks; None if it lacks none."""
    if not lacks_abstracts(source):
        return None
    return AbstractsRequest.objects.get_or_create(source=source)[0]


def answer(request: AbstractsRequest) -> None:
    """Have the abstracts of a source written, unless another process does.

    What a model still leaves empty is asked for again when somebody reads the source: each try
    may cost money.
    """
    with request.attempt(AbstractsRequest.objects.due()) as is_begun:
        if not is_begun:
            return
        ensure_abstracts(request.source)
        if lacks_abstracts(request.source) and request.attempts < ABSTRACT_TRIES:
            raise ModelServerError("Some abstracts were not written.")
        request.delete()


def abstract_prompt(*, title: str, text: str) -> Prompt:
    body = marked("text", f"{title.strip()}\n\n{text}")
    return Prompt(system=_ABSTRACT, text=f"{body}\n\nThe summary:", max_tokens=ABSTRACT_TOKENS)


def _unsummarized(source: Source) -> QuerySet[Node]:
    nodes = Node.objects.filter(source=source, level__gte=Level.SECTION, abstract="")
    return nodes.defer("vector").order_by("level", "ordinal")


def _texts_below(node: Node) -> Iterator[str]:
    """Yield a section's chunks, or the abstracts (else sentences) of a document's sections."""
    if node.level == Level.SECTION:
        own = Chunk.objects.filter(source=node.source_id, ordinal__range=(node.first, node.last))
        yield from own.order_by("ordinal").values_list("text", flat=True)
    else:
        children = Node.objects.filter(parent=node).order_by("ordinal")
        for text, abstract in children.values_list("text", "abstract"):
            yield abstract or text


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The document, its sections (or the groups of the only one), and how many more exist."""

    whole: Node | None = None
    parts: tuple[Node, ...] = ()
    more: int = 0


def outline(source: Source) -> Outline:
    """Return the outline of a source; empty before it has a tree."""
    own = Node.objects.filter(source=source).defer("vector", "digest")
    level = Level.SECTION if own.filter(level=Level.SECTION).count() > 1 else Level.GROUP
    nodes = own.filter(level__in=(Level.DOCUMENT, level)).order_by("-level", "ordinal")
    if not (rows := _following_each_other(list(nodes[: MAX_PARTS + 1]))):
        return Outline()
    parts, more = rows[1:], nodes.count() - len(rows)
    if source.video and not source.video.chapters:
        parts = _chapters(parts)
    return Outline(whole=rows[0], parts=tuple(parts), more=more)


def _chapters(parts: Iterable[Node]) -> list[Node]:
    """Join the parts of a talk, in memory, until a chapter has four minutes; it is called by the
    first of their names that has several words, if one has: “Class” says little.
    """
    joined: list[Node] = []
    for part in parts:
        chapter = joined[-1] if joined else part
        if not joined or (part.start or 0) - (chapter.start or 0) >= MIN_CHAPTER:
            joined.append(part)
            continue
        if " " in part.title and " " not in chapter.title:
            for name in ("title", "abstract", "text", "spans"):
                setattr(chapter, name, getattr(part, name))
        chapter.last, chapter.end, chapter.span_end = part.last, part.end, part.span_end
    return joined


_PIECES = """
    SELECT c.ordinal, c.text, c.span_start, c.span_end, c.start, c."end", c.page, c.last_page,
        c.heading, halfvec_send(e.vector)
    FROM citations_chunk c LEFT JOIN citations_embedding e
        ON e.chunk_id = c.id AND e.space_id = %s AND e.digest = c.digest
    WHERE c.source_id = %s ORDER BY c.ordinal
"""
_FIELDS = ("ordinal", "text", *LOCATION, "heading")


def _pieces(source: Source, space: EmbeddingSpace | None) -> list[OutlineChunk]:
    with connection.cursor() as cursor:
        cursor.execute(_PIECES, [space.pk if space else 0, source.pk])
        return [
            OutlineChunk(
                **dict(zip(_FIELDS, row, strict=False)),
                vector=half_vector(row[-1]).astype(np.float16) if row[-1] else None,
            )
            for row in cursor.fetchall()
        ]


def _beginning(pieces: Sequence[OutlineChunk]) -> str:
    """Return the text of the first chunks, which overlap, at its offsets."""
    text = ""
    for piece in pieces[: background.FIRST]:
        text = text[: piece.span_start].ljust(piece.span_start) + piece.text
    return text


def half_vector(data: Any) -> NDArray[Any]:
    """Read a binary vector of pgvector: four bytes of header, then big-endian halves."""
    return np.frombuffer(data, dtype=">f2", offset=4)


def as_floats(vector: Any) -> NDArray[np.float32]:
    """Return a vector of the database as an array."""
    array = vector.to_numpy() if isinstance(vector, HalfVector) else vector
    return np.asarray(array, dtype=np.float32)


def _replace_nodes(
    source: Source, drafts: Sequence[NodeDraft], space: EmbeddingSpace | None
) -> NodeChanges:
    """Store the tree level by level, parents first, then delete the nodes that are left."""
    stored: defaultdict[tuple[int, bytes], deque[Node]] = defaultdict(deque)
    locked = Node.objects.select_for_update().filter(source=source).order_by("pk")
    for node in sorted(locked, key=lambda node: node.ordinal):
        stored[node.level, bytes(node.digest)].append(node)
    kept = made = moved = 0
    above: dict[int, Node] = {}
    for level in (Level.DOCUMENT, Level.SECTION, Level.GROUP):
        own = [draft for draft in drafts if draft.level == level]
        pairs = [
            (
                nodes.popleft() if (nodes := stored[level, draft.digest]) else None,
                _row(source, draft, space, above),
            )
            for draft in own
        ]
        changed = [node for node, row in pairs if node and _update(node, row)]
        new = [row for node, row in pairs if node is None]
        Node.objects.bulk_create(  # updates in few statements: inserts that conflict
            changed,
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=_UPDATED,
            batch_size=500,
        )
        Node.objects.bulk_create(new, batch_size=500)
        above = {row.ordinal: node or row for node, row in pairs}
        kept, made, moved = kept + len(own) - len(new), made + len(new), moved + len(changed)
    with connection.cursor() as cursor:  # the database deletes their memberships
        unused = [node.pk for nodes in stored.values() for node in nodes]
        cursor.execute("DELETE FROM citations_node WHERE id = ANY(%s)", [unused])
        deleted = cursor.rowcount
    return NodeChanges(kept=kept, made=made, deleted=deleted, moved=moved)


def _row(
    source: Source, draft: NodeDraft, space: EmbeddingSpace | None, above: dict[int, Node]
) -> Node:
    vector = None if draft.vector is None or space is None else HalfVector(draft.vector)
    return Node(
        source=source,
        parent=None if draft.parent is None else above[draft.parent],
        title=draft.title or source.title,
        spans=[list(span) for span in draft.spans],
        space=space if vector is not None else None,
        vector=vector,
        **{name: getattr(draft, name) for name in _COPIED},
    )


def _update(node: Node, row: Node) -> bool:
    """Take over the columns of a new row; say whether any differed."""

    def comparable(node: Node, name: str) -> Any:
        value = getattr(node, f"{name}_id" if name in ("parent", "space") else name)
        if name != "vector" or value is None:
            return value
        return (value if isinstance(value, HalfVector) else HalfVector(value)).to_binary()

    if all(comparable(node, name) == comparable(row, name) for name in _UPDATED):
        return False
    for name in _UPDATED:
        setattr(node, name, getattr(row, name))
    return True
