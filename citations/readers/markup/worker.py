"""The program of the child process that takes HTML and Markdown apart: both can be written so that every parser takes hours or all memory.

It is run by its path and knows nothing of the project. It reads text (UTF-8) from standard input and writes JSON lines: first what the document says of
itself, {"title", "author", "language"}, then its pieces, [level, text], where a level of 1 to 6 is that of a heading.
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser, LexborNode

try:
    import resource
except ImportError:  # a system without limits
    resource = None  # type: ignore[assignment]

MEMORY = 2 * 1024**3  # bytes of addresses that the process may use
SEGMENT = 200_000  # characters of Markdown that are parsed at once: parsers take more than linear time, and much memory
MAX_FACT = 500  # characters

Piece = tuple[int, str]


def main() -> None:
    """Take apart what comes in, as ``html`` or ``markdown``, within so many seconds of work."""
    kind, seconds = sys.argv[1], int(sys.argv[2])
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    text = sys.stdin.buffer.read().decode(errors="replace")
    facts, pieces = read_html(text) if kind == "html" else read_markdown(text)
    write = sys.stdout.write
    write(
        json.dumps({name: " ".join(str(value).split())[:MAX_FACT] for name, value in facts.items()})
        + "\n"
    )
    for piece in pieces:
        write(json.dumps(piece) + "\n")
    sys.stdout.flush()


# Markdown


def read_markdown(text: str) -> tuple[dict[str, str], Iterator[Piece]]:
    """Return the facts of the front matter, and the pieces."""
    facts, text = _front_matter(text)
    return facts, _markdown_pieces(text)


_FRONT = re.compile(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FACT = re.compile(
    r"^(title|author|lang|language)[ \t]*:[ \t]*(\S.*)$", re.MULTILINE | re.IGNORECASE
)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    facts = {
        match[1].casefold(): match[2].strip().strip("\"'") for match in _FACT.finditer(found[1])
    }
    facts["language"] = facts.pop("lang", "") or facts.get("language", "")
    return facts, text[found.end() :]


def _markdown_pieces(text: str) -> Iterator[Piece]:
    parser = MarkdownIt("commonmark", {"breaks": True}).enable("table")
    parser.add_render_rule("html_inline", _no_tag)
    parser.add_render_rule("html_block", _closed_block)
    for segment in _segments(text):
        if body := LexborHTMLParser(parser.render(segment)).body:
            yield from _Walker().pieces(body)


def _no_tag(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    """Drop a tag within a paragraph, as "the <script> element" would hide all that follows."""
    return ""


def _closed_block(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    """Close all elements of an HTML block, so that they cannot contain what follows."""
    body = LexborHTMLParser(tokens[index].content).body
    return str(body.inner_html) if body else ""


_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def _segments(text: str) -> Iterator[str]:
    """Yield the text in parts that end with empty lines outside of programs; a line that is a part by itself is cut."""
    lines: list[str] = []
    length, fence = 0, ""
    for line in text.split("\n"):
        lines.append(line)
        length += len(line) + 1
        fence = _fence_after(fence, line)
        if length >= SEGMENT and (not fence and not line.strip() or length >= 4 * SEGMENT):
            yield from _in_parts("\n".join(lines))
            lines, length = [], 0
    yield from _in_parts("\n".join(lines))


def _fence_after(fence: str, line: str) -> str:
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1].startswith(fence) and not line.strip().strip(fence[0]) else fence


def _in_parts(text: str) -> Iterator[str]:
    for start in range(0, len(text), 5 * SEGMENT):
        yield text[start : start + 5 * SEGMENT]


# HTML

_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
# fmt: off
_DROPPED = frozenset((
    "script", "style", "nav", "noscript", "template", "svg", "math", "iframe", "object", "embed", "canvas", "audio", "video", "head", "button",
    "select", "textarea", "input", "dialog", "menu",
))
_BLOCKS = _HEADINGS | frozenset((
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption", "figure",
    "footer", "form", "header", "hgroup", "hr", "html", "li", "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead",
    "tr", "ul",
))
# fmt: on
_DROPPED_ROLES = frozenset(("navigation", "menu", "menubar", "search"))
_MAIN_SHARE = 0.5  # of the text: a page's main part is all that counts where it has so much of it


def read_html(source: str) -> tuple[dict[str, str], Iterator[Piece]]:
    """Return what the page's head says, and the pieces of its body."""
    tree = LexborHTMLParser(source)
    root = tree.root
    facts = {
        "language": (root.attributes.get("lang") or "") if root else "",
        "title": _first(tree, "head > title"),
        "author": _meta(tree, "author"),
    }
    return facts, _html_pieces(tree)


def _first(tree: LexborHTMLParser, selector: str) -> str:
    found = tree.css_first(selector)
    return found.text(deep=False) if found else ""


def _meta(tree: LexborHTMLParser, name: str) -> str:
    found = tree.css_first(f'meta[name="{name}"]')
    return (found.attributes.get("content") or "") if found else ""


def _html_pieces(tree: LexborHTMLParser) -> Iterator[Piece]:
    body = tree.body
    if body is None:
        return
    pieces = list(_Walker().pieces(body))
    main = tree.css_first("main")
    if main is not None:
        own = list(_Walker().pieces(main))
        if _length(own) >= _MAIN_SHARE * _length(pieces):
            pieces = own
    yield from pieces


def _length(pieces: list[Piece]) -> int:
    return sum(len(text) for _, text in pieces)


@dataclass(slots=True)
class _Walker:
    """Goes through a tree, in order, without recursion: a page may be nested a million deep."""

    parts: list[str] = field(default_factory=list)  # of the paragraph, item or cell that is open
    lines: list[str] = field(default_factory=list)  # of the list or table that is open
    row: list[str] = field(default_factory=list)
    lists: list[int] = field(default_factory=list)
    tables: int = 0
    verbatim: int = 0
    marker: str = ""

    def pieces(self, root: LexborNode) -> Iterator[Piece]:
        for node, enters in _walk(root):
            tag = node.tag
            if tag == "-text":
                self.parts.append(node.text_content or "")
            elif tag == "br" and enters:
                self.parts.append("\n" if self.verbatim else "\0")
            elif tag == "img" and enters:
                self.parts.append(f" {node.attributes.get('alt') or ''} ")
            elif tag in _BLOCKS:
                yield from self._enter(node, str(tag)) if enters else self._leave(str(tag))
        yield from self._end(0)
        yield from self._flush()

    def _enter(self, node: LexborNode, tag: str) -> Iterator[Piece]:
        if tag not in ("td", "th", "tr"):
            yield from self._end(0)
        if tag == "table":
            self.tables += 1
        elif tag == "tr" and (text := self._said()):  # a caption
            self.lines.append(text)
        elif tag in ("ul", "ol"):
            start = str(node.attributes.get("start") or "1")
            self.lists.append(
                -1
                if tag == "ul"
                else int(start)
                if start.isascii() and start.isdigit() and len(start) < 7
                else 1
            )
        elif tag == "li":
            number = self.lists[-1] if self.lists else -1
            self.marker = f"{number}. " if number >= 0 else "• "
            if self.lists and number >= 0:
                self.lists[-1] += 1
        elif tag == "pre":
            self.verbatim += 1

    def _leave(self, tag: str) -> Iterator[Piece]:
        if tag in ("td", "th"):
            self.row.append(" ".join(self._said().split()))
            return
        yield from self._end(int(tag[1]) if tag in _HEADINGS else 0)
        if tag == "tr":
            self.lines += [" | ".join(self.row)] if any(self.row) else []
            self.row = []
        elif tag == "table":
            self.tables -= 1
        elif tag in ("ul", "ol") and self.lists:
            self.lists.pop()
        elif tag == "pre":
            self.verbatim -= 1
        if tag in ("table", "ul", "ol") and not self.lists and not self.tables:
            yield from self._flush()

    def _end(self, level: int) -> Iterator[Piece]:
        """End a paragraph: it goes into the list, table or program that is open, or stands by itself."""
        text = self._said()
        if not text.strip():
            return
        if self.tables:
            self.parts = [text, " "]  # a paragraph in a cell
        elif self.lists:
            indent = "  " * (min(len(self.lists), 10) - 1)
            self.lines += (
                indent + (self.marker if not place else "") + line
                for place, line in enumerate(text.split("\n"))
            )
            self.marker = ""
        else:
            yield level, text

    def _said(self) -> str:
        text = "".join(self.parts)
        self.parts = []
        if self.verbatim:
            return text.strip("\n").rstrip()
        return "\n".join(" ".join(line.split()) for line in text.split("\0")).strip()

    def _flush(self) -> Iterator[Piece]:
        if self.lines:
            yield 0, "\n".join(self.lines)
            self.lines = []


def _walk(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """Yield each node below the root when it begins, and each element again when it ends; what is never read as text is left out."""
    path: list[LexborNode] = []
    node = root.child
    while node is not None or path:
        if node is None:
            node = path.pop()
            yield node, False
            node = node.next
        elif _is_dropped(node):
            node = node.next
        else:
            yield node, True
            if node.is_element_node and node.child is not None:
                path.append(node)
                node = node.child
            else:
                if node.is_element_node:
                    yield node, False
                node = node.next


def _is_dropped(node: LexborNode) -> bool:
    if not node.is_element_node:
        return not node.is_text_node
    if node.tag in _DROPPED:
        return True
    about: Any = node.attributes
    return bool(about) and (
        "hidden" in about
        or about.get("aria-hidden") == "true"
        or about.get("role") in _DROPPED_ROLES
    )


if __name__ == "__main__":
    main()
