"""Everything in one ZIP: what is in it, for whom, and how it is made."""

import io
import json
import posixpath
import re
import zipfile
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.utils import translation
from selectolax.lexbor import LexborHTMLParser

from citations import tasks
from citations.documents import storage as document_storage
from citations.errors import ArchiveNotFound
from citations.models import (
    Answer,
    Archive,
    ArchivePart,
    Citation,
    Conversation,
    Highlight,
    Note,
    Source,
)
from citations.notebook import archive as archive_file
from citations.notebook import archives, conversations, highlights, notes
from citations.notebook.highlights import SelectedText
from tests.makers import make_paper, make_source, make_user, make_video, make_wav
from transcripts.core.errors import Conflict
from transcripts.core.scope import NOTHING, Scope
from transcripts.media import files as media
from transcripts.models import Collection
from transcripts.text.cues import Cue


@pytest.fixture
def library(scope: Scope, owner: User, collection: Collection) -> Source:
    """A talk, a book with a highlight, a note, a question, and secrets elsewhere."""
    make_source(make_video(collection, title="A talk / part 1"))
    book = make_paper(collection, ["The error <b>runs</b>.", "It grows."], title="A book")
    highlights.keep(scope, owner, book, SelectedText(exact="It grows."))
    notes.pin(scope, owner, collection=collection.slug, title="Week 3", text="**Why?**")
    conversations.begin(scope, owner, collection=collection.slug, title="On errors")
    other = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    make_paper(other, ["Confidential."], title="Confidential")
    Note.objects.create(collection=other, title="Confidential", text="Confidential")
    Conversation.objects.create(owner=make_user("eve"), title="Confidential")
    return book


def unpacked(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


def written(scope: Scope, user: User, **options: Any) -> dict[str, str]:
    file = io.BytesIO()
    archive_file.write(scope, user, file, **options)
    return unpacked(file.getvalue())


@async_to_sync
async def read(archive: Archive) -> bytes:
    return b"".join([piece async for piece in archives.pieces(archive)])


@pytest.mark.usefixtures("library")
def test_everything_that_one_may_read_is_in_it_and_nothing_else(scope: Scope, owner: User) -> None:
    files = written(scope, owner)
    assert {*files} == {
        *("index.html", "sources.json", "notes.json", "questions.json", "highlights.jsonld"),
        *("sources/A talk part 1.md", "sources/A book.md", "highlights/A book.md"),
        *("sources/A talk part 1.html", "sources/A book.html", "highlights/A book.html"),
        *("notes/Week 3.md", "questions/On errors.md", "originals/paper.txt"),
        *("notes/Week 3.html", "questions/On errors.html"),
    }
    assert "The error <b>runs</b>." in files["sources/A book.md"]
    assert "## Page 2" in files["sources/A book.md"]
    assert "Backpropagation carries the error" in files["sources/A talk part 1.md"]
    assert (
        "> It grows\\." in files["highlights/A book.md"]
        or "> It grows." in (files["highlights/A book.md"])
    )
    assert "**Why?**" in files["notes/Week 3.md"]
    assert "Confidential" not in "".join(files.values())


def test_a_document_comes_as_it_was_added_and_its_text_leads_there(
    scope: Scope, owner: User, collection: Collection
) -> None:
    texts = [f"# Rules\n\n| Course | Points |\n|---|---|\n| Calculus | {n} |\n" for n in (5, 6)]
    for text in texts:
        document_storage.add(collection, io.BytesIO(text.encode()), name="rules.md", title="Rules")
    files = written(scope, owner)
    rows = json.loads(files["sources.json"])
    assert sorted(files[row["original"]] for row in rows) == texts
    assert all(f"(../{quote(row['original'])})" in files[row["file"]] for row in rows)


def test_chosen_sources_come_with_their_highlights_and_the_notes_that_quote_them(
    scope: Scope, owner: User, collection: Collection, library: Source
) -> None:
    conversation = Conversation.objects.create(collection=collection, owner=owner, title="Why?")
    for number, source in enumerate((library, Source.objects.exclude(pk=library.pk).first())):
        answer = Answer.objects.create(conversation=conversation, ordinal=number, question="Why?")
        Citation.objects.create(
            answer=answer, number=1, source=source, quote="It", span_start=0, span_end=2, digest=""
        )
        Note.objects.create(
            collection=collection, answer=answer, title=f"On {number}", text="So it is."
        )
    files = written(scope, owner, only=[library.pk])
    assert {name for name in files if name.endswith(".md")} == {
        *("sources/A book.md", "highlights/A book.md", "notes/On 0.md")
    }
    talk = Source.objects.get(title="A talk / part 1")
    assert "highlights/A book.md" not in written(scope, owner, only=[talk.pk])
    hidden = Source.objects.get(title="Confidential")
    assert json.loads(written(scope, owner, only=[hidden.pk])["sources.json"]) == []


def test_an_archive_of_other_sources_waits_for_the_unfinished_one(
    scope: Scope, owner: User, library: Source
) -> None:
    first = archives.request(scope, owner, sources=[library])
    assert archives.request(scope, owner, sources=[library]) == first
    with pytest.raises(Conflict, match="Another archive"):
        archives.request(scope, owner)


def links_of(name: str, html: str) -> set[str]:
    """Return the names of the files that a page leads to."""
    tree = LexborHTMLParser(html)
    targets = {link.attributes["href"] or "" for link in tree.css("a[href]")}
    return {
        posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(target)))
        for target in targets
        if not urlsplit(target).scheme
    }


@pytest.mark.usefixtures("library")
def test_its_index_leads_to_pages_which_lead_to_every_file(scope: Scope, owner: User) -> None:
    files = written(scope, owner)
    pages = links_of("index.html", files["index.html"])
    assert pages == {name for name in files if name.endswith(".html")} - {"index.html"}
    beyond = {name for page in pages for name in links_of(page, files[page])}
    assert beyond <= {*files}
    assert {name for name in files if name.endswith(".md")} | {"originals/paper.txt"} <= beyond
    for page in ("index.html", *pages):
        tree = LexborHTMLParser(files[page])
        assert tree.css_first("html").attributes["lang"] == "en"
        assert len(tree.css("h1")) == 1
        assert not tree.css("script, img, link")


@pytest.mark.usefixtures("library")
def test_its_pages_speak_the_language_of_the_page_on_which_it_was_asked_for(
    scope: Scope, owner: User, collection: Collection
) -> None:
    video = make_video(collection, key="stops", title="Stops")
    video.transcripts.update(has_added_stops=True)
    make_source(video)
    with translation.override("de"):
        archive = archives.request(scope, owner)
    tasks.make_archive(archive.pk)
    files = unpacked(read(archive))
    index = LexborHTMLParser(files["index.html"])
    headings = [heading.text() for heading in index.css("h1, h2")]
    assert headings == ["Bibliothek", "Quellen", "Markierungen", "Notizen", "Fragen"]
    assert re.match(r"Geschrieben am \d+\. \w+ \d{4}\.", index.css_first("p").text())
    pages = {name: LexborHTMLParser(text) for name, text in files.items() if "html" in name}
    assert {page.css_first("html").attributes["lang"] for page in pages.values()} == {"de"}
    book = pages["highlights/A book.html"]
    assert [link.text() for link in book.css("nav a")] == ["Alle", "Quelle", "Markdown"]
    assert book.css_first("h2").text() == "Seite 2"
    assert pages["sources/A book.html"].css_first("#page-1").text() == "Seite 1"
    assert "## Seite 2" in files["sources/A book.md"]
    assert "Cuebase hat die Satzzeichen ergänzt" in files["sources/Stops.md"]


def test_the_index_goes_by_letters_and_names_the_collections_if_there_are_several(
    scope: Scope, owner: User, collection: Collection
) -> None:
    def lines() -> list[str]:
        index = LexborHTMLParser(written(scope, owner)["index.html"])
        return [" ".join(item.text().split()) for item in index.css("li")]

    for title in ("networks", "Zebras", "Apples"):
        make_source(make_video(collection, key=title, title=title))
    assert lines() == ["Apples", "networks", "Zebras"]
    shelf = Collection.objects.create(name="Shelf", slug="shelf")
    make_source(make_video(shelf, key="moss", title="moss"))
    scope = Scope(readable=scope.readable | {shelf.pk})
    assert lines() == [
        *("Apples · Lectures", "moss · Shelf", "networks · Lectures", "Zebras · Lectures")
    ]


@pytest.mark.usefixtures("library")
def test_its_pages_show_what_browsers_would_show_as_plain_text(scope: Scope, owner: User) -> None:
    files = written(scope, owner)
    book = LexborHTMLParser(files["sources/A book.html"])
    assert book.css_first("#page-1 + .page-text").text() == "The error <b>runs</b>."
    note = LexborHTMLParser(files["notes/Week 3.html"])
    assert note.css_first("main p > strong").text() == "Why?"
    kept = LexborHTMLParser(files["highlights/A book.html"])
    assert kept.css_first("blockquote").text(strip=True) == "It grows."
    assert "kind:" not in kept.text()
    assert str(Highlight.objects.get().uuid) not in kept.text()
    assert kept.css_first("mark.yellow").text() == "yellow"
    assert "#highlight" not in kept.text()
    assert "#highlight/yellow" in files["highlights/A book.md"]
    talk = LexborHTMLParser(files["sources/A talk part 1.html"])
    assert talk.css_first("main").attributes["lang"] == "en"


def test_its_pages_keep_links_to_the_second_and_nothing_that_acts(
    scope: Scope, owner: User, collection: Collection
) -> None:
    make_source(make_video(collection, key="dQw4w9WgXcQ", youtube_id="dQw4w9WgXcQ"))
    text = "<script>alert(1)</script> [a](javascript:alert(1)) ![b](https://example.org/b.png)"
    notes.pin(scope, owner, collection=collection.slug, title="<i>Bad</i>", text=text)
    book = make_paper(collection, ["One."], title="<b>Web</b>")
    book.document.pages.update(html="<h3 onclick='x()'>Ports</h3><p><img src=x>Deep.</p>")
    files = written(scope, owner)
    talk = LexborHTMLParser(files["sources/Lecture 1.html"])
    assert [link.attributes["href"] for link in talk.css("h2 > a")][:1] == [
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=0s"
    ]
    note = LexborHTMLParser(files["notes/i Bad i.html"])
    assert note.css_first("h1").text() == "<i>Bad</i>"
    assert not note.css("script, img")
    assert [link.attributes["href"] for link in note.css("main a")] == ["https://example.org/b.png"]
    assert "<script>alert(1)</script>" in note.text()
    page = LexborHTMLParser(files["sources/b Web b.html"])
    assert page.css_first("h1").text() == "<b>Web</b>"
    assert page.css_first("main h2").attributes == {}
    assert not page.css("img")


def test_each_turn_of_a_recording_is_a_paragraph_under_a_link_to_its_second(
    scope: Scope, owner: User, collection: Collection
) -> None:
    said = ["Ann: Why does it", "work?", "Ben: It learns.", "Ann: From what?", "Ben: Errors."]
    cues = [
        Cue(start=start, end=start + 4_000, text=text)
        for start, text in zip(range(2_000, 99_000, 4_000), said, strict=False)
    ]
    key = "dQw4w9WgXcQ"
    make_source(make_video(collection, key=key, youtube_id=key, title="A talk", cues=cues))
    files = written(scope, owner)
    page = LexborHTMLParser(files["sources/A talk.html"])
    turns = ["Ann: Why does it work?", "Ben: It learns.", "Ann: From what?", "Ben: Errors."]
    times = ["0:02", "0:10", "0:14", "0:18"]
    assert [paragraph.text() for paragraph in page.css("h2 ~ p")] == [
        f"{time} {turn}" for time, turn in zip(times, turns, strict=True)
    ]
    assert [link.attributes["href"] for link in page.css("h2 ~ p > a")] == [
        f"https://www.youtube.com/watch?v={key}&t={second}s" for second in (2, 10, 14, 18)
    ]
    text = files["sources/A talk.md"]
    assert all(f"s) {turn}\n" in text for turn in turns)


def test_a_sentence_stands_in_the_chapter_in_which_it_begins(
    scope: Scope, owner: User, collection: Collection
) -> None:
    said = ["It begins here and", "goes on until", "it ends. Then", "comes another."]
    cues = [
        Cue(start=start, end=start + 4_000, text=text)
        for start, text in zip(range(0, 16_000, 4_000), said, strict=True)
    ]
    video = make_video(collection, title="A talk", cues=cues)
    video.chapters = [[0, "One"], [8_000, "Two"]]
    video.save()
    make_source(video)
    lines = written(scope, owner)["sources/A talk.md"].splitlines()
    headings = [number for number, line in enumerate(lines) if line.startswith("## ")]
    assert [(lines[number], lines[number + 2]) for number in headings] == [
        ("## 0:00 One", "0:00 It begins here and goes on until it ends."),
        ("## 0:08 Two", "0:10 Then comes another."),
    ]


@pytest.mark.usefixtures("library")
def test_the_same_stands_in_json(scope: Scope, owner: User) -> None:
    files = written(scope, owner)
    assert {row["file"] for row in json.loads(files["sources.json"])} <= {*files}
    [note] = json.loads(files["notes.json"])
    assert (note["title"], note["author"]) == ("Week 3", "ada")
    [conversation] = json.loads(files["questions.json"])
    assert (conversation["title"], conversation["answers"]) == ("On errors", [])
    assert len(json.loads(files["highlights.jsonld"])["items"]) == 1


def test_an_empty_library_makes_a_whole_archive(scope: Scope, owner: User) -> None:
    files = written(scope, owner)
    assert json.loads(files["sources.json"]) == []


@pytest.mark.usefixtures("library")
def test_progress_goes_to_the_end(scope: Scope, owner: User) -> None:
    reports: list[tuple[int, int]] = []
    written(scope, owner, progress=lambda done, total: reports.append((done, total)))
    assert (reports[0], reports[-1]) == ((0, 4), (4, 4))


@pytest.mark.usefixtures("library")
def test_a_worker_makes_it_in_pieces(
    scope: Scope, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "PART", 500)
    archive = archives.request(scope, owner)
    assert archives.request(scope, owner) == archive
    tasks.make_archive(archive.pk)
    archive = archives.find(scope, owner, archive.uuid, ready=True)
    data = read(archive)
    assert len(data) == archive.size
    assert ArchivePart.objects.count() > 2
    assert "index.html" in unpacked(data)
    tasks.make_archive(archive.pk)
    assert read(archive) == data


@pytest.mark.usefixtures("library")
def test_one_whose_worker_was_killed_begins_again(scope: Scope, owner: User) -> None:
    archive = archives.request(scope, owner)
    archive.change(state="running", attempts=1)
    ArchivePart.objects.create(archive=archive, ordinal=0, data=b"half")
    archives.make(archive)
    assert b"half" not in read(archives.find(scope, owner, archive.uuid, ready=True))


def test_one_that_kills_its_workers_fails(scope: Scope, owner: User) -> None:
    archive = archives.request(scope, owner)
    archive.change(crashes=Archive.MAX_CRASHES)
    archives.make(archive)
    assert archive.state == "failed"
    with pytest.raises(ArchiveNotFound):
        archives.find(scope, owner, archive.uuid, ready=True)


def test_it_is_its_owners_and_gone_with_the_right_to_read(
    scope: Scope, owner: User, collection: Collection
) -> None:
    archive = archives.request(scope, owner)
    archives.make(archive)
    other = make_user("grace", collection=collection)
    for reading, user in ((scope, other), (NOTHING, owner)):
        with pytest.raises(ArchiveNotFound):
            archives.find(reading, user, archive.uuid)
        assert archives.latest(reading, user) is None


def test_audio_and_video_files_come_only_if_asked_for_and_are_linked_where_they_play(
    scope: Scope, owner: User, collection: Collection
) -> None:
    video = make_video(collection, title="A talk: part 1")
    make_source(video)
    sound = make_wav(3)
    media.replace(video, io.BytesIO(sound), name="Talk.WAV")
    assert not [name for name in written(scope, owner) if name.startswith("media/")]
    file = io.BytesIO()
    archive_file.write(scope, owner, file, with_media=True)
    with zipfile.ZipFile(file) as archive:
        assert archive.read("media/A talk part 1.wav") == sound
        index = archive.read("index.html").decode()
        text = archive.read("sources/A talk part 1.md").decode()
        page = archive.read("sources/A talk part 1.html").decode()
    assert '<audio controls preload="none" src="media/A%20talk%20part%201.wav">' in index
    assert "(../media/A%20talk%20part%201.wav#t=0)" in text
    assert '<audio controls preload="none" src="../media/A%20talk%20part%201.wav">' in page
    assert 'href="../media/A%20talk%20part%201.wav#t=0"' in page


def test_a_request_for_files_is_kept_with_the_archive(
    scope: Scope, owner: User, collection: Collection
) -> None:
    video = make_video(collection)
    make_source(video)
    media.replace(video, io.BytesIO(make_wav()), name="talk.wav")
    archives.make(archives.request(scope, owner, with_media=True))
    archive = Archive.objects.get()
    data = b"".join(bytes(part.data) for part in archive.parts.all())
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert any(name.startswith("media/") for name in packed.namelist())
