"""The pages of docs/ that are generated from the code: ``make docs``."""

import importlib
import pkgutil
from collections.abc import Iterator
from inspect import getdoc
from pathlib import Path
from textwrap import fill
from typing import Any, Final

import citations
import kbsite
import transcripts
from citations.formats import FORMATS
from kbsite.api import api
from kbsite.cli.app import COMMANDS, load
from kbsite.cli.terminal import exit_code_of
from kbsite.errors import status_of
from kbsite.mcp.tools import all_tools
from kbsite.pages.glossary import TERMS
from kbsite.settings.options import OPTIONS
from transcripts.core import errors
from transcripts.core.access import AccessLevel, needed_by
from transcripts.core.errors import KnowledgeBaseError

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
NOTE: Final = "`make docs` generates this page."


def settings_page() -> str:
    """Return the page of all settings, one list item a setting."""
    head = _head(
        "Settings",
        "All settings are optional. Set them in the environment or in a `.env` file: beside"
        " `manage.py` in a checkout, otherwise in the folder that `kb config` names. `kb config`"
        " prints each setting with its value and where that comes from.",
    )
    return head + "\n".join(_setting(name) for name in OPTIONS) + "\n"


def errors_page() -> str:
    """Return the page of all expected errors, one list item a code."""
    head = _head(
        "Errors",
        "Every expected error has a stable code, the same over REST, MCP and in `kb … --json`."
        " Its message and hint say what happened and what to do.",
    )
    items = []
    for code, error in sorted(_errors().items()):
        example = error.__new__(error)
        status, exit_code = status_of(example), exit_code_of(example)
        meaning = (getdoc(error) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")
        items.append(_item(f"`{code}` (HTTP {status}, exit code {exit_code}): {meaning}"))
    return head + "\n".join(items) + "\n"


def commands_page() -> str:
    """Return the page of all commands with their options."""
    head = _head("Commands", "`kb COMMAND --help` explains each command in full.")
    return (
        head
        + "\n".join(
            item for name in sorted(COMMANDS) for item in _commands(load(name), f"kb {name}")
        )
        + "\n"
    )


def _setting(name: str) -> str:
    option = OPTIONS[name]
    default = option.default
    shown = ",".join(default) if isinstance(default, list) else str(default)
    value = f" (default `{shown}`)" if shown else ""
    return _item(f"`{name}`{value}: {option.meaning}")


def error_classes() -> list[Any]:
    """Return all classes of expected errors."""
    for package in (transcripts, citations, kbsite):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("errors"):
                importlib.import_module(module.name)
    return list(_subclasses(KnowledgeBaseError))


def _errors() -> dict[str, Any]:
    named = {error.code for error in error_classes() if "code" in vars(error)}
    return {code: error for code, error in errors.classes().items() if code in named}


def _subclasses(error: Any) -> Iterator[Any]:
    for subclass in error.__subclasses__():
        if subclass.__module__.split(".")[0] in ("transcripts", "citations", "kbsite"):
            yield subclass
            yield from _subclasses(subclass)


def _commands(command: Any, name: str) -> Iterator[str]:
    if hasattr(command, "list_commands"):
        for child in sorted(command.list_commands(None)):
            subcommand = command.get_command(None, child)
            if subcommand is not None and not subcommand.hidden:
                yield from _commands(subcommand, f"{name} {child}")
        return
    arguments = [option for option in command.params if option.param_type_name == "argument"]
    options = [
        max(option.opts, key=len)
        for option in command.params
        if option not in arguments and not option.hidden
    ]
    usage = " ".join([name, *(option.name.upper() for option in arguments)])
    shown = " ".join(f"`{option}`" for option in options if option != "--help")
    summary = (command.help or "").split("\n\n")[0].replace("\n", " ")
    yield _item(f"`{usage}`: {summary} {shown}".rstrip())


def _head(title: str, text: str) -> str:
    return f"# {title}\n\n{fill(f'{text} {NOTE}', 100, break_on_hyphens=False)}\n\n"


def _item(text: str) -> str:
    return fill(
        f"- {text}", 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def glossary_page() -> str:
    """Return the page of terms: what each means, and which words every interface avoids."""
    head = _head(
        "Glossary", "All interfaces use these terms, and avoid the words that follow “Not”."
    )
    items = []
    for term in TERMS:
        avoided = f" Not: {', '.join(term.avoided)}." if term.avoided else ""
        items.append(_item(f"**{term.word}**: {term.meaning}{avoided}"))
    return head + "\n".join(items) + "\n"


def formats_page() -> str:
    """Return the page of all formats of documents."""
    head = _head(
        "Formats of documents",
        "These can be added. Their content decides, then the ending of their name. A filter by kind"
        " takes the names in the second column; bibliographies in CSL, those in the last.",
    )
    rows = [
        f"| {format.name} | `{format.kind}` | {' '.join(format.suffixes)} | `{format.media_type}`"
        f" | `{format.csl_type}` |"
        for format in FORMATS.values()
    ]
    header = "| Format | Kind | Endings | Media type | Cited as |\n|---|---|---|---|---|"
    return head + "\n".join((header, *rows)) + "\n"


def needed() -> dict[str, AccessLevel]:
    """Return what each operation and tool needs of a token, by "GET /api/v1/jobs" or its name."""
    paths = api.get_openapi_schema(path_prefix="/api/v1/")["paths"]
    operations = {
        f"{method.upper()} {path}": AccessLevel(operation["security"][0]["OAuth"][-1])
        for path, methods in paths.items()
        for method, operation in methods.items()
    }
    return operations | {tool.name: needed_by(tool.fn) for tool in all_tools()}


def access_section() -> str:
    """Return the table of what each operation and tool needs."""
    rows = [f"| `{operation}` | `{level}` |" for operation, level in needed().items()]
    return "\n".join(("| Operation or tool | Scope |", "|---|---|", *rows)) + "\n"


PAGES: Final = {
    "settings.md": settings_page,
    "errors.md": errors_page,
    "commands.md": commands_page,
    "glossary.md": glossary_page,
    "formats.md": formats_page,
}
SECTIONS: Final = {"access.md": access_section}  # that follow the mark, up to the end of a page
MARK: Final = "<!-- `make docs` generates what follows. -->\n\n"


def write() -> None:
    """Write all pages and sections."""
    for page, text in PAGES.items():
        (DOCS / page).write_text(text())
    for page, text in SECTIONS.items():
        written, mark, _ = (DOCS / page).read_text().partition(MARK)
        (DOCS / page).write_text(written + mark + text())
