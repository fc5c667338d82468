"""The documentation names every setting, error code, command and tool, and nothing else."""

import re
from pathlib import Path

import pytest

from kbsite.mcp.tools import all_tools
from tests.architecture.pages import DOCS, MARK, PAGES, SECTIONS

ROOT = Path(__file__).resolve().parents[2]
PROSE = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "ARCHITECTURE.md",
    *DOCS.rglob("*.md"),
]


@pytest.mark.parametrize("page", PAGES)
def test_a_generated_page_is_up_to_date(page: str) -> None:
    assert (DOCS / page).read_text() == PAGES[page](), "run `make docs`"


@pytest.mark.parametrize("page", SECTIONS)
def test_a_generated_section_is_up_to_date(page: str) -> None:
    assert (DOCS / page).read_text().partition(MARK)[2] == SECTIONS[page](), "run `make docs`"


def test_the_page_on_mcp_names_every_tool_and_no_other() -> None:
    section = (DOCS / "mcp.md").read_text().partition("## Tools")[2].partition("\n## ")[0]
    assert set(re.findall(r"^- `(\w+)`", section, re.MULTILINE)) == {
        tool.name for tool in all_tools()
    }


def test_every_command_that_the_documentation_shows_exists() -> None:
    commands = set(re.findall(r"^- `kb ([\w-]+)", PAGES["commands.md"](), re.MULTILINE))
    for page in PROSE:
        shown = set(re.findall(r"(?:^|`)(?:\$ )?kb ([a-z][\w-]+)", page.read_text(), re.MULTILINE))
        assert shown - commands == set(), page.name


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PROSE:
        for link in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), (page.name, link)
