"""The blocks of a document: a paragraph each, from its stored pages."""

from collections.abc import Iterator

from citations.models import Document, Page
from citations.text.blocks import Block

LONGEST_HEADING = 300  # characters


def read(document: Document) -> list[Block]:
    """Return a block for each paragraph, in the order of the pages."""
    pages = Page.objects.filter(document=document).order_by("number").iterator(chunk_size=200)
    return [block for page in pages for block in _blocks(page)]


def _blocks(page: Page) -> Iterator[Block]:
    for first, last, heading, boundary in page.blocks:
        if text := page.text[first:last]:
            yield Block(
                text=text,
                offset=page.start + first,
                page=page.number,
                heading=heading[:LONGEST_HEADING],
                boundary=boundary,
            )
