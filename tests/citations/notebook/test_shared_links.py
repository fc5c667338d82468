"""Shared links: who makes them, what they show, and when they end."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from citations.errors import LinksNotAllowed, SharedLinkNotFound
from citations.models import Conversation, Highlight, SharedLink, Source
from citations.notebook import answers, highlights, shared_items, shared_links
from citations.notebook.highlights import PlacedHighlight, SelectedText
from citations.notebook.shared_items import SharedPassage
from citations.notebook.shared_links import ShareTarget
from tests.citations.talks import finished_answer
from tests.makers import make_cues, make_paper, make_source, make_video
from transcripts.core.errors import Forbidden, InvalidInput, NotFound
from transcripts.core.player import Player
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection, Membership, Role, Transcript
from transcripts.text.cues import Cue

SAID = "The error runs backwards."


@pytest.fixture
def placed(scope: Scope, owner: User, collection: Collection) -> PlacedHighlight:
    """A private highlight in a collection that allows links."""
    shared_links.allow_links(collection, is_allowed=True)
    book = make_paper(collection, [SAID, "Each weight follows."])
    return highlights.keep(scope, owner, str(book.uuid), SelectedText(exact=SAID)).placed


@pytest.fixture
def link(scope: Scope, owner: User, placed: PlacedHighlight) -> SharedLink:
    return shared_links.share(scope, owner, ShareTarget(highlight=placed.row.uuid))


def test_a_link_shows_the_words_and_their_place(link: SharedLink) -> None:
    item = shared_links.follow(str(link.uuid))
    assert item.highlight is not None
    assert item.highlight.row.quote == SAID
    assert item.highlight.locator is not None
    assert item.highlight.locator.page == 1


def test_links_are_off_until_an_owner_of_the_collection_allows_them(
    scope: Scope, owner: User, placed: PlacedHighlight, collection: Collection
) -> None:
    shared_links.allow_links(collection, is_allowed=False)
    placed = highlights.find(scope, owner, placed.row.uuid)
    with pytest.raises(LinksNotAllowed):
        shared_links.share(scope, owner, ShareTarget(highlight=placed.row.uuid))


def test_who_may_only_read_shares_nothing(
    scope: Scope, owner: User, placed: PlacedHighlight
) -> None:
    with pytest.raises(Forbidden):
        shared_links.share(
            Scope(readable=scope.readable), owner, ShareTarget(highlight=placed.row.uuid)
        )


def move_source() -> None:
    other = Collection.objects.create(name="Else", slug="else")
    Source.objects.update(collection=other)


def revoke() -> None:
    link = SharedLink.objects.get()
    readable = frozenset(Collection.objects.values_list("pk", flat=True))
    shared_links.revoke(Scope(readable=readable), link.author, str(link.uuid))


def expire() -> None:
    SharedLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


ENDS: dict[str, Callable[[], object]] = {
    "links are forbidden": lambda: Collection.objects.update(allows_links=False),
    "it expires": expire,
    "its author leaves": lambda: Membership.objects.all().delete(),
    "its author may only read": lambda: Membership.objects.update(role=Role.VIEWER),
    "its author is deactivated": lambda: User.objects.update(is_active=False),
    "the highlight is deleted": lambda: Highlight.objects.all().delete(),
    "the source is moved": move_source,
    "it is revoked": revoke,
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_link_ends_when_what_it_rests_on_ends(
    link: SharedLink, end: Callable[[], object]
) -> None:
    shared_links.follow(str(link.uuid))
    end()
    with pytest.raises(SharedLinkNotFound):
        shared_links.follow(str(link.uuid))


@pytest.mark.parametrize("reference", ["", "x", "\0", str(UUID(int=7))])
def test_an_address_that_nobody_made_leads_nowhere(db: None, reference: str) -> None:
    with pytest.raises(SharedLinkNotFound):
        shared_links.follow(reference)


def test_nobody_revokes_or_sees_the_link_of_another_or_outside_the_scope(
    scope: Scope, owner: User, link: SharedLink
) -> None:
    other = User.objects.create_user("grace")
    for held, user in ((scope, other), (NOTHING, owner)):
        assert shared_links.list_links(held, user) == []
        with pytest.raises(SharedLinkNotFound):
            shared_links.revoke(held, user, str(link.uuid))
    assert shared_links.list_links(scope, owner) == [link]


@pytest.mark.usefixtures("fake_models")
def test_an_answer_shows_only_what_collections_with_links_say(
    scope: Scope, owner: User, talk: Source, conversation: Conversation, collection: Collection
) -> None:
    answer = finished_answer(scope, owner, conversation)
    with pytest.raises(LinksNotAllowed):
        shared_links.share(scope, owner, ShareTarget(answer=answer.uuid))
    shared_links.allow_links(collection, is_allowed=True)
    link = shared_links.share(scope, owner, ShareTarget(answer=answer.uuid))
    shown = shared_links.follow(str(link.uuid)).answer
    (kept,) = answers.read(scope, [answer])
    assert shown is not None
    assert shown.claims == kept.claims
    shared_links.allow_links(collection, is_allowed=False)
    with pytest.raises(SharedLinkNotFound):
        shared_links.follow(str(link.uuid))


def test_a_page_is_shared_alone(scope: Scope, owner: User, placed: PlacedHighlight) -> None:
    target = ShareTarget(source=placed.row.source.uuid, page=2)
    link = shared_links.share(scope, owner, target)
    passage = shared_links.follow(str(link.uuid)).passage
    assert passage is not None
    assert passage.text == "Each weight follows."
    assert passage.locator.page == 2
    assert shared_links.list_links(scope, owner) == [link]
    move_source()
    with pytest.raises(SharedLinkNotFound):
        shared_links.follow(str(link.uuid))


def test_a_clip_has_what_is_said_from_a_time_until_another(
    scope: Scope, owner: User, collection: Collection
) -> None:
    shared_links.allow_links(collection, is_allowed=True)
    sentences = tuple(f"Sentence {number}." for number in range(10))
    cues = make_cues(10, sentences=sentences)
    video = make_video(collection, cues=cues, youtube_id="dQw4w9WgXcQ")
    target = ShareTarget(source=make_source(video).uuid, start=cues[2].start, end=cues[3].end)
    item = shared_links.follow(str(shared_links.share(scope, owner, target).uuid))
    assert item.passage is not None
    assert item.passage.text == "Sentence 2. Point 2. Sentence 3. Point 3."
    assert item.player_of(*item.places[0]) == Player.YOUTUBE


def test_a_clip_has_no_words_from_before_its_start_or_after_its_end(
    scope: Scope, owner: User, collection: Collection
) -> None:
    shared_links.allow_links(collection, is_allowed=True)
    texts = ("It ends here. The error", "runs back through all", "layers. Then it stops.")
    cues = [Cue(start=4_000 * n, end=4_000 * (n + 1), text=text) for n, text in enumerate(texts)]
    talk = make_source(make_video(collection, cues=cues))
    start = shared_items.moment_of(talk, 2_000)
    end = shared_items.moment_of(talk, 9_000, is_end=True)
    link = shared_links.share(scope, owner, ShareTarget(source=talk.uuid, start=start, end=end))
    passage = shared_links.follow(link.uuid).passage
    assert passage is not None
    assert passage.text == "The error runs back through all layers."
    assert (passage.locator.start, passage.locator.end) == (start, end)


def test_a_clip_and_quoted_words_name_who_alone_says_them(
    scope: Scope, owner: User, collection: Collection
) -> None:
    shared_links.allow_links(collection, is_allowed=True)
    cues = make_cues(4, sentences=("Ann: We begin. It is a limit.", "Bob: Thank you."))
    talk = make_source(make_video(collection, cues=cues))

    def speaker(first: int, last: int) -> str:
        place = {"start": cues[first].start, "end": cues[last].end}
        link = shared_links.share(scope, owner, ShareTarget(source=talk.uuid, **place))
        passage = shared_links.follow(link.uuid).passage
        assert passage is not None
        return passage.speaker

    assert (speaker(0, 0), speaker(1, 1), speaker(0, 1)) == ("Ann", "Bob", "")


def test_a_clip_stays_with_its_words_where_the_times_of_captions_move(
    scope: Scope, owner: User, collection: Collection
) -> None:
    shared_links.allow_links(collection, is_allowed=True)
    cues = make_cues(10, sentences=tuple(f"Sentence {number}." for number in range(10)))
    video = make_video(collection, cues=cues)
    start, end = cues[2].start - 100, cues[3].end - 100
    target = ShareTarget(source=make_source(video).uuid, start=start, end=end)
    link = shared_links.share(scope, owner, target)

    def follow(later: int, word: str) -> SharedPassage | None:
        transcript = Transcript.objects.get(video=video)
        rows = [[cue.start + later, cue.end + later, cue.text] for cue in cues]
        rows[3][2] = f"{word} 3. Point 3."
        transcript.cues, transcript.digest = rows, f"{later} {word}"
        transcript.save()
        return shared_links.follow(str(link.uuid)).passage

    passage = follow(0, "Sentence")
    assert passage is not None
    assert (passage.locator.start, passage.locator.end) == (start, end)
    passage = follow(15_000, "Sentence")
    assert passage is not None
    assert passage.text == "Sentence 2. Point 2. Sentence 3. Point 3."
    assert passage.locator.start == cues[2].start + 15_000
    with pytest.raises(SharedLinkNotFound, match="no longer in its source"):
        follow(15_000, "Chapter")


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ({}, InvalidInput),
        ({"page": 99}, NotFound),
        ({"page": 0}, NotFound),
        ({"start": 0, "end": 1_000}, InvalidInput),
        ({"page": 1, "start": 0, "end": 1_000}, InvalidInput),
        ({"page": 1, "answer": UUID(int=7)}, InvalidInput),
    ],
)
def test_what_a_document_does_not_have_is_not_shared(
    scope: Scope, owner: User, placed: PlacedHighlight, place: dict[str, Any], error: type
) -> None:
    with pytest.raises(error):
        shared_links.share(scope, owner, ShareTarget(source=placed.row.source.uuid, **place))


@pytest.mark.parametrize(
    ("start", "end"), [(5_000, 5_000), (5_000, 0), (0, 600_001), (10**9, 10**9 + 1), (None, 1)]
)
def test_a_clip_has_words_and_an_end(
    scope: Scope, owner: User, collection: Collection, start: int | None, end: int
) -> None:
    shared_links.allow_links(collection, is_allowed=True)
    source = make_source(make_video(collection))
    with pytest.raises(InvalidInput):
        shared_links.share(scope, owner, ShareTarget(source=source.uuid, start=start, end=end))
