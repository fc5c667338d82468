"""The sections of a PDF without bookmarks, once all of its pages are read.

Each of a file of slides is one. In other files, every line that looks like a heading is one while
pages are read. Only the whole document tells which of them come again and again, and which have the
numbers of chapters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from citations.models import Document, Page
from citations.readers.headings import (
    MIN_SECTION,
    PlacedHeading,
    contents,
    find_labels,
    join_titles,
    key_of,
)
from citations.readers.page import OutlineEntry, Paragraph

PAGES_AT_ONCE: Final = 200
MIN_SLIDES: Final = 3
SLIDES: Final = 0.8  # of the pages of a file of slides, at least


def settle(document: Document) -> list[OutlineEntry]:
    """Store which headings open sections, and return the contents that they make.

    A label such as “Hint” opens none: what follows it stands under the section above it. The caller
    holds a transaction.
    """
    if slides := _slides(document):
        return slides
    headings = [heading for page in _pages(document) for heading in _headings(page)]
    labels = find_labels(headings)
    sections = _Sections(labels)
    changed: list[Page] = []
    end = 0
    for page in _pages(document):
        end = page.end
        blocks = [list(block) for block in sections.within(page)]
        if blocks != page.blocks:
            page.blocks = blocks
            changed.append(page)
        if len(changed) == PAGES_AT_ONCE:
            Page.objects.bulk_update(changed, ["blocks"])
            changed.clear()
    Page.objects.bulk_update(changed, ["blocks"])
    return contents([heading for heading in headings if key_of(heading.title) not in labels], end)


def has_slides(document: Document) -> bool:
    """Whether the pages with text are slides, but for a few; in a PDF, more than two."""
    pages = Page.objects.filter(document=document)
    count = pages.filter(is_slide=True).exclude(text="").count()
    least = MIN_SLIDES if document.format.is_laid_out else 1
    return count >= max(least, SLIDES * pages.exclude(text="").count())


def _slides(document: Document) -> list[OutlineEntry]:
    """Return the titles of the slides; none if most pages are no slides of one section each."""
    count = 0
    titles: list[OutlineEntry] = []
    for page in _pages(document):
        blocks = [Paragraph(*row) for row in page.blocks]
        count += bool(blocks)
        if blocks and _is_section(blocks):
            titles.append(OutlineEntry(1, blocks[0].heading, page.number))
    if len(titles) < max(MIN_SLIDES, SLIDES * count):
        return []
    return [entry for entry in titles if entry.title]


def _is_section(blocks: Sequence[Paragraph]) -> bool:
    """Whether a page is all of a section, as a slide is."""
    first, *others = blocks
    goes_on = all(not block.boundary and block.heading == first.heading for block in others)
    return first.boundary and goes_on


def _pages(document: Document) -> Iterator[Page]:
    pages = Page.objects.filter(document=document).order_by("number").defer("html")
    return pages.iterator(chunk_size=PAGES_AT_ONCE)


def _headings(page: Page) -> Iterator[PlacedHeading]:
    for block, title in _titled_blocks(page):
        if title:
            yield PlacedHeading(title, page.start + block.first, page=page.number)


def _titled_blocks(page: Page) -> Iterator[tuple[Paragraph, str]]:
    """Yield the paragraphs as they were read, each with its words if it was read as a heading: they
    are all of the heading that it stands under, or the end of a new one.
    """
    before = ""
    for block in (Paragraph(*row) for row in page.blocks):
        words = " ".join(page.text[block.first : block.last].split())
        is_new = block.boundary or block.heading != before
        is_title = block.heading == words or (is_new and block.heading.endswith(words))
        yield block, words if is_title else ""
        before = block.heading


@dataclass(slots=True)
class _Sections:
    """Gives each paragraph its heading again, as a reader that knows the labels would have."""

    labels: frozenset[str]
    heading: str = ""
    start: int = -MIN_SECTION  # of the last section, in the document
    follows_heading: bool = False

    def within(self, page: Page) -> Iterator[Paragraph]:
        for block, title in _titled_blocks(page):
            is_heading = bool(title) and key_of(title) not in self.labels
            start = page.start + block.first
            is_new = is_heading and not self.follows_heading and start - self.start >= MIN_SECTION
            if is_heading:
                self.heading = join_titles(self.heading if self.follows_heading else "", title)
            if is_new:
                self.start = start
            self.follows_heading = is_heading
            yield Paragraph(block.first, block.last, self.heading, is_new)
