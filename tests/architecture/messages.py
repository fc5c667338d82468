"""The texts of kbsite/locale, from the code: ``make messages``, with xgettext of GNU gettext.

Sentences that the core makes, which knows no translations, are read from its syntax: those of
errors, notes and steps of work, with ``{0}`` for what is filled in.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import polib
from django.apps import apps
from django.core.management import call_command
from django.utils import translation

from tests.architecture import pages

ROOT: Final = Path(__file__).resolve().parents[2]
LOCALE: Final = ROOT / "kbsite" / "locale"
OURS: Final = ("transcripts", "citations", "kbsite")
COLLECTED: Final = ROOT / "kbsite" / "collected_texts.py"  # for xgettext; not kept
SENTENCES: Final = (
    "hint",
    "default_hint",
    "default_message",
    "detail",
    "note",
    "notes",
    "cause",
    "reason",
)
NOT_SHOWN: Final = ("cli", "mcp", "tui", "migrations", "postgres", "telemetry")
TERMINAL: Final = Path("kbsite/library")  # what commands and programs do, and no page


def sentences() -> list[str]:
    """Return the sentences of the core that pages show, with their values numbered."""
    errors = {error.__name__ for error in pages.error_classes()}
    texts: set[str] = set()
    for package in OURS:
        for path in (ROOT / package).rglob("*.py"):
            place = path.relative_to(ROOT)
            if not set(place.parts) & set(NOT_SHOWN) and TERMINAL not in place.parents:
                texts |= set(_sentences(ast.parse(path.read_text()), errors))
    return sorted(texts | set(field_names()))


def field_names() -> set[str]:
    """Return what the admin calls our models and their fields, and how it explains them."""
    return set(_field_names())


def _field_names() -> Iterator[str]:
    translation.activate("en")
    for label in OURS:
        config = apps.get_app_config(label)
        yield str(config.verbose_name)
        for model in config.get_models():
            yield from (str(model._meta.verbose_name), str(model._meta.verbose_name_plural))
            for field in model._meta.get_fields():
                if hasattr(field, "verbose_name"):
                    yield str(field.verbose_name)
                if help_text := str(getattr(field, "help_text", "")):
                    yield help_text


def _sentences(tree: ast.AST, errors: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(name=name) if name in errors:
                yield from _of_class(node)
            case ast.Call() if _tells(node, errors):
                yield from _arguments(node)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_text(name):
                yield from _texts(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value and _is_text(name):
                yield from _texts(value)
            case ast.keyword(arg="message", value=ast.Constant(value=str(text))):
                yield from [text] if text.endswith(".") else []  # others are no sentences
            case ast.keyword(arg="note" | "notes" | "page_label" | "step" | "target", value=value):
                yield from _texts(value)


def _tells(call: ast.Call, errors: set[str]) -> bool:
    """Return whether a call makes an error, reports a problem or adds a note."""
    match call.func:
        case ast.Attribute(attr="append", value=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name.strip("_") == "notes"
        case ast.Attribute(attr="report" | "_report" | "turn_off"):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in errors
    return False


def _is_text(name: str) -> bool:
    return name.lower() in SENTENCES or (
        name.endswith(("_LABELS", "_NOTE", "_HINT", "_NOTES", "REASONS"))
    )


def _of_class(node: ast.ClassDef) -> Iterator[str]:
    for child in ast.walk(node):
        match child:
            case ast.Call(func=ast.Attribute(attr="__init__")):
                yield from _arguments(child)


def _arguments(call: ast.Call) -> Iterator[str]:
    for value in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield from _texts(value)


def _texts(node: Any) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if " " in text.strip() or text.isalpha():
            yield text
        case ast.JoinedStr() if " " in (text := _numbered(node)) and re.search("[a-z]", text):
            yield text
        case ast.Call(func=ast.Attribute(attr="rstrip", value=value)):
            yield from _texts(value)
        case ast.IfExp():
            yield from _texts(node.body)
            yield from _texts(node.orelse)
        case ast.Dict(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
            for value in values:
                yield from _texts(value)


def _numbered(node: ast.JoinedStr) -> str:
    numbers: dict[str, int] = {}
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        else:
            number = numbers.setdefault(ast.dump(part), len(numbers))
            parts.append(f"{{{number}}}")
    return "".join(parts)


def write() -> None:
    """Update all catalogues, and compile them."""
    lines = (f"gettext_noop({sentence!r})" for sentence in sentences())
    COLLECTED.write_text("\n".join(lines))
    folders = ("tests", "bench", "build", "docs", "deploy", ".venv")
    left_out = [f"{folder}/*" for folder in folders]
    options: dict[str, Any] = {
        "locale": [path.name for path in LOCALE.iterdir()],
        "no_wrap": False,
        "no_location": True,
        "no_obsolete": True,
        "verbosity": 0,
    }
    try:
        call_command("makemessages", ignore_patterns=left_out, **options)
    finally:
        COLLECTED.unlink()
    scripts = [*left_out, "kbsite/extension/*", "kbsite/mcp_clients/*"]
    call_command("makemessages", domain="djangojs", ignore_patterns=scripts, **options)
    for path in LOCALE.rglob("*.po"):
        compiled(path)


def compiled(path: Path) -> None:
    """Clear what xgettext only guessed, and write the .mo file beside a .po file."""
    catalogue = polib.pofile(str(path), wrapwidth=78)
    for entry in catalogue.fuzzy_entries():
        entry.flags.remove("fuzzy")
        entry.msgstr, entry.msgstr_plural = "", dict.fromkeys(entry.msgstr_plural, "")
        entry.previous_msgid = entry.previous_msgid_plural = None
    for name in ("POT-Creation-Date", "PO-Revision-Date"):  # else each run changes the files
        catalogue.metadata.pop(name, None)
    catalogue.save(str(path))
    catalogue.save_as_mofile(str(path.with_suffix(".mo")))
