"""Whoever changes, exports or signs in by whichever door finds an entry in the audit trail."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from citations import samples
from citations.ingest import selection
from citations.models import Deletion
from kbsite.cli import backups
from kbsite.middleware import rate_limits
from kbsite.models import ApiToken, SignInLink
from tests.kbsite.cli.conftest import Kb
from tests.kbsite.cli.conftest import kb as kb  # a fixture
from tests.makers import make_user, make_video
from transcripts.adding import acquisition
from transcripts.core import audit
from transcripts.core.access import AccessLevel
from transcripts.library import collections
from transcripts.models import AuditEntry, Collection, Membership, Role, Video

pytestmark = pytest.mark.django_db
VTT = b"WEBVTT\n\n00:01.000 --> 00:02.000\nA secret sentence.\n"
PASSWORD = "correct horse battery"


def entries() -> list[tuple[str, str, str, str]]:
    """Return door, actor, action and kind of each entry, oldest first."""
    rows = AuditEntry.objects.order_by("pk")
    return list(rows.values_list("door", "actor", "action", "kind"))


def last() -> AuditEntry:
    entry = AuditEntry.objects.first()
    assert entry is not None
    return entry


@pytest.fixture
def video(collection: Collection) -> Video:
    return make_video(collection, title="A secret title")


@pytest.fixture
def rest(owner: User) -> Client:
    """A program with a token that may write."""
    text = ApiToken.issue(owner, name="a secret name", access=AccessLevel.MANAGE)[1]
    AuditEntry.objects.all().delete()
    return Client(headers={"Authorization": f"Bearer {text}"})


def delete(page: Client, video: Video) -> Any:
    """Delete a video in the library, and let the half minute pass."""
    response = page.post("/library/change/", {"item": f"video-{video.pk}", "action": "delete"})
    Deletion.objects.update(run_after=None)
    selection.carry_out(Deletion.objects.get())
    return response


Act = Callable[[Client, Collection, Video], Any]
WEB: dict[tuple[str, str], Act] = {
    ("add", "files"): lambda page, shelf, _: page.post(
        "/add/", {"collection": shelf.slug, "files": SimpleUploadedFile("talk.vtt", VTT)}
    ),
    ("add", "video"): lambda page, shelf, _: page.post(
        "/add/", {"collection": shelf.slug, "what": "https://youtu.be/dQw4w9WgXcQ"}
    ),
    ("delete", "video"): lambda page, _, video: delete(page, video),
    ("export", "video"): lambda page, _, video: page.get(f"/videos/{video.pk}/download/txt/"),
    ("add", "collection"): lambda page, *_: page.post("/collections/create/", {"name": "New"}),
    ("change", "member"): lambda page, shelf, _: page.post(
        f"/collections/{shelf.pk}/members/", {"username": "bob", "role": Role.VIEWER}
    ),
    ("delete", "collection"): lambda page, shelf, _: page.post(
        f"/collections/{shelf.pk}/delete/", {"name": shelf.name}
    ),
    ("add", "token"): lambda page, *_: page.post("/tokens/create/", {"name": "Laptop"}),
}


@pytest.mark.parametrize("kind", WEB, ids=" ".join)
def test_what_a_page_does_is_found_with_its_user_and_address(
    page: Client, collection: Collection, video: Video, kind: tuple[str, str]
) -> None:
    make_user("bob")
    AuditEntry.objects.all().delete()
    page.defaults["REMOTE_ADDR"] = "192.0.2.7"
    response = WEB[kind](page, collection, video)
    assert response.status_code < 400, response.content
    assert ("web", "ada", *kind) in entries()
    assert last().address == "192.0.2.7"


@pytest.mark.parametrize(("again", "action"), [("", "add"), ("and again\n", "change")])
def test_captions_that_are_stored_at_once_are_found(
    kb: Kb, collection: Collection, tmp_path: Path, again: str, action: str
) -> None:
    file = tmp_path / "talk.vtt"
    file.write_bytes(VTT)
    kb("add", file, "--collection", collection.slug)
    kb("add", file, "--collection", collection.slug)  # nothing changes
    assert [entry[2:] for entry in entries()] == [("add", "video")]
    if again:
        file.write_bytes(VTT + again.encode())
        kb("add", file, "--collection", collection.slug)
    assert entries()[-1] == ("kb", last().actor, action, "video")
    assert (last().thing, last().collection) == ("talk", collection.slug)


def test_pasted_text_is_found_with_who_added_it(rest: Client, collection: Collection) -> None:
    text = {"text": "A secret sentence. Another one.", "title": "Talk"}
    rest.post("/api/v1/sources", text | {"collection": collection.slug}, "application/json")
    assert entries() == [("rest", "ada", "add", "video")]


def test_the_sample_library_is_found_whole(db: None) -> None:
    loaded = samples.load()
    entries = AuditEntry.objects.filter(action="add").values_list("kind", "thing")
    talks = {("video", talk.video.key) for talk in loaded.talks}
    assert len(talks) == 3
    assert {*talks, ("document", str(loaded.textbook.uuid))} <= set(entries)


def test_a_file_of_a_job_is_found_once(collection: Collection) -> None:
    acquisition.perform(acquisition.request_files(collection, [("talk.vtt", VTT)]).pk)
    assert Video.objects.filter(key="talk").exists()
    assert [entry[2:] for entry in entries()] == [("add", "files")]


def test_a_backup_is_found(kb: Kb, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(backups, "back_up", lambda path, **_: path.write_bytes(b"a dump"))
    kb("db", "backup", tmp_path / "library.backup")
    assert (last().action, last().kind, last().thing) == ("export", "library", "library.backup")


def test_what_a_program_does_over_rest_is_found_with_its_token(
    rest: Client, collection: Collection, video: Video
) -> None:
    bob = make_user("bob")
    files = {"files": SimpleUploadedFile("talk.vtt", VTT), "collection": collection.slug}
    assert rest.post("/api/v1/sources/files", files).status_code == 202
    member = {"collection": collection.slug, "user": "bob", "role": Role.VIEWER}
    response = rest.post("/api/content/memberships/", member, content_type="application/json")
    assert response.status_code == 201, response.content
    pk = Membership.objects.get(user=bob).pk
    assert rest.delete(f"/api/content/memberships/{pk}/").status_code == 204
    assert rest.delete(f"/api/content/videos/{video.pk}/").status_code == 204
    assert entries() == [
        ("rest", "ada", "add", "files"),
        ("rest", "ada", "add", "member"),
        ("rest", "ada", "delete", "member"),
        ("rest", "ada", "delete", "video"),
    ]
    assert last().token.startswith("kb_")
    assert last().collection == collection.slug


def test_what_somebody_does_in_the_admin_is_found_without_values(
    browser: Client, video: Video
) -> None:
    bob = make_user("bob")
    AuditEntry.objects.all().delete()
    form = {"username": "bobby", "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    saved = browser.post(f"/admin/auth/user/{bob.pk}/change/", form)
    assert saved.status_code == 302, saved.content
    assert ("admin", "boss", "change", "user") in entries()
    assert "bobby" not in str(last().details)
    chosen = {"action": "delete_selected", "_selected_action": [video.pk], "post": "yes"}
    assert browser.post("/admin/transcripts/video/", chosen).status_code == 302
    assert (last().action, last().kind, last().details["ids"]) == ("delete", "video", [video.pk])


def test_signing_in_and_failing_to_are_found_but_no_unknown_name(owner: User) -> None:
    rate_limits.forget()
    form = "/sign-in/"
    Client().post(form, {"username": "ada", "password": "wrong"})
    Client().post(form, {"username": PASSWORD, "password": "ada"})
    Client().post(form, {"username": "ada", "password": PASSWORD})
    Client().get("/sign-in/no-such-link/")
    Client().get(f"/sign-in/{SignInLink.issue(owner)}/")
    entries = [
        (entry.action, entry.kind, entry.thing) for entry in AuditEntry.objects.order_by("pk")
    ]
    assert entries == [
        ("refuse", "sign-in", "ada"),
        ("refuse", "sign-in", ""),
        ("sign_in", "password", "ada"),
        ("refuse", "sign-in", ""),
        ("add", "sign-in link", ""),
        ("sign_in", "sign-in link", "ada"),
    ]


def test_what_kb_does_is_found_with_the_account_and_exported(
    kb: Kb, video: Video, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "operator")
    kb("token", "create", "agent")
    kb("delete", video.key, "--yes")
    kb("user", "add", "carol", "--password-stdin", stdin=f"{PASSWORD}\n")
    expected = [("add", "token"), ("delete", "video"), ("add", "user")]
    body = kb("audit", "--json").json
    assert [(row["action"], row["kind"]) for row in body] == expected
    assert {(row["door"], row["actor"]) for row in body} == {("kb", "operator")}
    rows = list(csv.DictReader(io.StringIO(kb("audit", "--csv").out)))
    assert [(row["action"], row["kind"]) for row in rows] == expected
    assert "operator" in kb("audit").out


def test_the_trail_contains_no_secret_and_no_text(
    page: Client, rest: Client, collection: Collection, video: Video
) -> None:
    page.post("/tokens/create/", {"name": "a secret name"})
    page.get(f"/videos/{video.pk}/download/txt/")
    rest.post(
        "/api/v1/sources/files",
        {"files": SimpleUploadedFile("a secret name.vtt", VTT), "collection": collection.slug},
    )
    written = json.dumps(list(AuditEntry.objects.values()), default=str)
    assert "secret" not in written
    for token in ApiToken.objects.all():
        assert token.digest not in written


def test_an_entry_is_gone_if_its_change_is_rolled_back(collection: Collection) -> None:
    pk = make_video(collection).pk
    with transaction.atomic():
        collections.delete_video(Video.objects.get(pk=pk))
        assert last().kind == "video"
        transaction.set_rollback(True)
    assert Video.objects.filter(pk=pk).exists()
    assert entries() == []


def test_a_change_is_gone_if_its_entry_cannot_be_written(
    page: Client, video: Video, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(audit.AuditEntry.objects, "create", fail)
    delete(page, video)  # work that is tried again
    assert Video.objects.filter(pk=video.pk).exists()


def test_nobody_changes_the_trail_in_the_admin(browser: Client, collection: Collection) -> None:
    collections.describe(collection, name="Renamed")
    entry = last()
    assert browser.get("/admin/transcripts/auditentry/").status_code == 200
    assert browser.get(f"/admin/transcripts/auditentry/{entry.pk}/change/").status_code == 200
    address = f"/admin/transcripts/auditentry/{entry.pk}"
    assert browser.post(f"{address}/delete/", {"post": "yes"}).status_code == 403
    assert browser.post(f"{address}/change/", {"kind": "other"}).status_code == 403
    assert browser.get("/admin/transcripts/auditentry/add/").status_code == 403
