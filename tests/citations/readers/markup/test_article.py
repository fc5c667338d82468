"""Of a web page its article is read, whole; what stands around it is not."""

import re
from pathlib import Path

import pytest

from citations.readers.markup.article import NEEDS_SCRIPTS_NOTE, WHOLE_PAGE_NOTE
from citations.readers.markup.reader import read_html
from citations.readers.pagination import OpenDocument

SPRING = (
    "The harbour was dredged in spring, and the ferries, which had waited outside for weeks, came"
    " in at last. Nobody had expected that the silt would be so deep."
)
AUTUMN = (
    "A second survey, made in autumn, found that the channel had kept its depth, except near the"
    " old mole, where the current turns and drops what it carries."
)
AROUND = (
    "<div class=cookie-banner><p>We use cookies to improve your visit, to measure traffic, and for"
    " advertising. You can accept all of them, or choose some.</p></div>"
    "<div class=menu><ul><li><a href=/>Front page</a><li><a href=/b>Boats</a></ul></div>{}"
    "<div class=sidebar><h3>Most read</h3><ul><li><a href=1>Ten knots to know</a></ul></div>"
    "<div class=footer>All rights reserved. <a href=/i>Imprint</a></div>"
)
NOISE = ("cookies", "Front page", "Most read", "rights reserved")


def opened(folder: Path, body: str, *, head: str = "") -> OpenDocument:
    path = folder / "page.html"
    path.write_text(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>")
    return read_html(path, most_pages=10)


def text_of(document: OpenDocument) -> str:
    return "\n\n".join(page.text for page in document.pages)


@pytest.mark.parametrize("tag", ["article", "main", "section", "div class=post", "div id=content"])
def test_an_article_is_read_to_its_last_line_without_what_stands_around(
    tmp_path: Path, tag: str
) -> None:
    body = (
        f"<{tag}><h1>Dredging</h1><p>{SPRING}</p><h2>Autumn</h2><p>{AUTUMN}</p><table><tr><td>May"
        "<td>4.2 m</table><ul><li><a href=1>Bowline</a><li><a href=2>Sheepshank</a></ul><p>Tie."
        f"</{tag.split()[0]}>"
    )
    document = opened(tmp_path, AROUND.format(body))
    text = text_of(document)
    assert text.startswith(f"Dredging\n\n{SPRING}\n\nAutumn\n\n{AUTUMN}\n\nMay | 4.2 m")
    assert text.endswith("• Bowline\n• Sheepshank\n\nTie.")
    assert not [words for words in NOISE if words in text]
    assert document.facts.note == ""


def test_the_only_top_heading_belongs_to_the_article_wherever_it_stands(tmp_path: Path) -> None:
    body = f"<div class=top><h1>Dredging</h1></div><div class=text><p>{SPRING}</p><p>{AUTUMN}</div>"
    document = opened(tmp_path, AROUND.format(body))
    assert text_of(document) == f"Dredging\n\n{SPRING}\n\n{AUTUMN}"
    assert [entry.title for entry in document.facts.outline] == ["Dredging"]


def test_an_article_about_cookies_is_no_notice(tmp_path: Path) -> None:
    body = f"<div class=cookie-recipe><h1>Cookies</h1><p>{SPRING}</p><p>{AUTUMN}</p></div>"
    assert AUTUMN in text_of(opened(tmp_path, AROUND.format(body)))


def test_a_page_whose_main_part_is_small_is_read_whole_and_says_so(tmp_path: Path) -> None:
    rows = "".join(f"<li><a href=/{row}>Port number {row}</a></li>" for row in range(200))
    document = opened(tmp_path, f"<main><p>{SPRING}</p></main><ul>{rows}</ul>")
    assert "Port number 199" in text_of(document)
    assert document.facts.note == WHOLE_PAGE_NOTE


def test_a_page_whose_article_is_less_than_half_of_it_says_so(tmp_path: Path) -> None:
    rows = "".join(f"<a href=/{row}>Port number {row}</a> " for row in range(35))
    text = f"<p>{SPRING}</p><p>{AUTUMN}</p>"
    document = opened(tmp_path, f"<div class=menu>{rows}</div><article>{text}</article>")
    assert text_of(document) == f"{SPRING}\n\n{AUTUMN}"
    assert re.fullmatch(r"Only the article was read; \d\d % .* outside it\.", document.facts.note)


def test_a_page_that_scripts_write_says_so(tmp_path: Path) -> None:
    shell = (
        "<div id=root></div><noscript>Enable JavaScript.</noscript><script src=/app.js></script>"
    )
    document = opened(tmp_path, shell)
    assert (list(document.pages), document.facts.note) == ([], NEEDS_SCRIPTS_NOTE)
    assert opened(tmp_path, f"{shell}<p>{SPRING}</p><p>{AUTUMN}</p>").facts.note == ""


def test_a_page_tells_its_title_author_date_and_language(tmp_path: Path) -> None:
    head = (
        "<title>Dredging | The Tide</title><meta property=og:title content='Dredging'>"
        "<meta name=author content='Ada Quay'><meta property='article:published_time'"
        " content='2026-05-03T08:00:00Z'>"
    )
    facts = opened(tmp_path, f"<p lang=en>{SPRING}", head=head).facts
    assert (facts.title, facts.author) == ("Dredging", "Ada Quay")
    assert facts.published == "2026-05-03T08:00:00Z"
