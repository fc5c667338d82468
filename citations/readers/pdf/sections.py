"""The sections of a PDF, as its bookmarks, its slides or lines like headings tell them."""

from collections.abc import Iterator, Sequence
from typing import Final

from citations.readers.headings import MIN_SECTION, is_title, join_titles, letters_of
from citations.readers.page import OutlineEntry, Paragraph
from citations.readers.pdf.glyph_repair import repair_glyphs
from citations.readers.pdf.paragraphs import Prose

MIN_OUTLINE: Final = 3  # pages with entries of a useful outline
MAX_SLIDE_TITLE: Final = 100  # characters of a first line that is one


class Headings:
    """Assigns headings to paragraphs: the outline's titles, or else what looks like one."""

    def __init__(self, outline: Sequence[OutlineEntry], first: int) -> None:
        self._by_page: dict[int, list[str]] = {}
        for entry in outline:
            self._by_page.setdefault(entry.page, []).append(entry.title)
        self._has_outline = has_bookmarks(outline)
        earlier = [page for page in self._by_page if page < first]
        self._current = self._by_page[max(earlier)][-1] if earlier and self._has_outline else ""

    def paragraphs(self, number: int, prose: Prose, *, is_slide: bool) -> Iterator[Paragraph]:
        """Yield the page's paragraphs. A heading soon after another begins no section, a slide
        always does.
        """
        if is_slide and not self._has_outline:
            yield from self._of_slide(prose)
            return
        titles = list(self._by_page.get(number, ())) if self._has_outline else []
        starts = self._starts(titles, prose)
        section = -MIN_SECTION  # start of the last one
        follows_heading = False
        for index, piece in enumerate(prose.pieces):
            title = starts.get(index)
            if title is not None:
                self._current = title
            elif piece.is_heading and not self._has_outline:
                own = one_line(prose.text[piece.first : piece.last])
                self._current = join_titles(self._current if follows_heading else "", own)
            is_new = (
                index in starts
                or (is_slide and index == 0)
                or (
                    piece.is_heading
                    and not follows_heading
                    and piece.first - section >= MIN_SECTION
                )
            )
            section = piece.first if is_new else section
            follows_heading = piece.is_heading or index in starts
            yield Paragraph(piece.first, piece.last, self._current, is_new)
        if titles and not prose.pieces:
            self._current = titles[-1]

    def _of_slide(self, prose: Prose) -> Iterator[Paragraph]:
        """Yield the paragraphs of a slide: a section that its title names."""
        self._current = _slide_title(prose)
        for index, piece in enumerate(prose.pieces):
            yield Paragraph(piece.first, piece.last, self._current, index == 0)

    def _starts(self, titles: list[str], prose: Prose) -> dict[int, str]:
        """Return the outline's titles by the paragraphs they begin at.

        A title without a matching paragraph begins at the first paragraph of the page or after the
        last match.
        """
        starts: dict[int, str] = {}
        words = [letters_of(prose.text[piece.first : piece.last]) for piece in prose.pieces]
        after = 0
        for title in titles:
            letters = letters_of(title)
            match = next((i for i in range(after, len(words)) if is_title(words[i], letters)), None)
            if match is None:
                starts.setdefault(after if starts else 0, title)
                continue
            starts[match] = title
            after = match + 1
        return {index: title for index, title in starts.items() if index < len(words)}


def has_bookmarks(outline: Sequence[OutlineEntry]) -> bool:
    """Whether a file's outline tells its sections, so that none is guessed from its letters."""
    return len({entry.page for entry in outline}) >= MIN_OUTLINE


def _slide_title(prose: Prose) -> str:
    """Return the first heading of a slide, or else its first line if that is short and not all."""
    headings = [piece for piece in prose.pieces if piece.is_heading]
    title = next(iter(headings or prose.pieces), None)
    words = one_line(prose.text[title.first : title.last]) if title else ""
    is_short = len(words) <= MAX_SLIDE_TITLE and len(prose.pieces) > 1
    return words if headings or is_short else ""


def one_line(text: str) -> str:
    """Return a title on one line, without characters that must not reach a database."""
    letters = (letter if letter.isprintable() else " " for letter in repair_glyphs(text).text)
    return " ".join("".join(letters).split())
