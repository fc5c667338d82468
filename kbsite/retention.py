"""What grows and ends: one list, with the age of each, that one recurring task clears.

``KEPT`` names the tables, and ``KEPT_FILES`` the files, that it leaves alone, and why; a test finds
whatever is in neither.
"""

import logging
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from celery import shared_task
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Now
from oauth2_provider.models import clear_expired

from citations import conf as citations_conf
from citations.documents import local_copies, page_images
from citations.maintenance import migration
from citations.models import Archive, LectureEvent, SharedClip, SharedLink
from kbsite.errors import DATABASE_ERRORS
from kbsite.models import KeyedRequest, SignInLink, WebhookDelivery, WebhookEvent, keyed_requests
from kbsite.oauth import connections
from transcripts import conf
from transcripts.models import AuditEntry, Job

AT_ONCE: Final = 1_000  # rows that one statement deletes
SECONDS: Final = 5.0  # that one run takes for the rows of an entry; the next run goes on
JOBS: Final = timedelta(days=90)
EVENTS: Final = timedelta(days=30)
LINKS: Final = timedelta(days=90)
DELIVERIES: Final = timedelta(days=7)
MESSAGES: Final = timedelta(days=1)
CLIP_FOLDERS: Final = timedelta(hours=1)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Something that grows: its tables (``app.Model``) or files (below the data directory), how
    long it is kept, and the function that clears what is older.
    """

    name: str
    holds: tuple[str, ...]
    kept: str
    clear: Callable[[], object]


@shared_task
def clear() -> None:
    """Clear all that has ended. What fails is logged, and tried again by the next run.

    Raises ``OperationalError`` and ``InterfaceError`` if the database is away.
    """
    for ending in ENDINGS:
        try:
            ending.clear()
        except DATABASE_ERRORS:
            raise
        except Exception:
            logger.exception("%s could not be cleared", ending.name)


def _rows(select: Callable[[], "QuerySet[Any]"]) -> Callable[[], None]:
    """Return a function that deletes the selected rows, some at once and for a limited time."""

    def delete() -> None:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            pks = list(select().order_by("pk").values_list("pk", flat=True)[:AT_ONCE])
            if not pks:
                return
            select().filter(pk__in=pks).delete()  # once more: one may just have been renewed

    return delete


def _files(find: Callable[[], Iterable[Path]], age: timedelta) -> Callable[[], None]:
    """Return a function that deletes the files and folders that have not changed for so long."""

    def delete() -> None:
        before = time.time() - age.total_seconds()
        for path in find():
            with suppress(FileNotFoundError):  # a worker has just taken it
                if path.stat().st_mtime < before:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    return delete


def _beyond_audit(model: type[Model], moment: str) -> "QuerySet[Any]":
    rows = model._default_manager.all()
    days = conf.audit_days()
    return rows.filter(**{f"{moment}__lt": Now() - timedelta(days=days)}) if days else rows.none()


def _finished_jobs() -> "QuerySet[Job]":
    # A video of a playlist that was deleted by hand, or cannot be fetched, is known by its job: a
    # later reading of the list would add it again.
    of_feeds = Q(kind=Job.Kind.VIDEO, feed__isnull=False)
    return Job.objects.filter(finished_at__lt=Now() - JOBS).exclude(of_feeds)


def _queued_messages() -> Iterable[Path]:
    folder = settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("data_folder_in")
    return Path(folder).glob("*") if folder else ()


ENDINGS: Final = (
    Ending(
        name="Sessions of browsers",
        holds=("sessions.Session",),
        kept="until they expire, 14 days after the sign-in",
        clear=_rows(lambda: Session.objects.filter(expire_date__lt=Now())),
    ),
    Ending(
        name="One-time sign-in links, also of invitations",
        holds=("kbsite.SignInLink",),
        kept="until they expire, after a day",
        clear=_rows(lambda: SignInLink.objects.filter(expires_at__lt=Now())),
    ),
    Ending(
        name="Responses to requests with an Idempotency-Key",
        holds=("kbsite.KeyedRequest",),
        kept=f"{keyed_requests.KEPT_FOR.days} day",
        clear=_rows(lambda: KeyedRequest.objects.expired()),
    ),
    Ending(
        name="Deliveries of webhooks that ended",
        holds=("kbsite.WebhookDelivery",),
        kept=f"{DELIVERIES.days} days",
        clear=_rows(lambda: WebhookDelivery.objects.filter(finished_at__lt=Now() - DELIVERIES)),
    ),
    Ending(
        name="Events that no worker turned into deliveries",
        holds=("kbsite.WebhookEvent",),
        kept=f"{DELIVERIES.days} days",
        clear=_rows(lambda: WebhookEvent.objects.filter(happened_at__lt=Now() - DELIVERIES)),
    ),
    Ending(
        name="OAuth codes and tokens",
        holds=(
            *("oauth2_provider.Grant", "oauth2_provider.AccessToken"),
            *("oauth2_provider.RefreshToken", "oauth2_provider.IDToken"),
        ),
        kept="until they expire; refresh tokens `OAUTH_DAYS` after their last use",
        clear=clear_expired,
    ),
    Ending(
        name="Connections whose code no application exchanged",
        holds=("kbsite.ApiToken",),
        kept=f"{connections.UNUSED_AFTER.days} day",
        clear=_rows(connections.unused),
    ),
    Ending(
        name="Tokens and connections that expired, were revoked, or ended",
        holds=("kbsite.ApiToken", "kbsite.ApiToken_collections"),
        kept=f"{connections.ENDED_FOR.days} days after that",
        clear=_rows(connections.ended),
    ),
    Ending(
        name="Applications that registered themselves and nobody connected",
        holds=("oauth2_provider.Application",),
        kept=f"{connections.UNUSED_AFTER.days} day",
        clear=_rows(connections.forgotten_applications),
    ),
    Ending(
        name="Audit trail",
        holds=("transcripts.AuditEntry",),
        kept="`AUDIT_DAYS`",
        clear=_rows(lambda: _beyond_audit(AuditEntry, "at")),
    ),
    Ending(
        name="History of the admin",
        holds=("admin.LogEntry",),
        kept="`AUDIT_DAYS`",
        clear=_rows(lambda: _beyond_audit(LogEntry, "action_time")),
    ),
    Ending(
        name="Finished jobs; not those for videos of playlists and channels",
        holds=("transcripts.Job", "transcripts.JobFile", "transcripts.HeardPart"),
        kept=f"{JOBS.days} days",
        clear=_rows(_finished_jobs),
    ),
    Ending(
        name="Events of lectures; not their speech and citations",
        holds=("citations.LectureEvent",),
        kept=f"{EVENTS.days} days",
        clear=_rows(lambda: LectureEvent.objects.filter(created_at__lt=Now() - EVENTS)),
    ),
    Ending(
        name="Archives",
        holds=("citations.Archive", "citations.ArchivePart"),
        kept=f"{Archive.KEPT.days} day",
        clear=_rows(lambda: Archive.objects.filter(created_at__lt=Now() - Archive.KEPT)),
    ),
    Ending(
        name="Clips of shared links",
        holds=("citations.SharedClip", "citations.SharedClipPart"),
        kept="until their link expires",
        clear=_rows(lambda: SharedClip.objects.filter(link__in=SharedLink.objects.expired())),
    ),
    Ending(
        name="Shared links",
        holds=("citations.SharedLink",),
        kept=f"{LINKS.days} days after they expired, to be renewed",
        clear=_rows(lambda: SharedLink.objects.filter(expires_at__lt=Now() - LINKS)),
    ),
    Ending(
        name="Vectors of an embedding model that was replaced",
        holds=("citations.Embedding", "citations.EmbeddingSpace"),
        kept=f"{migration.GRACE.seconds // 60} minutes",
        clear=migration.delete_leftovers,
    ),
    Ending(
        name="Copies of documents",
        holds=("cache/documents",),
        kept="the last used 2 GB, until their document is gone",
        clear=local_copies.prune,
    ),
    Ending(
        name="Images of pages",
        holds=("cache/pages",),
        kept="the last used 500 MB, until their document is gone",
        clear=page_images.prune,
    ),
    Ending(
        name="Folders in which a killed process cut clips",
        holds=("cache/clip-*",),
        kept="an hour",
        clear=_files(lambda: citations_conf.cache_dir().glob("clip-*"), CLIP_FOLDERS),
    ),
    Ending(
        name="Messages that no worker took from the file queue",
        holds=("queue/messages",),
        kept=f"{MESSAGES.days} day",
        clear=_files(_queued_messages, MESSAGES),
    ),
)

_OF_LIBRARY: Final = "part of the library: it goes with its source, recording or collection"
_OF_PEOPLE: Final = "what a person made: it goes when that person or an owner deletes it"
_OF_ACCOUNT: Final = "goes with its user"
_ONE_ROW: Final = "there is one row"
_UNUSED: Final = "nothing writes it: the installation does not use this part of the package"
KEPT: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            *("citations.Source", "citations.Chunk", "citations.Document"),
            *(
                "citations.DocumentPart",
                "citations.OcrResult",
                "citations.Page",
                "citations.Guide",
                "citations.Node",
            ),
            *("citations.Topic", "citations.TopicMember", "citations.LexEntry"),
            *("citations.LexPack", "citations.LexBlock", "transcripts.Video"),
            *("transcripts.Thumbnail", "transcripts.Transcript", "transcripts.TranscriptIndex"),
            *("transcripts.RawCaptions", "transcripts.MediaFile", "transcripts.MediaPart"),
        ),
        _OF_LIBRARY,
    ),
    **dict.fromkeys(
        (
            *("citations.Conversation", "citations.Answer", "citations.Citation"),
            *("citations.Note", "citations.Highlight", "citations.Mark"),
            *("citations.LectureSession", "citations.LectureSession_sources"),
            *("citations.Segment", "citations.Window", "citations.ReadingProgress"),
            *("transcripts.Collection", "transcripts.Membership", "kbsite.Webhook"),
        ),
        _OF_PEOPLE,
    ),
    **dict.fromkeys(
        (
            *("auth.User_groups", "auth.User_user_permissions", "account.EmailAddress"),
            *("mfa.Authenticator", "socialaccount.SocialAccount", "kbsite.WritePosition"),
        ),
        _OF_ACCOUNT,
    ),
    **dict.fromkeys(
        ("transcripts.WorkerPulse", "transcripts.YouTubeGate", "citations.ChosenModel"), _ONE_ROW
    ),
    **dict.fromkeys(
        (
            *("oauth2_provider.DeviceGrant", "account.EmailConfirmation"),
            *("socialaccount.SocialApp", "socialaccount.SocialToken"),
        ),
        _UNUSED,
    ),
    "auth.User": "an owner of the installation deletes users, also invited ones who never came",
    "auth.Group": "an administrator makes and deletes groups",
    "auth.Group_permissions": "goes with its group",
    "auth.Permission": "as many as kinds of tables",
    "contenttypes.ContentType": "as many as tables",
    "citations.Deletion": "carried out, and so deleted, by a worker after 30 seconds",
    "citations.AbstractsRequest": "at most one for a source, deleted when it is answered",
    "transcripts.Feed": "a playlist or channel, until somebody removes it",
    "transcripts.FeedEntry": "as many as YouTube's list has; goes with its feed",
}
KEPT_FILES: Final[Mapping[str, str]] = {
    "postgres": "the database; its log has one file for each day of the week",
    "models": "the models that are used; `kb models` lists them",
    "static": "made anew at each start",
    "metrics": "as many files as processes ran at once",
    "queue/control": "one file for each exchange",
    "secret_key": "the key of sessions and links",
}
