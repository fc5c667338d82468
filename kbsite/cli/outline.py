"""`kb outline`: show or rebuild outlines of sources and topics of collections."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from citations.library.filters import find_source
from citations.models import Level, Node, Source, State
from citations.outline import storage as outline_storage
from citations.outline import topics
from citations.passages import place
from citations.schemas.outlines import NodeOut, OutlineOut, TopicOut, TopicsOut
from kbsite.cli.options import InCollection, Json, argument
from kbsite.cli.terminal import note, out, print_json, printable, say, table
from kbsite.library.database import open_library
from transcripts.library import reading as library
from transcripts.models import Collection

INDENT = {Level.DOCUMENT: 0, Level.SECTION: 2, Level.GROUP: 4}  # columns


def outline(
    reference: Annotated[
        str, argument("[ID]", "A source's or recording's id, or its YouTube address.")
    ] = "",
    collection: InCollection = "",
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Rebuild the source's outline, or all outlines and topics."),
    ] = False,
    abstracts: Annotated[
        bool,
        typer.Option("--abstracts", help="Let the language model write the source's abstracts."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show a source's outline, or the library's topics."""
    scope = open_library()
    if reference:
        source = find_source(scope, reference)
        if rebuild:
            _rebuild(source)
        if abstracts:
            outline_storage.ensure_abstracts(source)
        _print_outline(source, as_json=as_json)
        return
    collections: Sequence[Collection] = (
        [library.find_collection(scope, collection)] if collection else library.collections(scope)
    )
    if rebuild:
        sources = Source.objects.visible(scope).filter(
            collection__in=collections, state__in=(State.WORDS, State.READY)
        )
        for source in sources.order_by("pk"):
            _rebuild(source)
        for target in collections:
            topics.rebuild(target)
    _print_topics(collections, as_json=as_json)


def _print_outline(source: Source, *, as_json: bool) -> None:
    nodes = sorted(outline_storage.of(source), key=lambda node: (node.first, -node.level))
    if as_json:
        shapes = [NodeOut.model_validate(node) for node in nodes]
        print_json(OutlineOut(source_id=source.uuid, title=source.title, nodes=shapes))
        return
    for node in _distinct(nodes):
        indent, style = INDENT[Level(node.level)], "bold" if node.level > Level.GROUP else ""
        heading = " ".join(filter(None, (place(node), node.title)))
        _print_paragraph(heading, style, indent=indent)
        _print_paragraph(node.summary, "dim", indent=indent)
    if not nodes:
        note("It has no outline yet; indexing builds it.")


def _print_topics(collections: Sequence[Collection], *, as_json: bool) -> None:
    # Topics are annotated with counts.
    rows: list[tuple[Collection, Any]] = [
        (collection, topic) for collection in collections for topic in topics.of(collection)
    ]
    if as_json:
        print_json(TopicsOut(topics=[TopicOut.model_validate(topic) for _, topic in rows]))
        return
    lines = (
        (topic.label, collection.name, topic.sections, topic.sources) for collection, topic in rows
    )
    empty = "No topics yet: a collection needs more text first."
    table(("Topic", "Collection", "Sections", "Sources"), lines, empty=empty)


def _print_paragraph(text: str, style: str, *, indent: int) -> None:
    if out().is_terminal:
        out().print(Padding(Text(printable(text), style=style), (0, 0, 0, indent)))
    else:
        say(f"{' ' * indent}{text}")


def _distinct(nodes: Sequence[Node]) -> Iterator[Node]:
    """Leave out nodes that repeat the one before, such as a section's only group."""
    previous = None
    for node in nodes:
        if (
            previous is None
            or (previous.first, previous.last) != (node.first, node.last)
            or not all(span in previous.spans for span in node.spans)
            or node.abstract not in ("", previous.abstract)
        ):
            yield node
        previous = node


def _rebuild(source: Source) -> None:
    with source.hold() as is_mine:
        if not is_mine:
            note(f"{source.title} is being indexed, which builds its outline.")
            return
        changes = outline_storage.refresh(source)
        topics.update(source)
    note(
        f"{source.title}: {changes.kept} parts kept,"
        f" {changes.made} made, {changes.deleted} deleted."
    )
