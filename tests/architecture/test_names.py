"""A public class name means one thing in the whole product."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGES = ("kbsite", "citations", "transcripts")
# Django and Typer find these by their names.
FRAMEWORK = {"Command", "Config", "Meta", "Migration"}


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
