"""The page of a collection: what it shows of its sources and of what its readers make of them; who
leaves it, and everything in one ZIP.
"""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations.guide.items import GuideItem, SourceGuide
from citations.models import Archive, Conversation, Guide, Highlight, Note, Source
from citations.notebook import archives
from citations.passages import Locator
from tests.html import assert_shows, text_of
from tests.makers import make_cues, make_document, make_source, make_user, make_video
from transcripts.core import clock
from transcripts.models import Collection, Membership, Role, Video

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def address(collection: Collection) -> str:
    return f"/collections/{collection.pk}/"


@pytest.fixture
def talk(collection: Collection) -> Video:
    video = make_video(collection, title="Talk on moss", cues=make_cues(2))
    make_source(video)
    return video


@pytest.fixture
def elsewhere(owner: User) -> Collection:
    """Another collection of the owner, with one of everything."""
    other = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    other.memberships.create(user=owner, role=Role.OWNER)
    source = make_document(other, ["Far away."], title="A far document")
    Note.objects.create(collection=other, title="A far note", text="Far.")
    Conversation.objects.create(collection=other, owner=owner, title="A far question")
    highlight(source, owner, "Far away.")
    return other


def highlight(source: Source, author: User, quote: str, **more: bool) -> None:
    Highlight.objects.create(
        source=source, author=author, quote=quote, span_start=0, span_end=9, page=1, **more
    )


def test_it_shows_what_is_in_it_and_nothing_else(
    page: Client, owner: User, collection: Collection, address: str, elsewhere: Collection
) -> None:
    source = make_document(collection, ["Ice is cold."], title="Notes on ice")
    Note.objects.create(collection=collection, title="What we know", text="Ice.")
    Conversation.objects.create(collection=collection, owner=owner, title="Why is it cold?")
    highlight(source, owner, "Ice is cold.")
    html = text_of(page.get(address))
    for part in ("Notes on ice", "What we know", "Why is it cold?", "Ice is cold.", "1 item<"):
        assert part in html
    assert "A far" not in html


def test_it_lists_its_sources_as_the_library_does(
    page: Client, collection: Collection, talk: Video, address: str, elsewhere: Collection
) -> None:
    html = text_of(page.get(f"{address}?view=table&sort=title&q=moss"))
    assert f'<a href="{address}?q=moss&amp;sort=-title">Title' in html
    assert f'aria-current="true" href="{address}?sort=title"' in html  # the chip of the words
    assert_shows(page.get(f"{address}?q=moss", **HTMX), "Talk on moss", without=("<h1",))
    assert "Nothing fits" in text_of(page.get(f"{address}?q=document", **HTMX))


def test_no_filter_leads_out_of_it(
    page: Client, talk: Video, address: str, elsewhere: Collection
) -> None:
    assert "A far document" not in text_of(page.get(f"{address}?collection=elsewhere"))


def test_an_empty_one_says_what_to_do_next(
    page: Client, viewer: Client, collection: Collection, address: str
) -> None:
    empty = text_of(page.get(address))
    assert "Nothing is in this collection yet" in empty
    assert f'href="/add/?collection={collection.slug}" data-add' in empty
    assert "Add a source first: then you can ask." in empty
    assert ">Write a note" in empty
    assert 'select them in the <a href="/library/">library</a>' in empty
    assert "or write one for all readers" in empty
    read_only = text_of(viewer.get(address))
    assert "Its editors can add to it." in read_only
    assert "To move existing items" not in read_only
    assert "or write one" not in read_only
    assert "Add a source first" not in read_only
    assert ">Write a note" not in read_only


def test_it_is_asked_and_searched_alone(
    page: Client, collection: Collection, talk: Video, address: str, elsewhere: Collection
) -> None:
    html = text_of(page.get(address))
    assert f'<input type="hidden" name="collection" value="{collection.slug}">' in html
    assert 'formaction="/search/"' in html
    ask = text_of(page.get(f"/ask/?collection={collection.slug}&q=Why%3F"))
    assert "Talk on moss" in ask
    assert "A far document" not in ask
    assert ">Why?</textarea>" in ask


def test_it_suggests_what_its_own_sources_answer(
    page: Client, collection: Collection, address: str, elsewhere: Collection
) -> None:
    for target, question in ((collection, "What is ice?"), (elsewhere, "What is far?")):
        source = make_document(target, ["Ice."], title=f"About {target}")
        item = GuideItem(label=question, text="Ice.", locator=Locator(span=(0, 4)))
        guide = SourceGuide(questions=(item,)).as_json()
        Guide.objects.create(
            source=source, digest=source.digest, version=1, items=guide, made_at=clock.now()
        )
    assert_shows(page.get(address), "What is ice?", without=("What is far?",))


def test_all_readers_see_who_reads_and_owners_lead_on_to_change_it(
    page: Client, viewer: Client, collection: Collection, address: str
) -> None:
    make_user("mia", collection=collection, role=Role.EDITOR)
    for client in (page, viewer):
        html = text_of(client.get(address))
        assert '<span class="wrap">mia</span><span class="muted small">editor</span>' in html
    settings = f'href="{address}settings/#members"'
    assert settings in text_of(page.get(address))
    assert settings not in text_of(viewer.get(address))


def test_what_others_keep_for_themselves_stays_with_them(
    viewer: Client, owner: User, collection: Collection, address: str
) -> None:
    source = make_document(collection, ["Ice is cold."], title="Notes on ice")
    Conversation.objects.create(collection=collection, owner=owner, title="A private question")
    Conversation.objects.create(
        collection=collection, shared_with=collection, owner=owner, title="A shared question"
    )
    highlight(source, owner, "A private passage")
    highlight(source, owner, "A shared passage", is_shared=True)
    assert_shows(viewer.get(address), "A shared question", "A shared passage", without=("private",))


def test_all_questions_are_those_of_the_collection(
    page: Client, owner: User, collection: Collection, elsewhere: Collection
) -> None:
    Conversation.objects.create(collection=collection, owner=owner, title="Why is it cold?")
    html = text_of(page.get(f"/ask/conversations/?collection={collection.slug}"))
    assert "Why is it cold?" in html
    assert "A far" not in html
    assert page.get("/ask/conversations/?collection=nowhere").status_code == 404


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_a_member_leaves_after_a_confirmation_and_keeps_highlights_out_of_sight(
    collection: Collection, role: Role
) -> None:
    member, browser = make_user("mia", collection=collection, role=role), Client()
    browser.force_login(member)
    source = make_document(collection, ["Ice is cold."], title="Notes on ice")
    Highlight.objects.create(
        source=source, author=member, quote="Ice is cold.", span_start=0, span_end=9, page=1
    )
    address = f"/collections/{collection.pk}/leave/"
    assert address in text_of(browser.get(f"/collections/{collection.pk}/"))
    assert "Your highlight there is kept, but hidden from you" in text_of(browser.get(address))
    assert Membership.objects.filter(user=member).exists()
    assert f"You left “{collection.name}”." in text_of(browser.post(address, follow=True))
    assert not Membership.objects.filter(user=member).exists()
    assert Highlight.objects.filter(author=member).exists()
    listed = text_of(browser.get("/highlights/"))
    assert "One more highlight of yours is in a collection that you may not read" in listed
    assert "Ice is cold." not in listed
    assert browser.get(f"/collections/{collection.pk}/").status_code == 404


def test_the_last_owner_stays_and_one_of_two_leaves(
    page: Client, owner: User, collection: Collection
) -> None:
    address = f"/collections/{collection.pk}/leave/"
    assert address not in text_of(page.get(f"/collections/{collection.pk}/"))
    assert page.get(address).status_code == 409
    assert page.post(address).status_code == 409
    make_user("second", collection=collection, role=Role.OWNER)
    assert address in text_of(page.get(f"/collections/{collection.pk}/"))
    assert page.post(address).status_code == 302
    assert not Membership.objects.filter(user=owner).exists()


def test_a_superuser_who_is_no_member_has_nothing_to_leave(collection: Collection) -> None:
    browser = Client()
    browser.force_login(User.objects.create_superuser("root"))
    assert "/leave/" not in text_of(browser.get(f"/collections/{collection.pk}/"))
    assert browser.get(f"/collections/{collection.pk}/leave/").status_code == 409


def test_an_archive_is_asked_for_watched_downloaded_and_deleted(page: Client, owner: User) -> None:
    assert "None yet" in text_of(page.get("/export/"))
    assert page.post("/export/").status_code == 302
    archive = Archive.objects.get(owner=owner)
    archive.change(total=4, done=1)
    waiting = page.get("/export/")
    assert "1 of 4 sources" in text_of(waiting)
    assert '<noscript><meta http-equiv="refresh"' in waiting.content.decode()
    assert page.get(f"/export/{archive.uuid}/file/").status_code == 404
    archives.make(archive)
    assert "Download" in text_of(page.get("/export/"))
    response = page.get(f"/export/{archive.uuid}/file/")
    assert response["Content-Length"] == str(Archive.objects.get().size)
    assert response["Content-Disposition"].startswith('attachment; filename="cuebase-')
    page.post(f"/export/{archive.uuid}/delete/")
    assert not Archive.objects.exists()
