"""Tables that go on: parts of one are joined, and each page has the header, as in printed books."""

import re
from itertools import islice
from typing import Final

from citations.models import Page
from citations.readers.markup.sanitizer import sanitize

MAX_PAGES: Final = 200  # that are looked at before the one that is shown

_FIRST_ROW: Final = re.compile(r"\s*<table>(?:<tbody>)?<tr>(?P<cells>.*?)</tr>", re.DOTALL)
_TABLE: Final = r"<table>(?>.*?</table>)\s*"
_TABLES_AT_END: Final = re.compile(rf"(?>(?:{_TABLE})+)\Z", re.DOTALL)
_GAP: Final = re.compile(r"</tbody></table>\s*<table><tbody>(?=<tr>(?P<cells>.*?)</tr>)", re.DOTALL)
_CELL: Final = re.compile(r"<t[dh]\b")


def continue_tables(page: Page, markup: str) -> str:
    """Join the parts of long tables, and put the header of one that began on an earlier page above
    its rows on this one.

    ``markup`` is the page's sanitised HTML, with marks or without. The header is no part of the
    page's text, and cannot be selected.
    """
    joined = _GAP.sub(_between_parts, markup)
    first = _FIRST_ROW.match(joined)
    if first is None or _is_header(first["cells"]):
        return joined
    header = _header_before(page, columns=_columns(first["cells"]))
    return joined.replace("<table>", f"<table>{header}", 1)


def _between_parts(gap: re.Match[str]) -> str:
    """Return what stands between two tables: nothing if the second has no header, and as many
    columns as the last row of the first.
    """
    before = gap.string[: gap.start()]
    last = before[before.rfind("<tr>") :]
    is_part = not _is_header(gap["cells"]) and _columns(gap["cells"]) == _columns(last)
    return "" if is_part else gap[0]


def _header_before(page: Page, *, columns: int) -> str:
    """Return the header of the table of so many columns that ends the page before; "" if none."""
    earlier = Page.objects.filter(document=page.document_id, number__lt=page.number)
    pages = earlier.order_by("-number").values_list("html", flat=True).iterator(chunk_size=10)
    for html in map(sanitize, islice(pages, MAX_PAGES)):
        end = _TABLES_AT_END.search(html)
        if end is None:
            return ""
        for table in reversed(re.findall(_TABLE, end[0], re.DOTALL)):
            first = _FIRST_ROW.match(table)
            if first is None or _columns(first["cells"]) != columns:
                return ""
            if _is_header(first["cells"]):
                return f'<thead class="repeated"><tr>{first["cells"]}</tr></thead>'
        if html[: end.start()].strip():
            return ""
    return ""


def _columns(row: str) -> int:
    return len(_CELL.findall(row))


def _is_header(cells: str) -> bool:
    return "<th" in cells
