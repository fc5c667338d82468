"""The site's icons as files, with which the admin's style sheet masks Django's own icons."""

import re
from pathlib import Path
from typing import Final

from django.template.loader import render_to_string

MASKS: Final = Path(__file__).resolve().parents[2] / "templates" / "static" / "cuebase" / "icons"
NAMES: Final = (
    *("plus", "pen", "eye", "trash", "check", "close", "alert", "question"),
    *("right", "previous", "next"),
)


def mask(name: str) -> str:
    """Return an icon as a file: what ``_icon.html`` draws, with the lines of base.css."""
    drawn = render_to_string("_icon.html", {"name": name})
    (shapes,) = re.findall(r"<svg[^>]*>(.*)</svg>", drawn, re.DOTALL)
    lines = [" ".join(line.split()) for line in shapes.splitlines() if line.strip()]
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#000"\n'
        '  stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round">'
    )
    return "\n".join([head, *(f"  {line}" for line in lines), "</svg>\n"])


def write() -> None:
    """Write all files."""
    MASKS.mkdir(exist_ok=True)
    for name in NAMES:
        (MASKS / f"{name}.svg").write_text(mask(name))
