"""Sharing from a highlight, an answer and a citation, in place and without scripts."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from citations.models import Answer, Citation, Conversation, Highlight, SharedLink, Source
from citations.quotes import source_texts
from tests.html import assert_shows, text_of
from tests.makers import make_cues, make_paper, make_source, make_user, make_video
from transcripts.models import Collection, Membership, Role
from transcripts.text.timecodes import clock

HTMX = {"HX-Request": "true"}
SAID = "the error runs backwards"


@pytest.fixture
def source(collection: Collection) -> Source:
    video = make_video(collection, youtube_id="dQw4w9WgXcQ", cues=make_cues(20))
    source = make_source(video, texts=[SAID])
    source.url = video.url
    source.save()
    return source


@pytest.fixture
def citation(source: Source, owner: User, collection: Collection) -> Citation:
    """A citation of an answer to the owner; its collection has no links yet."""
    quote = source_texts.of(source).text.partition(" Point 1")[0]
    conversation = Conversation.objects.create(collection=collection, owner=owner, title="Error")
    claim = {"text": quote, "citations": [1], "is_supported": True, "collections": [collection.pk]}
    answer = Answer.objects.create(
        conversation=conversation,
        ordinal=1,
        question="What runs?",
        claims=[claim],
        state="answered",
    )
    return Citation.objects.create(
        answer=answer,
        number=1,
        source=source,
        span_start=0,
        span_end=len(quote),
        digest=source.digest,
        quote=quote,
        start=1_000,
        end=3_000,
    )


def paths(citation: Citation) -> list[str]:
    assert citation.answer is not None
    return [f"/ask/answers/{citation.answer.uuid}/share/", f"/citations/{citation.uuid}/share/"]


def test_an_owner_allows_links_and_shares_in_one_step(
    page: Client, citation: Citation, collection: Collection
) -> None:
    for path in paths(citation):
        Collection.objects.update(allows_links=False)
        refused = page.post(path, {"days": "7"}, headers=HTMX)
        assert refused.status_code == 200
        assert f"Allow links in {collection.name} and share" in text_of(refused)
        assert page.post(path).status_code == 409  # a page of its own, with the same form
        assert not SharedLink.objects.exists()
        response = page.post(path, {"days": "7", "allow": str(collection.pk)}, headers=HTMX)
        link = SharedLink.objects.get()
        assert f"/shared/{link.uuid}/" in text_of(response)
        assert 6 < (link.expires_at - link.created_at).total_seconds() / 86_400 < 7.1
        link.delete()


def test_the_passage_of_a_citation_is_shared_alone(
    page: Client, citation: Citation, collection: Collection
) -> None:
    Collection.objects.update(allows_links=True)
    page.post(f"/citations/{citation.uuid}/share/")
    link = SharedLink.objects.get()
    html = text_of(Client().get(link.path))
    assert citation.quote in html
    assert f'property="og:description" content="{citation.quote}"' in html
    assert "What runs?" not in html
    assert "Point 2" not in html  # what is said next, in the same clip
    assert Client().get(f"{link.path}page/").status_code == 404
    assert not Highlight.objects.exists()
    assert "Clip" in text_of(page.get("/shared-links/"))


def test_a_shared_answer_to_several_questions_has_their_headings_and_names_no_other_source(
    page: Client, citation: Citation, collection: Collection
) -> None:
    Collection.objects.update(allows_links=True)
    answer = citation.answer
    assert answer is not None
    answer.claims[0]["heading"] = "What runs?"
    answer.parts = [
        {"heading": "What runs?", "is_answered": True},
        {"heading": "Who walks?", "is_answered": False},
    ]
    answer.unready = [
        {"title": "Soup", "state": "reading", "source_id": None, "collection": collection.pk}
    ]
    answer.save()
    page.post(paths(citation)[0])
    tree = LexborHTMLParser(text_of(Client().get(SharedLink.objects.get().path)))
    headings = tree.css("h2.part-question")
    assert [heading.text() for heading in headings] == ["What runs?", "Who walks?"]
    assert citation.quote in tree.css_first("h2.part-question + p").text()
    assert "The sources do not answer this question." in tree.body.text()
    assert "Soup" not in tree.body.text()


def test_a_shared_passage_outlives_its_answer_but_not_its_words(
    page: Client, citation: Citation
) -> None:
    Collection.objects.update(allows_links=True)
    page.post(f"/citations/{citation.uuid}/share/")
    link = SharedLink.objects.get()
    Conversation.objects.all().delete()
    assert Client().get(link.path).status_code == 200
    SharedLink.objects.update(quote="What nobody has said here.")
    assert Client().get(link.path).status_code == 404


def test_a_page_and_a_clip_offer_to_be_shared_where_links_are_still_off(
    page: Client, citation: Citation, collection: Collection
) -> None:
    source = citation.source
    paper = make_paper(collection, [SAID])
    places = (
        (f"/videos/{source.video_id}/", source, {"from": "0:01", "until": "0:09"}),
        (f"/sources/{paper.uuid}/pages/1/", paper, {"page": "1"}),
    )
    for address, shared, place in places:
        Collection.objects.update(allows_links=False)
        path = f"/sources/{shared.uuid}/share/"
        assert f'hx-post="{path}"' in text_of(page.get(address))
        refused = text_of(page.post(path, place, headers=HTMX))
        assert f"Allow links in {collection.name} and share" in refused
        page.post(path, {**place, "allow": str(collection.pk)}, headers=HTMX)
        assert SharedLink.objects.filter(source=shared).count() == 1
    assert_shows(page.get("/shared-links/"), "Clip 0:01–0:09", "Page 1")


def test_no_links_are_allowed_for_a_clip_that_cannot_be_shared(
    page: Client, citation: Citation, collection: Collection
) -> None:
    sent = {"from": "9:00", "until": "1:00", "allow": str(collection.pk)}
    refused = page.post(f"/sources/{citation.source.uuid}/share/", sent, headers=HTMX)
    assert "The clip ends before it begins." in text_of(refused)
    collection.refresh_from_db()
    assert not collection.allows_links


@pytest.mark.parametrize(
    ("first", "last", "wrong", "words"),
    [
        ("0:05", "0:01", "until", "The clip ends before it begins. Choose a later end."),
        ("0:05", "1:00:00", "until", "The recording ends at {end}, before the clip does."),
        ("soon", "0:05", "from", "“soon” is not a time"),
        ("0:01", "later", "until", "“later” is not a time"),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_a_wrong_time_of_a_clip_marks_its_field_and_says_why_beside_it(
    page: Client, citation: Citation, *, first: str, last: str, wrong: str, words: str, htmx: bool
) -> None:
    Collection.objects.update(allows_links=True)
    source = citation.source
    sent = {"from": first, "until": last, "days": "7"}
    headers = HTMX if htmx else {}
    refused = page.post(f"/sources/{source.uuid}/share/", sent, headers=headers)
    assert refused.status_code == 422
    assert refused.get("HX-Retarget") == (f"#share-{source.uuid}" if htmx else None)
    html = LexborHTMLParser(text_of(refused))
    fields = {name: html.css_first(f"[name={name}]").attributes for name in ("from", "until")}
    assert [field["value"] for field in fields.values()] == [first, last]
    assert [name for name, field in fields.items() if "aria-invalid" in field] == [wrong]
    said = html.css_first(f"#{fields[wrong]['aria-describedby']}[role=alert]").text()
    assert source.transcript is not None
    assert words.format(end=clock(source.transcript.duration)) in " ".join(said.split())
    assert html.css_first("[name=days] [selected]").attributes["value"] == "7"
    assert not SharedLink.objects.exists()


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_who_is_no_owner_is_told_who_can_allow_links(
    citation: Citation, collection: Collection, role: Role
) -> None:
    client = Client()
    client.force_login(make_user("eve", collection=collection, role=role))
    path = f"/citations/{citation.uuid}/share/"
    html = text_of(client.post(path, headers=HTMX))
    assert "An owner can allow them: ada." in html
    assert "and share" not in html
    assert client.post(path, {"allow": str(collection.pk)}).status_code == 403
    collection.refresh_from_db()
    assert not collection.allows_links
    assert not Highlight.objects.exists()


def test_a_viewer_shares_nothing_even_where_links_are_allowed(
    citation: Citation, collection: Collection
) -> None:
    Collection.objects.update(allows_links=True)
    client = Client()
    client.force_login(make_user("eve", collection=collection, role=Role.VIEWER))
    html = text_of(client.post(f"/citations/{citation.uuid}/share/", headers=HTMX))
    assert "its editors may share" in html
    assert not SharedLink.objects.exists()


def test_a_shared_answer_shows_each_passage_once_and_plays_it_at_its_second(
    page: Client, citation: Citation
) -> None:
    Collection.objects.update(allows_links=True)
    page.post(paths(citation)[0])
    response: Any = Client().get(SharedLink.objects.get().path)
    html = text_of(response).split("<body", 1)[1]
    assert html.count(citation.quote) == 1
    assert "https://www.youtube.com/watch?v=dQw4w9WgXcQ&amp;t=1s" in html
    assert "ada" not in html


def test_the_form_says_before_it_is_sent_that_links_are_off_and_keeps_every_choice(
    page: Client, citation: Citation, collection: Collection
) -> None:
    assert citation.answer is not None
    conversation = f"/ask/{citation.answer.conversation.uuid}/"
    paper = make_paper(collection, [SAID])
    remedy = f"Allow links in {collection.name} and share"
    for address in (
        conversation,
        f"/videos/{citation.source.video_id}/",
        f"/sources/{paper.uuid}/",
    ):
        html = text_of(page.get(address))
        assert f"are off in “{collection.name}”" in html
        assert remedy in html
        assert f'name="allow" value="{collection.pk}"' in html
    Collection.objects.update(allows_links=True)
    html = text_of(page.get(conversation))
    assert_shows(html, f'hx-post="{paths(citation)[0]}"', without=(remedy,))


def test_a_part_of_an_answer_is_shared_where_another_part_cannot_be(
    page: Client, citation: Citation, owner: User, collection: Collection
) -> None:
    other = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    Membership.objects.create(collection=other, user=owner, role=Role.VIEWER)
    read = make_source(make_video(other, key="other"), texts=["It is so."])
    answer = citation.answer
    assert answer is not None
    quoted = {"span_start": 0, "span_end": 9, "digest": read.digest, "quote": "It is so."}
    Citation.objects.create(answer=answer, number=2, source=read, **quoted)
    shown = text_of(page.get(f"/ask/{answer.conversation.uuid}/"))
    assert f"Allow links in {collection.name} and share" in shown


def test_an_editor_learns_whom_to_ask_instead_of_a_form(
    citation: Citation, collection: Collection
) -> None:
    client = Client()
    client.force_login(make_user("eve", collection=collection, role=Role.EDITOR))
    html = text_of(client.get(f"/videos/{citation.source.video_id}/"))
    assert "An owner can allow them: ada." in html
    assert f'hx-post="/sources/{citation.source.uuid}/share/"' not in html


def test_a_viewer_gets_no_form_to_share_their_answer(
    citation: Citation, collection: Collection
) -> None:
    Collection.objects.update(allows_links=True)
    assert citation.answer is not None
    eve = make_user("eve", collection=collection, role=Role.VIEWER)
    Conversation.objects.update(owner=eve)
    client = Client()
    client.force_login(eve)
    html = text_of(client.get(f"/ask/{citation.answer.conversation.uuid}/"))
    assert "What runs?" in html
    assert "/share/" not in html


def test_links_are_allowed_and_forbidden_in_the_settings_of_the_collection(
    page: Client, collection: Collection
) -> None:
    settings = f"/collections/{collection.pk}/settings/"
    for value, label in (("1", "Allow links"), ("0", "Forbid links")):
        assert label in text_of(page.get(settings))
        sent = {"allowed": value, "next": "settings"}
        assert page.post(f"/collections/{collection.pk}/links/", sent)["Location"] == settings
        collection.refresh_from_db()
        assert collection.allows_links is (value == "1")


def test_a_link_is_called_by_whole_words(citation: Citation) -> None:
    link = SharedLink(source=citation.source, quote="Each weight follows its own gradient. " * 9)
    shown = str(link)
    assert shown.endswith(" …")
    assert len(shown) <= 82
    assert link.quote[len(shown) - 2] == " "
