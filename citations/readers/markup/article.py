"""The article of a web page: what the page says of it, and the element that has all of it."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

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
LEAST_SHARE: Final = 0.3  # of a page's text
TOLD_SHARE: Final = 0.5  # of a page's text outside its article, from which it is told
_HARDLY_ANY: Final = 200  # characters
_TELLING: Final = 12  # letters of a text that is found again
_CONSENT: Final = [
    f'[{name}*="{word}" i]'
    for name in ("id", "class")
    for word in ("cookie", "consent", "gdpr", "onetrust", "usercentrics", "didomi")
]
_CONTAINERS: Final = frozenset(("article", "body", "div", "main", "section", "td"))
_MAX_DATA: Final = 200_000  # characters of structured data (JSON-LD) that are read
_MAX_ITEMS: Final = 200  # of structured data
_WORKS: Final = re.compile(r"(?:.*Article|BlogPosting|.*Posting|Report|WebPage|.*Work)$")
_META: Final = {  # the names of a fact, the surest first
    "title": ("og:title",),
    "author": ("author", "article:author", "dc.creator", "dcterms.creator"),
    "published": ("article:published_time", "date", "dc.date", "dcterms.date", "datepublished"),
}


def facts_of(tree: LexborHTMLParser) -> dict[str, str]:
    """Return what a page's head says of it."""
    metas: dict[str, str] = {}
    for meta in tree.css("meta[content]"):
        values = meta.attributes
        name = values.get("property") or values.get("name") or values.get("itemprop") or ""
        metas.setdefault(name.casefold(), (values.get("content") or "").strip())
    facts = {
        fact: next(filter(None, (metas.get(name) for name in names)), "")
        for fact, names in _META.items()
    }
    for fact, value in _structured(tree):
        facts[fact] = facts[fact] or value
    title = tree.css_first("head > title")
    facts["title"] = facts["title"] or (title.text(deep=False) if title else "")
    return facts | {"language": _language(tree), "url": _canonical(tree) or metas.get("og:url", "")}


def _structured(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """Yield what structured data (schema.org in JSON-LD) say of the first work that they name."""
    for script in tree.css('script[type="application/ld+json"]'):
        items: list[Any] = []
        with suppress(ValueError, RecursionError):
            items = [json.loads(script.text()[:_MAX_DATA])]
        for item in items:  # grows
            if isinstance(item, list):
                items += item[: max(0, _MAX_ITEMS - len(items))]
            elif isinstance(item, dict) and isinstance(item.get("@graph"), list):
                items += item["@graph"][: max(0, _MAX_ITEMS - len(items))]
            elif isinstance(item, dict) and _WORKS.match(_text_of(item.get("@type"))):
                yield "title", _text_of(item.get("headline") or item.get("name"))
                yield "author", _text_of(item.get("author"))
                yield "published", _text_of(item.get("datePublished"))
                return


def _text_of(value: Any) -> str:
    """Return a text, the name of a thing, or those of a list, separated by commas."""
    values = value[:_MAX_ITEMS] if isinstance(value, list) else [value]
    named = (entry.get("name") if isinstance(entry, dict) else entry for entry in values)
    return ", ".join(" ".join(name.split()) for name in named if isinstance(name, str))


def _canonical(tree: LexborHTMLParser) -> str:
    link = tree.css_first('link[rel="canonical"][href]')
    return (link.attributes.get("href") or "").strip() if link else ""


def _language(tree: LexborHTMLParser) -> str:
    """Return the language that the page, or else its body, names."""
    for element in (tree.root, tree.body):
        attributes = element.attributes if element else {}
        if language := attributes.get("lang") or attributes.get("xml:lang"):
            return language
    return ""


def needs_scripts(tree: LexborHTMLParser, length: int) -> bool:
    """Whether a page has so few characters of text that its scripts may write the rest."""
    scripts = tree.css_first("script[src]" if length else "script")
    return length < _HARDLY_ANY and scripts is not None


def find(source: str, texts: Iterable[LexborNode]) -> LexborNode | None:
    """Return the smallest element that has all the texts that Resiliparse takes for content.

    So what it leaves out within an article is kept: it drops short lists of links, for example.
    ``texts`` are the page's text nodes in order. None if it finds nothing.
    """
    content = _letters(extract_plain_text(source, main_content=True, skip_elements=_CONSENT))
    texts = list(texts)
    first = next((node for node in texts if _is_within(node, content)), None)
    last = next((node for node in reversed(texts) if _is_within(node, content)), None)
    return _common_container(first, last)


def _is_within(node: LexborNode, content: str) -> bool:
    letters = _letters(node.text_content or "")
    return len(letters) >= _TELLING and letters in content


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text)


def _common_container(first: LexborNode | None, last: LexborNode | None) -> LexborNode | None:
    above = set()
    while first is not None:
        above.add(first.mem_id)
        first = first.parent
    while last is not None and (last.mem_id not in above or last.tag not in _CONTAINERS):
        last = last.parent
    return last
