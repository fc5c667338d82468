"""Regular expressions: they match the same in every Python that Cuebase supports."""

import ast
import re

import pytest

from tests.architecture.test_sizes import nodes

POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")


def has_possessive_group(pattern: str | bytes) -> bool:
    text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
    return POSSESSIVE_GROUP.search(text) is not None


def test_no_group_is_repeated_possessively() -> None:
    """Python 3.11.0 to 3.11.4 do not find what such a group matches: repeat in an atomic group."""
    repeated = [
        f"{path}:{node.lineno}"
        for path, node in nodes(ast.Constant)
        if isinstance(node.value, str | bytes) and has_possessive_group(node.value)
    ]
    assert repeated == []


@pytest.mark.parametrize("pattern", [r"(?:a|b)*+", rb"(a)++", r"(?:{part})?+\Z", r"(a){2,}+"])
def test_a_group_that_is_repeated_possessively_is_found(pattern: str | bytes) -> None:
    assert has_possessive_group(pattern)


@pytest.mark.parametrize("pattern", [r"\s*+", r"(?>(?:a|b)*)", r"[^)]++", r"\)++", r"(a)+b"])
def test_other_repeats_are_not(pattern: str) -> None:
    assert not has_possessive_group(pattern)
