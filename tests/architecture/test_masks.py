"""The admin's icons are those of the pages."""

import re
from pathlib import Path

import pytest

from tests.architecture.masks import MASKS, NAMES, mask

STYLES = MASKS.parent / "admin.css"


@pytest.mark.parametrize("name", NAMES)
def test_an_icon_of_the_admin_is_drawn_as_on_the_pages(name: str) -> None:
    assert (MASKS / f"{name}.svg").read_text() == mask(name), "run `make docs`"
    assert 'class="filled"' not in mask(name)  # which a file would not fill


def test_the_admin_uses_every_file_and_no_other() -> None:
    used = set(re.findall(r"url\(icons/(\w+)\.svg\)", STYLES.read_text()))
    assert used == set(NAMES) == {Path(file).stem for file in MASKS.iterdir()}
