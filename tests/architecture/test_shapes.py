"""One shape for every door: how a place is written, and where a page is, stand in one module each,
and what leaves is declared in the schemas of its package.
"""

import ast
import re
from pathlib import Path

from tests.architecture.test_sizes import nodes

PLACES = {Path("citations/passages.py"), Path("citations/reading/places.py")}
VIDEO_PATH = Path("transcripts/models/videos.py")
BY_HAND = re.compile(
    r"\|clock }}\s*–"  # an interval
    r"|%}\s*[Pp]ages? {{ \w+ }}(?:–{{ \w+ }})?\s*{%"  # a page alone
)
# Before a number. “The document has no page 3.” is a sentence, and no place.
PAGE = re.compile(r"(?:^|[\[(·]\s*|“, )(?:pages? |pp?\. ?)$")
DOORS = ("citations.api", "transcripts.api", "kbsite.webhooks.api")


def test_templates_write_places_by_filters() -> None:
    written = [
        f"{path}: {match[0]}"
        for folder in ("templates", "kbsite/templates")
        for path in Path(folder).rglob("*.html")
        for match in BY_HAND.finditer(path.read_text(encoding="utf-8"))
    ]
    assert written == []


def test_code_writes_places_in_one_module() -> None:
    written = [
        f"{path}:{text.lineno}"
        for path, text in nodes(ast.JoinedStr)
        if path not in PLACES and writes_place(text)
    ]
    assert written == []


def test_the_path_of_a_recording_is_written_once() -> None:
    paths = {
        path
        for path, text in nodes(ast.JoinedStr)
        for part in text.values
        if isinstance(part, ast.Constant) and str(part.value).endswith("/videos/")
    }
    assert paths == {VIDEO_PATH}


def test_no_door_takes_its_shapes_from_another() -> None:
    taken = [
        f"{path}: {alias.name}"
        for path, node in nodes(ast.ImportFrom)
        if str(node.module).startswith(DOORS)
        for alias in node.names
        if alias.name.endswith("Out") and not name_of(path).startswith(DOORS)
    ]
    assert taken == []


def writes_place(text: ast.JoinedStr) -> bool:
    """Whether it is “page 3” or “3:28–3:41” alone, or the beginning or end of a sentence."""
    parts = text.values
    for before, number in zip(parts, parts[1:], strict=False):
        if not isinstance(number, ast.FormattedValue) or not isinstance(before, ast.Constant):
            continue
        if PAGE.search(str(before.value)):
            return True
        if str(before.value) == "–" and "clock(" in ast.unparse(number):
            return True
    return False


def name_of(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)
