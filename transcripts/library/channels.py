"""Channels and playlists by the names that recordings and lists give them."""

from dataclasses import dataclass

from django.db.models import Q

from transcripts.core.errors import InvalidUrl
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.models import Feed, Video
from transcripts.text.timecodes import parse_target, target_url


@dataclass(frozen=True, slots=True)
class Following:
    """The feeds that follow a channel or playlist, of one collection each.

    Where none does, ``address`` is that of the channel; "" if it is unknown, or several have this
    name.
    """

    feeds: tuple[Feed, ...] = ()
    address: str = ""


def of_channel(scope: Scope, name: str, *, collection: str = "") -> Following:
    """Return who follows a channel; ``collection`` is the slug of the only one that counts."""
    name = clean(name, 200)
    videos = Video.objects.visible(scope).filter(channel__iexact=name).exclude(channel_id="")
    ids = list(videos.order_by().values_list("channel_id", flat=True).distinct()[:10])
    is_it = Q(kind=Feed.Kind.CHANNEL) & (Q(title__iexact=name) | Q(youtube_id__in=ids))
    feeds = _feeds(scope, is_it, collection)
    return Following(feeds, _address(ids[0]) if len(ids) == 1 and not feeds else "")


def of_playlist(scope: Scope, name: str, *, collection: str = "") -> Following:
    """Return who follows a playlist, or a channel that is listed like one, by title or id."""
    name = clean(name, 300)
    return Following(_feeds(scope, Q(title__iexact=name) | Q(youtube_id=name), collection))


def _feeds(scope: Scope, condition: Q, collection: str) -> tuple[Feed, ...]:
    feeds = Feed.objects.visible(scope).filter(condition).select_related("collection")
    return tuple(feeds.filter(collection__slug=collection) if collection else feeds)


def _address(channel_id: str) -> str:
    """Return the address of a channel; "" for what a file claims to be one and is none."""
    try:
        target = parse_target(channel_id)
    except InvalidUrl:
        return ""
    return target_url(target) if target.kind == "channel" else ""
