"""Levels and topics in the admin: they are looked at, and neither changed nor deleted."""

import pytest
from django.test import Client

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Node, Source, Topic
from citations.outline import topics
from tests.makers import make_cues, make_user, make_video
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


def test_staff_look_at_levels_and_topics_and_delete_none(
    client: Client, collection: Collection
) -> None:
    for n in range(5):
        make_video(collection, key=f"lecture-{n}", cues=make_cues(80))
    discovery.adopt()
    for source in Source.objects.all():
        ingest_pipeline.ingest(source.pk)
    topics.rebuild(collection)
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    for model, row in (("node", Node.objects.first()), ("topic", Topic.objects.first())):
        assert str(row.pk) in client.get(f"/admin/citations/{model}/").content.decode()
        assert client.get(f"/admin/citations/{model}/{row.pk}/change/").status_code == 200
        assert (
            client.post(f"/admin/citations/{model}/{row.pk}/delete/", {"post": "yes"}).status_code
            == 403
        )
