"""What a shared link plays: what it shows, and nothing else of a recording's file."""

import asyncio
import re
from io import BytesIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations.models import Answer, Conversation, SharedClip, SharedClipPart, SharedLink, Source
from citations.notebook import shared_links
from citations.notebook.shared_links import ShareTarget
from kbsite import retention
from tests.citations.notebook.test_shared_links import expire
from tests.html import text_of
from tests.makers import make_citation, make_cues, make_source, make_video, token_client
from tests.tones import make_recording, seconds_heard
from transcripts.core.scope import Scope
from transcripts.media import files as media
from transcripts.models import Collection, Transcript, Video

ENDINGS = ("aac", "flac", "m4a", "mp3", "mp4", "opus", "wav", "weba", "webm")


def make_talk(collection: Collection, ending: str = "mp3") -> Source:
    """Make a recording of eight sentences of a second, with a file of tones."""
    shared_links.allow_links(collection, is_allowed=True)
    video = make_video(collection, key="talk", cues=make_cues(8, seconds=1.0))
    play(video, make_recording(ending), ending)
    return make_source(video)


def play(video: Video, data: bytes, ending: str = "mp3") -> None:
    media.replace(video, BytesIO(data), name=f"talk.{ending}")


def share(scope: Scope, user: User, talk: Source, start: int = 3, end: int = 5) -> SharedLink:
    target = ShareTarget(source=talk.uuid, start=start * 1000, end=end * 1000)
    return shared_links.share(scope, user, target, plays_file=True)


def files_of(link: SharedLink) -> list[str]:
    """Return the addresses that the page of a link plays."""
    return re.findall(r'src="(/shared/[^"#]+/media/[^"#]+)', text_of(Client().get(link.path)))


def fetch(address: str) -> bytes:
    """Fetch a file range by range, as players do."""
    data, size = b"", 1
    while len(data) < size:
        wanted = {"Range": f"bytes={len(data)}-{len(data) + 9_999}"}
        part = Client().get(address, headers=wanted)
        assert part.status_code == 206
        size = int(part["Content-Range"].partition("/")[2])
        data += part.content
    beyond = Client().get(address, headers={"Range": f"bytes={size}-"})
    assert (beyond.status_code, beyond.content) == (416, b"")
    return data


def fetch_at_once(address: str) -> bytes:
    response: Any = Client().get(address)

    async def read() -> bytes:
        return b"".join([piece async for piece in response])

    return asyncio.run(read())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("ending", ENDINGS)
def test_everything_that_a_link_gives_sounds_from_its_start_until_its_end(
    scope: Scope, owner: User, collection: Collection, ending: str
) -> None:
    talk = make_talk(collection, ending)
    link = share(scope, owner, talk)
    (address,) = files_of(link)
    data = fetch(address)
    assert seconds_heard(data) == [3, 4]
    assert fetch_at_once(address) == data
    assert talk.video is not None
    for other in (talk.uuid, talk.video.pk, talk.video.media.pk):  # where the whole file was
        assert Client().get(f"/shared/{link.uuid}/media/{other}/").status_code == 404


def test_an_answer_plays_each_of_its_quotes_alone(
    scope: Scope, owner: User, collection: Collection
) -> None:
    talk = make_talk(collection)
    conversation = Conversation.objects.create(owner=owner)
    answer = Answer.objects.create(
        conversation=conversation, ordinal=1, question="What?", state="answered"
    )
    said = [cue.text for cue in make_cues(8, seconds=1.0)]
    for number, second in ((1, 1), (2, 6)):
        first = " ".join(said).index(said[second])
        place = {"first": first, "start": second * 1000, "end": (second + 1) * 1000}
        make_citation(answer, talk, said[second], number=number, **place)
        claim = {"label": "", "text": said[second], "citations": [number], "is_supported": True}
        answer.claims.append(claim | {"collections": [collection.pk]})
    answer.save()
    link = shared_links.share(scope, owner, ShareTarget(answer=answer.uuid), plays_file=True)
    assert [seconds_heard(fetch(address)) for address in files_of(link)] == [[1], [6]]
    assert SharedClip.objects.count() == 2


def test_a_link_gives_the_clip_of_no_other_link(
    scope: Scope, owner: User, collection: Collection
) -> None:
    talk = make_talk(collection)
    link, other = (share(scope, owner, talk, *span) for span in ((3, 5), (6, 7)))
    (address,) = files_of(other)
    foreign = address.replace(str(other.uuid), str(link.uuid))
    assert Client().get(foreign).status_code == 404
    shared_links.revoke(scope, owner, other.uuid)
    assert Client().get(address).status_code == 404
    assert {clip.link for clip in SharedClip.objects.all()} == {link}


def test_a_clip_goes_with_its_link_and_with_its_file(
    scope: Scope, owner: User, collection: Collection
) -> None:
    talk = make_talk(collection)
    link = share(scope, owner, talk)
    (address,) = files_of(link)
    assert talk.video is not None
    media.remove(talk.video)
    assert not SharedClipPart.objects.exists()
    assert Client().get(address).status_code == 404
    assert files_of(link) == []
    play(talk.video, make_recording("mp3"))
    assert files_of(link) != [address]
    assert SharedClipPart.objects.exists()
    shared_links.revoke(scope, owner, link.uuid)
    assert not SharedClipPart.objects.exists()


def test_where_the_words_or_the_file_have_changed_the_clip_is_another_one(
    scope: Scope, owner: User, collection: Collection
) -> None:
    talk = make_talk(collection)
    link = share(scope, owner, talk)
    (earlier,) = files_of(link)
    transcript = Transcript.objects.get()
    transcript.cues = [[start + 2_000, end + 2_000, text] for start, end, text in transcript.cues]
    transcript.digest = "later"
    transcript.save()
    assert Client().get(earlier).status_code == 404
    (address,) = files_of(link)
    assert seconds_heard(fetch(address)) == [5, 6]
    assert SharedClip.objects.count() == 1


def test_the_clip_of_an_expired_link_is_deleted_and_cut_again_once_it_is_renewed(
    scope: Scope, owner: User, collection: Collection
) -> None:
    link = share(scope, owner, make_talk(collection))
    retention.clear()
    (address,) = files_of(link)
    expire()
    assert Client().get(address).status_code == 404
    retention.clear()
    assert not SharedClip.objects.exists()
    shared_links.renew(scope, owner, link.uuid)
    (address,) = files_of(link)
    assert seconds_heard(fetch(address)) == [3, 4]


def test_what_cannot_be_cut_is_not_shared_with_sound_and_says_so(
    scope: Scope, owner: User, collection: Collection, page: Client
) -> None:
    talk = make_talk(collection)
    assert talk.video is not None
    play(talk.video, b"ID3" + bytes(5_000))
    body: dict[str, Any] = {"source_id": str(talk.uuid), "start": 3, "end": 5}
    program = token_client(owner)
    refused = program.post(
        "/api/v1/shared-links", body | {"plays_file": True}, content_type="application/json"
    )
    assert (refused.status_code, refused.json()["code"]) == (422, "cannot_be_cut")
    assert "Share the text alone." in refused.json()["hint"]
    times = {"from": "0:03", "until": "0:05"}
    html = text_of(page.post(f"/sources/{talk.uuid}/share/", times | {"file": "1"}))
    assert "cannot be cut" in html
    assert not SharedLink.objects.exists()
    made = program.post("/api/v1/shared-links", body, content_type="application/json")
    assert made.status_code == 201


def test_a_file_that_came_later_and_cannot_be_cut_is_not_played(
    scope: Scope, owner: User, collection: Collection
) -> None:
    talk = make_talk(collection)
    link = share(scope, owner, talk)
    assert talk.video is not None
    play(talk.video, b"ID3" + bytes(5_000))
    for _ in range(2):
        assert "this link does not play it" in text_of(Client().get(link.path))
        assert files_of(link) == []
    (clip,) = SharedClip.objects.all()
    assert Client().get(f"/shared/{link.uuid}/media/{clip.uuid}/").status_code == 404


def test_a_page_says_what_its_link_gives(scope: Scope, owner: User, collection: Collection) -> None:
    sound = text_of(Client().get(share(scope, owner, make_talk(collection)).path))
    assert "gives the sound of these words" in sound
    assert "ten seconds" not in sound
    video = Video.objects.get()
    play(video, make_recording("webm"), "webm")
    film = text_of(Client().get(SharedLink.objects.get().path))
    assert "<video" in film
    assert "pictures may begin up to ten seconds earlier" in " ".join(film.split())
