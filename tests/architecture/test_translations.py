"""The pages can be read in each language of kbsite/locale, whole."""

import os
import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import polib
import pytest
from django.template.base import Lexer, TokenType

from tests.architecture.messages import LOCALE, field_names
from tests.programs import require_program

ROOT: Final = Path(__file__).resolve().parents[2]
CATALOGUES: Final = sorted(LOCALE.rglob("*.po"))
SHOWN: Final = ("alt", "aria-label", "data-announce", "data-confirm", "placeholder", "title")
PLACES: Final = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w+\}")
WORD: Final = re.compile(r"[A-Za-zäöü]{2,}")
# Names, formats, keys, units, commands and questions to English sources.
LEFT: Final = frozenset(
    re.findall(
        r"\w+",
        """Cuebase YouTube Markdown Obsidian Readwise Anki WebVTT SubRip ChatGPT Claude Desktop Code
        Cursor VS BM RRF idf ms HTTP REST MCP ID PDF JSON CSL BibTeX Annotations Web https youtube
        com watch example org hooks cuebase en csv apkg jsonld SHA OAuth OpenAPI curl www GET POST
        PATCH PUT DELETE""",
    )
)
# What pages say about REST, whose names and descriptions are English.
REFERENCE: Final = ("kbsite/api*.html", "kbsite/_api*.html", "kbsite/content.html")
TEMPLATES: Final = {
    str(path.relative_to(ROOT / "templates")): path
    for path in sorted((ROOT / "templates").rglob("*.html"))
}
REFERENCE_TEMPLATES: Final = tuple(
    name for name, path in TEMPLATES.items() if any(map(path.match, REFERENCE))
)
ENGLISH_QUESTIONS: Final = (
    "What is exponential backoff?",
    "What is term frequency? Why does a client wait a random time?",
)


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_every_text_is_translated_with_its_values(path: Path) -> None:
    for entry in polib.pofile(str(path)):
        assert not entry.fuzzy, entry.msgid
        known = {tuple(sorted(PLACES.findall(text))) for text in (entry.msgid, entry.msgid_plural)}
        for text in entry.msgstr_plural.values() if entry.msgid_plural else [entry.msgstr]:
            assert text, entry.msgid
            assert tuple(sorted(PLACES.findall(text))) in known, entry.msgid


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_the_compiled_catalogue_is_the_written_one(path: Path) -> None:
    compiled = polib.mofile(str(path.with_suffix(".mo")))
    texts = {(entry.msgctxt, entry.msgid): entry for entry in compiled}
    written = polib.pofile(str(path))
    assert len(texts) == len(written)
    for entry in written:
        expected = texts[entry.msgctxt, entry.msgid]
        assert (expected.msgstr, expected.msgstr_plural) == (entry.msgstr, entry.msgstr_plural)


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_gettext_accepts_the_formats_of_a_catalogue(path: Path) -> None:
    msgfmt = require_program("msgfmt")  # of GNU gettext
    command = [msgfmt, "--check-format", "--check-domain", "-o", os.devnull, str(path)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_what_the_admin_calls_things_is_in_the_catalogues() -> None:
    for path in LOCALE.glob("*/LC_MESSAGES/django.po"):
        assert field_names() - {entry.msgid for entry in polib.pofile(str(path))} == set()


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name not in REFERENCE_TEMPLATES])
def test_a_template_holds_no_text_that_cannot_be_translated(name: str) -> None:
    source = TEMPLATES[name].read_text()
    assert [text for text in literal_texts(source) if is_language(text)] == []


@pytest.mark.parametrize("name", REFERENCE_TEMPLATES)
def test_a_template_of_a_page_about_rest_mixes_no_language_into_english(name: str) -> None:
    assert "translate" not in TEMPLATES[name].read_text()


def test_the_pages_about_rest_are_found() -> None:
    assert len(REFERENCE_TEMPLATES) == 6


def is_language(text: str) -> bool:
    """Tell whether a text has words that are written otherwise in another language."""
    for question in ENGLISH_QUESTIONS:
        text = text.replace(question, "")
    return bool(set(WORD.findall(text)) - LEFT)


def literal_texts(source: str) -> list[str]:
    """Return what a template shows as it stands there: texts and attributes that are read."""
    reader = _Reader()
    reader.feed("".join(_markup(source)))
    reader.close()
    return reader.texts


def _markup(source: str) -> Iterator[str]:
    """Yield a template's HTML without tags, comments, and what is translated."""
    outside, names = True, {"blocktranslate": False, "comment": False}
    for token in Lexer(source).tokenize():
        if token.token_type == TokenType.BLOCK:
            name = token.contents.split()[0]
            if name in names or name.removeprefix("end") in names:
                outside = name.startswith("end")
            elif name == "block" and token.contents.split()[1] in ("main_class", "bodyclass"):
                outside = False
            elif name == "endblock":
                outside = True
        elif token.token_type == TokenType.TEXT and outside:
            yield token.contents


class _Reader(HTMLParser):
    """Collects texts outside code, keys and drawings."""

    CODE: Final = {"code", "kbd", "script", "style", "svg", "pre"}

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [value for name, value in attrs if name in SHOWN and value]
        if tag in self.CODE:
            self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            self.inside.remove(tag)

    def handle_data(self, data: str) -> None:
        if not self.inside and data.strip():
            self.texts.append(" ".join(data.split()))
