"""Files without pages: Markdown, text and web pages as pages of text, whatever they are made of."""

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.errors import DocumentTooLarge, DocumentUnknown
from citations.readers import plain_text
from citations.readers.markup import reader as markup_reader
from citations.readers.markup.reader import MarkupTooComplex, parse_markup, read_html, read_markdown
from citations.readers.pagination import MAX_PAGE, MarkupBlock, OpenDocument, paginate
from citations.readers.recognition import is_document, recognise

MARKDOWN = """---
title: "Signals: a primer"
author: Me
lang: en
---
# Signals

Hello *world*, this is `code` and a [link](http://x).

## Lists

- one
- two
  1. first

| a | b |
|---|---|
| 1 | 2 |

```python
def f():
    return 1
```
"""
HTML = """<!doctype html><html lang=de><head><title>T &amp; t</title><style>p{}</style></head><body><nav>Menu</nav><h1>Head <b>line</b></h1>
<p>One <a href=x>two</a>
three<br>four<p hidden>Secret</p><ul><li>a<li>b<ol start=3><li>c</ol></ul><table><caption>Cap</caption><tr><th>x<th>y<tr><td>1<td><p>2</p></table><pre>
def f():
    pass
</pre><script>bad()</script></body>"""  # noqa: E501


def read(reader: Any, path: Path, data: bytes | str, *, most_pages: int = 10) -> OpenDocument:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    opened: OpenDocument = reader(path, most_pages=most_pages)
    return opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_markdown_keeps_headings_lists_tables_and_programs(path: Path) -> None:
    opened = read(read_markdown, path, MARKDOWN)
    [page] = opened.pages
    assert (opened.facts.title, opened.facts.author, opened.facts.language) == (
        "Signals: a primer",
        "Me",
        "en",
    )
    assert [tuple(entry) for entry in opened.facts.outline] == [(1, "Signals", 1), (2, "Lists", 1)]
    assert page.text.split("\n\n") == [
        "Signals",
        "Hello world, this is code and a link.",
        "Lists",
        "• one\n• two\n  1. first",
        "a | b\n1 | 2",
        "def f():\n    return 1",
    ]
    assert [
        (page.text[block.first : block.last], block.heading)
        for block in page.blocks
        if block.boundary
    ] == [("Signals", "Signals"), ("Lists", "Lists")]


def test_a_web_page_is_read_without_scripts_styles_navigation_and_what_is_hidden(
    path: Path,
) -> None:
    opened = read(read_html, path, HTML)
    [page] = opened.pages
    assert (opened.facts.title, opened.facts.language) == ("T & t", "de")
    assert (
        page.text
        == "Head line\n\nOne two three\nfour\n\n• a\n• b\n  3. c\n\nCap\nx | y\n1 | 2\n\ndef"
        " f():\n    pass"
    )


def test_the_lines_of_a_text_that_look_like_headings_are_its_sections(path: Path) -> None:
    opened = read(
        plain_text.read,
        path,
        "CHAPTER I\n\nIt was dark.\n\nTitle\n=====\nMore.\n\n1.2 Waves and tea\n\nEnd of"
        " it.\n\nNOT A HEADING, AS IT ENDS SO.",
    )
    assert [entry.title for entry in opened.facts.outline] == [
        "CHAPTER I",
        "Title",
        "1.2 Waves and tea",
    ]


def test_labels_of_boxes_are_words_of_the_section_above(path: Path) -> None:
    hint = "## Hint\n\nUse the formula."
    rest = "## Definition\n\nA slope.\n\n" + "\n\n".join([hint] * 5)
    opened = read(read_markdown, path, f"# 2.1 Slopes\n\nText.\n\n{rest}")
    [page] = opened.pages
    assert [entry.title for entry in opened.facts.outline] == ["2.1 Slopes", "Definition"]
    assert {block.heading for block in page.blocks} == {"2.1 Slopes", "Definition"}
    assert sum(block.boundary for block in page.blocks) == 2
    assert page.text.count("Hint") == page.html.count("<h2>Hint</h2>") == 5


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Signals\n\nText.\n\n## Part", "Signals"),
        ("## Part\n\nText.\n\n# 1.2 Functions\n\nText.", ""),
        ("Text.\n\n# Signals", ""),
        ("# One\n\nText.\n\n# Two", ""),
    ],
)
def test_the_title_is_the_only_top_heading_if_it_stands_at_the_beginning(
    path: Path, text: str, title: str
) -> None:
    assert read(read_markdown, path, text).facts.title == title


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252"]
)
def test_a_text_in_any_encoding_is_read_as_it_was_meant(path: Path, encoding: str) -> None:
    meant = "Grüße aus Köln. Über alles schön, süß und groß. Mädchen hören gern Märchen. " * 5
    [page] = read(plain_text.read, path, meant.encode(encoding)).pages
    assert page.text == meant.strip()


def test_what_a_page_declares_is_believed_unless_it_is_no_encoding(path: Path) -> None:
    body = "<html><meta charset={}><body><p>Привет, мир</p>"
    assert (
        next(iter(read(read_html, path, body.format("koi8-r").encode("koi8-r")).pages)).text
        == "Привет, мир"
    )
    xhtml = '<?xml version="1.0" encoding="koi8-r"?><html><body><p>Привет, мир'
    assert next(iter(read(read_html, path, xhtml.encode("koi8-r")).pages)).text == "Привет, мир"
    for name in ("punycode", "zip", "nonsense", "unicode-escape"):
        assert list(read(read_html, path, body.format(name).encode("koi8-r")).pages)


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8"), max_size=200),
            st.integers(1, 60),
            st.integers(0, 6),
        )
    )
)
def test_no_word_is_lost_and_paragraphs_tile_their_pages(
    pieces: list[tuple[str, int, int]],
) -> None:
    given_ones = [MarkupBlock(f"{part} " * times, level) for part, times, level in pieces]
    opened = paginate(given_ones, most_pages=10_000)
    pages = list(opened.pages)
    assert "".join("".join(page.text.split()) for page in pages) == "".join(
        "".join(piece.text.split()) for piece in given_ones
    )
    for page in pages:
        assert len(page.text) <= MAX_PAGE + 2
        assert (
            "\n\n".join(page.text[block.first : block.last] for block in page.blocks) == page.text
        )
        assert all(
            before.last <= after.first
            for before, after in zip(page.blocks, page.blocks[1:], strict=False)
        )
    assert [page.number for page in pages] == [*range(1, len(pages) + 1)]


def test_a_long_line_without_blanks_is_cut_after_a_sentence(path: Path) -> None:
    sentence = "神经网络从数据中学习。"
    pages = list(read(plain_text.read, path, (sentence * (MAX_PAGE // 4)).encode()).pages)
    assert len(pages) > 2
    assert all(page.text.endswith("。") for page in pages)


def test_a_line_without_end_becomes_pages_and_too_much_of_it_is_refused(path: Path) -> None:
    assert len(list(read(plain_text.read, path, b"x" * 10 * MAX_PAGE).pages)) == 10
    with pytest.raises(DocumentTooLarge):
        read(plain_text.read, path, b"x" * (10 * MAX_PAGE + 1))
    with path.open("wb") as stream:
        stream.truncate(200_000_000)
    with pytest.raises(DocumentTooLarge):
        plain_text.read(path, most_pages=10)


def test_what_cannot_be_stored_is_left_out(path: Path) -> None:
    [page] = read(
        plain_text.read,
        path,
        "Hello\0 \u202ethere\x85again\r\nand\x07 so on – öäü\ud800".encode(
            "utf-8", "surrogatepass"
        ),
    ).pages
    assert not set(page.text) & {"\0", "\u202e", "\x07", "\ud800", "\r"}
    assert "there\nagain\nand so on" in page.text


def test_a_page_that_would_take_hours_is_given_up(path: Path) -> None:
    with pytest.raises(MarkupTooComplex):
        parse_markup("<div>" * 200_000 + "x", kind="html", seconds=1)


def test_markdown_that_would_take_hours_is_read_as_text(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        markup_reader,
        "parse_markup",
        lambda source, kind: parse_markup(source, kind=kind, seconds=1),
    )
    opened = read(read_markdown, path, "# Title\n\n" + "[" * 25_000)
    assert sum(len(page.text) for page in opened.pages) >= 25_000


def test_markdown_keeps_its_headings_though_the_process_that_reads_it_is_killed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = path.with_name("killed_once.py")
    program.write_text(
        "import os, runpy, signal\n"
        f"with open({str(path.with_name('starts'))!r}, 'a+') as starts:\n"
        "    starts.write('.')\n"
        "    if starts.tell() == 1:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        f"runpy.run_path({str(markup_reader.PROGRAM)!r}, run_name='__main__')\n"
    )
    monkeypatch.setattr(markup_reader, "PROGRAM", program)
    [page] = read(read_markdown, path, "# Title\n\nSaid below it.").pages
    assert {block.heading for block in page.blocks} == {"Title"}


def test_a_page_that_is_one_large_form_is_read_without_its_fields(path: Path) -> None:
    [page] = read(
        read_html,
        path,
        "<form><p>All of it<p>stands"
        " here<textarea>draft</textarea><select><option>one</select><button>Send</button></form>",
    ).pages
    assert page.text == "All of it\n\nstands here"


def test_a_nested_page_is_read_as_deep_as_it_goes(path: Path) -> None:
    assert any(
        "deep" in page.text for page in read(read_html, path, "<div><b>" * 2_000 + "deep").pages
    )


def test_the_process_that_takes_a_file_apart_finds_no_passwords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import json, os\nprint('{}')\nprint(json.dumps([0, ' '.join(os.environ), '']))"
    )
    monkeypatch.setattr(markup_reader, "PROGRAM", program)
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    [piece] = parse_markup("", kind="html")[1]
    assert "PATH" in piece.text
    assert "DATABASE_URL" not in piece.text


@pytest.mark.parametrize(
    ("head", "name", "media_type"),
    [
        (b"%PDF-1.7\n", "report.txt", "application/pdf"),
        (b"junk\n%PDF-1.4\n", "report.pdf", "application/pdf"),
        (b"<!DOCTYPE html><html>", "notes.txt", "text/html"),
        (b"\xef\xbb\xbf  <!-- x --><html>", "x", "text/html"),
        (b"<p>fragment</p>", "page.html", "text/html"),
        (b"plain words", "notes.md", "text/markdown"),
        (b"# Heading\n\nwords", "README", "text/markdown"),
        (b"# not a heading in a text file", "notes.txt", "text/plain"),
        (b"plain words", "", "text/plain"),
        ("Grüße".encode("utf-16"), "x.txt", "text/plain"),
    ],
)
def test_the_content_decides_what_a_file_is(head: bytes, name: str, media_type: str) -> None:
    assert recognise(head, name).media_type == media_type


def test_nothing_but_comments_is_looked_at_in_no_time() -> None:
    begun = time.process_time()
    assert recognise(b"<!---->" * 9_000 + b"x", "page").media_type == "text/plain"
    assert (
        time.process_time() - begun < 1
    )  # each ending of a comment may be tried against every other's: thirty of them take hours


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"PK\x03\x04", "notes.md"),
        (b"\x89PNG\r\n", "x.pdf"),
        (b"\x1f\x8b\x08", "x.txt"),
        (bytes(range(256)) * 4, "x.txt"),
        (b"words", "x.pdf"),
        (b"{\\rtf1", "x.txt"),
    ],
)
def test_what_nothing_reads_is_refused_whatever_it_is_called(head: bytes, name: str) -> None:
    with pytest.raises(DocumentUnknown) as refused:
        recognise(head, name)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("head", "name", "is_one"),
    [
        (b"WEBVTT\n\n00:00.000 --> 00:05.000\nHi\n", "talk.txt", False),
        (b"1\n00:00:00,000 --> 00:00:05,000\nHi\n", "talk", False),
        (b"0:00\nHello there\n0:05\nand welcome\n", "talk.txt", False),
        (b"Words without times.", "talk.txt", True),
        (b"Words without times.", "talk.vtt", False),
        (
            b"A line reads 00:00:01,000 --> 00:00:02,000 in SubRip.\n"
            + b"More words of it.\n" * 40,
            "about.txt",
            True,
        ),
        (b"1\n00:00:00,000 --> 00:00:05,000\nHi\n", "notes.md", True),
        (b"%PDF-1.7", "talk.vtt", True),
        (b'{"cues": []}', "talk.json", False),
    ],
)
def test_words_with_times_are_captions_and_words_without_a_document(
    head: bytes, name: str, is_one: bool
) -> None:
    assert is_document(head, name) is is_one


def test_the_only_heading_of_the_top_level_is_the_title_and_the_first_of_several_is_not(
    tmp_path: Path,
) -> None:
    lecture = read(read_markdown, tmp_path / "lecture.md", "# Signals\n\nHello.\n\n## Noise\n")
    book = read(read_markdown, tmp_path / "book.md", "# Preface\n\nHello.\n\n# Signals\n\nYes.\n")
    assert (lecture.facts.title, book.facts.title) == ("Signals", "")
