"""The page that makes one ZIP of everything."""

from django.contrib.auth.models import User
from django.test import Client

from citations.models import Archive
from citations.notebook import archives
from tests.html import text_of


def test_an_archive_is_asked_for_watched_downloaded_and_deleted(page: Client, owner: User) -> None:
    assert "None yet" in text_of(page.get("/export/"))
    assert page.post("/export/").status_code == 302
    archive = Archive.objects.get(owner=owner)
    archive.change(total=4, done=1)
    waiting = page.get("/export/")
    assert "1 of 4 sources" in text_of(waiting)
    assert '<noscript><meta http-equiv="refresh"' in waiting.content.decode()
    assert page.get(f"/export/{archive.uuid}/file/").status_code == 404
    archives.make(archive)
    assert "Download" in text_of(page.get("/export/"))
    response = page.get(f"/export/{archive.uuid}/file/")
    assert response["Content-Length"] == str(Archive.objects.get().size)
    assert response["Content-Disposition"].startswith('attachment; filename="cuebase-')
    page.post(f"/export/{archive.uuid}/delete/")
    assert not Archive.objects.exists()
