"""What files of Open Packaging Conventions (DOCX, PPTX) share: main part, properties, diagrams."""

from collections.abc import Iterator
from html import escape
from typing import Final
from xml.etree.ElementTree import Element

from citations.errors import DocumentBroken
from citations.readers.office.archive import Package, attribute, child, descendants, local, parts

_PROPERTIES: Final = {  # the last one that is there tells a fact
    "title": "title",
    "creator": "author",
    "language": "language",
    "created": "published",  # it may be the day on which a template was made
    "modified": "published",
}


def main_part(archive: Package) -> str:
    """Return the name of the part with the document. Raises ``DocumentBroken`` without one."""
    if part := archive.related("", "officeDocument"):
        return part
    raise DocumentBroken("The archive that the file is has no document in it.")


def core_facts(archive: Package) -> dict[str, str]:
    """Return what the core properties say: title, author, language, and the last change."""
    root = archive.optional_xml(archive.related("", "core-properties") or "docProps/core.xml")
    said = {local(element.tag): (element.text or "").strip() for element in root}
    return {fact: said[name] for name, fact in _PROPERTIES.items() if said.get(name)}


def diagram_items(archive: Package, part: str, element: Element) -> Iterator[str]:
    """Yield the texts of a diagram (SmartArt) as HTML, in the order in which they were written.

    ``element`` is the ``relIds`` within the part that shows it.
    """
    relation = archive.relations(part).get(attribute(element, "dm"))
    data = archive.optional_xml(relation.part) if relation else Element("missing")
    for point in descendants(data, "pt"):
        texts = (run.text or "" for body in parts(point, "t") for run in descendants(body, "t"))
        if text := "".join(texts).strip():
            yield escape(text)


def chosen(element: Element) -> Element | None:
    """Return the form of ``AlternateContent`` that is read: the first, as newer programs do."""
    choice = child(element, "Choice")
    return choice if choice is not None else child(element, "Fallback")
