"""What somebody opens is put first, and its guide arrives on the open page."""

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visits

pytestmark = pytest.mark.browser

SAID = """0:00
A sourdough starter is a dough of flour and water that wild yeast has fermented.
0:09
A sourdough starter rises for about 12 hours in a warm kitchen before it is used.
"""
ADD = f"""
from datetime import timedelta
from django.utils import timezone
from citations.ingest import discovery
from citations.models import Source
from transcripts.adding import storage
from transcripts.models import Collection
stored = storage.add_text(Collection.objects.default(), {SAID!r}, title="Bread", language="en")
discovery.adopt()
later = timezone.now() + timedelta(hours=1)
Source.objects.filter(video=stored.video).update(run_after=later)
print(json.dumps(stored.video.pk))
"""
WANTED = """
from citations.models import Source
print(json.dumps(Source.objects.filter(video={}).exclude(wanted_at=None).count()))
"""
GO_ON = """
from citations.models import Source
Source.objects.filter(video={}).update(run_after=None)
"""
REMOVE = """
from transcripts.library import collections
from transcripts.models import Video
collections.delete_video(Video.objects.get(pk={}))
"""


def test_a_source_is_put_first_by_its_page_and_its_guide_arrives_there(visit: Visits) -> None:
    visited = visit()
    site = visited.site
    video = site.json(ADD)
    fetched = visited.page.request.get(f"{site.url}/videos/{video}/")
    assert fetched.ok
    assert site.json(WANTED.format(video)) == 0, "a browser may fetch a page ahead"
    with visited.page.expect_response("**/opened/"):
        page = visited.go(f"/videos/{video}/")
    assert site.json(WANTED.format(video)) == 1
    guide = page.locator("#guide")
    expect(guide).to_contain_text("Next attempt in")
    check_accessibility(page)
    site.python(GO_ON.format(video))
    expect(guide.get_by_text("in its own sentences")).to_be_visible()
    check_accessibility(page)
    assert site.json(WANTED.format(video)) == 0
    site.python(REMOVE.format(video))
    assert not visited.console


def test_the_view_of_chapters_is_renewed_once_its_source_is_ready(visit: Visits) -> None:
    visited = visit()
    site = visited.site
    video = site.json(ADD)
    page = visited.go(f"/videos/{video}/?view=chapters")
    shown = page.locator("#transcript")
    expect(shown).to_contain_text("its outline is made when it is indexed")
    site.python(GO_ON.format(video))
    expect(page.locator("#guide").get_by_text("in its own sentences")).to_be_visible()
    expect(shown).not_to_contain_text("its outline is made when it is indexed")
    expect(page.locator("#transcript")).to_have_count(1)
    check_accessibility(page)
    site.python(REMOVE.format(video))
    assert not visited.console
