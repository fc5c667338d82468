"""Every door says the words of the glossary, and none that the glossary avoids."""

import ast
import re
from pathlib import Path

import pytest
from django.contrib import admin

from kbsite.mcp.tools import all_tools
from kbsite.pages.glossary import TERMS
from tests.architecture.pages import DOCS, commands_page

ROOT = Path(__file__).resolve().parents[2]
AVOIDED = [word for term in TERMS for word in term.avoided]
_TRANSLATED = re.compile(r"""{%\s*translate\s+(["'])(.*?)\1""")


def written_on_pages() -> str:
    """What people read on the pages: text between tags, and texts that are translated."""
    texts = []
    for template in (ROOT / "templates").rglob("*.html"):
        html = template.read_text()
        texts += [match[1] for match in _TRANSLATED.findall(html)]
        html = re.sub(r"<code.*?</code>", " ", html, flags=re.DOTALL)
        texts.append(re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}|<[^>]*>", " ", html, flags=re.DOTALL))
    return "\n".join(texts)


def shown_in_the_terminal() -> str:
    """The texts of the terminal interface: its strings, without docstrings."""
    texts = []
    for module in (ROOT / "kbsite" / "tui").glob("*.py"):
        tree = ast.parse(module.read_text())
        statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts += [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in statements
        ]
    return "\n".join(texts)


def documented() -> str:
    """The prose of the documentation, without code and addresses."""
    pages = [ROOT / "README.md", *(page for page in DOCS.glob("*.md") if page.stem != "glossary")]
    prose = "\n".join(page.read_text() for page in pages)
    return re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", " ", prose, flags=re.DOTALL)


def named_in_the_admin() -> str:
    """The names of tables and columns in the admin."""
    admin.autodiscover()
    names = []
    for model in admin.site._registry:
        if model._meta.app_label in ("citations", "kbsite", "transcripts"):
            names += [model._meta.verbose_name, model._meta.verbose_name_plural]
            names += [field.verbose_name for field in model._meta.fields]
            names += [field.help_text for field in model._meta.fields]
    return "\n".join(map(str, names))


def told_to_models() -> str:
    return "\n".join(tool.description or "" for tool in all_tools())


DOORS = {
    "pages": written_on_pages,
    "kb": commands_page,
    "tui": shown_in_the_terminal,
    "mcp": told_to_models,
    "docs": documented,
    "admin": named_in_the_admin,
}


@pytest.mark.parametrize("door", DOORS)
def test_a_door_says_no_word_that_the_glossary_avoids(door: str) -> None:
    text = " ".join(DOORS[door]().split())
    said = {
        word: text[max(0, match.start() - 40) : match.end() + 40]
        for word in AVOIDED
        if (match := re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE))
    }
    assert said == {}


@pytest.mark.parametrize("door", ["pages", "docs"])
def test_every_word_of_the_glossary_is_said(door: str) -> None:
    text = DOORS[door]().casefold()
    assert [str(term.word) for term in TERMS if str(term.word) not in text] == []


def test_no_word_is_both_said_and_avoided() -> None:
    words = [str(term.word) for term in TERMS]
    assert words == sorted(words)
    assert set(words) & set(AVOIDED) == set()
