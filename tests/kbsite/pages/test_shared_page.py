"""The page of a shared link, for people without an account."""

import re
from html import unescape
from io import BytesIO
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from citations.models import SharedClip, SharedLink, Source
from citations.notebook import highlights, shared_links
from citations.notebook.highlights import HighlightNotes, SelectedText
from citations.notebook.shared_links import ShareTarget
from citations.readers.clips import cutter
from tests.html import text_of
from tests.makers import make_cues, make_paper, make_pdf, make_source, make_video, make_wav
from transcripts.core.scope import Scope
from transcripts.media import files as media
from transcripts.models import Collection
from transcripts.text.cues import Cue

POLICY = "Content-Security-Policy"
SAID = "The error <b>runs</b> backwards."


@pytest.fixture
def link(scope: Scope, owner: User, collection: Collection) -> SharedLink:
    shared_links.allow_links(collection, is_allowed=True)
    book = make_paper(collection, [SAID, "What stands on the next page is not shared."])
    kept = highlights.keep(
        scope,
        owner,
        str(book.uuid),
        SelectedText(exact=SAID),
        HighlightNotes(note="Between ourselves."),
    )
    return shared_links.share(scope, owner, ShareTarget(highlight=kept.placed.row.uuid))


def test_a_stranger_reads_the_words_and_nothing_around_them(link: SharedLink) -> None:
    response = Client().get(f"/shared/{link.uuid}/")
    html = text_of(response)
    assert "The error &lt;b&gt;runs&lt;/b&gt; backwards." in html
    assert 'property="og:description"' in html
    for hidden in ("next page", "Between ourselves", "/search/", "/sources/", "csrf"):
        assert hidden not in html
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert response["Referrer-Policy"] == "no-referrer"
    assert "no-store" in response["Cache-Control"]
    assert not response.cookies


def preview_of(html: str) -> dict[str, str]:
    """Return what a link preview reads."""
    tags = re.findall(
        r'<meta (?:property|name)="((?:og|twitter):[^"]*)"\s+content="([^"]*)">', html
    )
    return {name: unescape(content) for name, content in tags}


def test_a_link_preview_has_title_place_address_and_the_words_that_are_shown(
    link: SharedLink, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://kb.example.org"
    preview = preview_of(text_of(Client().get(f"/shared/{link.uuid}/")))
    assert preview["og:title"] == "Paper, page 1"
    assert preview["og:description"] == f"“{SAID}”"
    assert preview["og:url"] == f"https://kb.example.org/shared/{link.uuid}/"
    assert preview["og:image"].startswith("https://kb.example.org/static/cuebase/icon")
    assert preview["twitter:card"] == "summary"
    assert preview_of(text_of(Client().get(f"/shared/{uuid4()}/"))).keys() == {
        "og:site_name",
        "og:type",
    }


def test_a_link_that_ended_says_so_as_one_that_never_was(link: SharedLink, scope: Scope) -> None:
    never, mistyped = (Client().get(f"/shared/{name}/") for name in (uuid4(), "abc"))
    shared_links.revoke(scope, link.author, str(link.uuid))
    ended = Client().get(f"/shared/{link.uuid}/")
    assert {never.status_code, mistyped.status_code, ended.status_code} == {404}
    assert text_of(never) == text_of(mistyped) == text_of(ended)
    html = text_of(ended)
    for said in ("leads nowhere", "mistyped", "expired", "revoked", "deleted", "ask whoever"):
        assert said in html
    assert ended["X-Robots-Tag"] == mistyped["X-Robots-Tag"] == "noindex, nofollow"


def test_an_address_that_tries_many_links_has_to_wait(db: None) -> None:
    browser = Client(REMOTE_ADDR="198.51.100.7")
    tried = [browser.get(f"/shared/{uuid4()}/").status_code for _ in range(61)]
    assert tried == [404] * 60 + [429]


def test_a_link_is_made_listed_and_revoked(
    page: Client, link: SharedLink, collection: Collection
) -> None:
    assert link.highlight is not None
    page.post(f"/highlights/{link.highlight.uuid}/share/", {"days": "7"})
    latest = SharedLink.objects.latest("pk")
    assert 6 < (latest.expires_at - latest.created_at).total_seconds() / 86_400 < 7.1
    assert f"/shared/{latest.uuid}/" in text_of(page.get("/shared-links/"))
    page.post(f"/shared-links/{latest.uuid}/revoke/")
    assert f"/shared/{latest.uuid}/" not in text_of(page.get("/shared-links/"))
    page.post(f"/collections/{collection.pk}/links/", {"allowed": "0"})
    assert Client().get(f"/shared/{link.uuid}/").status_code == 404


def test_a_shared_page_shows_its_picture_and_text_and_no_other_page(
    scope: Scope, owner: User, collection: Collection
) -> None:
    shared_links.allow_links(collection, is_allowed=True)
    texts = ["The first page is shared.", "The second one is not."]
    book = make_paper(collection, texts, data=make_pdf(texts), name="book.pdf")
    link = shared_links.share(scope, owner, ShareTarget(source=book.uuid, page=1))
    html = text_of(Client().get(f"/shared/{link.uuid}/"))
    assert "The first page is shared." in html
    assert "The second one is not." not in html
    assert f'src="/shared/{link.uuid}/page/"' in html
    picture = Client().get(f"/shared/{link.uuid}/page/")
    assert picture["Content-Type"].startswith("image/")
    preview = preview_of(html)
    assert preview["og:image"].endswith(f"/shared/{link.uuid}/page/")
    assert preview["og:image:type"] == picture["Content-Type"]
    assert preview["twitter:card"] == "summary_large_image"
    shared_links.revoke(scope, owner, str(link.uuid))
    assert Client().get(f"/shared/{link.uuid}/page/").status_code == 404


def test_a_link_to_words_has_no_picture(link: SharedLink) -> None:
    assert Client().get(f"/shared/{link.uuid}/page/").status_code == 404


def test_a_clip_begins_and_ends_with_the_lines_that_the_transcript_shows_there(
    page: Client, collection: Collection
) -> None:
    shared_links.allow_links(collection, is_allowed=True)
    starts = (0, 2_750, 5_900, 8_100)
    cues = [Cue(start=ms, end=ms + 3_100, text=f"Line at {ms}.") for ms in starts]
    talk = make_source(make_video(collection, key="odd", cues=cues))
    page.post(f"/sources/{talk.uuid}/share/", {"from": "0:02", "until": "0:08"})
    link = SharedLink.objects.latest("pk")
    assert (link.start, link.end) == (2_750, 8_100)
    page.post(f"/sources/{talk.uuid}/share/", {"from": "0:02.5", "until": "0:04"})
    typed = SharedLink.objects.latest("pk")
    assert (typed.start, typed.end) == (2_500, 4_000)


def make_talk(collection: Collection, key: str) -> Source:
    video = make_video(collection, key=key, cues=make_cues(12))
    media.replace(video, BytesIO(make_wav(60)), name=f"{key}.wav")
    return make_source(video)


def media_of(link: SharedLink) -> str:
    """Return the address of the only clip that a link plays."""
    return f"/shared/{link.uuid}/media/{link.clips.get().uuid}/"


def share_clip(scope: Scope, user: User, talk: Source, *, plays_file: bool) -> SharedLink:
    shared_links.allow_links(talk.collection, is_allowed=True)
    target = ShareTarget(source=talk.uuid, start=0, end=5_000)
    return shared_links.share(scope, user, target, plays_file=plays_file)


@pytest.fixture
def talk(collection: Collection) -> Source:
    return make_talk(collection, "talk")


def test_a_link_plays_the_file_of_a_recording_only_if_its_author_says_so(
    scope: Scope, owner: User, talk: Source
) -> None:
    silent = share_clip(scope, owner, talk, plays_file=False)
    html = text_of(Client().get(f"/shared/{silent.uuid}/"))
    assert "<audio" not in html
    assert "Text only" in html
    assert Client().get(f"/shared/{silent.uuid}/media/{talk.uuid}/").status_code == 404
    link = share_clip(scope, owner, talk, plays_file=True)
    address = media_of(link)
    html = text_of(Client().get(f"/shared/{link.uuid}/"))
    assert f'src="{address}"' in html
    assert "Text only" not in html
    assert f"/videos/{talk.video_id}/" not in html
    part = Client().get(address, headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, b"RIFF")
    assert part["Referrer-Policy"] == "no-referrer"
    shared_links.revoke(scope, owner, str(link.uuid))
    assert Client().get(address).status_code == 404


def test_the_form_of_a_clip_offers_text_only_at_first_and_the_list_says_what_a_link_plays(
    page: Client, talk: Source
) -> None:
    shared_links.allow_links(talk.collection, is_allowed=True)
    form = LexborHTMLParser(text_of(page.get(f"/videos/{talk.video_id}/")))
    choices = form.css("[data-share] input[name=file]")
    assert [node.attributes["value"] or "" for node in choices if "checked" in node.attributes] == [
        ""
    ]
    times = {"from": "0:00", "until": "0:05"}
    for chosen, shown in (("", "text only"), ("1", "with sound or picture")):
        page.post(f"/sources/{talk.uuid}/share/", {**times, "file": chosen})
        assert SharedLink.objects.latest("pk").plays_file == bool(chosen)
        html = text_of(page.get("/shared-links/"))
        assert shown in html


def test_without_ffmpeg_a_clip_is_offered_as_text_and_a_link_made_before_shows_its_words(
    page: Client, scope: Scope, owner: User, talk: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = share_clip(scope, owner, talk, plays_file=True)
    SharedClip.objects.all().delete()
    monkeypatch.setattr(cutter, "find_spec", lambda _: None)
    form = LexborHTMLParser(text_of(page.get(f"/videos/{talk.video_id}/")))
    (sound,) = form.css("[data-share] input[name=file][value='1']")
    assert "disabled" in sound.attributes
    assert "FFmpeg" in form.css_first("[data-share]").text()
    html = text_of(Client().get(f"/shared/{link.uuid}/"))
    assert "<audio" not in html
    assert not SharedClip.objects.exists()


def test_a_link_gives_the_file_of_no_other_recording(
    scope: Scope, owner: User, talk: Source, collection: Collection
) -> None:
    other = share_clip(scope, owner, make_talk(collection, "other"), plays_file=True)
    link = share_clip(scope, owner, talk, plays_file=True)
    foreign = other.clips.get()
    assert Client().get(f"/shared/{link.uuid}/media/{foreign.uuid}/").status_code == 404
    assert Client().get(f"/videos/{talk.video_id}/media").status_code == 302  # to the sign-in


def test_an_address_that_fetches_many_parts_has_to_wait(
    scope: Scope, owner: User, talk: Source
) -> None:
    link = share_clip(scope, owner, talk, plays_file=True)
    browser = Client(REMOTE_ADDR="198.51.100.8", headers={"Range": "bytes=0-3"})
    address = media_of(link)
    assert [browser.get(address).status_code for _ in range(121)] == [206] * 120 + [429]


# On YouTube


@pytest.fixture
def clip(scope: Scope, owner: User, collection: Collection) -> SharedLink:
    """A clip of what Bob says in a recording that is on YouTube and has a file of its own."""
    shared_links.allow_links(collection, is_allowed=True)
    cues = make_cues(12, sentences=("Ann: We begin.", "Bob: It is a limit."))
    video = make_video(collection, title="Limits", cues=cues, youtube_id="dQw4w9WgXcQ")
    media.replace(video, BytesIO(make_wav(60)), name="limits.wav")
    target = ShareTarget(source=make_source(video).uuid, start=5_000, end=10_000)
    return shared_links.share(scope, owner, target)


def test_a_clip_plays_in_place_by_youtube_which_is_not_asked_before(
    scope: Scope, owner: User, clip: SharedLink
) -> None:
    response = Client().get(f"/shared/{clip.uuid}/")
    html = LexborHTMLParser(text_of(response))
    player = html.css_first("[data-youtube=dQw4w9WgXcQ]")
    assert (player.attributes["data-from"], player.attributes["data-until"]) == ("5000", "10000")
    assert "Play 0:05 to 0:10" in player.css_first("button[data-play]").text()
    addresses = [node.attributes.get("src") or "" for node in html.css("[src]")]
    addresses += [node.attributes.get("href") or "" for node in html.css("link")]
    assert addresses
    own = ("/static/", "/manifest.webmanifest")
    assert all(address.startswith(own) for address in addresses), "no thumbnail, no file"
    assert "YouTube is not contacted until you press play." in html.text()
    policy = dict(part.strip().split(" ", 1) for part in response[POLICY].split(";"))
    assert policy["frame-src"] == "https://www.youtube-nocookie.com"
    assert policy["default-src"] == "'none'"
    assert "youtube" not in policy["script-src"] + policy["img-src"] + policy["connect-src"]
    shared_links.revoke(scope, owner, clip.uuid)
    assert "data-youtube" not in text_of(Client().get(f"/shared/{clip.uuid}/"))


def test_a_file_plays_in_place_of_youtube_only_if_the_author_says_so(clip: SharedLink) -> None:
    assert "<audio" not in text_of(Client().get(clip.path))
    assert not clip.clips.exists()
    SharedLink.objects.update(plays_file=True)
    html = text_of(Client().get(clip.path))
    assert "<audio" in html
    assert "data-youtube" not in html
    assert Client().get(media_of(clip), headers={"Range": "bytes=0-3"}).status_code == 206


def test_a_shared_clip_names_its_source_and_who_says_it(clip: SharedLink) -> None:
    html = LexborHTMLParser(text_of(Client().get(f"/shared/{clip.uuid}/")))
    assert html.css_first("h1").text() == "Limits"
    assert " ".join(html.css_first("h1 + .muted").text().split()) == "Bob · 0:05–0:10"
    assert html.css_first("blockquote").text().strip() == "It is a limit. Point 1."
