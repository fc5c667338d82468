"""Of a web page its article is read, whole; what stands around it is not."""

import re
from collections import Counter
from pathlib import Path

import pytest

from citations.readers.markup.article import NEEDS_SCRIPTS_NOTE, WHOLE_PAGE_NOTE
from citations.readers.markup.reader import read_html
from citations.readers.markup.walker import pieces_of
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


def test_a_long_article_among_many_menus_is_told_from_them(tmp_path: Path) -> None:
    menus = "".join(f"<ul><li><a href={n}>Moorings of harbour {n}</a></ul>" for n in range(300))
    body = f"{menus}<div>{f'<p>{SPRING}</p><p>{AUTUMN}</p>' * 4}</div>{menus}"
    document = opened(tmp_path, body)
    assert "Moorings" not in text_of(document)
    assert document.facts.note.startswith("Only the article was read;")


def test_the_header_and_footer_of_a_site_are_no_part_of_a_page_read_whole(tmp_path: Path) -> None:
    ports = "".join(f"<li>Port number {n}" for n in range(300))
    body = (
        "<header><h1>Ports</h1><nav><a href=/>Front page</a></nav><p>Free delivery!</header>"
        f"<div><p>{SPRING}</div><ul>{ports}</ul>"
        "<div role=contentinfo>© Harbour <a href=/i>Imprint</a></div>"
    )
    text = text_of(opened(tmp_path, body))
    assert text.startswith(f"Ports\n\n{SPRING}")
    assert text.endswith("Port number 299")


def test_the_header_of_an_article_is_read(tmp_path: Path) -> None:
    header = f"<header><h1>Dredging</h1><p>By Ada Quay</p><p>Abstract: {SPRING}</p></header>"
    text = text_of(opened(tmp_path, f"{header}<p>{AUTUMN}</p>"))
    assert text == f"Dredging\n\nBy Ada Quay\n\nAbstract: {SPRING}\n\n{AUTUMN}"


def test_a_page_for_browsers_without_scripts_is_read_where_there_is_no_other(
    tmp_path: Path,
) -> None:
    posts = f"<div class=post><p>{SPRING}</p></div><div class=post><p>{AUTUMN}</p></div>"
    forum = f"<section id=main></section><noscript>{posts}</noscript><script src=/app.js></script>"
    document = opened(tmp_path, forum)
    assert text_of(document) == f"{SPRING}\n\n{AUTUMN}"
    assert document.facts.note == ""
    beside = opened(tmp_path, f"<p>{SPRING}</p><p>{AUTUMN}</p><noscript>{SPRING}</noscript>")
    assert text_of(beside) == f"{SPRING}\n\n{AUTUMN}"


@pytest.mark.parametrize(
    "shell",
    [
        "<div id=app></div>",  # its scripts were not saved
        "<link rel=preload as=script href=/a.js><main></main>",
        "<link rel=modulepreload href=/a.js><article>Loading …</article>",
    ],
)
def test_a_page_without_its_scripts_says_that_it_needs_them(tmp_path: Path, shell: str) -> None:
    assert opened(tmp_path, shell).facts.note == NEEDS_SCRIPTS_NOTE


@pytest.mark.parametrize(
    ("head", "body", "author", "published"),
    [
        (
            '<script type="application/ld+json">{"@graph": [{"@type": "WebPage", "datePublished":'
            ' "2026-05-03"}, {"@type": "Article", "author": {"@id": "#a"}}, {"@type": "Person",'
            ' "@id": "#a", "name": "Ada Quay"}]}</script>',
            "",
            "Ada Quay",
            "2026-05-03",
        ),
        (
            '<script type="application/ld+json">{"@type": "QAPage", "mainEntity": {"@type":'
            ' "Question", "name": "How deep?", "author": {"name": "Ada"}, "dateCreated":'
            ' "2026-05-03"}}</script>',
            "",
            "Ada",
            "2026-05-03",
        ),
        (
            "<meta name=twitter:label1 content='Written by'><meta name=twitter:data1 content=Ada>",
            "<time class=entry-date datetime=2026-05-03>May</time>",
            "Ada",
            "2026-05-03",
        ),
        (
            "",
            '<div itemscope itemtype="https://schema.org/DiscussionForumPosting"><span'
            " itemprop=author><b itemprop=name>Ada</b></span><time itemprop=datePublished"
            " datetime=2026-05-03></time></div><span itemprop=author>Bo</span>",
            "Ada",
            "2026-05-03",
        ),
        (
            "",
            "<a rel=author href=/a>Ada</a><a rel=author href=/b>Bo</a>",
            "",
            "",
        ),  # a list of works
    ],
    ids=["graph", "question", "label", "discussion", "list"],
)
def test_who_wrote_a_page_and_when_is_found_where_pages_say_it(
    tmp_path: Path, head: str, body: str, author: str, published: str
) -> None:
    facts = opened(tmp_path, f"<p>{SPRING}</p>{body}", head=head).facts
    assert (facts.author, facts.published) == (author, published)


@pytest.mark.parametrize(
    ("canonical", "shared", "url"),
    [
        ("https://a.test/p", "https://a.test/q", "https://a.test/p"),
        ("/p", "https://a.test/q", "https://a.test/p"),
        ("https:///p", "https://a.test/q", "https://a.test/p"),
        ("/p", "", ""),
        ("http://[", "javascript:1", ""),
    ],
)
def test_the_address_of_a_page_is_whole_or_none(
    tmp_path: Path, canonical: str, shared: str, url: str
) -> None:
    head = f"<link rel=canonical href='{canonical}'><meta property=og:url content='{shared}'>"
    assert opened(tmp_path, f"<p>{SPRING}</p>", head=head).facts.url == url


@pytest.mark.parametrize(
    "hostile",
    [
        '<script type="application/ld+json">[{"@type": "Article", "author": {"@id": {"a": 1}}},'
        ' {"@type": ["x", 1], "author": [[[2]]]}, {"@id": "u", "name": 5}]</script>',
        "<script type='application/ld+json'>" + '{"mainEntity":' * 5_000 + "</script>",
        "<div role=banner>x<a>b</a>" * 4_000,
        "<sup>x" * 6_000,
        "<div itemprop=author>x" * 4_000,
    ],
    ids=["types", "depth", "frames", "scripts", "authors"],
)
def test_a_hostile_page_is_read_all_the_same(tmp_path: Path, hostile: str) -> None:
    assert SPRING in text_of(opened(tmp_path, f"<p>{SPRING}</p>{hostile}"))


def test_readings_beside_letters_and_what_is_not_displayed_are_left_out() -> None:
    ruby = "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby>"
    html = f"<p>{ruby} are letters.</p><p style='Display: none'>Not shown</p>"
    assert [text for _, text, _ in pieces_of([html], Counter())] == ["漢字 are letters."]


def test_items_are_counted_as_they_are_shown() -> None:
    html = "<ol type='a' start='2'><li>ash<ol type='I'><li>old</ol><li>oak</ol>"
    [(_, text, kept)] = pieces_of([html], Counter())
    assert text == "b. ash\n  I. old\nc. oak"
    assert '<ol start="2" type="a">' in kept


def test_the_file_name_of_a_picture_does_not_describe_it() -> None:
    html = "<p>Nets <img alt='images/net-1.png'> dry <img alt='in the sun'>.</p>"
    assert [text for _, text, _ in pieces_of([html], Counter())] == ["Nets dry in the sun ."]


def test_what_a_page_hides_or_strikes_out_is_told(tmp_path: Path) -> None:
    page = (
        f"<p>{SPRING} It costs <del>nine</del> <s>eight</s> seven <ins>euros</ins>.</p>"
        "<div hidden>The answer to the question is in here.</div><i hidden>Close</i>"
        "<p style='text-decoration: line-through'>Not any more.</p>"
        "<p style='visibility: hidden'>Nor is this sentence shown.</p>"
    )
    document = opened(tmp_path, page)
    assert text_of(document) == f"{SPRING} It costs seven euros."
    assert document.facts.note == (
        "Hidden texts that are not read: 2. Texts that are struck out and not read: 3."
    )


def test_classes_of_a_word_processor_strike_words_out(tmp_path: Path) -> None:
    style = (
        "<style>.c1{color:red}.c3{font-weight:700;text-decoration:line-through}"
        ".c4{text-decoration:none}a.c5:hover{text-decoration:line-through}</style>"
    )
    page = (
        f"{style}<p class=c1>{SPRING} It costs <span class=c3>nine</span>"
        " <span class=c4>seven</span> <a class=c5>euros</a>.</p>"
    )
    document = opened(tmp_path, page)
    assert text_of(document) == f"{SPRING} It costs seven euros."
    assert document.facts.note == "Texts that are struck out and not read: 1."
