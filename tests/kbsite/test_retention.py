"""Everything that grows has an age at which it is cleared, or a reason to stay."""

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.db.models import F, Model
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, Grant, IDToken, RefreshToken

from citations import conf as citations_conf
from citations.models import (
    Archive,
    ArchivePart,
    Embedding,
    EmbeddingSpace,
    LectureEvent,
    LectureSession,
    SharedClip,
    SharedLink,
)
from kbsite import retention
from kbsite.models import ApiToken, KeyedRequest, SignInLink, Webhook, WebhookDelivery, WebhookEvent
from kbsite.retention import ENDINGS, KEPT, KEPT_FILES, Ending
from tests.makers import embed, make_source, make_user, make_video, signed_in
from transcripts.models import AuditEntry, Collection, Feed, Job, JobFile, MediaFile

DOCS = Path(__file__).resolve().parents[2] / "docs" / "operating.md"
NAMES = [ending.name for ending in ENDINGS]
Make = Callable[[User, Collection], Model]
Age = dict[str, timedelta]  # by how much the old row is older in which columns
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def named(beginning: str) -> Ending:
    (ending,) = (ending for ending in ENDINGS if ending.name.startswith(beginning))
    return ending


def make_session(user: User, collection: Collection) -> Model:
    browser = signed_in(user)
    return Session.objects.get(pk=browser.session.session_key)


def make_sign_in_link(user: User, collection: Collection) -> Model:
    SignInLink.issue(make_user(f"guest-{uuid4()}"))
    return SignInLink.objects.latest("pk")


def make_keyed_request(user: User, collection: Collection) -> Model:
    return KeyedRequest.objects.create(user=user, key=str(uuid4()), fingerprint="x")


def make_delivery(user: User, collection: Collection) -> Model:
    webhook = Webhook.objects.create(user=user, url="https://hooks.example.org/")
    return WebhookDelivery.objects.create(
        webhook=webhook, kind="test", state="done", finished_at=timezone.now()
    )


def make_application(user: User | None = None, collection: Collection | None = None) -> Application:
    registered = Application.RegistrationSource.DCR
    return Application.objects.create(name="Program", registration_source=registered)


def soon(**about: Any) -> dict[str, Any]:
    return {"expires": timezone.now() + timedelta(minutes=1), "scope": "read", **about}


def make_grant(user: User, collection: Collection) -> Any:
    about = soon(user=user, application=make_application(), code=str(uuid4()))
    return Grant.objects.create(redirect_uri="https://a.example.org", **about)


def make_access_token(user: User, collection: Collection) -> AccessToken:
    return AccessToken.objects.create(
        token=str(uuid4()), **soon(user=user, application=make_application())
    )


def make_refresh_token(user: User, collection: Collection) -> RefreshToken:
    access = make_access_token(user, collection)
    about = {"user": user, "application": access.application, "token_family": uuid4()}
    return RefreshToken.objects.create(token=str(uuid4()), access_token=access, **about)


def make_id_token(user: User, collection: Collection) -> Any:
    return IDToken.objects.create(jti=uuid4(), **soon(user=user, application=make_application()))


def make_unused_connection(user: User, collection: Collection) -> ApiToken:
    return ApiToken.connect(user, make_application(), secret=str(uuid4()), name="Program")


def make_token(user: User, collection: Collection) -> ApiToken:
    token, _ = ApiToken.issue(user, name="t", days=1, collections=(collection,))
    return token


def make_revoked_token(user: User, collection: Collection) -> ApiToken:
    token = make_token(user, collection)
    token.revoke()
    return token


def make_connection(user: User, collection: Collection) -> ApiToken:
    """Return the connection of an application whose tokens have expired and are cleared."""
    connection = make_unused_connection(user, collection)
    connection.family = uuid4()
    connection.save()
    return connection


def make_entry(user: User, collection: Collection) -> Model:
    return AuditEntry.objects.create(door="web", action="add", kind="note")


def make_log_entry(user: User, collection: Collection) -> Model:
    kind = ContentType.objects.get_for_model(User)
    return LogEntry.objects.create(user=user, content_type=kind, object_id="1", action_flag=CHANGE)


def make_job(user: User, collection: Collection, **about: Any) -> Job:
    about = {"kind": "files", "state": "failed", "finished_at": timezone.now()} | about
    job = Job.objects.create(collection=collection, target=str(uuid4())[:11], **about)
    JobFile.objects.create(job=job, name="a.vtt", data=b"x")
    return job


def make_lecture_event(user: User, collection: Collection) -> Model:
    lecture = LectureSession.objects.create(collection=collection, title="Optics")
    return LectureEvent.objects.create(session=lecture, number=1, kind="segment")


def make_archive(user: User, collection: Collection) -> Model:
    archive = Archive.objects.create(owner=make_user(f"owner-{uuid4()}"), state="done")
    ArchivePart.objects.create(archive=archive, ordinal=0, data=b"x")
    return archive


def make_shared_link(user: User, collection: Collection) -> SharedLink:
    source = make_source(make_video(collection, key=str(uuid4())))
    return SharedLink.objects.create(
        author=user, source=source, start=0, end=1_000, expires_at=timezone.now() + HOUR
    )


def make_clip(user: User, collection: Collection) -> SharedClip:
    link = make_shared_link(user, collection)
    assert link.source is not None
    file = MediaFile.objects.create(video=link.source.video, media_type="audio/wav", size=1)
    return SharedClip.objects.create(link=link, media=file, start=0, end=1, size=1)


ROWS: dict[str, tuple[tuple[Make, str, timedelta], ...]] = {
    "Sessions of browsers": ((make_session, "expire_date", 14 * DAY),),
    "One-time sign-in links": ((make_sign_in_link, "expires_at", DAY),),
    "Responses to requests": ((make_keyed_request, "created_at", DAY),),
    "Deliveries of webhooks": ((make_delivery, "finished_at", 7 * DAY),),
    "Events that no worker": (
        (lambda *_: WebhookEvent.objects.create(kind="job.done", thing=1), "happened_at", 7 * DAY),
    ),
    "OAuth codes and tokens": (
        (make_grant, "expires", timedelta(minutes=1)),
        (make_access_token, "expires", timedelta(minutes=1)),
        (make_id_token, "expires", timedelta(minutes=1)),
    ),
    "Connections whose code": ((make_unused_connection, "created_at", DAY),),
    "Tokens and connections": (
        (make_token, "expires_at", 91 * DAY),
        (make_revoked_token, "revoked_at", 90 * DAY),
        (make_connection, "created_at", 90 * DAY),
    ),
    "Applications that registered": ((make_application, "created", DAY),),
    "Audit trail": ((make_entry, "at", 365 * DAY),),
    "History of the admin": ((make_log_entry, "action_time", 365 * DAY),),
    "Finished jobs": ((make_job, "finished_at", 90 * DAY),),
    "Events of lectures": ((make_lecture_event, "created_at", 30 * DAY),),
    "Archives": ((make_archive, "created_at", DAY),),
    "Shared links": ((make_shared_link, "expires_at", 90 * DAY + HOUR),),
}
CASES = [(name, *case) for name, cases in ROWS.items() for case in cases]


def put_back(row: Model, column: str, age: timedelta) -> None:
    type(row)._default_manager.filter(pk=row.pk).update(**{column: F(column) - age})


def is_there(row: Model) -> bool:
    return type(row)._default_manager.filter(pk=row.pk).exists()


@pytest.mark.parametrize(("name", "make", "column", "age"), CASES)
def test_old_rows_go_and_young_ones_stay(
    owner: User, collection: Collection, name: str, make: Make, column: str, age: timedelta
) -> None:
    old, young = make(owner, collection), make(owner, collection)
    put_back(old, column, age + timedelta(seconds=30))
    put_back(young, column, age - timedelta(seconds=30))
    named(name).clear()
    assert (is_there(old), is_there(young)) == (False, True)


def test_refresh_tokens_go_when_their_connection_was_not_used_for_the_days_set(
    owner: User, collection: Collection
) -> None:
    old, young = (make_refresh_token(owner, collection) for _ in range(2))
    for token, days in ((old, 61), (young, 59)):
        assert token.access_token is not None
        put_back(token.access_token, "expires", days * DAY)
    named("OAuth codes").clear()
    assert (is_there(old), is_there(young)) == (False, True)


def test_a_connection_in_use_and_its_application_stay_however_old(
    owner: User, collection: Collection
) -> None:
    connection = make_connection(owner, collection)
    token = make_refresh_token(owner, collection)
    ApiToken.objects.filter(pk=connection.pk).update(family=token.token_family)
    put_back(connection, "created_at", 400 * DAY)
    assert connection.application is not None
    put_back(connection.application, "created", 400 * DAY)
    retention.clear()
    assert is_there(connection)
    assert is_there(connection.application)
    assert token.access_token is not None
    put_back(token.access_token, "expires", 61 * DAY)
    retention.clear()
    assert not is_there(connection)
    assert not is_there(connection.application)


def test_an_operators_application_stays_without_a_connection(owner: User) -> None:
    own = Application.objects.create(name="Ours", registration_source="manual")
    put_back(own, "created", 400 * DAY)
    retention.clear()
    assert is_there(own)


def test_clips_go_with_the_expiry_of_their_link_which_stays(
    owner: User, collection: Collection
) -> None:
    old, young = make_clip(owner, collection), make_clip(owner, collection)
    put_back(old.link, "expires_at", 2 * HOUR)
    retention.clear()
    assert (is_there(old), is_there(young), is_there(old.link)) == (False, True, True)


def test_the_vectors_of_a_cancelled_migration_go_and_those_in_use_stay(
    collection: Collection,
) -> None:
    used = embed(make_source(make_video(collection)))
    cancelled, running = (
        EmbeddingSpace.objects.create(
            provider="fake", model=state, dimensions=used.dimensions, state=state
        )
        for state in ("retired", "building")
    )
    count = Embedding.objects.count()
    for vector in Embedding.objects.all():
        for space in (cancelled, running):
            vector.pk, vector.space = None, space
            vector.save()
    retention.clear()
    kept = [Embedding.objects.filter(space=space).count() for space in (used, cancelled, running)]
    assert kept == [count, 0, count]
    assert (is_there(cancelled), is_there(running)) == (False, True)


def test_jobs_that_keep_a_video_from_coming_back_or_are_not_finished_stay(
    owner: User, collection: Collection
) -> None:
    feed = Feed.objects.create(collection=collection, kind="playlist", youtube_id="PL1")
    of_feed = make_job(owner, collection, kind="video", feed=feed)
    reading = make_job(owner, collection, kind="feed", feed=feed)
    queued = make_job(owner, collection, state="queued", finished_at=None)
    for job in (of_feed, reading, queued):
        put_back(job, "created_at", 400 * DAY)
        put_back(job, "finished_at", 400 * DAY)
    retention.clear()
    assert [is_there(job) for job in (of_feed, reading, queued)] == [True, False, True]


def test_an_audit_trail_without_end_is_kept(
    owner: User, collection: Collection, settings: Any
) -> None:
    settings.AUDIT_DAYS = 0
    entry, admin = make_entry(owner, collection), make_log_entry(owner, collection)
    put_back(entry, "at", 4_000 * DAY)
    put_back(admin, "action_time", 4_000 * DAY)
    retention.clear()
    assert is_there(entry)
    assert is_there(admin)


def test_many_rows_go_in_batches_within_the_time_of_one_run(
    owner: User, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "AT_ONCE", 3)
    for _ in range(7):
        put_back(make_keyed_request(owner, collection), "created_at", 2 * DAY)
    ending = named("Responses to requests")
    monkeypatch.setattr(retention, "SECONDS", 0.0)
    ending.clear()
    assert KeyedRequest.objects.count() == 7
    monkeypatch.setattr(retention, "SECONDS", 60.0)
    ending.clear()
    assert not KeyedRequest.objects.exists()


def test_what_cannot_be_cleared_holds_up_nothing_else(
    owner: User, settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "documents").write_text("no folder")
    message = queued(settings, tmp_path, "a.msg", 2 * DAY)
    retention.clear()
    assert "Copies of documents could not be cleared" in caplog.text
    assert not message.exists()


@pytest.fixture
def cache(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    citations_conf.cache_dir().mkdir()
    return citations_conf.cache_dir()


def queued(settings: Any, folder: Path, name: str, age: timedelta) -> Path:
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_in": str(folder / "queue")}
    path = folder / "queue" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}")
    make_older(path, age)
    return path


def make_older(path: Path, age: timedelta) -> None:
    moment = time.time() - age.total_seconds()
    os.utime(path, (moment, moment))


def test_messages_that_nobody_took_go_after_a_day(settings: Any, tmp_path: Path) -> None:
    old = queued(settings, tmp_path, "old.celery.msg", DAY + HOUR)
    young = queued(settings, tmp_path, "young.celery.msg", DAY - HOUR)
    named("Messages").clear()
    assert (old.exists(), young.exists()) == (False, True)
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {}  # Redis
    named("Messages").clear()


def test_the_folders_of_killed_cutters_go_after_an_hour(cache: Path) -> None:
    old, young = cache / "clip-old", cache / "clip-young"
    for folder, age in ((old, 2 * HOUR), (young, HOUR / 2)):
        folder.mkdir()
        (folder / "file").write_bytes(b"x")
        make_older(folder, age)
    named("Folders in which").clear()
    assert (old.exists(), young.exists()) == (False, True)


def test_copies_and_images_of_documents_that_are_gone_go(db: None, cache: Path) -> None:
    copy = cache / "documents" / ("0" * 64)
    image = cache / "pages" / "00" / ("0" * 64) / "a-1-800.webp"
    for path in (copy, image):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x")
        make_older(path, 2 * HOUR)
    retention.clear()
    assert not copy.exists()
    assert not image.exists()


def test_every_table_ends_or_says_why_it_stays() -> None:
    tables = {model._meta.label for model in apps.get_models(include_auto_created=True)}
    ending = {held for entry in ENDINGS for held in entry.holds if "." in held}
    assert ending | KEPT.keys() == tables
    assert not ending & KEPT.keys()
    assert all(KEPT.values())


def test_every_entry_is_tried_above() -> None:
    others = (
        "Clips of shared links",
        "Vectors of",
        "Copies of",
        "Images of",
        "Folders",
        "Messages",
    )
    tried = {name for name in NAMES if name.startswith((*ROWS, *others))}
    assert tried == {*NAMES}


def test_every_file_of_the_data_directory_ends_or_says_why_it_stays(settings: Any) -> None:
    held = {*KEPT_FILES, *(name for entry in ENDINGS for name in entry.holds if "." not in name)}
    parents = {Path(name).parts[0] for name in held}
    known = {path.name for path in Path(settings.DATA_DIR).iterdir()}
    assert known - parents == set()


def test_the_documentation_lists_what_ends() -> None:
    table = "\n".join(f"| {ending.name} | {ending.kept} |" for ending in ENDINGS)
    assert f"| What | Kept for |\n|---|---|\n{table}\n" in DOCS.read_text()
