"""Highlights in the files of other programs, and annotations of other programs as highlights."""

import csv
import io
import json
import re
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from citations.errors import SourceNotRead
from citations.formats import FORMATS
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Document, Highlight, Page, Source, State
from citations.notebook import (
    annotation_import,
    cloze,
    gaps,
    highlight_export,
    highlights,
    web_annotations,
)
from citations.notebook.annotation_import import NO_SOURCE, ImportReport
from citations.notebook.highlight_export import HighlightFormat
from citations.notebook.highlights import HighlightFilter, HighlightNotes, SelectedText
from citations.notebook.obsidian import FileNames
from citations.quotes import source_texts
from tests.makers import make_cues, make_paper, make_source, make_user, make_video
from transcripts.core.errors import InvalidInput, KnowledgeBaseError, TooLarge
from transcripts.core.scope import Scope
from transcripts.models import Collection

SAID = "Error 404 means that the page is missing."


@pytest.fixture
def talk(collection: Collection) -> Source:
    video = make_video(collection, title="A: talk?", youtube_id="dQw4w9WgXcQ")
    source = make_source(video, author="Grace")
    source.change(url="https://www.youtube.com/watch?v=dQw4w9WgXcQ")
    return source


@pytest.fixture
def book(collection: Collection) -> Source:
    pages = ["=SUM(A1) is a *formula*. {{c2::x}} and [latex].", "Each weight follows."]
    return make_paper(collection, pages, title='A "book" [1]')


@pytest.fixture
def kept(scope: Scope, owner: User, talk: Source, book: Source) -> None:
    def keep(source: Source, quote: str, *, start: int | None = None, **notes: Any) -> None:
        words = SelectedText(exact=quote)
        highlights.keep(scope, owner, source, words, HighlightNotes(**notes), start=start)

    keep(talk, SAID, start=20_000, color="green", note="Why <404>?", tags=("the web",))
    keep(book, "=SUM(A1) is a *formula*.", is_card=True)
    keep(book, "{{c2::x}}")


def exported(scope: Scope, user: User, form: str, **filter: Any) -> bytes:
    file = highlight_export.export(scope, user, HighlightFilter(**filter), HighlightFormat(form))
    with file.file:
        return file.file.read()


def cards(data: bytes, folder: Path) -> list[tuple[str, list[str], str, str]]:
    """Open a package as Anki does: guid, fields, tags and deck of each note."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        package.extract("collection.anki2", folder)
        assert json.loads(package.read("media")) == {}
    database = sqlite3.connect(folder / "collection.anki2")
    decks = json.loads(database.execute("SELECT decks FROM col").fetchone()[0])
    rows = database.execute(
        "SELECT guid, flds, tags, did FROM notes JOIN cards ON nid = notes.id ORDER BY notes.id"
    ).fetchall()
    database.close()
    return [
        (guid, fields.split("\x1f"), tags, decks[str(deck)]["name"])
        for guid, fields, tags, deck in rows
    ]


@pytest.mark.usefixtures("kept")
def test_obsidian_gets_a_file_for_each_source_with_links_to_the_second(
    scope: Scope, owner: User, talk: Source
) -> None:
    with zipfile.ZipFile(io.BytesIO(exported(scope, owner, "obsidian"))) as archive:
        assert archive.namelist() == ["A talk.md", "A book 1.md"]
        text = archive.read("A talk.md").decode()
    assert text.startswith('---\ntitle: "A: talk?"\nauthor: "Grace"\nkind: "video"\nurl: "https')
    assert f"/videos/{talk.video_id}/?t=20s&until=25s&lang=en)" in text
    assert "## [0:20–0:25](http" in text
    assert f"> {SAID}" in text
    assert "Why <404>?" in text
    row = Highlight.objects.get(source=talk)
    assert f"> {SAID}\n\n^{row.uuid}\n\nWhy <404>?\n\n#the-web #highlight/green\n" in text


@pytest.mark.usefixtures("kept")
def test_what_cuebase_itself_writes_is_in_the_language_of_the_reader(
    scope: Scope, owner: User, book: Source, tmp_path: Path
) -> None:
    Highlight.objects.filter(quote="{{c2::x}}").update(digest="other", quote="Gone.", prefix="")
    english = cards(exported(scope, owner, "anki", cards=True), tmp_path)
    with translation.override("de"):
        text = exported(scope, owner, "obsidian", source=str(book.uuid)).decode()
        german = cards(exported(scope, owner, "anki", cards=True), tmp_path)
        table = exported(scope, owner, "readwise").decode()
    assert "## [Seite 1](http" in text
    assert "## Nicht mehr in der Quelle" in text
    assert "\n#Markierung/gelb\n" in text
    assert text.startswith('---\ntitle: "A'), "properties are called alike in every vault"
    (guid, (_, where, _), tags, _) = german[0]
    assert ", Seite 1</a>" in where
    assert tags.strip() == "Markierung::gelb"
    assert guid == english[0][0]
    assert table.startswith("Highlight,Title,Author,URL,Note,Location,Date"), "as Readwise demands"


@pytest.mark.usefixtures("kept")
def test_anki_updates_the_cards_of_an_export_in_another_language(scope: Scope, owner: User) -> None:
    def note_types(data: bytes) -> dict[str, Any]:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            database = sqlite3.connect(":memory:")
            database.deserialize(package.read("collection.anki2"))
        models: dict[str, Any] = json.loads(
            database.execute("SELECT models FROM col").fetchone()[0]
        )
        database.close()
        return {
            key: (model["name"], [field["name"] for field in model["flds"]], model["tmpls"])
            for key, model in models.items()
        }

    english = note_types(exported(scope, owner, "anki"))
    with translation.override("de"):
        assert note_types(exported(scope, owner, "anki")) == english


def test_anki_gets_many_cards_by_as_many_queries_as_few(
    scope: Scope, owner: User, talk: Source, book: Source
) -> None:
    def queries() -> int:
        source_texts.CACHE.clear()
        with CaptureQueriesContext(connection) as captured:
            exported(scope, owner, "anki")
        return len(captured)

    def keep(source: Source, quote: str, **place: Any) -> None:
        words = SelectedText(exact=quote)
        highlights.keep(scope, owner, source, words, HighlightNotes(is_card=True), **place)

    keep(talk, SAID, start=20_000)
    keep(book, "=SUM(A1) is a *formula*.", page=1)
    few = queries()
    for number in range(1, 8):
        keep(talk, SAID, start=number * 30_000)
    keep(book, "Each weight follows.", page=2)
    assert queries() == few


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("CON", "_CON"),
        ("aux.txt", "_aux.txt"),
        ("Console", "Console"),
        ("a/b: c?", "a b c"),
        ("… .", "…"),
        ("?", "Untitled"),
        ("語" * 100, "語" * 66),
    ],
)
def test_every_system_takes_the_names_of_files(title: str, name: str) -> None:
    assert FileNames().of(title) == name


@pytest.mark.usefixtures("kept")
def test_one_source_is_one_file(scope: Scope, owner: User, book: Source) -> None:
    text = exported(scope, owner, "obsidian", source=str(book.uuid)).decode()
    assert text.startswith('---\ntitle: "A \\"book\\" [1]"\n')
    assert "## [Page 1](http" in text
    assert r"is a \*formula\*" in text


@pytest.mark.usefixtures("kept")
def test_readwise_gets_its_columns_and_no_formulas(scope: Scope, owner: User) -> None:
    rows = [*csv.DictReader(io.StringIO(exported(scope, owner, "readwise").decode()))]
    assert tuple(rows[0]) == highlight_export.COLUMNS
    first, second, _ = rows
    assert (first["Highlight"], first["Author"], first["Location"]) == (SAID, "Grace", "20")
    assert first["Note"] == ".theweb Why <404>?"
    assert (second["Highlight"][:5], second["Location"]) == ("'=SUM", "1")


@pytest.mark.usefixtures("kept")
def test_anki_gets_gaps_with_their_place_on_the_back(
    scope: Scope, owner: User, talk: Source, tmp_path: Path
) -> None:
    Highlight.objects.update(is_card=False)
    first, second, third = cards(exported(scope, owner, "anki"), tmp_path)
    _, (text, place, note), tags, deck = first
    assert "Error {{c1::404}} means that the page is missing." in text
    assert f"/videos/{talk.video_id}/?t=20s&amp;until=25s&amp;lang=en" in place.replace(
        "&#58;", ":"
    )
    assert "A&#58; talk?, 0&#58;20–0&#58;25</a>" in place
    assert note == "Why &lt;404&gt;?"
    assert tags.split() == ["the-web", "highlight::green"]
    assert deck == "Cuebase::Lectures"
    assert second[1][0].count("{{c1::") == 1
    assert "{{c1::&#123;&#123;c2&#58;&#58;x&#125;&#125;}}" in third[1][0]
    assert "&#91;latex&#93;" in third[1][0]


def test_who_says_the_words_goes_with_them_everywhere(
    scope: Scope, owner: User, collection: Collection, tmp_path: Path
) -> None:
    said = ("Ann: We begin. It is a limit.", "Bob: Thank you.")
    source = make_source(make_video(collection, cues=make_cues(4, sentences=said)), author="Grace")
    notes = HighlightNotes(note="Why?", tags=("maths",))
    highlights.keep(scope, owner, source, SelectedText(exact="It is a limit. Point 0."), notes)
    highlights.keep(scope, owner, source, SelectedText(exact="Bob: Thank you. Point 1."))
    text = exported(scope, owner, "obsidian", source=str(source.uuid)).decode()
    assert "> **Ann**\n>\n> It is a limit. Point 0.\n\n^" in text
    assert "> **Bob**\n>\n> Thank you. Point 1.\n\n^" in text, "as the page has it: named once"
    first, second = csv.DictReader(io.StringIO(exported(scope, owner, "readwise").decode()))
    assert (first["Author"], first["Note"]) == ("Grace", ".maths — Ann\nWhy?")
    assert second["Note"] == ""
    places = [place for _, (_, place, _), _, _ in cards(exported(scope, owner, "anki"), tmp_path)]
    assert [place.split(", <a ")[0] for place in places] == ["Ann", "Bob"]
    items = json.loads(exported(scope, owner, "jsonld"))["items"]
    assert [item["target"]["creator"]["name"] for item in items] == ["Ann", "Bob"]
    assert imported(scope, owner, exported(scope, owner, "jsonld")).unchanged == 2


@pytest.mark.usefixtures("kept")
def test_a_card_takes_no_highlight_out_of_what_anki_gets_unless_that_is_chosen(
    scope: Scope, owner: User, tmp_path: Path
) -> None:
    everything = cards(exported(scope, owner, "anki"), tmp_path)
    assert len(everything) == Highlight.objects.count() > 1
    ((guid, (text, *_), _, _),) = cards(exported(scope, owner, "anki", cards=True), tmp_path)
    assert "SUM" in text
    assert guid in [guid for guid, *_ in everything]


def test_the_gap_is_what_the_source_says_more_often_than_its_library(
    scope: Scope, owner: User, collection: Collection, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(gaps, "FEW", 1)
    said = ("The wonderful kernel grows.", "A kernel is small.", "A kernel is old.")
    for key, sentences in (("soup", ("The wonderful soup is wonderful.",)), ("kernels", said)):
        make_video(collection, key=key, cues=make_cues(3, sentences=sentences))
    discovery.adopt()
    ingest_pipeline.index_words()
    source = Source.objects.get(video__key="kernels")
    highlights.keep(scope, owner, source, SelectedText(exact="The wonderful kernel grows."))
    ((_, (text, *_), _, _),) = cards(exported(scope, owner, "anki"), tmp_path)
    assert "The wonderful {{c1::kernel}} grows." in text


@pytest.mark.usefixtures("kept")
def test_cards_keep_their_ids_so_that_anki_updates_them(
    scope: Scope, owner: User, tmp_path: Path
) -> None:
    before = [guid for guid, *_ in cards(exported(scope, owner, "anki"), tmp_path)]
    Highlight.objects.update(note="Changed")
    after = cards(exported(scope, owner, "anki"), tmp_path)
    assert [guid for guid, *_ in after] == before
    assert {fields[2] for _, fields, *_ in after} == {"Changed"}


@pytest.mark.usefixtures("kept")
def test_a_card_keeps_the_lines_of_its_passage(scope: Scope, owner: User, tmp_path: Path) -> None:
    quote = "A verse that the source has lost,\nand one more"
    Highlight.objects.update(quote=quote, prefix="", suffix="")
    lost = [text for _, (text, *_), _, _ in cards(exported(scope, owner, "anki"), tmp_path)]
    assert all("<br>" in text and "\n" not in text for text in lost)


def test_an_export_without_highlights_can_be_opened(
    scope: Scope, owner: User, tmp_path: Path
) -> None:
    assert cards(exported(scope, owner, "anki"), tmp_path) == []
    assert json.loads(exported(scope, owner, "jsonld"))["items"] == []


@pytest.mark.parametrize(
    ("sentence", "passage", "gap"),
    [
        ("The error runs back.", (4, 9), "error"),
        ("It was found in 1986 by them.", (0, 29), "1986"),
        ("Then Hinton said it again.", (0, 26), "Hinton"),
        ("It is the backpropagation of it.", (0, 32), "backpropagation"),
        ("That is the question.", (0, 21), "question"),
        ("  ", (0, 2), ""),
    ],
)
def test_a_card_hides_the_passage_or_its_most_telling_word(
    sentence: str, passage: tuple[int, int], gap: str
) -> None:
    stops = {"it", "is", "the", "of", "to", "and", "so", "that", "then"}
    first, last = cloze.hidden(sentence, passage, stops)
    assert sentence[first:last] == gap


# There and back


def imported(scope: Scope, user: User, data: bytes) -> ImportReport:
    annotations, ignored = web_annotations.read(data)
    return annotation_import.import_annotations(scope, user, annotations, ignored=ignored)


@pytest.mark.usefixtures("kept")
def test_web_annotations_come_back_as_the_same_highlights(scope: Scope, owner: User) -> None:
    names = ("source_id", "quote", "prefix", "suffix", "start", "page", "color", "note", "tags")
    before = [*Highlight.objects.order_by("source_id", "span_start").values(*names, "is_card")]
    data = exported(scope, owner, "jsonld")
    whole = json.loads(data)
    assert whole["@context"] == "http://www.w3.org/ns/anno.jsonld"
    assert whole["id"].endswith("/highlights/")
    for name in ("created", "modified"):  # the model has them in UTC, as Z
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", whole["items"][0][name])
    quote, fragment = whole["items"][0]["target"]["selector"]
    assert (quote["type"], quote["exact"]) == ("TextQuoteSelector", SAID)
    assert (fragment["type"], fragment["value"]) == ("FragmentSelector", "t=20,25")
    assert whole["items"][1]["target"]["selector"][1]["value"] == "page=1"
    Highlight.objects.all().delete()
    assert imported(scope, owner, data).made == 3
    after = [*Highlight.objects.order_by("source_id", "span_start").values(*names, "is_card")]
    assert after == before
    again = imported(scope, owner, data)
    assert (again.made, again.changed, again.unchanged) == (0, 0, 3)
    Highlight.objects.filter(note="").update(color="pink")
    assert imported(scope, owner, data).changed == Highlight.objects.filter(note="").count() > 0


@pytest.mark.usefixtures("kept")
def test_the_words_that_a_card_hides_leave_and_come_back_with_it(
    scope: Scope, owner: User, book: Source, tmp_path: Path
) -> None:
    row = Highlight.objects.get(is_card=True)
    chosen = HighlightNotes(is_card=True, hidden_words="formula")
    highlights.change(scope, row, chosen)
    ((_, (text, *_), _, _),) = cards(exported(scope, owner, "anki", cards=True), tmp_path)
    assert "is a *{{c1::formula}}*." in text
    data = exported(scope, owner, "jsonld", cards=True)
    ((body,),) = (item["body"] for item in json.loads(data)["items"])
    assert (body["purpose"], body["selector"]["exact"]) == ("questioning", "formula")
    Highlight.objects.all().delete()
    assert imported(scope, owner, data).made == 1
    assert Highlight.objects.get().hidden_words == "formula"
    assert imported(scope, owner, data).unchanged == 1
    changed = data.replace(b'"formula"', b'"recipe"')
    report = imported(scope, owner, changed)
    assert (report.not_placed, report.changed) == ((), 1), "kept, though it hides other words"
    assert Highlight.objects.get().hidden_words == ""


@pytest.mark.usefixtures("kept")
def test_annotations_are_placed_only_in_sources_that_one_may_read(
    scope: Scope, owner: User
) -> None:
    data = exported(scope, owner, "jsonld")
    other = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    eve = make_user("eve", collection=other)
    report = imported(Scope(readable=frozenset({other.pk})), eve, data)
    assert (report.made, report.changed) == (0, 0)
    assert {annotation.reason for annotation in report.not_placed} == {NO_SOURCE}
    assert not Highlight.objects.filter(author=eve).exists()


def test_annotations_of_other_programs_are_placed_by_the_address_of_the_video(
    scope: Scope, owner: User, talk: Source
) -> None:
    selector = {"type": "TextQuoteSelector", "exact": SAID}
    fragment = {"type": "FragmentSelector", "value": "t=npt:51.2", "refinedBy": selector}
    target = {"source": "https://youtu.be/dQw4w9WgXcQ", "selector": fragment}
    lost = {"source": "https://youtu.be/dQw4w9WgXcQ", "selector": {**selector, "exact": "No."}}
    page = {"items": [{"target": target}, {"target": "https://example.org"}, {"target": lost}]}
    report = imported(scope, owner, json.dumps(page).encode())
    assert (report.made, report.ignored) == (1, 1)
    assert [annotation.number for annotation in report.not_placed] == [3]
    assert Highlight.objects.get().start == 50_000


def read_so_far(source: Source, *, pages: int) -> list[Page]:
    """Leave the first pages of a document, as if it were just being read."""
    rows = Page.objects.filter(document=source.pk, number__gt=pages)
    rest = [*rows]
    rows.delete()
    Document.objects.filter(pk=source.pk).update(read_by="")
    source.change(state=State.PENDING)
    return rest


def read_on(source: Source, rest: list[Page]) -> None:
    Page.objects.bulk_create(rest)
    version = FORMATS[source.document.media_type].version
    Document.objects.filter(pk=source.pk).update(read_by=version)
    source.change(state=State.READY)


def test_what_a_source_will_have_once_it_is_read_waits_and_the_next_import_adds_it(
    scope: Scope, owner: User, collection: Collection
) -> None:
    once, twice = "Loss is a number.", "Each weight follows."
    book = make_paper(collection, [f"{once} {twice}", "Between.", twice])
    talk = make_source(make_video(collection))
    for source, quote, page in ((book, once, 1), (book, twice, 3), (talk, SAID, None)):
        words = SelectedText(exact=quote)
        highlights.keep(scope, owner, source, words, HighlightNotes(note=quote), page=page, start=0)
    data = exported(scope, owner, "jsonld")
    Highlight.objects.all().delete()
    rest = read_so_far(book, pages=1)
    report = imported(scope, owner, data)
    assert (report.made, len(report.waiting), report.lost) == (1, 2, [])
    assert {each.reason for each in report.waiting} == {SourceNotRead().message}
    assert Highlight.objects.get().source == talk, "nothing is placed where the words are by chance"
    read_on(book, rest)
    assert (again := imported(scope, owner, data)).made == 2
    assert (again.unchanged, again.not_placed) == (1, ())
    assert {row.page for row in Highlight.objects.filter(source=book)} == {1, 3}
    assert imported(scope, owner, data).unchanged == 3


def test_highlights_of_a_source_that_is_read_anew_are_neither_lost_nor_doubled_by_an_import(
    scope: Scope, owner: User, collection: Collection
) -> None:
    book = make_paper(collection, ["First.", "Each weight follows."])
    words = SelectedText(exact="Each weight follows.")
    highlights.keep(scope, owner, book, words, HighlightNotes(note="Why?"))
    data = exported(scope, owner, "jsonld")
    rest = read_so_far(book, pages=0)
    assert len(imported(scope, owner, data).waiting) == 1
    read_on(book, rest)
    assert imported(scope, owner, data).unchanged == 1
    (placed,) = highlights.in_source(scope, owner, book)
    assert (placed.is_lost, placed.row.note) == (False, "Why?")


def test_a_source_that_could_not_be_read_keeps_nobody_waiting(
    scope: Scope, owner: User, collection: Collection
) -> None:
    book = make_paper(collection, ["First.", "Each weight follows."])
    highlights.keep(scope, owner, book, SelectedText(exact="Each weight follows."))
    data = exported(scope, owner, "jsonld")
    read_so_far(book, pages=1)
    book.change(state=State.FAILED)
    report = imported(scope, owner, data)
    assert (report.waiting, [each.number for each in report.lost]) == ([], [1])


HOSTILE: tuple[Any, ...] = (
    None,
    1e308,
    "text",
    {"items": {"a": 1}},
    {"items": [None, 1, [], {"target": []}, {"target": {"selector": 5}}]},
    {"target": {"selector": {"type": "TextQuoteSelector", "exact": ["a"]}}},
    {"target": {"selector": {"type": "TextQuoteSelector", "exact": "\0\ud800"}, "source": {}}},
    {"target": {"selector": [{"type": "TextQuoteSelector", "exact": "a"}] * 99, "source": "x'"}},
    {"target": {"selector": {"type": "TextQuoteSelector", "exact": "a"}, "source": "x" * 9_999}},
)


@pytest.mark.parametrize("whole", HOSTILE)
def test_files_that_are_no_annotations_change_nothing(
    scope: Scope, owner: User, book: Source, whole: Any
) -> None:
    try:
        report = imported(scope, owner, json.dumps(whole).encode())
    except KnowledgeBaseError:
        report = ImportReport()
    assert report.made == 0
    assert not Highlight.objects.exists()


def test_files_that_are_too_large_too_deep_or_no_json_are_refused() -> None:
    for data in (b"[" * 1_000_000, b"\xff\xfe", b"{", b""):
        with pytest.raises(InvalidInput):
            web_annotations.read(data)
    with pytest.raises(TooLarge):
        web_annotations.read(b" " * (web_annotations.MAX_BYTES + 1))
    with pytest.raises(TooLarge):
        web_annotations.read(json.dumps([{}] * (web_annotations.MAX_ANNOTATIONS + 1)).encode())
