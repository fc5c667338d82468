"""Users and tokens become scopes."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from kbsite.accounts.auth import caller_of_token
from kbsite.callers import SignedInCaller, everything, scope_of
from kbsite.models import ApiToken, SignInLink
from tests.makers import make_user
from transcripts.core.access import AccessLevel
from transcripts.core.errors import Forbidden, NotSignedIn
from transcripts.models import Collection, Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def other(collection: Collection) -> Collection:
    return Collection.objects.create(name="Other", slug="other")


@pytest.mark.parametrize(
    ("role", "writes"), [(Role.VIEWER, False), (Role.EDITOR, True), (Role.OWNER, True)]
)
def test_a_member_reads_the_collection_and_writes_as_the_role_says(
    collection: Collection, other: Collection, role: str, writes: bool
) -> None:
    scope = scope_of(make_user(collection=collection, role=role))
    assert scope.readable == {collection.pk}
    assert (collection.pk in scope.writable) is writes


def test_a_superuser_reads_and_writes_all_and_a_switched_off_user_nothing(
    collection: Collection, other: Collection
) -> None:
    assert scope_of(make_user("root", is_superuser=True)) == everything()
    gone = make_user("gone", collection=collection, is_active=False)
    assert not scope_of(gone).readable


def test_a_token_reaches_no_further_than_its_user_nor_than_its_own_collections(
    collection: Collection, other: Collection
) -> None:
    user = make_user(collection=collection)
    _, wide = ApiToken.issue(user, name="wide", access=AccessLevel.WRITE)
    _, elsewhere = ApiToken.issue(
        user, name="elsewhere", access=AccessLevel.WRITE, collections=(other,)
    )
    assert caller_of_token(wide).scope.writable == {collection.pk}
    assert not caller_of_token(elsewhere).scope.readable


def test_a_limited_token_does_not_widen_when_its_collection_goes(other: Collection) -> None:
    user = make_user("root", is_superuser=True)
    _, text = ApiToken.issue(user, name="one shelf", collections=(other,))
    other.delete()
    assert not caller_of_token(text).scope.readable


def test_a_reading_token_writes_nothing(collection: Collection) -> None:
    _, text = ApiToken.issue(make_user(collection=collection), name="reader")
    caller = caller_of_token(text)
    assert not caller.scope.writable
    with pytest.raises(Forbidden):
        caller.require(AccessLevel.WRITE)


def test_what_goes_on_for_long_ends_with_the_right_to_read(
    collection: Collection, other: Collection
) -> None:
    user = make_user(collection=collection)
    token, text = ApiToken.issue(user, name="stream")
    session = signed_in(user)
    by_token, by_session = (
        caller_of_token(text),
        SignedInCaller(user, scope_of(user), session=session),
    )
    assert by_token.still_reads(collection.pk)
    assert not by_token.still_reads(other.pk)
    token.revoke()
    assert not by_token.still_reads(collection.pk)
    assert by_session.still_reads(collection.pk)
    type(user).objects.filter(pk=user.pk).update(is_active=False)
    assert not by_session.still_reads(collection.pk)
    type(user).objects.filter(pk=user.pk).update(is_active=True)
    by_session = SignedInCaller(user, scope_of(user), session=signed_in(user))
    user.set_password("another horse battery")
    user.save()
    assert by_session.renewed() is None
    by_session = SignedInCaller(user, scope_of(user), session=signed_in(user))
    user.memberships.all().delete()
    assert not by_session.still_reads(collection.pk)
    Session.objects.all().delete()
    assert by_session.renewed() is None


def signed_in(user: User) -> str:
    """Sign a user in; return the session's key."""
    browser = Client()
    browser.force_login(user)
    return browser.session.session_key or ""


def test_an_unknown_expired_or_revoked_token_and_one_of_a_switched_off_user_are_refused(
    collection: Collection,
) -> None:
    user = make_user(collection=collection)
    revoked, revoked_text = ApiToken.issue(user, name="revoked")
    revoked.revoke()
    expired, expired_text = ApiToken.issue(user, name="expired", days=1)
    ApiToken.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    _, orphan_text = ApiToken.issue(make_user("gone", is_active=False), name="orphan")
    for text in (
        revoked_text,
        expired_text,
        orphan_text,
        "kb_unknown",
        "",
        "x" * 10_000,
        "kb_\x00",
    ):
        with pytest.raises(NotSignedIn):
            caller_of_token(text)


def test_no_secret_is_stored(collection: Collection) -> None:
    token, text = ApiToken.issue(make_user(collection=collection), name="mine")
    link = SignInLink.issue(token.user)
    stored = str(list(ApiToken.objects.values())) + str(list(SignInLink.objects.values()))
    assert text not in stored
    assert link not in stored


def test_a_sign_in_link_works_once_and_a_newer_one_ends_the_older(collection: Collection) -> None:
    user = make_user(collection=collection)
    older, newer = SignInLink.issue(user), SignInLink.issue(user)
    assert SignInLink.redeem(older) is None
    assert SignInLink.redeem(newer) == user
    assert SignInLink.redeem(newer) is None
    assert SignInLink.redeem(SignInLink.issue(user, valid_for=timedelta(0))) is None


def test_a_session_key_that_the_database_refuses_is_nobodys(client: Client, db: None) -> None:
    answer = client.get("/library/", headers={"cookie": 'sessionid="abcd\\000efghijk"'})
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=/library/")


def test_a_request_looks_its_token_up_once(client: Client, collection: Collection) -> None:
    _, text = ApiToken.issue(make_user("ada", collection=collection), name="test")
    with CaptureQueriesContext(connection) as queries:
        assert (
            client.get("/api/v1/jobs", headers={"authorization": f"Bearer {text}"}).status_code
            == 200
        )
    assert sum('FROM "kbsite_apitoken"' in query["sql"] for query in queries) == 1
