"""Markdown as HTML for the reader of web pages, with what notebooks and forges add to CommonMark:
front matter, tables, footnotes, tasks, callouts, wiki links. Formulas stay as they are written.
"""

import re
import tomllib
from collections.abc import Iterator
from datetime import date
from html import escape
from typing import Any, Final

import yaml
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.texmath.index import make_block_func, make_inline_func
from selectolax.lexbor import LexborHTMLParser

SEGMENT: Final = 200_000  # characters parsed at once: parsers take more than linear time

# Pandoc's rule: no empty line after the first. So most texts between two rules are not even tried.
_FRONT: Final = re.compile(
    r"\A---[ \t]*\n(?=\S)(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL
)
_TOML: Final = re.compile(r"\A\+\+\+[ \t]*\n(.{0,20000}?)\n\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
# Programs also write what is no YAML, such as a title with a colon.
_FRONT_LINE: Final = re.compile(r"[\w-]+:(?:\s+[^\s\[{]|$)|\s|-|#|$")
_FRONT_FACT: Final = re.compile(r"(?m)^([\w-]+):[ \t]*[\"']?(.*?)[\"']?[ \t]*$")
_FACTS: Final = {  # the names of a fact in front matter, the usual one first
    "title": ("title",),
    "author": ("author", "authors"),
    "language": ("lang", "language"),
    "published": ("date", "published"),
}
# Else the brackets were only escaped, as in \[1\].
_TEX: Final = r"(?=(?:(?!\\\])[^\n])*?(?:\\[a-zA-Z,;!{|]|[\^_={}+<>])|\s*\n)"
_ENOUGH: Final = "{1,2000}?"  # characters of a formula, which has no empty line
_BRACKETS: Final = {
    "\\(": re.compile(rf"\\\(((?:(?!\n\s*\n).){_ENOUGH})\\\)", re.DOTALL),
    "\\[": re.compile(rf"\\\[{_TEX}((?:(?!\n\s*\n).){_ENOUGH})\\\]", re.DOTALL),
}
_DISPLAYED: Final = {  # nothing may follow on the last line: it would be lost
    "$$": re.compile(rf"\$\$((?:(?!\n\s*\n|\$\$).){_ENOUGH})\$\$[ \t]*$", re.DOTALL | re.MULTILINE),
    "\\[": re.compile(_BRACKETS["\\["].pattern + r"[ \t]*$", re.DOTALL | re.MULTILINE),
}
_CLOSERS: Final = {"\\(": "\\)", "\\[": "\\]"}
_WIKI_LINK: Final = re.compile(r"(?<!\w)!?\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]+))?\]\]")
_HIGHLIGHT: Final = re.compile(r"(?<![=\w])==(?=[^\s=])([^=\n]+)(?<=\S)==(?![=\w])")
_CALLOUT: Final = re.compile(r"\[!([\w-]+)\][+-]?[ \t]*")
_ATTRIBUTES: Final = re.compile(r"\s*\{:?\s*(?:[#.][\w:.-]+\s*)+\}\s*$")  # of a heading
_TASK: Final = re.compile(r"\[([ xX])\](?=\s)")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_TAG: Final = re.compile(r"</?([a-zA-Z][\w.:-]*)[^<>]*>")
# What is code is no comment; so is a sign for per cent that follows a letter or a number.
_COMMENT: Final = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}(?P=fence)|\Z)"
    r"|(?<!`)(?P<code>`++)[^`\n]++(?P=code)"
    r"|(?<![\w%])%%(?!%)(?P<said>(?:(?!%%).){0,20000})%%(?!%)",
    re.DOTALL | re.MULTILINE,
)
_NAMES: Final = (
    "a abbr address article aside audio b bdi bdo big blockquote body br button canvas "
    "caption center cite code col colgroup dd del details dfn dialog div dl dt em embed "
    "fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hgroup hr "
    "html i iframe img input ins kbd label legend li link main map mark math menu meta nav "
    "noscript object ol optgroup option p picture pre q rp rt ruby s samp script section "
    "select small source span strike strong style sub summary sup svg table tbody td "
    "template textarea tfoot th thead time title tr track tt u ul var video wbr"
)
_TELLING: Final = {"sub": "sub", "sup": "sup", **dict.fromkeys(("del", "s", "strike"), "del")}
_KNOWN: Final = frozenset(_NAMES.split())


def read_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the facts of the YAML or TOML at a text's beginning, and what follows it.

    What stands between two rules and has not the form of a mapping belongs to the text.
    """
    front = _FRONT.match(text) or _TOML.match(text)
    values: Any
    try:
        if front and front[0].startswith("+"):
            values = tomllib.loads(front[1])
        else:
            # Its scalars are what is written: Norwegian is “no”. It builds no objects.
            values = yaml.load(front[1], yaml.BaseLoader) if front else None
    except (yaml.YAMLError, tomllib.TOMLDecodeError, RecursionError):
        is_front = front and all(map(_FRONT_LINE.match, front[1].splitlines()))
        values = dict(_FRONT_FACT.findall(front[1])) if front and is_front else None
    if front is None or not isinstance(values, dict):
        return {}, text
    named = {str(name).casefold(): value for name, value in values.items()}
    facts = {
        fact: next(filter(None, (_told(named.get(name)) for name in names)), "")
        for fact, names in _FACTS.items()
    }
    return facts, text[front.end() :]


def without_comments(text: str) -> tuple[str, int]:
    """Return a text without what Obsidian hides between two %%, and how much that is."""
    count = 0

    def leave_out(match: re.Match[str]) -> str:
        nonlocal count
        if match["said"] is None:
            return match[0]
        count += bool(match["said"].strip())
        return ""

    return (_COMMENT.sub(leave_out, text), count) if "%%" in text else (text, 0)


def _told(value: Any) -> str:
    """Return a scalar, or those of a list; of a mapping, such as an author, its name."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_told, value[:50])))
    if isinstance(value, dict):
        value = value.get("name")
    if isinstance(value, date):
        return value.isoformat()
    return value if isinstance(value, str) else ""


def to_html(text: str) -> Iterator[str]:
    """Yield a text as HTML, segment by segment. Its formulas are TeX in their delimiters, as
    the ``alttext`` of empty elements.
    """
    parser = MarkdownIt("commonmark", {"breaks": True}).enable(["table", "strikethrough"])
    parser.use(footnote_plugin, inline=False, move_to_end=False)
    parser.use(dollarmath_plugin, allow_labels=False, allow_blank_lines=False, double_inline=True)
    parser.disable("math_block")  # it takes away the paragraph that it interrupts
    rule: Any
    for opener, pattern in _BRACKETS.items():
        rule = {"name": "math_inline", "rex": pattern, "tag": opener}
        parser.inline.ruler.before("escape", f"math {opener}", make_inline_func(rule))
    for opener, pattern in _DISPLAYED.items():
        rule = {"name": "math_block", "rex": pattern, "tag": opener, "post": _is_anywhere}
        own_lines: Any = {"alt": ["paragraph"]}  # also between the lines of a paragraph
        parser.block.ruler.before("fence", f"math {opener}", make_block_func(rule), own_lines)
    parser.core.ruler.push("notebook", _resolve_marks)
    parser.add_render_rule("math_inline", _formula)
    parser.add_render_rule("math_inline_double", _formula)
    parser.add_render_rule("math_block", _formula_block)
    parser.add_render_rule("footnote_ref", _footnote_mark)
    parser.add_render_rule("footnote_reference_open", _nothing)
    parser.add_render_rule("footnote_reference_close", _nothing)
    parser.add_render_rule("html_inline", _inline_tag)
    parser.add_render_rule("html_block", _closed_block)
    yield from map(parser.render, _segments(text))


def _resolve_marks(state: StateCore) -> None:
    """Write wiki links, tasks, callouts and the marks of footnotes as they are shown."""
    tokens = state.tokens
    for before, opener, token in zip([None, None, *tokens], [None, *tokens], tokens, strict=False):
        children = token.children or []
        for child in children:
            if opener and opener.type == "heading_open" and child is children[-1]:
                child.content = _ATTRIBUTES.sub("", child.content)
            if child.type == "text":
                child.content = _WIKI_LINK.sub(lambda link: link[2] or link[1], child.content)
                child.content = _HIGHLIGHT.sub(r"\1", child.content)
        if before and children:
            _resolve_beginning(before, children)


def _resolve_beginning(before: Token, children: list[Token]) -> None:
    """Do so with the first words of an item, a quote or a note, which ``before`` opens."""
    first = children[0]
    words = first.content if first.type == "text" else ""
    if before.type == "footnote_reference_open":
        children.insert(0, Token("text", "", 0, content=f"[{before.meta['label']}] "))
    elif before.type == "list_item_open" and (task := _TASK.match(words)):
        first.content = ("☐" if task[1] == " " else "☑") + words[task.end() :]
    elif before.type == "blockquote_open" and (kind := _CALLOUT.match(words)):
        has_title = len(children) > 1 and children[1].type != "softbreak"
        first.content = words[kind.end() :] or ("" if has_title else kind[1].capitalize())


def _is_anywhere(source: str, end: int) -> bool:
    """With it, the rule leaves formulas over several lines of a quote to the rule within lines."""
    return True


def _formula(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    opener = tokens[index].markup
    source = f"{opener}{tokens[index].content}{_CLOSERS.get(opener, opener)}"
    return f'<math alttext="{escape(source)}"></math>'


def _formula_block(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    return f"<p>{_formula(_, tokens, index)}</p>\n"


def _footnote_mark(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    return escape(f"[{tokens[index].meta['label']}]")


def _nothing(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    return ""


def _inline_tag(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    """Drop a tag within a paragraph, as "the <script> element" would hide all that follows; not one
    that changes what is said, and ends with its paragraph.
    """
    content = tokens[index].content
    tag = _TAG.fullmatch(content)
    if tag and (name := _TELLING.get(tag[1].lower())):
        return f"</{name}>" if content[1] == "/" else f"<{name}>"
    if tag is None or tag[1].lower() in _KNOWN:
        return "<br>" if tag and tag[1].lower() == "br" else ""
    return escape(content)


def _closed_block(_: Any, tokens: list[Token], index: int, *options: Any) -> str:
    """Close all elements of an HTML block, so that they cannot contain what follows."""
    content = _TAG.sub(
        lambda tag: tag[0] if tag[1].lower() in _KNOWN else escape(tag[0]), tokens[index].content
    )
    body = LexborHTMLParser(content).body
    return str(body.inner_html) if body else ""


def _segments(text: str) -> Iterator[str]:
    """Split text at empty lines outside code fences, and cut lines longer than a segment."""
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
