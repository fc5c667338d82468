"""The library page: what it lists, how, and for whom."""

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from citations.errors import ModelRefused, ModelServerError
from citations.models import Archive, Deletion, EmbeddingSpace, LectureSession, Source, State
from citations.providers import weights
from citations.views import library as library_views
from tests.html import assert_shows, text_of
from tests.makers import make_cues, make_document, make_source, make_user, make_video, make_wav
from transcripts.library import collections
from transcripts.media import files as media
from transcripts.models import Collection, Feed, Job, Video

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def talk(collection: Collection) -> Video:
    video = make_video(collection, title="Lecture on networks", cues=make_cues(2))
    make_source(video)
    return video


def test_an_empty_library_shows_the_next_step(page: Client, viewer: Client) -> None:
    empty = text_of(page.get("/library/"))
    assert "Your library is empty" in empty
    assert 'action="/library/sample/"' in empty
    assert "Add videos or files" in empty
    assert 'href="/add/" data-add="video"' in empty
    assert 'href="/add/#folder" data-add="folder"' in empty
    read_only = text_of(viewer.get("/library/"))
    assert "ask an owner" in read_only
    assert 'action="/library/sample/"' in read_only
    assert 'href="/add/"' not in read_only


def test_a_member_of_no_collection_learns_so(client: Client, talk: Video, viewer: Client) -> None:
    client.force_login(make_user("nobody"))
    empty = text_of(client.get("/library/"))
    assert "You are in no collection." in empty
    assert "ask an owner to add you to one" in empty
    assert 'href="/collections/">Make a collection</a>' in empty
    assert "Nobody has added anything" not in empty
    Video.objects.all().delete()
    assert "Nobody has added anything" in text_of(viewer.get("/library/"))


def test_an_empty_list_says_that_something_is_on_its_way(
    page: Client, viewer: Client, collection: Collection, owner: User
) -> None:
    shelf = collections.create("Shelf", owner=owner)
    Job.objects.create(collection=collection, kind="video", target="dQw4w9WgXcQ")
    awaited = "What was added is on its way"
    for address in ("/library/", f"/collections/{collection.pk}/"):
        for headers in ({}, HTMX):
            assert_shows(page.get(address, **headers), awaited, without=("is empty",))
    assert awaited not in text_of(page.get("/library/?q=moss"))
    assert awaited not in text_of(page.get(f"/collections/{shelf.pk}/"))
    Job.objects.update(state=Job.State.DONE)
    assert "Your library is empty" in text_of(page.get("/library/"))


def test_the_account_menu_leads_to_collections_and_their_members(page: Client) -> None:
    assert '<a href="/collections/">Collections and members</a>' in text_of(page.get("/activity/"))


def test_recordings_and_documents_stand_beside_each_other(
    page: Client, talk: Video, collection: Collection
) -> None:
    notes = make_document(collection, ["Ice."], title="Notes on ice")
    for view in ("cards", "table"):
        html = text_of(page.get(f"/library/?view={view}"))
        assert f'href="/videos/{talk.pk}/" data-item-link>Lecture on networks</a>' in html
        assert f'href="/sources/{notes.uuid}/" data-item-link>Notes on ice</a>' in html
        assert "2 items" in html


def test_the_view_is_remembered(page: Client, talk: Video) -> None:
    assert '<table class="items">' not in text_of(page.get("/library/"))
    assert '<table class="items">' in text_of(page.get("/library/?view=table"))
    assert '<table class="items">' in text_of(page.get("/library/"))


def test_the_table_is_sorted_by_its_headings(page: Client, talk: Video) -> None:
    html = text_of(page.get("/library/?view=table&sort=title&q=networks"))
    assert 'aria-sort="ascending"' in html
    assert '<a href="/library/?q=networks&amp;sort=-title">Title' in html
    reversed_ = text_of(page.get("/library/?view=table&sort=-title"))
    assert 'aria-sort="descending"' in reversed_
    assert '<a href="/library/?sort=title">Title' in reversed_


def test_fields_that_were_left_empty_are_no_part_of_the_address(page: Client, talk: Video) -> None:
    sent, kept = "/library/?q=&kind=&reading=&sort=title", "/library/?sort=title"
    assert page.get(sent)["Location"] == kept
    assert page.get("/library/?q=")["Location"] == "/library/"
    assert page.get("/library/?tag=a&tag=")["Location"] == "/library/?tag=a"
    answer = page.get(sent, headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Replace-Url"]) == (200, kept)
    assert "HX-Replace-Url" not in page.get(kept, headers={"HX-Request": "true"})


def test_dates_are_written_as_everywhere(page: Client, talk: Video) -> None:
    Video.objects.update(published_at=datetime(2024, 5, 1, tzinfo=UTC))
    assert ">May 1, 2024</td>" in text_of(page.get("/library/?view=table"))
    german = page.get("/library/?view=table", headers={"Accept-Language": "de"})
    assert ">1. Mai 2024</td>" in text_of(german)


def test_each_filter_is_a_chip_that_can_be_taken_away(page: Client, talk: Video) -> None:
    Video.objects.update(tags=["week 1"], channel="Hall")
    html = text_of(page.get("/library/?q=lecture&tag=week+1&channel=hall&kind=video"))
    assert 'href="/library/?q=lecture&amp;channel=hall&amp;kind=video">' in html
    assert "Clear all filters" in html
    assert_shows(page.get("/library/?q=zebra"), "Nothing fits “zebra”", "clear the filter")


def test_the_chip_of_a_collection_has_its_name(page: Client, talk: Video) -> None:
    talk.collection.name = "Talks of the hall"
    talk.collection.save()
    html = LexborHTMLParser(page.get(f"/library/?collection={talk.collection.slug}").text)
    (chip,) = html.css(".filter-chips .wrap")
    assert chip.text() == "Talks of the hall"


@pytest.mark.parametrize("view", ["cards", "table"])
def test_three_tags_of_an_item_are_shown_and_filter(page: Client, talk: Video, view: str) -> None:
    Video.objects.update(tags=["a/b & c", "<i>two</i>", "three", "four", "five"])
    html = text_of(page.get(f"/library/?view={view}"))
    assert 'href="/library/?tag=a%2Fb%20%26%20c"' in html
    assert "&lt;i&gt;two&lt;/i&gt;</a>" in html
    assert "tag=three" in html
    assert "tag=four" not in html
    assert 'title="four, five">+2' in html
    of_collection = text_of(page.get(f"/collections/{talk.collection_id}/?view={view}"))
    assert f'href="/collections/{talk.collection_id}/?tag=three"' in of_collection
    assert "Lecture on networks" in text_of(page.get("/library/?tag=a%2Fb%20%26%20c"))


def test_htmx_gets_the_list_alone(page: Client, talk: Video) -> None:
    assert_shows(page.get("/library/?q=lecture", **HTMX), "Lecture on networks", without=("<html",))


@pytest.mark.parametrize("view", ["cards", "table"])
def test_the_next_page_keeps_filter_group_and_view(
    page: Client, collection: Collection, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    monkeypatch.setattr(library_views, "PAGE_SIZE", 3)
    for number in range(5):
        make_video(collection, key=f"v{number}", title=f"Talk {number}", cues=make_cues(1))
    query = f"q=talk&group=collection&view={view}"
    first = text_of(page.get(f"/library/?{query}"))
    assert f"q=talk&amp;group=collection&amp;offset=3&amp;view={view}" in first
    assert first.count("data-item-link") == 3
    assert 'class="group-row"' in first
    rest = text_of(page.get(f"/library/?{query}&offset=3", **HTMX))
    assert "Talk 0" in rest
    assert "group-row" not in rest
    assert "Show more" not in rest


def test_titles_are_escaped(page: Client, collection: Collection) -> None:
    make_video(collection, title="<script>alert(1)</script>")
    for view in ("cards", "table"):
        assert "<script>alert" not in text_of(page.get(f"/library/?view={view}&group=kind"))


def test_the_number_of_queries_does_not_grow_with_the_library(
    page: Client, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        make_source(make_video(collection, key=f"v{number}", cues=make_cues(1)))
        make_document(collection, ["x"], title=f"Notes {number}")
    with django_assert_max_num_queries(29):
        page.get("/library/?group=tag")
    with django_assert_max_num_queries(16):
        page.get("/library/?group=tag", **HTMX)


def test_the_page_of_a_source_tells_what_the_embedding_model_did_not_take(
    page: Client, collection: Collection
) -> None:
    notes = make_document(collection, ["x", "y", "z"], title="Notes")
    error = ModelServerError("1 of 3 passages have no vector: NaN.", hint="It is tried again.")
    Source.objects.update(state=State.READY, cut_count=2, chunk_count=3)
    notes.postpone(error=error)
    html = text_of(page.get(f"/sources/{notes.uuid}/passages/"))
    assert "1 of 3 passages have no vector: NaN." in html
    assert "It is tried again." in html
    assert "2 of 3 passages were cut to fit the embedding model." in html


def test_how_far_the_indexing_is_can_be_seen_and_filtered(
    page: Client, talk: Video, collection: Collection
) -> None:
    refused = make_document(collection, ["x"], title="Refused notes")
    refused.fail(ModelRefused("The server refused the key."))
    make_document(collection, ["x"], title="Half-way notes")
    html = text_of(page.get("/library/"))
    assert f'href="/sources/{refused.uuid}/passages/" title="The server refused the key."' in html
    assert ">failed</a>" in html
    assert "being indexed" in html
    assert "being indexed" in text_of(page.get("/library/?state=words"))
    failed = text_of(page.get("/library/?state=failed"))
    assert "Refused notes" in failed
    assert "Half-way notes" not in failed
    assert Source.objects.filter(state=State.READY).get().title not in failed


def test_languages_that_the_embedding_model_does_not_know_are_told(
    page: Client, collection: Collection
) -> None:
    for text in ("Die Steigung.", "Die Ableitung."):
        make_document(collection, [text], language="de")
    assert "languages that" not in text_of(page.get("/library/"))
    EmbeddingSpace.objects.create(
        provider="local", model=weights.MINILM, dimensions=384, state="active"
    )
    html = text_of(page.get("/library/"))
    assert "2 of 2 sources" in html
    assert "does not know (German)" in html
    assert "The operator of this server can choose a model" in html
    assert "kb models" not in html  # a reader has no shell there
    User.objects.update(is_staff=True)
    shown = text_of(page.get("/library/"))
    assert "<code>kb models fetch e5-small</code>" in shown
    assert "<code>kb db migrate-embeddings --to e5-small</code>" in shown


def test_the_notice_about_languages_stays_dismissed_until_it_concerns_another(
    page: Client, viewer: Client, collection: Collection
) -> None:
    EmbeddingSpace.objects.create(
        provider="local", model=weights.MINILM, dimensions=384, state="active"
    )
    for text in ("Die Steigung.", "Die Ableitung."):
        make_document(collection, [text], language="de")
    assert "does not know (German)" in text_of(page.get("/library/"))
    dismissed = page.post("/library/languages/dismiss/", follow=True)
    assert dismissed.redirect_chain == [("/library/", 302)]
    assert "does not know" not in text_of(dismissed)
    assert "does not know" not in text_of(page.get("/library/"))
    assert "does not know (German)" in text_of(viewer.get("/library/"))
    french = make_document(collection, ["La pente."], language="fr")
    assert "does not know (German, French)" in text_of(page.get("/library/"))
    page.post("/library/languages/dismiss/", headers={"HX-Request": "true"})
    assert "does not know" not in text_of(page.get("/library/"))
    french.delete()
    assert "does not know" not in text_of(page.get("/library/"))


@pytest.mark.parametrize(
    "query",
    [
        "state=magic",
        "offset=-1",
        "offset=99999999999999999999",
        "offset=9999999",
        "sort=%27%3B",
        "group=x",
        "view=x",
        "q=%ED%A0%80",
        "kind=lecture&tag=x",
    ],
)
def test_an_odd_address_still_lists(page: Client, talk: Video, query: str) -> None:
    assert page.get(f"/library/?{query}").status_code == 200


# What is done with the selected


def test_items_are_tagged_from_the_list_by_those_who_may(
    page: Client, viewer: Client, talk: Video
) -> None:
    sent = {
        "item": f"video-{talk.pk}",
        "action": "tag",
        "tags": "ice, snow",
        "next": "/library/?q=l",
    }
    assert page.post("/library/change/", sent)["Location"] == "/library/?q=l"
    talk.refresh_from_db()
    assert talk.tags == ["ice", "snow"]
    assert viewer.post("/library/change/", {**sent, "tags": "x"}).status_code == 403
    assert 'value="untag"' in text_of(page.get("/library/"))
    assert 'value="untag"' not in text_of(viewer.get("/library/"))


def test_tags_of_several_items_are_undone_for_those_that_changed(
    page: Client, viewer: Client, talk: Video, collection: Collection
) -> None:
    Video.objects.filter(pk=talk.pk).update(tags=["ice"])
    paper = make_document(collection, ["Ice."], title="Notes on ice")
    Source.objects.filter(pk=paper.pk).update(tags=["old"])
    items = [f"video-{talk.pk}", f"document-{paper.pk}"]

    def tags() -> tuple[list[str], list[str]]:
        talk.refresh_from_db()
        paper.refresh_from_db()
        return sorted(talk.tags), sorted(paper.tags)

    for action, named, changed in (
        ("tag", "ice, Cold", (["Cold", "ice"], ["Cold", "ice", "old"])),
        ("untag", "ice, old", ([], [])),
    ):
        change = {"item": items, "action": action, "tags": named}
        shown = LexborHTMLParser(text_of(page.post("/library/change/", change, follow=True)))
        assert tags() == changed
        options = shown.css("#selection-known-tags option")
        assert {option.attributes["value"] for option in options} == {*changed[0], *changed[1]}
        way = str(shown.css_first(".notice form").attributes["action"])
        assert viewer.post(way).status_code == 404, "it is offered to who did it"
        assert_shows(page.post(way, follow=True), "earlier tags again", without=("/library/undo/",))
        assert page.post(way).status_code == 404, "it is undone already"
        assert tags() == (["ice"], ["old"])
    change = {"item": items[:1], "action": "tag", "tags": "ice"}
    assert "/library/undo/" not in text_of(page.post("/library/change/", change, follow=True))
    assert tags() == (["ice"], ["old"])


def test_what_was_done_last_is_the_last_that_can_be_undone(
    page: Client, talk: Video, collection: Collection
) -> None:
    other = make_document(collection, ["Some text."], title="Notes")
    page.post("/library/change/", {"item": f"document-{other.pk}", "action": "delete"})
    change = {"item": f"video-{talk.pk}", "action": "tag", "tags": "ice"}
    html = text_of(page.post("/library/change/", change, follow=True))
    assert html.index("was deleted. You can undo") < html.index("1 item tagged.")


def test_a_deletion_is_told_in_the_library_and_taken_back(
    page: Client, viewer: Client, talk: Video
) -> None:
    page.post("/library/change/", {"item": f"video-{talk.pk}", "action": "delete"})
    deletion = Deletion.objects.get()
    address = f"/library/undo/{deletion.uuid}/"
    html = text_of(page.get("/library/"))
    assert "“Lecture on networks” was deleted. You can undo this for half a minute." in html
    assert f'action="{address}"' in html
    assert f"/videos/{talk.pk}/" not in html
    assert ">Undo</button>" in html
    assert ">Undo</button>" not in text_of(viewer.get("/library/"))
    assert viewer.post(address).status_code == 404
    back = text_of(page.post(address, follow=True))
    assert "“Lecture on networks” is back." in back
    assert "data-item-link>Lecture on networks</a>" in back


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"action": "tag", "tags": "x"}, 422),
        ({"action": "burn", "item": "video-1"}, 422),
        ({"action": "move", "item": "video-987", "collection": "lectures"}, 404),
        ({"action": "delete", "item": "video-' OR 1=1"}, 404),
    ],
)
def test_an_odd_change_is_refused(page: Client, sent: dict[str, str], status: int) -> None:
    assert page.post("/library/change/", sent).status_code == status


def test_a_change_that_cannot_be_made_is_told_on_the_list(page: Client, talk: Video) -> None:
    sent = {"action": "tag", "tags": "", "item": f"video-{talk.pk}", "next": "/library/?q=l"}
    answer = page.post("/library/change/", sent, follow=True)
    assert answer.redirect_chain == [("/library/?q=l", 302)]
    assert "No tag is named." in text_of(answer)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("tag", "2 items tagged. 1 lecture was left out: lectures have no tags."),
        ("untag", "2 items were changed. 1 lecture was left out: lectures have no tags."),
        (
            "move",
            "1 item moved to “Other”. 1 item stayed, as “Other” has it already: "
            "“Lecture on networks”. 1 lecture stayed with what it cites.",
        ),
        ("index", "2 items will be indexed again. 1 item was left out: it is a lecture"),
        ("fetch", "1 item will be fetched again. 2 items were left out: they did not come from"),
        ("export", "1 item was left out: it is a lecture, or has no text yet."),
        ("language", "The language of 3 items is German now."),
    ],
)
def test_what_an_action_leaves_out_is_told(
    page: Client, talk: Video, collection: Collection, owner: User, action: str, said: str
) -> None:
    other = collections.create("Other", owner=owner)
    Video.objects.filter(pk=talk.pk).update(youtube_id="dQw4w9WgXcQ")
    Video.objects.create(collection=other, key=talk.key, title="Its copy")
    paper = make_document(collection, ["Ice."], title="Notes on ice")
    lecture = LectureSession.objects.create(collection=collection, title="Lecture")
    items = [f"video-{talk.pk}", f"document-{paper.pk}", f"lecture-{lecture.pk}"]
    sent = {"item": items, "action": action, "tags": "ice", "collection": other.slug}
    sent["language"] = "german"
    assert said in text_of(page.post("/library/change/", sent, follow=True))


def test_the_kind_of_a_row_is_said_and_no_triangle_to_unfold_it(page: Client, talk: Video) -> None:
    Video.objects.update(youtube_id="dQw4w9WgXcQ")
    table = LexborHTMLParser(text_of(page.get("/library/?view=table")))
    sign = table.css("[data-item] .item-kind")[0]
    assert sign.attributes["title"] == "Recording"
    assert sign.text(strip=True) == "Recording:"
    assert sign.css("svg rect"), "a screen around the triangle"


@pytest.mark.parametrize(
    ("headers", "name", "recording"),
    [({}, "Transcript", "Recording"), ({"Accept-Language": "de"}, "Transkript", "Aufnahme")],
)
def test_captions_of_which_nothing_plays_are_a_transcript_and_others_a_recording(
    page: Client, talk: Video, headers: dict[str, str], name: str, recording: str
) -> None:
    source = Source.objects.get()

    def shown(address: str) -> LexborHTMLParser:
        return LexborHTMLParser(text_of(page.get(address, headers=headers)))

    table = shown("/library/?view=table&group=kind")
    assert table.css_first(".item-kind").attributes["title"] == name
    assert table.css_first(".group-row a").attributes["href"] == "/library/?kind=transcript"
    assert table.css_first(".group-row a").text() == name
    options = [option.text(strip=True) for option in table.css("#by-kind option")]
    assert {recording, name} <= {*options}
    card = shown("/library/?kind=transcript&view=cards").css_first(".card .badges")
    assert card.css_first(".badge-plain").text().casefold() == name.casefold()
    assert not shown("/library/?kind=video").css(".card")
    for address in (f"/sources/{source.uuid}/passages/", "/ask/sources/", "/lectures/new/"):
        said = [part.text() for part in shown(address).css(".meta, .check .muted")]
        assert any(name.casefold() in part.casefold() for part in said), address
        assert not any(recording.casefold() in part.casefold() for part in said), address
    searched = shown("/search/").css_first("select[name=kind] option[value=video]")
    assert searched.text().casefold() == recording.casefold(), "it finds what plays, too"
    media.replace(talk, BytesIO(make_wav()), name="talk.wav")
    table = shown("/library/?view=table&group=kind")
    assert table.css_first(".item-kind").attributes["title"] == recording
    assert table.css_first(".group-row a").text() == recording
    assert not shown("/library/?kind=transcript").css(".card, tr[data-item]")


@pytest.mark.parametrize(
    ("headers", "name"), [({}, "English"), ({"Accept-Language": "de"}, "Englisch")]
)
def test_a_language_is_shown_and_offered_by_its_name(
    page: Client, talk: Video, headers: dict[str, str], name: str
) -> None:
    for view in ("cards", "table"):
        library = LexborHTMLParser(
            text_of(page.get(f"/library/?view={view}&language=en", headers=headers))
        )
        shown = [badge.text(strip=True) for badge in library.css("[data-item] .badge")]
        assert name in shown
        assert "en" not in shown
        assert name in library.css(".filter-chips .chip")[0].text()
        offered = library.css("#selection-languages option")
        assert offered[0].attributes["value"] == name
        assert len(offered) > 90


def test_a_selection_is_exported_as_an_archive_of_its_own(
    page: Client, talk: Video, collection: Collection
) -> None:
    make_document(collection, ["Ice."], title="Notes on ice")
    sent = {"item": f"video-{talk.pk}", "action": "export"}
    response = page.post("/library/change/", sent)
    assert response["Location"] == "/export/"
    assert Archive.objects.get().sources == [talk.sources.get().pk]


def test_what_has_no_text_is_not_exported(page: Client, collection: Collection) -> None:
    bare = Video.objects.create(collection=collection, key="bare", title="Nothing said")
    sent = {"item": f"video-{bare.pk}", "action": "export"}
    assert "None of these has a text yet." in text_of(
        page.post("/library/change/", sent, follow=True)
    )
    assert not Archive.objects.exists()


def test_the_table_of_one_collection_does_not_name_it_in_each_row(
    page: Client, talk: Video
) -> None:
    for address, columns in {
        "/library/?": 7,
        "/library/?collection=lectures&": 6,
        f"/collections/{talk.collection_id}/?": 6,
    }.items():
        html = LexborHTMLParser(text_of(page.get(f"{address}view=table&group=kind")))
        assert len(html.css("table.items thead th")) == columns
        assert len(html.css("table.items tbody tr[data-item] > *")) == columns


CHANNEL = "UC" + "a" * 22


def test_the_name_of_a_channel_leads_to_it_from_wherever_it_stands(
    page: Client, talk: Video
) -> None:
    Video.objects.update(channel="Ann & Bo", channel_id=CHANNEL)
    link = 'href="/feeds/find/?channel=Ann%20%26%20Bo'
    for address in ("/library/?view=cards", "/library/?view=table", f"/videos/{talk.pk}/"):
        assert text_of(page.get(address)).count(link) == 1
    assert text_of(page.get("/library/?group=channel")).count(link) == 2
    inside = text_of(page.get(f"/collections/{talk.collection_id}/?group=channel"))
    assert f"{link}&amp;collection=lectures" in inside


def test_a_channel_that_nobody_follows_is_added_from_its_recordings(
    page: Client, viewer: Client, talk: Video
) -> None:
    Video.objects.update(channel="Ann & Bo", channel_id=CHANNEL)
    address = "/library/?channel=Ann+%26+Bo"
    html = text_of(page.get(address))
    assert "New videos of this channel are not fetched." in html
    added = f"/add/?url=https%3A//www.youtube.com/channel/{CHANNEL}&amp;collection="
    assert f'href="{added}" data-add' in html
    assert f"https://www.youtube.com/channel/{CHANNEL}</textarea>" in text_of(
        page.get(added.replace("&amp;", "&"))
    )
    assert "Add this channel" not in text_of(viewer.get(address))
    assert "Add this channel" not in text_of(page.get("/library/"))


def test_a_channel_that_is_followed_offers_what_is_new(
    page: Client, viewer: Client, talk: Video, collection: Collection
) -> None:
    Video.objects.update(channel="Ann & Bo", channel_id=CHANNEL)
    feed = Feed.objects.create(
        collection=collection, kind="channel", youtube_id=CHANNEL, title="Ann & Bo"
    )
    for address in ("/library/?channel=Ann+%26+Bo", "/library/?playlist=Ann+%26+Bo"):
        html = text_of(page.get(address))
        assert f'href="/feeds/{feed.pk}/"' in html
        assert f'action="/feeds/{feed.pk}/sync/"' in html
        assert "Add this channel" not in html
        assert_shows(viewer.get(address), f'href="/feeds/{feed.pk}/"', without=("/sync/",))
