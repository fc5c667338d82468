"""Finds skips of tests that something around them catches: the test then fails, or passes unrun.

A skip is an exception under ``BaseException``. Functions of tests/ that skip are followed through
their callers, as far as their names are imported; methods and fixtures are not.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping

# Of ``BaseException`` itself; a group of exceptions takes a skip for one that was not expected.
CAUGHT = {"BaseException", "BaseExceptionGroup", "Skipped", "skip.Exception"}
GROUPS = {"RaisesGroup", "TaskGroup", "create_task_group"}
CATCHERS = {"raises", "RaisesExc", "suppress"}


def caught_skips(modules: Mapping[str, ast.Module]) -> list[str]:
    """Return “module:line” of each call that skips, or may, within a block that catches it."""
    skipping = _skipping(modules)
    caught = set()
    for name, module in modules.items():
        imported = _imported(module)
        for call in _calls(_caught_statements(module)):
            if _called(call, name, imported) in skipping:
                caught.add(f"{name}:{call.lineno}")
    return sorted(caught)


def _skipping(modules: Mapping[str, ast.Module]) -> set[str]:
    """Return the full names of pytest's functions that skip, and of those here that call one."""
    skipping = {"pytest.skip", "pytest.importorskip"}
    callees = {}
    for name, module in modules.items():
        imported = _imported(module)
        for function in module.body:
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                calls = {_called(call, name, imported) for call in _calls([function])}
                callees[f"{name}.{function.name}"] = calls
    while more := {name for name, called in callees.items() if called & skipping} - skipping:
        skipping |= more
    return skipping


def _imported(module: ast.Module) -> dict[str, str]:
    """Return the full name of each name that a module imports from another."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _called(call: ast.Call, name: str, imported: Mapping[str, str]) -> str:
    """Return the full name of a function that the module ``name`` calls."""
    match call.func:
        case ast.Name(id=function):
            return imported.get(function, f"{name}.{function}")
        case ast.Attribute(value=ast.Name(id=module), attr=function):
            return f"{imported.get(module, module)}.{function}"
    return ""


def _calls(nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    return (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Call))


def _caught_statements(module: ast.Module) -> Iterator[ast.stmt]:
    for node in ast.walk(module):
        if isinstance(node, ast.With | ast.AsyncWith):
            if any(_catches(item.context_expr) for item in node.items):
                yield from node.body
        elif isinstance(node, ast.Try | ast.TryStar) and any(map(_handles, node.handlers)):
            yield from node.body


def _catches(context: ast.expr) -> bool:
    if not isinstance(context, ast.Call):
        return False
    name = ast.unparse(context.func).rpartition(".")[2]
    return name in GROUPS or (name in CATCHERS and any(map(_is_caught, context.args)))


def _handles(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or _is_caught(handler.type)


def _is_caught(exceptions: ast.expr) -> bool:
    """Tell whether one of these exceptions is a skip."""
    each = exceptions.elts if isinstance(exceptions, ast.Tuple) else [exceptions]
    return any(ast.unparse(kind).removeprefix("pytest.") in CAUGHT for kind in each)
