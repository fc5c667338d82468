"""The pages of collections and their members."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.makers import make_user, make_video
from tests.transcripts.views.pages import text_of
from transcripts.library import collections
from transcripts.models import Collection, Membership, Role, Video
from transcripts.models.collections import SAMPLES_NAME


def test_a_new_collection_belongs_to_its_creator(page: Client, owner: User) -> None:
    page.post("/collections/create/", {"name": "Physics  II"})
    collection = Collection.objects.get(name="Physics II")
    assert collection.slug == "physics-ii"
    assert collections.role_in(collection, owner) == Role.OWNER


def test_similar_names_get_different_slugs(page: Client) -> None:
    page.post("/collections/create/", {"name": "Физика"})
    page.post("/collections/create/", {"name": "物理"})
    assert Collection.objects.filter(slug__startswith="collection").count() == 2


def test_a_duplicate_name_is_an_error(page: Client, collection: Collection) -> None:
    response = page.post("/collections/create/", {"name": collection.name})
    assert response.status_code == 409
    assert "already" in text_of(response)


def test_members_are_added_promoted_and_removed(page: Client, collection: Collection) -> None:
    bob = make_user("bob")
    page.post(f"/collections/{collection.pk}/members/", {"username": "bob", "role": "viewer"})
    page.post(f"/collections/{collection.pk}/members/", {"username": "bob", "role": "editor"})
    assert collections.role_in(collection, bob) == Role.EDITOR
    page.post(f"/collections/{collection.pk}/members/{bob.pk}/remove/")
    assert collections.role_in(collection, bob) == ""


def test_the_last_owner_stays(page: Client, owner: User, collection: Collection) -> None:
    assert page.post(f"/collections/{collection.pk}/members/{owner.pk}/remove/").status_code == 409
    assert (
        page.post(
            f"/collections/{collection.pk}/members/", {"username": "ada", "role": "viewer"}
        ).status_code
        == 409
    )
    assert collections.role_in(collection, owner) == Role.OWNER


def test_the_only_owner_is_told_why_and_two_owners_may_change_each_other(
    page: Client, owner: User, collection: Collection
) -> None:
    address = f"/collections/{collection.pk}/settings/"
    removal = f"/collections/{collection.pk}/members/{owner.pk}/remove/"
    alone = page.get(address).content.decode()
    assert "Make another member an owner first." in alone
    assert removal not in alone
    collections.set_member(collection, make_user("second").username, role=Role.OWNER)
    both = page.get(address).content.decode()
    assert "Make another member an owner first." not in both
    assert removal in both


def test_an_unknown_user_is_no_fault_and_the_whole_command_is_told(
    page: Client, collection: Collection
) -> None:
    response = page.post(
        f"/collections/{collection.pk}/members/", {"username": "nobody", "role": "editor"}
    )
    assert response.status_code == 200
    html = text_of(response)
    assert "There is no account “nobody” yet." in html
    assert f"<code>kb user add nobody --role editor -c {collection.slug}</code>" in html
    assert 'value="nobody"' in html


def test_a_collection_is_renamed_and_described(page: Client, collection: Collection) -> None:
    path = f"/collections/{collection.pk}/rename/"
    page.post(path, {"name": "Week 3", "description": "What we heard\non moss."})
    collection.refresh_from_db()
    assert (collection.name, collection.description) == ("Week 3", "What we heard on moss.")
    page.post(path, {"name": "Week 4"})
    collection.refresh_from_db()
    assert (collection.name, collection.description) == ("Week 4", "What we heard on moss.")
    assert page.post(path, {"name": "Week 5", "description": "x" * 1_001}).status_code == 422


def test_a_name_that_cannot_be_saved_is_shown_again_with_the_description_as_written(
    page: Client, collection: Collection
) -> None:
    other = Collection.objects.create(name="Week 4", slug="week-4")
    path, title = f"/collections/{collection.pk}/rename/", collection.title
    taken = page.post(path, {"name": other.name, "description": "On moss."})
    assert taken.status_code == 422
    assert "There is a collection “Week 4” already." in text_of(taken)
    assert "Choose another name." in text_of(taken)
    assert 'value="Week 4"' in text_of(taken)
    assert ">On moss.</textarea>" in text_of(taken)
    assert f">{title}</a>" in text_of(taken)
    blank = page.post(path, {"name": "  ", "description": ""})
    assert blank.status_code == 422
    assert "Name: This field is required." in text_of(blank)
    assert f'value="{title}"' not in text_of(blank)
    long = page.post(path, {"name": "Week 5", "description": "x" * 1_001})
    assert "What it is about: Ensure this value has at most 1000 characters" in text_of(long)
    collection.refresh_from_db()
    assert (collection.title, collection.description) == (title, "")


def test_the_collection_of_samples_is_called_as_the_page_speaks(page: Client, owner: User) -> None:
    samples = Collection.objects.create(name=SAMPLES_NAME, slug="samples")
    Membership.objects.create(collection=samples, user=owner, role=Role.OWNER)
    german = {"Accept-Language": "de"}
    assert "Beispielbibliothek" in text_of(page.get("/collections/", headers=german))
    assert SAMPLES_NAME in text_of(page.get("/collections/"))
    saved = {"name": "Beispielbibliothek", "description": "To try it."}
    page.post(f"/collections/{samples.pk}/rename/", saved, headers=german)
    samples.refresh_from_db()
    assert (samples.name, samples.description) == (SAMPLES_NAME, "To try it.")


def test_the_first_collection_is_called_as_the_page_speaks_until_it_gets_a_name(
    page: Client, owner: User
) -> None:
    first = Collection.objects.default()
    Membership.objects.create(collection=first, user=owner, role=Role.OWNER)
    make_video(first)
    german = {"Accept-Language": "de"}
    settings = f"/collections/{first.pk}/settings/"
    shown = (
        *("/library/", "/library/?view=table", "/library/?group=collection", "/collections/"),
        *(f"/collections/{first.pk}/", settings, "/search/", "/go/?q=sammlung"),
    )
    for address in shown:
        html = text_of(page.get(address, headers=german))
        assert "Meine Sammlung" in html, address
        assert "My collection" not in html, address
    saved = {"name": "Meine Sammlung", "description": "All that I read."}
    page.post(f"/collections/{first.pk}/rename/", saved, headers=german)
    assert "My collection" in text_of(page.get(f"/collections/{first.pk}/"))
    taken = page.post("/collections/create/", {"name": "Meine Sammlung"}, headers=german)
    assert "„Meine Sammlung“" in text_of(taken)
    page.post(f"/collections/{first.pk}/rename/", {"name": "Physics"}, headers=german)
    assert "Physics" in text_of(page.get(f"/collections/{first.pk}/", headers=german))


def test_deleting_a_collection_shows_what_is_deleted(
    page: Client, collection: Collection, video: Video
) -> None:
    html = text_of(page.get(f"/collections/{collection.pk}/delete/"))
    assert "<li>1 recording</li>" in html
    page.post(f"/collections/{collection.pk}/delete/")
    assert not Collection.objects.filter(pk=collection.pk).exists()
    assert not Video.objects.exists()


CHANGES = ("rename/", "members/", "members/1/remove/", "delete/")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_only_an_owner_changes_a_collection(
    collection: Collection, change: str, role: Role
) -> None:
    member, browser = make_user("mia", collection=collection, role=role), Client()
    browser.force_login(member)
    assert (
        browser.post(
            f"/collections/{collection.pk}/{change}",
            {"name": "x", "username": "mia", "role": "owner"},
        ).status_code
        == 403
    )
    assert Membership.objects.get(user=member).role == role


@pytest.mark.parametrize("change", ["", "settings/", *CHANGES])
def test_a_foreign_collection_does_not_exist(
    stranger: Client, collection: Collection, change: str
) -> None:
    path = f"/collections/{collection.pk}/{change}"
    assert (stranger.post(path) if change in CHANGES else stranger.get(path)).status_code == 404


def test_owners_alone_change_members(viewer: Client, page: Client, collection: Collection) -> None:
    assert "Add a member" in text_of(page.get(f"/collections/{collection.pk}/settings/"))
    assert viewer.get(f"/collections/{collection.pk}/settings/").status_code == 403
