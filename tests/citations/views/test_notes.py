"""The notes of a collection: who writes and sees them, and their Markdown."""

from time import process_time
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations.models import Answer, Deletion, Note, Source
from citations.notebook import conversations, highlights, notes
from citations.notebook.highlights import HighlightNotes, SelectedText
from citations.templatetags.citations import markdown
from citations.views import notes as view_notes
from tests.html import text_of
from tests.makers import make_citation, make_paper
from transcripts.core.scope import Scope
from transcripts.models import Collection

HTMX = {"HTTP_HX_REQUEST": "true"}
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def note(scope: Scope, owner: User, collection: Collection) -> Note:
    return notes.pin(
        scope,
        owner,
        collection=collection.slug,
        title="Week 3",
        text="**Gradients** are [here](/videos/1/).",
    )


@pytest.fixture
def answer(scope: Scope, owner: User, collection: Collection) -> Answer:
    """An answer with one citation."""
    book: Source = make_paper(collection, ["The error runs backwards."], title="A book")
    conversation = conversations.begin(scope, owner, collection=collection.slug)
    claims = [{"text": "It runs backwards.", "citations": [1], "is_supported": True}]
    answer = Answer.objects.create(
        conversation=conversation, ordinal=1, question="Where to?", state="answered", claims=claims
    )
    make_citation(answer, book, "The error runs backwards.", page=1)
    return answer


def test_notes_are_written_changed_and_deleted(page: Client, collection: Collection) -> None:
    assert "No note yet" in text_of(page.get("/notes/"))
    response = page.post(
        "/notes/add/",
        {"collection": collection.slug, "title": "", "text": f"{HOSTILE} first line\nand more"},
    )
    note = Note.objects.get()
    assert response["Location"] == f"/notes/?collection={collection.slug}#note-{note.uuid}"
    assert HOSTILE not in text_of(page.get(response["Location"]))
    assert "and more" in text_of(page.get(f"/notes/{note.uuid}/"))
    page.post(f"/notes/{note.uuid}/", {"title": "Week 4", "text": "Less"})
    note.refresh_from_db()
    assert (note.title, note.text) == ("Week 4", "Less")
    assert "Delete “Week 4”?" in text_of(page.get(f"/notes/{note.uuid}/delete/"))
    deleted = page.post(f"/notes/{note.uuid}/delete/")
    assert deleted["Location"] == f"/notes/?collection={collection.slug}"
    deletion = Deletion.objects.get()
    address = f"/library/undo/{deletion.uuid}/"
    assert f'action="{address}"' in text_of(page.get("/notes/"))
    assert page.get(f"/notes/{note.uuid}/").status_code == 404
    page.post(address)
    assert "Week 4" in text_of(page.get("/notes/"))


@pytest.mark.parametrize(
    "sent",
    [
        {"title": " ", "text": " "},
        {"title": "x" * 301, "text": "y"},
        {"title": "x", "text": "y" * 50_001},
    ],
)
def test_a_note_that_cannot_be_kept_stays_in_its_form(
    page: Client, note: Note, collection: Collection, sent: dict[str, str]
) -> None:
    for address in ("/notes/add/", f"/notes/{note.uuid}/"):
        response = page.post(address, {"collection": collection.slug, **sent})
        assert response.status_code == 422
        assert "notice-error" in text_of(response)
    assert Note.objects.get().title == "Week 3"


def test_notes_are_found_by_their_words_from_page_to_page(
    page: Client, scope: Scope, owner: User, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_notes, "PAGE_SIZE", 1)
    notes.pin(scope, owner, title="Bread", text="It rises & <b>falls</b>.")
    notes.pin(scope, owner, title="More bread")
    html = text_of(page.get(f"/notes/?q=bread&collection={note.collection.slug}"))
    assert "More bread" in html
    assert "Week 3" not in html
    assert f"?q=bread&amp;collection={note.collection.slug}&amp;offset=1" in html
    assert 'value="bread"' in html
    older = text_of(page.get(f"/notes/?collection={note.collection.slug}&q=bread&offset=1"))
    assert "It rises" in older
    nothing = text_of(page.get("/notes/", {"q": '"><script>', "collection": note.collection.slug}))
    assert "No note has these words" in nothing
    assert '"><script>' not in nothing


def test_whoever_reads_the_collection_sees_its_notes_and_only_editors_change_them(
    viewer: Client, client: Client, note: Note
) -> None:
    html = text_of(viewer.get(f"/notes/?collection={note.collection.slug}"))
    assert "Week 3" in html
    assert "New note" not in html
    assert "Change Week 3" not in html
    assert viewer.get(f"/notes/{note.uuid}/").status_code == 403
    assert viewer.post(f"/notes/{note.uuid}/delete/").status_code == 403
    assert viewer.post("/notes/add/", {"title": "x"}).status_code == 403
    Note.objects.update(collection=Collection.objects.create(name="Hidden", slug="hidden"))
    assert "Week 3" not in text_of(viewer.get("/notes/"))
    assert viewer.get("/notes/?collection=hidden").status_code == 404


def test_an_answer_is_saved_as_a_note_with_links_to_what_it_cites(
    page: Client, answer: Answer
) -> None:
    saved = text_of(page.post(f"/ask/answers/{answer.uuid}/note/", **HTMX))
    note = Note.objects.get()
    assert f"#note-{note.uuid}" in saved
    html = text_of(page.get("/notes/"))
    assert f'<a href="/citations/{answer.citations.get().uuid}/">[1]</a>' in html
    assert f"#answer-{answer.uuid}" in html
    again = text_of(page.post(f"/ask/answers/{answer.uuid}/note/", **HTMX))
    assert "Saved already" in again
    assert f"#note-{note.uuid}" in again
    response = page.post(f"/ask/answers/{answer.uuid}/note/", follow=True)
    assert response.redirect_chain[0][0].endswith(f"#note-{note.uuid}")
    assert "already saved" in text_of(response)
    assert Note.objects.get() == note
    whole = text_of(page.get(f"/ask/{answer.conversation.uuid}/"))
    assert f"#note-{note.uuid}" in whole
    assert "Save as note" not in whole
    assert page.post(f"/ask/answers/{uuid4()}/note/").status_code == 404


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("## A head", "<p><strong>A head</strong></p>"),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"),
        ('[a](/x"onclick="y)', '<p><a href="/x%22onclick=%22y">a</a></p>'),
        (
            "[a](https://x.example/?a=1&b=2)",
            '<p><a href="https://x.example/?a=1&amp;b=2">a</a></p>',
        ),
        ("[\\[1\\]](/c/)", '<p><a href="/c/">[1]</a></p>'),
        ("\\<b\\> & \\*\\*no\\*\\*", "<p>&lt;b&gt; &amp; **no**</p>"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"),
        ("<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>"),
        ("![a](https://x.example/a.png)", '<p>!<a href="https://x.example/a.png">a</a></p>'),
    ],
)
def test_of_markdown_only_what_is_harmless_is_shown(text: str, shown: str) -> None:
    assert markdown(text) == shown


@pytest.mark.parametrize("text", ["[" * 50_000, "> " * 25_000, "[a]: /x\n" * 6_000])
def test_a_malicious_note_keeps_nobody_busy(text: str) -> None:
    begun = process_time()
    markdown(text)
    assert process_time() - begun < 20  # it takes a second or two


def test_a_note_on_a_highlight_is_listed_with_its_quote_and_its_link(
    page: Client, scope: Scope, owner: User, collection: Collection
) -> None:
    book = make_paper(collection, ["The error runs backwards."], title="A book")
    highlights.keep(
        scope, owner, book, SelectedText(exact="The error"), HighlightNotes(note="Ask Grace.")
    )
    listed = text_of(page.get("/notes/?q=grace"))
    assert "Ask Grace." in listed
    assert "The error" in listed
    assert f'href="/sources/{book.uuid}/pages/1/?from=0&amp;to=9"' in listed


def test_a_page_without_notes_says_where_highlights_are(page: Client, note: Note) -> None:
    hint = '<a href="/highlights/">Highlights</a>;'
    assert hint not in text_of(page.get("/notes/"))
    note.delete()
    assert hint in text_of(page.get("/notes/"))
