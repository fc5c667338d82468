"""Templates, stylesheets and scripts stay short enough to be read."""

from pathlib import Path

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
WIDTH = 100
LINES = 250  # of a script


def test_no_line_is_too_wide() -> None:
    files = (path for kind in ("html", "css", "js") for path in TEMPLATES.rglob(f"*.{kind}"))
    wide = [
        f"{path.relative_to(TEMPLATES)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > WIDTH
    ]
    assert wide == []


def test_no_script_is_too_long() -> None:
    lengths = {path.name: len(path.read_text().splitlines()) for path in TEMPLATES.rglob("*.js")}
    assert {name: length for name, length in lengths.items() if length > LINES} == {}
