"""user, token, mcp-config."""

import re
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from kbsite.accounts.auth import caller_of_token
from kbsite.models import ApiToken, SignInLink
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_user
from transcripts.core.errors import NotSignedIn
from transcripts.models import Collection, Membership

PASSWORD = "correct horse battery"


def test_a_user_is_added_as_a_member_and_can_sign_in(kb: Kb, collection: Collection) -> None:
    about = ("--role", "viewer", "-c", "lectures", "--password-stdin", "--json")
    created = kb("user", "add", "ada", *about, stdin=f"{PASSWORD}\n").json
    assert (created["name"], created["admin"]) == ("ada", False)
    assert created["roles"] == {"lectures": "viewer"}
    user = User.objects.get(username="ada")
    assert user.check_password(PASSWORD)
    assert not user.is_staff


def test_without_options_a_user_is_viewer_of_the_library(kb: Kb) -> None:
    kb("user", "add", "ada", "--password-stdin", stdin=f"{PASSWORD}\n")
    member = Membership.objects.get()
    assert (member.user.username, member.collection.slug) == ("ada", "library")
    assert member.role == "viewer"


def test_the_password_is_asked_for_twice_and_never_shown(kb: Kb) -> None:
    ran = kb("user", "add", "ada", stdin=f"{PASSWORD}\n{PASSWORD}\n")
    assert PASSWORD not in ran.out + ran.err
    assert User.objects.get().check_password(PASSWORD)


def test_an_admin_may_do_everything(kb: Kb) -> None:
    kb("user", "add", "root", "--admin", "--password-stdin", stdin=f"{PASSWORD}\n")
    assert User.objects.get().is_superuser
    assert "everything" in kb("user", "list").out


def test_a_link_signs_its_user_in_once(kb: Kb) -> None:
    ada = make_user("ada")
    link = kb("user", "link", "ada").out.strip()
    match = re.fullmatch(r"http://127\.0\.0\.1:8000/sign-in/([\w-]+)/", link)
    assert match
    assert [SignInLink.redeem(match[1]) for _ in range(2)] == [ada, None]


def test_a_link_without_a_name_is_for_the_owner_who_is_made_if_need_be(kb: Kb) -> None:
    assert kb("user", "link", "--json").json["user"] == "owner"
    owner = User.objects.get()
    assert owner.is_superuser
    assert not owner.has_usable_password()
    assert Membership.objects.get(user=owner).collection.slug == "library"


def test_a_token_is_shown_once_and_may_only_read(kb: Kb) -> None:
    created = kb("token", "create", "my script", "--json").json
    caller = caller_of_token(created["token"])
    assert (caller.user.get_username(), caller.token.access) == ("owner", "read")
    listed = kb("token", "list")
    assert "my script" in listed.out
    assert created["token"] not in listed.out + kb("token", "list", "--json").out


def test_a_token_can_be_kept_to_collections_and_days_and_may_write_if_wished(
    kb: Kb, collection: Collection
) -> None:
    Collection.objects.create(name="Other", slug="other")
    created = kb("token", "create", "x", "--write", "-c", "lectures", "--days", 3, "--json").json
    caller = caller_of_token(created["token"])
    assert caller.scope.readable == caller.scope.writable == {collection.pk}
    assert created["collections"] == ["lectures"]
    expires = ApiToken.objects.get().expires_at
    assert expires is not None
    assert timedelta(days=2, hours=23) < expires - timezone.now() <= timedelta(days=3)


def test_a_token_acts_for_the_user_that_is_named(kb: Kb, collection: Collection) -> None:
    ada = make_user("ada", collection=collection)
    text = kb("token", "create", "hers", "--user", "ada").out.strip()
    assert caller_of_token(text).user == ada


def test_a_revoked_token_opens_nothing(kb: Kb) -> None:
    text = kb("token", "create", "old").out.strip()
    kb("token", "revoke", "old")
    with pytest.raises(NotSignedIn):
        caller_of_token(text)
    assert kb("token", "list", "--json").json[0]["state"] == "revoked"
    kb("token", "revoke", "old", code=3)


def test_of_two_tokens_of_one_name_the_number_tells(kb: Kb) -> None:
    kb("token", "create", "twin")
    number = kb("token", "create", "twin", "--json").json["id"]
    kb("token", "revoke", "twin", code=5)
    assert kb("token", "revoke", number, "--json").json["id"] == number


def test_every_client_gets_the_json_that_it_wants(kb: Kb) -> None:
    configuration = kb("mcp-config", "--json").json
    server = configuration["cursor"]["mcpServers"]["cuebase"]
    token = server["headers"]["Authorization"].removeprefix("Bearer ")
    url, headers = "http://127.0.0.1:8000/mcp", {"Authorization": f"Bearer {token}"}
    assert server == {"url": url, "headers": headers}
    http = {"cuebase": {"type": "http", **server}}
    assert configuration["claude-code"] == {"mcpServers": http}
    assert configuration["vscode"] == {"servers": http}
    desktop = configuration["claude-desktop"]["mcpServers"]["cuebase"]
    assert desktop["command"].endswith("kb")
    assert desktop["args"] == ["mcp"]
    assert caller_of_token(token).token.access == "read"


def test_one_client_and_a_token_of_ones_own(kb: Kb) -> None:
    ran = kb("mcp-config", "--client", "vscode", "--token", "kb_mine", "--json")
    server = ran.json["servers"]["cuebase"]
    assert server["headers"] == {"Authorization": "Bearer kb_mine"}
    assert not ApiToken.objects.exists()


def test_the_places_of_the_files_are_told_beside_the_json(kb: Kb) -> None:
    ran = kb("mcp-config", "--client", "cursor", "--token", "kb_mine")
    assert "~/.cursor/mcp.json" in ran.err
    assert ran.json["mcpServers"]


def test_the_bundle_is_written_to_a_file(kb: Kb, tmp_path: Path) -> None:
    kb("mcp-config", "--bundle", tmp_path / "cuebase.mcpb")
    assert zipfile.is_zipfile(tmp_path / "cuebase.mcpb")
