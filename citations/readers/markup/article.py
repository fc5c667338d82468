"""The article of a web page: what the page says of it, and the element that has all of it."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from resiliparse.extract.html2text import extract_plain_text
from selectolax.lexbor import LexborHTMLParser, LexborNode

WHOLE_PAGE_NOTE: Final = (
    "The main part of this page could not be told from the rest: all of it was read."
)
NEEDS_SCRIPTS_NOTE: Final = (
    "This page has hardly any text of its own, and scripts that may write more are not run."
    " If your browser shows more, save the page there and add that file."
)
ARTICLE_NOTE: Final = "Only the article was read; {0} % of this page’s text stands outside it."
MAX_SOURCE: Final = 2_000_000  # characters of a page in which an article is looked for
MAX_DEPTH: Final = 400  # elements within one another: it takes more than linear time
LEAST_SHARE: Final = 0.3  # of a page's text, or, of an article, of that outside short links
LEAST_PROSE: Final = 1_000  # characters of an article; a page with fewer may be a list of links
LONG_LINK: Final = 60  # characters
TOLD_SHARE: Final = 0.5  # of a page's text outside its article, from which it is told
HARDLY_ANY: Final = 200  # characters
_TELLING: Final = 12  # letters of a text that is found again
_PARAGRAPH: Final = 60  # letters of a text that hardly stands twice on a page
_NEARLY_ALL: Final = 0.9
_STRUCK_CLASS: Final = re.compile(
    r"(?<![\w.#>])\.([A-Za-z][\w-]*)\s*\{[^{}]*?text-decoration(?:-line)?:\s*line-through"
)
_NOSCRIPT: Final = re.compile(r"</?noscript[^<>]*>", re.IGNORECASE)
_SECTIONS: Final = frozenset(("article", "aside", "main", "nav", "section", "header", "footer"))
_LINKED: Final = 0.25  # share of a page's header or footer that is links
_CONSENT: Final = [
    f'[{name}*="{word}" i]'
    for name in ("id", "class")
    for word in ("cookie", "consent", "gdpr", "onetrust", "usercentrics", "didomi")
]
_CONTAINERS: Final = frozenset(("article", "body", "div", "main", "section", "td"))
_MAX_DATA: Final = 200_000  # characters of structured data (JSON-LD) that are read
_MAX_ITEMS: Final = 200  # of structured data, and elements of a kind
_WORKS: Final = re.compile(r"(?:.*Article|.*Posting|Question|Report|WebPage|.*Work)$")
_MAX_WORKS: Final = 5
_MAX_NAME: Final = 100  # characters
_WRITTEN_BY: Final = frozenset(
    ("written by", "author", "verfasst von", "geschrieben von", "écrit par", "escrito por")
    + ("scritto da", "geschreven door", "автор")
)
_DISCUSSION: Final = '[itemtype$="DiscussionForumPosting"], [itemtype$="Question"]'
_MARKED: Final = {
    "author": "[itemprop=author], a[rel~=author]",
    "published": "[itemprop=datePublished], [itemprop=dateCreated], time[pubdate],"
    " time.entry-date, time.published",
}
_META: Final = {  # the names of a fact, the surest first
    "title": ("og:title",),
    "author": ("author", "article:author", "dc.creator", "dcterms.creator"),
    "published": ("article:published_time", "date", "dc.date", "dcterms.date", "datepublished"),
}


def facts_of(tree: LexborHTMLParser) -> dict[str, str]:
    """Return what a page says of it: in its head, in structured data, or marked in its text."""
    metas: dict[str, str] = {}
    for meta in tree.css("meta[content]"):
        values = meta.attributes
        name = values.get("property") or values.get("name") or values.get("itemprop") or ""
        metas.setdefault(name.casefold(), (values.get("content") or "").strip())
    facts = {
        fact: next(filter(None, (metas.get(name) for name in names)), "")
        for fact, names in _META.items()
    }
    if metas.get("twitter:label1", "").casefold() in _WRITTEN_BY:
        facts["author"] = facts["author"] or metas.get("twitter:data1", "")
    for fact, value in (*_structured(tree), *_marked(tree)):
        facts[fact] = facts[fact] or value
    title = tree.css_first("head > title")
    facts["title"] = facts["title"] or (title.text(deep=False) if title else "")
    return facts | {"language": _language(tree), "url": _address(tree, metas.get("og:url", ""))}


def _structured(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """Yield what structured data (schema.org in JSON-LD) say of the first works that they name."""
    items: list[Any] = []
    for script in tree.css('script[type="application/ld+json"]'):
        with suppress(ValueError, RecursionError):
            items.append(json.loads(script.text()[:_MAX_DATA]))
    things, works = [], []
    for item in items:  # grows
        if isinstance(item, list):
            items += item[: max(0, _MAX_ITEMS - len(items))]
        elif isinstance(item, dict):
            things.append(item)
            question = item.get("mainEntity")  # one; a page of answers has a list
            inner = [item.get("@graph"), question if isinstance(question, dict) else None]
            items += [value for value in inner if value][: max(0, _MAX_ITEMS - len(items))]
            works += [item] if _WORKS.match(_text_of(item.get("@type"))) else []
    names = {thing["@id"]: thing.get("name") for thing in things if _is_named(thing)}
    for work in works[:_MAX_WORKS]:
        authors = work.get("author")
        named = [
            names.get(str(author.get("@id"))) or author if isinstance(author, dict) else author
            for author in (authors if isinstance(authors, list) else [authors])
        ]
        yield "title", _text_of(work.get("headline") or work.get("name"))
        yield "author", _text_of(named)
        yield "published", _text_of(work.get("datePublished") or work.get("dateCreated"))


def _is_named(thing: dict[str, Any]) -> bool:
    return isinstance(thing.get("@id"), str) and isinstance(thing.get("name"), str)


def _marked(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """Yield what is marked in the text: by microdata, links to the author, or usual classes; the
    first in a discussion, elsewhere only what is marked once: lists of works have many.
    """
    is_discussion = tree.css_first(_DISCUSSION) is not None
    for fact, selectors in _MARKED.items():
        values = []
        for node in tree.css(selectors)[:_MAX_ITEMS]:
            named = node.css_first("[itemprop=name]") or node
            marked = named.attributes.get("content") or named.attributes.get("datetime") or ""
            text = marked or (named.text()[:_MAX_NAME] if fact == "author" else "")
            values.append(" ".join(text.split()))
        if is_discussion or len({*values}) == 1:
            yield fact, next(filter(None, values), "")


def _text_of(value: Any) -> str:
    """Return a text, the name of a thing, or those of a list, separated by commas."""
    values = value[:_MAX_ITEMS] if isinstance(value, list) else [value]
    named = (entry.get("name") if isinstance(entry, dict) else entry for entry in values)
    return ", ".join(" ".join(name.split()) for name in named if isinstance(name, str))


def _address(tree: LexborHTMLParser, shared: str) -> str:
    """Return the address that a page gives as its own or to be shared, if it is a whole one."""
    link = tree.css_first('link[rel="canonical"][href]')
    own = (link.attributes.get("href") or "").strip() if link else ""
    for base, address in (("", own), (shared, own), ("", shared)):
        with suppress(ValueError):
            address = urljoin(base, address)
            parts = urlsplit(address)
            if parts.scheme in ("http", "https") and parts.hostname:
                return address
    return ""


def _language(tree: LexborHTMLParser) -> str:
    """Return the language that the page, or else its body, names."""
    for element in (tree.root, tree.body):
        attributes = element.attributes if element else {}
        if language := attributes.get("lang") or attributes.get("xml:lang"):
            return language
    return ""


def parsed(source: str) -> LexborHTMLParser:
    """Return a page whose elements are marked as struck out where only their class says so, as in
    what word processors write.
    """
    tree = LexborHTMLParser(source)
    rules = "".join(style.text() for style in tree.css("style")[:_MAX_ITEMS])[:_MAX_DATA]
    for name in [*dict.fromkeys(_STRUCK_CLASS.findall(rules))][:_MAX_ITEMS]:
        for node in tree.css(f".{name}"):
            node.attrs["style"] = "text-decoration:line-through"
    return tree


def without_scripts(source: str) -> str:
    """Return a page as a browser shows it that runs no scripts."""
    return _NOSCRIPT.sub("", source)


def drop_frame(body: LexborNode) -> None:
    """Remove the header and the footer of the site: they lead elsewhere, and belong to no part."""
    dropped: dict[int, LexborNode] = {}
    for node in body.css("header, footer, [role=banner], [role=contentinfo]")[:_MAX_ITEMS]:
        above = list(islice(_ancestors(node), MAX_DEPTH))
        is_inner = any(outer.tag in _SECTIONS or outer.mem_id in dropped for outer in above)
        if is_inner or len(above) >= MAX_DEPTH:
            continue
        links = sum(len(_letters(link.text())) for link in node.css("a"))
        has_menu = node.css_first("nav, [role=navigation]") is not None
        text = node.text()
        if has_menu or "©" in text or links >= _LINKED * len(_letters(text)):
            dropped[node.mem_id] = node
    for node in dropped.values():
        node.decompose()


def _ancestors(node: LexborNode) -> Iterator[LexborNode]:
    while (outer := node.parent) is not None:
        yield outer
        node = outer


def needs_scripts(tree: LexborHTMLParser, length: int) -> bool:
    """Whether a page has so few characters of text that its scripts may write the rest."""
    written = "script[src], link[as=script], link[rel=modulepreload]"
    scripts = tree.css_first(written if length else f"script, {written}, body div[id]")
    return length < HARDLY_ANY and scripts is not None


def find(source: str, texts: Iterable[LexborNode]) -> LexborNode | None:
    """Return the smallest element that has all the texts that Resiliparse takes for content; short
    ones that stand far from the others, such as a title in a menu, may be left out.

    So what it leaves out within an article is kept: it drops short lists of links, for example.
    ``texts`` are the page's text nodes in order. None if it finds nothing.
    """
    content = _letters(extract_plain_text(source, main_content=True, skip_elements=_CONSENT))
    letters = [(node, _letters(node.text_content or "")) for node in texts]
    matches = [(node, len(own)) for node, own in letters if len(own) >= _TELLING and own in content]
    if not matches:
        return None
    most = _common_container([node for node, _ in matches])
    part = _common_container([node for node, length in matches if length >= _PARAGRAPH])
    if part is None or most is None:
        return most
    inner = {node.mem_id for node in part.traverse(include_text=True)}
    kept = sum(length for node, length in matches if node.mem_id in inner)
    return part if kept >= _NEARLY_ALL * sum(length for _, length in matches) else most


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text)


def _common_container(nodes: list[LexborNode]) -> LexborNode | None:
    if not nodes:
        return None
    above = {nodes[0].mem_id, *(outer.mem_id for outer in _ancestors(nodes[0]))}
    return next(
        (
            outer
            for outer in _ancestors(nodes[-1])
            if outer.mem_id in above and outer.tag in _CONTAINERS
        ),
        None,
    )
