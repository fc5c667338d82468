"""Names: a public class name means one thing, and a variable is named after what it is."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.architecture.test_sizes import FUNCTIONS, PACKAGES, nodes, product

BINDING = (ast.Name, ast.arg, *FUNCTIONS)
# Django and Typer find these by their names.
FRAMEWORK = {"Command", "Config", "Meta", "Migration"}
EMPTY_NAMES = {"one", "found", "told", "asked"}  # they say what happened, not what it is
# The product has none of these either; its tests still have.
VAGUE_NAMES = EMPTY_NAMES | {"there", "wanted", "behind", "shelf"}
LOOP = re.compile(r"{%-? *for (.+?) in ")


def test_no_public_class_name_stands_twice() -> None:
    modules = defaultdict(list)
    for file in product(".py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(str(file))
    repeated = {name: paths for name, paths in modules.items() if len(paths) > 1}
    assert {name: repeated[name] for name in repeated.keys() - FRAMEWORK} == {}


@pytest.mark.parametrize(
    ("folders", "names"),
    [((*PACKAGES, "tests", "bench"), EMPTY_NAMES), (PACKAGES, VAGUE_NAMES)],
    ids=["anywhere", "of the product"],
)
def test_a_variable_has_the_name_of_a_thing(folders: tuple[str, ...], names: set[str]) -> None:
    vague = [
        f"{path}:{node.lineno} {name}"
        for path, node in nodes(*BINDING, folders=folders)
        if (name := _bound(node)) in names
    ]
    assert vague == []


def test_a_loop_of_a_template_has_the_name_of_a_thing() -> None:
    loops = [
        (path, {name.strip() for name in match[1].split(",")})
        for path in Path("templates").rglob("*.html")
        for match in LOOP.finditer(path.read_text(encoding="utf-8"))
    ]
    assert len(loops) > 50
    assert [path for path, names in loops if names & VAGUE_NAMES] == []


def _bound(node: ast.AST) -> str:
    """Return the name that a variable, an argument or a function gets."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
    return ""


def test_nobody_who_calls_is_of_any_type() -> None:
    untyped = [
        f"{path}:{argument.lineno} {argument.arg}"
        for path, node in nodes(*FUNCTIONS)
        for argument in (*node.args.args, *node.args.kwonlyargs)
        if argument.arg in {"by", "caller", "user", "request"}
        and isinstance(argument.annotation, ast.Name)
        and argument.annotation.id == "Any"
    ]
    assert untyped == []
