"""Program of the child process that parses HTML and Markdown.

Either can be written so that every parser takes hours or all memory. The program is run by its path
and imports nothing of the project but the modules beside it, which need no framework. It reads text
(UTF-8) from standard input and answers as ``parser_process`` says. The HTML of a piece has the same
words, in order, with plain tags; it is to be sanitised where it is shown.
"""

import html
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citations.readers import omissions, parser_process
from citations.readers.markup import article, markdown
from citations.readers.markup.walker import Piece, Walker, nodes, pieces_of


def main() -> None:
    """Parse standard input as ``html`` or ``markdown`` within a number of CPU seconds."""
    kind, seconds = sys.argv[1], int(sys.argv[2])
    parser_process.limit(seconds)
    text = sys.stdin.buffer.read().decode(errors="replace")
    parser_process.answer(*(read_html(text) if kind == "html" else read_markdown(text)))


def read_markdown(text: str) -> tuple[dict[str, str], Iterator[Piece]]:
    """Return the facts of the front matter, and the pieces."""
    facts, text = markdown.read_front_matter(text)
    text, comments = markdown.without_comments(text)
    omitted = Counter({omissions.COMMENT: comments})
    pieces = [*pieces_of(markdown.to_html(text), omitted)]
    return facts | {"note": omissions.note_of(omitted)}, iter(pieces)


def read_html(source: str) -> tuple[dict[str, str], Iterator[Piece]]:
    """Return the facts of a page, and the pieces of its article, or else of all its body."""
    facts, (pieces, omitted), titles = _read_html(source)
    facts["note"] = f"{facts.get('note', '')} {omissions.note_of(omitted)}".strip()
    return facts, chain(titles, pieces)


class _Walked(NamedTuple):
    """The pieces of an element, and what they leave out."""

    pieces: Sequence[Piece] = ()
    omitted: Counter[str] = Counter()

    @classmethod
    def of(cls, root: LexborNode | None) -> "_Walked":
        walker = Walker()
        return cls(list(walker.pieces(root)) if root else [], walker.omitted)

    @property
    def length(self) -> int:
        return sum(len(text) for _, text, _ in self.pieces)


def _read_html(source: str) -> tuple[dict[str, str], _Walked, Iterable[Piece]]:
    """Return a page's facts, its text, and its title where that stands outside."""
    tree = article.parsed(source)
    titles, everything = _text_of(tree)
    if everything.length < article.HARDLY_ANY:
        without = article.parsed(article.without_scripts(source))
        others = _text_of(without)
        if others[1].length >= article.HARDLY_ANY:
            tree, (titles, everything) = without, others
        else:
            tree = article.parsed(source)
            everything = _Walked.of(tree.body)
    facts = article.facts_of(tree)
    if article.needs_scripts(tree, everything.length):
        facts["note"] = article.NEEDS_SCRIPTS_NOTE
    if tree.body is None or "note" in facts:
        return facts, everything, ()
    for part in filter(None, (_article(tree, tree.body), tree.css_first("main"))):
        own = _Walked.of(part)
        share = own.length / max(1, everything.length)
        prose = _unlinked(part)
        if share >= article.LEAST_SHARE or (
            prose >= max(article.LEAST_PROSE, article.LEAST_SHARE * _unlinked(tree.body))
        ):
            if 1 - share >= article.TOLD_SHARE:
                facts["note"] = article.ARTICLE_NOTE.format(round(100 * (1 - share)))
            return facts, own, _title_outside(titles, part)
        facts["note"] = article.WHOLE_PAGE_NOTE
    return facts, everything, _title_outside(titles, tree.body)


def _text_of(tree: LexborHTMLParser) -> tuple[list[str], _Walked]:
    """Return a page's top headings and, without the frame of its site, its text."""
    titles = [" ".join(title.text().split()) for title in tree.css("h1")]
    if tree.body is not None:
        article.drop_frame(tree.body)
    return titles, _Walked.of(tree.body)


def _article(tree: LexborHTMLParser, body: LexborNode) -> LexborNode | None:
    """Return the element that has the article, None for a page where it is not looked for."""
    texts, depth = [], 0
    for node, enters in nodes(body):
        if node.is_text_node:
            texts.append(node)
        else:
            depth += 1 if enters else -1
        if depth > article.MAX_DEPTH:
            return None
    source = tree.html or ""  # without the frame, which may be deeper
    return article.find(source, texts) if len(source) <= article.MAX_SOURCE else None


def _title_outside(titles: list[str], part: LexborNode) -> Iterator[Piece]:
    """Yield a page's only top heading if it does not stand within a part."""
    if len(titles) == 1 and titles[0] and part.css_first("h1") is None:
        yield 1, titles[0], f"<h1>{html.escape(titles[0])}</h1>"


def _unlinked(root: LexborNode) -> int:
    """Count the characters outside short links, of which menus and lists of pages consist."""
    count = linked = 0
    is_link = False
    for node, enters in nodes(root):
        if node.tag == "a":
            count += linked if linked >= article.LONG_LINK else 0
            linked, is_link = 0, enters
        elif node.is_text_node:
            length = len((node.text_content or "").strip())
            count, linked = (count, linked + length) if is_link else (count + length, linked)
    return count


if __name__ == "__main__":
    main()
