"""Names: a public class name means one thing, and a variable is named after what it is."""

import ast
import re
from collections import defaultdict
from pathlib import Path

from tests.architecture.test_sizes import product

PACKAGES = ("kbsite", "citations", "transcripts")
# Django and Typer find these by their names.
FRAMEWORK = {"Command", "Config", "Meta", "Migration"}
EMPTY_NAMES = {"one", "found", "told", "asked"}  # they say what happened, not what it is
# The product has none of these either; its tests still have.
VAGUE_NAMES = EMPTY_NAMES | {"there", "wanted", "behind", "shelf"}
LOOP = re.compile(r"{%-? *for (.+?) in ")


def test_no_public_class_name_stands_twice() -> None:
    modules = defaultdict(list)
    for package in PACKAGES:
        for path in Path(package).rglob("*.py"):
            if "migrations" in path.parts:
                continue
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    modules[node.name].append(str(path))
    repeated = {name: paths for name, paths in modules.items() if len(paths) > 1}
    assert {name: repeated[name] for name in repeated.keys() - FRAMEWORK} == {}


def test_a_variable_has_the_name_of_a_thing() -> None:
    empty = [
        f"{path}:{node.lineno} {name}"
        for package in (*PACKAGES, "tests", "bench")
        for path in Path(package).rglob("*.py")
        if not {"migrations", "node_modules", ".venv"} & {*path.parts}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (name := _bound(node)) in EMPTY_NAMES
    ]
    assert empty == []


def test_a_variable_of_the_product_has_the_name_of_a_thing() -> None:
    vague = [
        f"{path}:{node.lineno} {name}"
        for package in PACKAGES
        for path in Path(package).rglob("*.py")
        if not {"migrations"} & {*path.parts}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (name := _bound(node)) in VAGUE_NAMES
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
        f"{file.name}:{argument.lineno} {argument.arg}"
        for file in product(".py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for argument in (*node.args.args, *node.args.kwonlyargs)
        if argument.arg in {"by", "caller", "user", "request"}
        and isinstance(argument.annotation, ast.Name)
        and argument.annotation.id == "Any"
    ]
    assert untyped == []
