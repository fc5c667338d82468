"""A test is skipped where nothing catches the skip, and never in CI for want of a program."""

import ast
from pathlib import Path

import pytest

from tests.architecture.skips import caught_skips
from tests.sources import ROOT, tracked

HELPERS = """
import pytest
def require(missing):
    pytest.skip(missing)
def talk():
    require("Node")
"""
BLOCKS = {
    "with pytest.RaisesGroup(ValueError): pytest.skip('')": True,
    "with pytest.raises(BaseException): helpers.talk()": True,
    "with pytest.raises((ValueError, pytest.skip.Exception)): helpers.talk()": True,
    "with suppress(BaseException): require('Redis')": True,
    "async def test():\n async with asyncio.TaskGroup() as group: await talk_to(talk())": True,
    "try: helpers.require('')\nexcept: pass": True,
    "try: helpers.require('')\nexcept BaseException: raise": True,
    "with pytest.raises(ValueError): helpers.talk()": False,
    "with suppress(OSError): require('Redis')": False,
    "helpers.talk()\nwith pytest.RaisesGroup(ValueError): answer()": False,
    "try: answer()\nexcept BaseException: pytest.skip('')": False,
    "try: require('')\nexcept Exception: pass": False,
}


def modules_of_tests() -> dict[str, ast.Module]:
    paths = [Path(name) for name in tracked("tests") if name.endswith(".py")]
    return {
        ".".join(path.with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            (ROOT / path).read_text(encoding="utf-8")
        )
        for path in paths
    }


def test_no_skip_is_caught() -> None:
    assert caught_skips(modules_of_tests()) == []


@pytest.mark.parametrize("block", BLOCKS)
def test_a_skip_is_found_in_what_catches_it_through_helpers_too(block: str) -> None:
    imports = "from tests import helpers\nfrom tests.helpers import require, talk\n"
    modules = {"tests.helpers": ast.parse(HELPERS), "tests.test_a": ast.parse(imports + block)}
    assert bool(caught_skips(modules)) == BLOCKS[block]


def test_no_test_looks_for_a_program_by_itself() -> None:
    """``require_program`` does not skip in CI."""
    looking = [
        name
        for name, module in modules_of_tests().items()
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "shutil.which"
    ]
    assert set(looking) == {"tests.programs", "tests.debian_root"}
