"""kb highlights, and kb export of highlights."""

import json
import zipfile
from pathlib import Path

from django.contrib.auth.models import User

from citations.models import Highlight
from citations.notebook import highlights
from citations.notebook.highlights import HighlightNotes, SelectedText
from kbsite.callers import scope_of
from kbsite.cli.users import owner
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_paper, make_user
from transcripts.models import Collection


def keep(user: User, library: Collection) -> Highlight:
    book = make_paper(library, ["The error runs backwards."], title="A book")
    words = SelectedText(exact="error runs")
    kept = highlights.keep(scope_of(user), user, book, words, HighlightNotes(tags=["exam"]))
    return kept.placed.row


def test_highlights_are_listed_exported_and_imported(
    kb: Kb, library: Collection, tmp_path: Path
) -> None:
    row = keep(owner(), library)
    assert "error runs" in kb("highlights").out
    [listed] = kb("highlights", "--tag", "exam", "--json").json["highlights"]
    assert (listed["id"], listed["place"]) == (str(row.uuid), "page 1")
    assert "No highlights" in kb("highlights", "--tag", "other").out
    file = tmp_path / "kept.jsonld"
    kb("export", "--highlights", "jsonld", "-o", file)
    assert json.loads(file.read_text())["items"][0]["id"] == f"urn:uuid:{row.uuid}"
    row.delete()
    assert kb("highlights", "import", file, "--json").json["made"] == 1
    Highlight.objects.all().delete()
    assert "1 new" in kb("highlights", "import", file).out


def test_highlights_are_those_of_a_user(kb: Kb, library: Collection) -> None:
    keep(make_user("ada", collection=library), library)
    assert kb("highlights", "--json").json["total"] == 0
    assert kb("highlights", "--user", "ada", "--json").json["total"] == 1


def test_everything_is_written_into_one_file(kb: Kb, library: Collection, tmp_path: Path) -> None:
    keep(owner(), library)
    kb("export", "--everything", "--output", tmp_path / "all.zip")
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert {"index.html", "sources/A book.md", "highlights/A book.md"} <= {*archive.namelist()}
