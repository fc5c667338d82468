"""Write what the product does, one line a test, by room: ``python -m tests.behaviours``."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).parent
PAGE: Final = TESTS.parent / "build" / "behaviours.md"
INSTALLED: Final = {"node_modules", ".venv"}


def lines() -> Iterator[str]:
    """Yield the page: a heading for each folder, for each file what its tests say."""
    yield "# What Cuebase does\n"
    room = None
    for path in sorted(TESTS.rglob("test_*.py"), key=lambda path: (path.parent, path.name)):
        if INSTALLED & set(path.parts):
            continue
        tree = ast.parse(path.read_text())
        if path.parent != room:
            room = path.parent
            yield f"\n## {room.relative_to(TESTS)}\n"
        yield f"\n### {(ast.get_docstring(tree) or path.stem).partition(chr(10) * 2)[0]}\n"
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = node.name.removeprefix("test_")
                if name != node.name:
                    yield f"- {name.replace('_', ' ').capitalize()}."


def main() -> None:
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join(lines()) + "\n")
    count = sum(line.startswith("- ") for line in PAGE.read_text().splitlines())
    print(f"{PAGE.relative_to(TESTS.parent)}: {count:,} behaviours")


if __name__ == "__main__":
    main()
