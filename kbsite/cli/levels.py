"""What `kb levels` does: outlines and topics, printed and built anew."""

from collections.abc import Iterator
from typing import Any

from rich.padding import Padding
from rich.text import Text

from citations.library.filters import find_source
from citations.models import Level, Node, Source, State
from citations.outline import storage as outline_storage
from citations.outline import topics
from kbsite.cli.terminal import note, out, print_json, printable, say, table
from transcripts import library as shelf
from transcripts.models import Collection
from transcripts.scope import Scope
from transcripts.timecodes import clock

INDENT = {Level.DOCUMENT: 0, Level.SECTION: 2, Level.GROUP: 4}  # columns


def source(scope: Scope, reference: str, *, rebuild: bool, abstracts: bool, as_json: bool) -> None:
    """Print the tree of a source, section by section. Raises ``SourceNotFound``, ``ModelError``."""
    found = find_source(scope, reference)
    if rebuild:
        _rebuild(found)
    if abstracts:
        outline_storage.ensure_abstracts(found)
    nodes = sorted(outline_storage.of(found), key=lambda node: (node.first, -node.level))
    if as_json:
        print_json(
            {
                "source": str(found.uuid),
                "title": found.title,
                "nodes": [_as_json(node) for node in nodes],
            }
        )
        return
    for node in _unlike(nodes):
        _say(
            f"{_place(node)}{node.title}",
            "bold" if node.level > Level.GROUP else "",
            indent=INDENT[Level(node.level)],
        )
        _say(node.abstract or node.text, "dim", indent=INDENT[Level(node.level)])
    if not nodes:
        note("It has no levels yet; they are built when it is indexed.")


def library(scope: Scope, *, collection: str, rebuild: bool, as_json: bool) -> None:
    """Print the topics of the collections. Raises ``CollectionNotFound``."""
    shelves = [shelf.find_collection(scope, collection)] if collection else shelf.collections(scope)
    if rebuild:
        for one in (
            Source.objects.visible(scope)
            .filter(collection__in=shelves, state__in=(State.WORDS, State.READY))
            .order_by("pk")
        ):
            _rebuild(one)
        for place in shelves:
            topics.rebuild(place)
    rows: list[tuple[Collection, Any]] = [
        (place, topic) for place in shelves for topic in topics.of(place)
    ]  # with counts that the class does not have
    if as_json:
        print_json({"topics": [_told(place, topic) for place, topic in rows]})
        return
    shown = ((topic.label, place.slug, topic.sections, topic.sources) for place, topic in rows)
    table(
        ("Topic", "Collection", "Sections", "Sources"),
        shown,
        empty="No topics yet: they are found in collections of some length.",
    )


def _say(text: str, style: str, *, indent: int) -> None:
    """Print a paragraph, each of its lines on a screen moved in; elsewhere it stays one line."""
    if out().is_terminal:
        out().print(Padding(Text(printable(text), style=style), (0, 0, 0, indent)))
    else:
        say(f"{' ' * indent}{text}")


def _unlike(nodes: list[Node]) -> Iterator[Node]:
    """Yield nodes, in their order, without those that repeat the one before: a section's only group says what the section says."""
    before = None
    for node in nodes:
        if (
            before is None
            or (before.first, before.last, before.text) != (node.first, node.last, node.text)
            or node.abstract not in ("", before.abstract)
        ):
            yield node
        before = node


def _rebuild(one: Source) -> None:
    with one.hold() as mine:
        if not mine:
            note(f"{one.title} is being indexed; its levels are built by that.")
            return
        touched = outline_storage.refresh(one)
        topics.update(one)
    note(f"{one.title}: {touched.kept} parts kept, {touched.made} made, {touched.deleted} deleted.")


def _place(node: Node) -> str:
    if node.start is not None:
        return f"{clock(node.start)} "
    return f"p. {node.page} " if node.page else ""


def _as_json(node: Node) -> dict[str, Any]:
    names = (
        "level",
        "ordinal",
        "title",
        "text",
        "spans",
        "abstract",
        "first",
        "last",
        "start",
        "end",
        "page",
        "last_page",
    )
    return {name: getattr(node, name) for name in names}


def _told(collection: Collection, topic: Any) -> dict[str, Any]:
    own = {
        "id": str(topic.uuid),
        "label": topic.label,
        "terms": topic.terms,
        "sections": topic.sections,
        "sources": topic.sources,
    }
    return {**own, "collection": collection.slug}
