"""The palette: where its words lead."""

import re
from uuid import UUID

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils.html import escape

from citations.ingest import selection
from citations.lectures import sessions
from citations.models import Source
from citations.notebook import conversations, highlights, notes
from citations.quotes.anchoring import SelectedText
from tests.html import assert_shows, text_of
from tests.makers import make_document, make_paper, make_source, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection, Feed

HTMX = {"HX-Request": "true"}


@pytest.fixture
def talk(collection: Collection) -> Source:
    return make_source(make_video(collection, title="Lecture on networks"), texts=["Hello."])


def places(page: Client, words: str) -> dict[str, str]:
    """Return the addresses of the places by their labels."""
    html = text_of(page.get("/go/", {"q": words}, headers=HTMX))
    assert "<html" not in html
    shown = r'(?:href|action)="([^"]+)"(?: data-place)?[^>]*>.*?"place-label">(.*?)</span>'
    return {label: address for address, label in re.findall(shown, html)}


def first(page: Client, words: str) -> str:
    """Return the address that Enter opens."""
    return next(iter(places(page, words).values()))


def test_words_lead_to_sources_collections_conversations_and_notes(
    page: Client, scope: Scope, owner: User, talk: Source
) -> None:
    conversation = conversations.begin(scope, owner, title="What networks learn")
    note = notes.pin(scope, owner, collection="lectures", title="Networks", text="They learn.")
    assert places(page, "NETWORK") == {
        "Search for “NETWORK”": "/search/?q=NETWORK",
        "Ask “NETWORK”": "/ask/?q=NETWORK",
        "Lecture on networks": f"/sources/{talk.uuid}/",
        "What networks learn": f"/ask/{conversation.uuid}/",
        "Networks": f"/notes/#note-{note.uuid}",
    }
    Collection.objects.filter(pk=talk.collection_id).update(name="Evening school")
    assert places(page, "school")["Evening school"] == f"/collections/{talk.collection_id}/"


def test_words_lead_to_lectures_by_their_titles(
    page: Client, scope: Scope, owner: User, collection: Collection
) -> None:
    lecture = sessions.start(scope, owner, title="Neural week 3", collection=collection)
    assert first(page, "neural week") == f"/lectures/{lecture.uuid}/"
    assert "Neural week 3" not in places(page, "week 4")
    assert "Neural week 3" not in places(page, "")


def test_a_question_is_asked_of_the_source_that_is_read(page: Client, talk: Source) -> None:
    for address in (f"/videos/{talk.video_id}/", f"/sources/{talk.uuid}/passages/"):
        html = text_of(page.get(address))
        assert f'<a href="/ask/?source={talk.uuid}"' in html
        assert f'hx-get="/go/?source={talk.uuid}"' in html
    html = text_of(page.get("/go/", {"q": "network", "source": talk.uuid}, headers=HTMX))
    address, title = f"/ask/?q=network&amp;source={talk.uuid}", "Lecture on networks"
    assert re.search(
        rf'href="{re.escape(address)}" data-place\s+data-ask-at-once>.*?'
        rf'Ask “network”</span>\s*<span class="place-detail">{title}<',
        html,
        re.DOTALL,
    )
    html = text_of(page.get("/go/", {"q": "ask", "source": talk.uuid}, headers=HTMX))
    assert html.count(f'href="/ask/?source={talk.uuid}"') == 2, "the page, and the action"
    assert '<a href="/ask/"' in text_of(page.get("/library/"))


@pytest.mark.parametrize("source", ["", "x", "0" * 8, str(UUID(int=1))])
def test_of_a_source_that_is_not_there_all_are_asked(page: Client, source: str) -> None:
    html = text_of(page.get("/go/", {"q": "network", "source": source}, headers=HTMX))
    assert 'href="/ask/?q=network"' in html


def test_words_lead_to_highlights_that_the_reader_may_see(
    page: Client, viewer: Client, scope: Scope, owner: User, collection: Collection
) -> None:
    book = make_paper(collection, ["Each weight follows its gradient."])
    kept = highlights.keep(scope, owner, book, SelectedText(exact="Each weight")).placed
    assert places(page, "weight")["Each weight"] == escape(kept.link)
    assert "Each weight" not in places(viewer, "weight")
    selection.discard(by=owner, highlights=[kept.row])
    assert "Each weight" not in places(page, "weight")


def test_words_lead_to_pages_and_actions(page: Client) -> None:
    assert places(page, "add video")["Add videos or documents"] == "/add/"
    assert places(page, "token")["Applications and tokens"] == "/tokens/"


@pytest.mark.parametrize(
    ("words", "label", "address"),
    [
        ("new collection", "New collection", "/collections/#new"),
        ("export every", "Export everything as one ZIP", "/export/"),
    ],
)
def test_words_lead_to_what_can_be_done(page: Client, words: str, label: str, address: str) -> None:
    assert places(page, words)[label] == address


def test_what_is_called_like_the_words_comes_before_the_search_for_them(
    page: Client, talk: Source, collection: Collection
) -> None:
    longer = make_document(collection, ["x"], title="Lecture on networks, continued")
    for words in ("Lecture on  NETWORKS", "lecture on"):
        assert first(page, words) == f"/sources/{talk.uuid}/"
    assert first(page, "lecture on networks, c") == f"/sources/{longer.uuid}/"
    assert first(page, "networks") == "/search/?q=networks"
    Collection.objects.filter(pk=collection.pk).update(name="Evening school")
    assert first(page, "evening") == f"/collections/{collection.pk}/"
    assert first(page, "high") == "/highlights/"


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("write a note", "/notes/?new=1"),
        ("import", "/highlights/import/"),
        ("on netw", "/sources/{talk}/"),
        ("penguin rem", "/notes/#note-{note}"),
        ("networks lecture", "/search/?q=networks+lecture"),
        ("tables and chairs", "/search/?q=tables+and+chairs"),
    ],
)
def test_the_name_of_an_action_a_source_or_a_note_comes_before_the_search_for_it(
    page: Client, scope: Scope, owner: User, talk: Source, words: str, address: str
) -> None:
    notes.pin(scope, owner, collection="lectures", title="On penguins", text="They swim.")
    note = notes.pin(scope, owner, collection="lectures", title="Penguin remarks", text="They.")
    assert first(page, words) == address.format(talk=talk.uuid, note=note.uuid)


def test_outside_the_admin_its_tables_come_last(page: Client, owner: User) -> None:
    owner.is_staff = owner.is_superuser = True
    owner.save()
    html = text_of(page.get("/go/", {"q": "memberships"}, headers=HTMX))
    assert html.index("/search/?q=memberships") < html.index("/admin/transcripts/membership/")


def test_a_source_of_that_title_is_there_however_many_newer_ones_have_the_words(
    page: Client, collection: Collection, talk: Source
) -> None:
    for number in range(7):
        make_document(collection, ["x"], title=f"About the Lecture on networks {number}")
    assert first(page, "lecture on networks") == f"/sources/{talk.uuid}/"


def test_a_source_is_listed_once(page: Client, talk: Source) -> None:
    html = text_of(page.get("/go/", {"q": "lecture on"}, headers=HTMX))
    assert html.count(f'href="/sources/{talk.uuid}/"') == 1


def test_words_lead_to_tags_of_what_the_reader_may_see(
    page: Client, stranger: Client, talk: Source
) -> None:
    Source.objects.filter(pk=talk.pk).update(tags=["deep learning", "moss"])
    assert places(page, "LEARN deep")["#deep learning"] == "/library/?tag=deep+learning"
    assert "#moss" not in places(page, "learn")
    assert "#deep learning" not in places(stranger, "learn")


def test_highlights_are_exported_by_the_name_of_the_program(page: Client) -> None:
    assert places(page, "export anki")["Export highlights: Anki"] == "/highlights/export/anki/"
    exports = [label for label in places(page, "export") if label.startswith("Export highlights")]
    assert len(exports) == 4
    response = page.get("/highlights/export/anki/")
    response.close()
    assert response.status_code == 200


def test_what_is_new_is_fetched_by_those_who_may(
    page: Client, viewer: Client, collection: Collection
) -> None:
    feed = Feed.objects.create(
        collection=collection, kind="playlist", youtube_id="PLcourse", title="A course"
    )
    label = "Fetch what is new: A course"
    assert places(page, "fetch")[label] == f"/feeds/{feed.pk}/sync/"
    assert label not in places(viewer, "fetch")
    html = text_of(page.get("/go/", {"q": "fetch"}))
    assert f'<form method="post" action="/feeds/{feed.pk}/sync/">' in html


def test_owners_alone_are_led_to_inviting_somebody(
    page: Client, viewer: Client, collection: Collection
) -> None:
    label = f"Invite somebody to “{collection.name}”"
    assert places(page, "invite")[label] == f"/collections/{collection.pk}/settings/#new-member"
    assert label in places(page, f"somebody {collection.name.lower()}")
    assert not [label for label in places(viewer, "invite") if label.startswith("Invite")]
    assert not [label for label in places(page, "") if label.startswith("Invite")]


def test_what_a_viewer_may_not_do_is_not_offered(page: Client, viewer: Client) -> None:
    for words, label in (("add", "Add videos or documents"), ("note", "Write a note")):
        assert label in places(page, words)
        assert label not in places(viewer, words)


def test_without_words_it_shows_the_newest_sources_and_every_page(
    page: Client, talk: Source
) -> None:
    listed = places(page, "")
    assert listed["Lecture on networks"] == f"/sources/{talk.uuid}/"
    assert listed["Activity"] == "/activity/"


def test_titles_and_words_are_escaped(page: Client, collection: Collection) -> None:
    make_document(collection, ["x"], title="<b>script</b>")
    assert_shows(page.get("/go/", {"q": "script"}), "&lt;b&gt;script", without=("<b>script",))


def test_without_scripts_it_is_a_page(page: Client, talk: Source) -> None:
    html = text_of(page.get("/go/", {"q": "networks"}))
    assert "<h1>Go to</h1>" in html
    assert f'href="/sources/{talk.uuid}/"' in html


def test_every_page_can_search_the_whole_library(page: Client) -> None:
    html = text_of(page.get("/activity/"))
    assert '<form class="top-search search-box" method="get" action="/search/"' in html


def test_staff_go_to_the_tables_of_the_admin_that_they_may_open(
    page: Client, owner: User, collection: Collection
) -> None:
    assert "/admin/auth/user/" not in places(page, "user").values()
    owner.is_staff = True
    owner.save()
    assert "/admin/auth/user/" not in places(page, "user").values(), "staff without a permission"
    owner.user_permissions.add(Permission.objects.get(codename="view_user"))
    assert places(page, "user")["Users"] == "/admin/auth/user/"
    assert "Add user" not in places(page, "user")
    owner.user_permissions.add(Permission.objects.get(codename="add_user"))
    assert places(page, "add user")["Add user"] == "/admin/auth/user/add/"
    assert "/admin/auth/user/" not in places(page, "").values(), "before anything is typed"


def test_within_the_admin_its_tables_come_first(page: Client, owner: User) -> None:
    owner.is_staff = owner.is_superuser = True
    owner.save()
    admin, site = 'href="/admin/transcripts/collection/"', 'href="/collections/"'
    html = text_of(page.get("/go/", {"q": "collections"}, headers=HTMX))
    assert html.index(site) < html.index(admin)
    here = HTMX | {"HX-Current-URL": "http://testserver/admin/"}
    html = text_of(page.get("/go/", {"q": "collections"}, headers=here))
    assert html.index(admin) < html.index(site)
