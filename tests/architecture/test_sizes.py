"""Sizes that keep the code readable: files, functions, lines, suppressions."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("transcripts", "citations", "kbsite")
FOLDERS: Final = (
    "tests",
    "bench",
    *PACKAGES,
    "templates",
    "docs",
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
)
WIDTH: Final = 100
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
# Each begins before it is known whether these libraries are needed.
QUICK_TO_START: Final = {
    "transcripts/youtube/__init__.py",
    "kbsite/telemetry/metrics.py",
    "kbsite/cli/app.py",
}
ANSWERING: Final = ("citations/answers/understanding.py", "citations/answers/sections.py")
FOR_LANGUAGE_MODELS: Final = {"json_output.py", "output_parser.py", "prompts.py"}
SUPPRESSION: Final = r"# (?:ruff: noqa|noqa|type: ignore|pragma|fmt: skip|fmt: off)"


def product(*suffixes: str, folders: tuple[str, ...] = PACKAGES) -> list[Path]:
    """Return the files of some folders that git tracks, without migrations and samples."""
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [ROOT / line for line in listed.stdout.splitlines()]
    left_out = {"migrations", "sample", "__snapshots__"}
    return [
        file
        for file in files
        if file.suffix in suffixes and file.exists() and not left_out & set(file.parts)
    ]


def nodes(*kinds: type[ast.AST], folders: tuple[str, ...] = PACKAGES) -> Iterator[tuple[Path, Any]]:
    """Yield the nodes of these kinds of some folders' code, with their files from the root on."""
    for file in product(".py", folders=folders):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, kinds):
                yield file.relative_to(ROOT), node


def test_no_file_is_above_400_lines_and_four_of_five_are_under_300() -> None:
    sizes = {file: len(file.read_text().splitlines()) for file in product(".py")}
    assert [file.name for file, size in sizes.items() if size > 400] == []
    assert sum(size < 300 for size in sizes.values()) >= 0.8 * len(sizes)


def test_what_measures_and_trains_stays_small() -> None:
    scripts = product(".py", folders=("bench",))
    sizes = [len(file.read_text().splitlines()) for file in scripts]
    assert max(sizes) <= 400
    assert sum(sizes) <= 6_360


def test_no_script_is_above_250_lines() -> None:
    scripts = product(".js", folders=("templates", "kbsite"))
    assert [file.name for file in scripts if len(file.read_text().splitlines()) > 250] == []


def test_functions_are_short() -> None:
    sizes = sorted(node.end_lineno - node.lineno + 1 for _, node in nodes(*FUNCTIONS))
    assert median(sizes) <= 8
    assert sizes[len(sizes) * 9 // 10] <= 28


def test_suppressions_are_rare() -> None:
    texts = [file.read_text() for file in product(".py")]
    lines = sum(text.count("\n") for text in texts)
    suppressions = sum(len(re.findall(SUPPRESSION, text)) for text in texts)
    assert suppressions <= 4 * lines / 10_000


def test_imports_inside_functions_stand_in_the_providers_alone() -> None:
    inside = [
        f"{file}:{node.lineno}"
        for file, function in nodes(*FUNCTIONS)
        if "providers" not in file.parts
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []


def test_modules_are_loaded_by_name_where_a_start_must_be_quick() -> None:
    callers = {
        str(file.relative_to(ROOT))
        for file in product(".py")
        if "providers" not in file.parts and re.search(r"\bimport_module\(", file.read_text())
    }
    assert callers == QUICK_TO_START


@pytest.mark.parametrize("suffix", [".py", ".html", ".css", ".js", ".md"])
def test_lines_have_at_most_100_columns(suffix: str) -> None:
    files = product(suffix, folders=FOLDERS)
    wide = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in files
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if len(line) > WIDTH
        and not line.startswith(("|", "!["))  # Markdown cannot wrap a row or a picture
        and "noqa: E501" not in file.read_text()  # data that cannot be wrapped
    ]
    assert wide == []


def test_the_rules_that_answer_without_a_language_model_stay_few() -> None:
    """All that reads questions and writes answers counts: moving code does not help."""
    rooms = ("citations/answers/question", "citations/answers/writing")
    files = [*product(".py", folders=rooms), *product(".py", folders=ANSWERING)]
    rules = [file for file in files if file.name not in FOR_LANGUAGE_MODELS]
    assert sum(len(file.read_text().splitlines()) for file in rules) <= 2_250
