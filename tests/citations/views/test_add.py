"""The add box: what becomes of addresses, texts and files, who may add, and what is refused."""

from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from selectolax.lexbor import LexborHTMLParser, LexborNode

from citations.errors import ModelRefused
from citations.ingest import discovery, selection
from citations.ingest import pipeline as ingest_pipeline
from citations.models import UNFINISHED, Deletion, Document, Page, Source, State
from tests.html import assert_shows, text_of
from tests.makers import (
    caption_json,
    make_cues,
    make_document,
    make_user,
    make_video,
    make_wav,
    restarting_vtt,
)
from transcripts.adding import acquisition, storage
from transcripts.library import collections
from transcripts.models import Collection, Feed, Job, MediaFile, Video

HTMX = {"HTTP_HX_REQUEST": "true"}
WATCH = "https://youtu.be/dQw4w9WgXcQ"
NOTES = b"# Walruses\n\nThey rest on the ice.\n"
CAPTIONS = b"WEBVTT\n\n00:00.000 --> 00:05.000\nHello there\n"

pytestmark = pytest.mark.usefixtures("fake_models")


def upload(client: Client, *files: tuple[str, bytes], htmx: bool = True, **more: str) -> Any:
    data = {"files": [SimpleUploadedFile(name, content) for name, content in files], **more}
    return client.post("/add/", data, **(HTMX if htmx else {}))


def done_job(page: Client) -> LexborHTMLParser:
    """Carry out the latest job, and return its page."""
    job = Job.objects.latest("pk")
    acquisition.perform(job.pk)
    return LexborHTMLParser(text_of(page.get(f"/jobs/{job.pk}/")))


def words_of(html: LexborHTMLParser) -> str:
    job = html.css_first(".job")
    assert job is not None
    return " ".join(job.text().split())


def test_documents_become_sources_and_captions_a_job_and_the_answer_says_which(
    page: Client, collection: Collection
) -> None:
    files = [("notes.md", NOTES), ("talk.vtt", CAPTIONS), ("slides.zip", b"PK\x03\x04rest")]
    html = text_of(upload(page, *files, collection="lectures"))
    source = Source.objects.get()
    assert (source.kind, source.collection, source.state) == ("markdown", collection, State.PENDING)
    job = Job.objects.get()
    assert (job.target, job.done, job.total) == ("3 files", 2, 3)
    assert_shows(html, f'href="/sources/{source.uuid}/"', "ZIP archive")


def test_files_that_were_refused_at_once_are_told_with_those_that_could_not_be_read(
    page: Client, collection: Collection, settings: Any
) -> None:
    settings.MAX_UPLOAD_BYTES = 100
    files = [("good.vtt", CAPTIONS), ("broken.vtt", b"WEBVTT"), ("big.vtt", CAPTIONS * 3)]
    others = [("notes.md", NOTES), ("slides.zip", b"PK\x03\x04rest"), ("alone.wav", make_wav())]
    upload(page, *files, *others, collection="lectures")
    html = done_job(page)
    assert html.css_first(".job .state-partial").text().split() == ["2", "of", "6", "files", "read"]
    named = [row.text() for row in html.css(".job .problems strong")]
    assert named == ["big.vtt", "alone.wav", "slides.zip", "broken.vtt"]
    assert [link.text() for link in html.css(".job .problems a")] == ["notes.md", "good.vtt"]


def test_a_document_that_turns_out_unreadable_is_none_of_the_files_that_were_read(
    page: Client, collection: Collection
) -> None:
    upload(page, ("notes.md", NOTES), ("broken.pdf", b"%PDF-1.4 broken"))
    for source in Source.objects.all():
        ingest_pipeline.ingest(source.pk)
    job = LexborHTMLParser(text_of(page.get(f"/jobs/{Job.objects.get().pk}/"))).css_first(".job")
    assert job.css_first(".state-partial").text().split() == ["1", "of", "2", "files", "read"]
    shown = " ".join(job.text(separator=" ").split())
    assert "1 of 2 sources could not be indexed: broken" in shown
    assert "The PDF cannot be read" in shown
    assert [row.text() for row in job.css(".problems")[-1].css("a")] == ["notes.md"]


def test_an_upload_that_is_still_to_be_read_tells_of_no_sources_and_no_warning(
    page: Client, collection: Collection
) -> None:
    upload(page, ("talk.vtt", CAPTIONS), ("broken.pdf", b"%PDF-1.4 broken"), collection="lectures")
    ingest_pipeline.ingest(Source.objects.get().pk)
    address = f"/jobs/{Job.objects.get().pk}/"
    job = LexborHTMLParser(text_of(page.get(address))).css_first(".job")
    assert job.css_first(".state-queued")
    assert not job.css(".state-partial, .job-sources")
    acquisition.perform(Job.objects.get().pk)
    job = LexborHTMLParser(text_of(page.get(address))).css_first(".job")
    assert job.css_first(".state-partial").text().split() == ["1", "of", "2", "files", "read"]
    assert job.css(".job-sources")


def test_several_documents_are_told_of_together_and_nothing_is_left_to_do_for_the_job(
    page: Client, collection: Collection
) -> None:
    files = [("notes.md", NOTES), ("more.md", NOTES + b"More.\n"), ("slides.zip", b"PK\x03\x04")]
    shown = " ".join(LexborHTMLParser(text_of(upload(page, *files))).text().split())
    assert Job.objects.get().state == Job.State.DONE
    assert "2 of 3 files read" in shown
    assert "2 of 2 sources are not searchable yet" in shown
    assert upload(page, *files, htmx=False)["Location"] == "/activity/"
    assert "2 of 3 files read" in text_of(page.get("/activity/"))


def test_the_progress_of_an_upload_is_that_of_its_own_sources(
    page: Client, stranger: Client, collection: Collection
) -> None:
    make_document(collection, ["Elsewhere."], title="other")
    files = [("notes.md", NOTES), ("more.md", NOTES + b"More.\n"), ("talk.vtt", CAPTIONS)]
    added = text_of(upload(page, *files, collection="lectures"))
    assert 'id="readiness"' not in added, "the whole library is told of elsewhere"
    job = acquisition.perform(Job.objects.get().pk)
    assert job is not None
    address = f"/jobs/{job.pk}/sources/"

    def said() -> str:
        html = text_of(page.get(address, **HTMX))
        assert ("hx-get" in html) is bool(Source.objects.filter(state__in=UNFINISHED, pk__in=own))
        return " ".join(LexborHTMLParser(html).text(separator=" ").split())

    own = [source.pk for source in Source.objects.exclude(title="other")]
    assert said() == "3 of 3 sources are not searchable yet", "the talk has no source so far"
    discovery.adopt()
    notes, more, talk = Source.objects.exclude(title="other").order_by("pk")
    own = [notes.pk, more.pk, talk.pk]
    notes.reach(State.WORDS)
    shown = "2 of 3 sources are not searchable yet · 1 of 3 sources is found by words so far"
    assert said() == shown
    assert shown in " ".join(LexborHTMLParser(text_of(page.get("/activity/"))).text().split())
    notes.reach(State.READY)
    more.fail(ModelRefused("The server refused the key."))
    talk.reach(State.READY)
    assert "2 of 3 sources are ready 1 of 3 sources could not be indexed: more" in said()
    assert "The server refused the key." in said()
    assert stranger.get(address, **HTMX).status_code == 404


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("slides.zip", b"PK\x03\x04rest", "Es ist ein ZIP-Archiv, das nicht gelesen werden kann."),
        ("talk.gz", b"\x1f\x8brest", "Es ist gepackt (gzip) und kann so nicht gelesen werden."),
        ("book.pdf", b"words", "Der Name endet auf .pdf, aber es ist kein PDF."),
    ],
)
def test_what_cannot_be_read_is_refused_in_german_from_end_to_end(
    page: Client, collection: Collection, name: str, content: bytes, sentence: str
) -> None:
    page.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    html = text_of(upload(page, (name, content), collection="lectures"))
    assert sentence in html
    assert "Unpack" not in html
    assert "PDF, and" not in html
    assert "OCR), and" not in html


def test_a_recording_plays_the_file_that_is_sent_with_its_captions(
    page: Client, collection: Collection
) -> None:
    upload(page, ("talk.en.vtt", CAPTIONS), ("talk.wav", make_wav()), collection="lectures")
    acquisition.perform(Job.objects.get().pk)
    video = Video.objects.get(key="talk")
    assert video.media.media_type == "audio/wav"
    html = text_of(page.get(f"/videos/{video.pk}/?t=2s&until=4s"))
    assert f'src="/videos/{video.pk}/media?v={video.media.pk}#t=2.000,4.000"' in html
    assert "<audio" in html
    assert "data-skip" in html


def test_the_result_leads_to_what_each_file_became(page: Client) -> None:
    names = ["talk.en.vtt", "talk.de.vtt", *(f"other-{number}.vtt" for number in range(5))]
    files = [(name, CAPTIONS.replace(b"there", name[6:7].encode())) for name in names]
    upload(page, *files, ("talk.wav", make_wav()), collection="lectures")
    html = done_job(page)
    links = html.css(".problems a")
    assert sorted(link.text() for link in links) == sorted(names)
    assert {link.attributes["href"] for link in links} == {
        f"/videos/{video.pk}/" for video in Video.objects.all()
    }
    shown = words_of(html)
    assert shown.count("added to the existing item") == 1
    assert shown.count("with talk.wav, which plays there") == 1
    assert "… and 2 more" in shown


def test_a_file_whose_item_was_deleted_since_leads_nowhere(page: Client) -> None:
    upload(page, ("a talk.vtt", CAPTIONS), ("other.vtt", CAPTIONS), collection="lectures")
    job = Job.objects.get()
    acquisition.perform(job.pk)
    Video.objects.get(key="a talk").delete()
    html = LexborHTMLParser(text_of(page.get(f"/jobs/{job.pk}/")))
    assert [link.text() for link in html.css(".problems a")] == ["other.vtt"]
    assert "deleted since" in html.css_first(".job").text()


def test_a_copy_under_another_name_is_added_and_leads_to_the_item_that_was_there(
    page: Client, collection: Collection
) -> None:
    collections.create("Private", owner=make_user("somebody"))
    make_copy = partial(storage.add_text, text="Hello there", title="Elsewhere")
    make_copy(Collection.objects.get(name="Private"))
    first = make_copy(collection, title="First").video
    captions = storage.add_captions(collection, CAPTIONS, name="named.vtt").video
    upload(page, ("copy.vtt", CAPTIONS), collection="lectures")
    html = done_job(page)
    links = [link.attributes["href"] for link in html.css(".problems a")]
    assert links == [f"/videos/{Video.objects.get(key='copy').pk}/", f"/videos/{captions.pk}/"]
    assert "has the same text as named" in words_of(html)
    pasted = {"text": "Hello there", "title": "Pasted", "collection": "lectures"}
    shown = text_of(page.post("/add/", pasted, **HTMX))
    assert "It has the same text as “First” (First), which was there already." in shown
    assert f'href="/videos/{first.pk}/"' in shown


def test_what_was_there_already_is_told_from_what_is_new_or_replaced(
    page: Client, collection: Collection
) -> None:
    upload(page, ("old.vtt", CAPTIONS), ("other.vtt", CAPTIONS), collection="lectures")
    acquisition.perform(Job.objects.get().pk)
    changed = CAPTIONS.replace(b"there", b"again")
    files = (("old.vtt", CAPTIONS), ("other.vtt", changed), ("new.vtt", CAPTIONS + b"\n"))
    upload(page, *files, collection="lectures")
    rows = done_job(page).css(".problems > li")
    shown = {
        row.css_first("a").text(): " ".join(row.text().split()) for row in rows if row.css("a")
    }
    assert "already there, with the same text" in shown["old.vtt"]
    assert "replaces the existing text" in shown["other.vtt"]
    assert "already" not in shown["new.vtt"].split("has the same text")[0]


def test_an_upload_that_failed_in_part_warns_and_names_what_could_not_be_read(
    page: Client, collection: Collection
) -> None:
    broken = [(f"broken-{number}.vtt", b"WEBVTT") for number in range(6)]
    upload(page, ("good.vtt", CAPTIONS), *broken, collection="lectures")
    html = done_job(page)
    assert html.css_first(".job .state-partial").text().split() == ["1", "of", "7", "files", "read"]
    shown = words_of(html)
    assert "6 of 7 files could not be read:" in shown
    open_problems = [row for row in html.css(".problems li strong") if not _is_folded(row)]
    assert [row.text() for row in open_problems] == [name for name, _ in broken[:5]]
    assert "… and 1 more" in shown
    assert "problem" not in shown


def test_a_copy_is_no_failure(page: Client, collection: Collection) -> None:
    upload(page, ("one.vtt", CAPTIONS), ("same.vtt", CAPTIONS), collection="lectures")
    html = done_job(page)
    assert html.css_first(".job .state-done").text().split() == ["2", "files", "read"]
    shown = words_of(html)
    assert shown.count("has the same text as one") == 1
    assert "remark" not in shown


def _is_folded(row: LexborNode) -> bool:
    parent = row.parent
    return parent is not None and (parent.tag == "details" or _is_folded(parent))


def test_captions_that_were_there_already_join_nothing(page: Client) -> None:
    upload(page, ("talk.en.vtt", CAPTIONS), ("talk.de.vtt", CAPTIONS), collection="lectures")
    acquisition.perform(Job.objects.get().pk)
    upload(page, ("talk.en.vtt", CAPTIONS), collection="lectures")
    again = Job.objects.latest("pk")
    acquisition.perform(again.pk)
    shown = text_of(page.get(f"/jobs/{again.pk}/"))
    assert "talk.en.vtt" in shown
    assert "added to the existing item" not in shown


def test_a_sound_file_finds_the_recording_that_is_there_or_asks_for_captions(
    page: Client, collection: Collection
) -> None:
    video = make_video(collection, key="talk")
    html = text_of(upload(page, ("talk.mp3", b"ID3"), ("song.mp3", b"ID3"), collection="lectures"))
    assert video.media.name == "talk.mp3"
    assert_shows(html, "“song.mp3” has no captions.", "Have it listened to")


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    ("captions", "file"),
    [
        ("talk.vtt", "talk.WAV"),
        ("talk.vtt", "TALK.WAV"),
        ("GOPR01.en.vtt", "gopr01.WAV"),
        ("talk.WAV.vtt", "talk.WAV"),
        ("talk.wav.en.vtt", "talk.WAV"),
        ("Straße.vtt", "Straße.WAV"),
        ("Ärzte.vtt", "ÄRZTE.WAV"),
        ("Talk [dQw4w9WgXcQ].en.vtt", "Talk [dQw4w9WgXcQ].WAV"),
    ],
)
def test_a_file_belongs_to_captions_of_its_name_in_capitals_or_with_its_ending(
    page: Client, captions: str, file: str, at_once: bool
) -> None:
    sound = (file, make_wav())
    upload(page, (captions, CAPTIONS), *[sound] * at_once, collection="lectures")
    acquisition.perform(Job.objects.get().pk)
    if not at_once:
        assert "now plays there" in text_of(upload(page, sound, collection="lectures"))
    assert Video.objects.get().media.name == file


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    "names",
    [
        {"talk.vtt": "talk.wav", "Talk.vtt": "Talk.wav"},
        {"talk.mp4.vtt": "talk.mp4", "talk.opus.vtt": "talk.opus"},
    ],
)
def test_of_two_recordings_of_nearly_one_name_each_gets_its_own_file(
    page: Client, names: dict[str, str], *, at_once: bool
) -> None:
    captions = [(name, CAPTIONS) for name in names]
    files = [(name, make_wav()) for name in names.values()]
    upload(page, *captions, *files * at_once, collection="lectures")
    acquisition.perform(Job.objects.get().pk)
    if not at_once:
        upload(page, *files, collection="lectures")
    played = {f"{media.video.key}.vtt": media.name for media in MediaFile.objects.all()}
    assert played == names


def test_a_sound_file_is_not_lost_silently_with_broken_captions(
    page: Client, collection: Collection
) -> None:
    upload(page, ("a.vtt", CAPTIONS), ("b.vtt", b"WEBVTT"), ("b.mp3", b"ID3"))
    job = acquisition.perform(Job.objects.get().pk)
    assert job is not None
    assert job.state == Job.State.DONE
    assert [problem["name"] for problem in job.problems] == ["b.vtt", "b.mp3"]
    assert not MediaFile.objects.exists()


def test_captions_that_are_too_large_stop_no_document(page: Client, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    html = text_of(upload(page, ("notes.md", NOTES), ("talk.vtt", CAPTIONS)))
    assert f"“talk.vtt” has {len(CAPTIONS)} bytes; the limit is 10." in html
    assert Document.objects.get().name == "notes.md"


def test_files_that_are_too_large_together_leave_nothing_behind(
    page: Client, settings: Any
) -> None:
    settings.MAX_UPLOAD_BYTES = len(CAPTIONS)
    files = [(f"talk-{number}.vtt", CAPTIONS) for number in range(11)]
    assert upload(page, ("notes.md", NOTES), *files).status_code == 413
    assert not Source.objects.exists()


def test_the_fragment_of_a_document_asks_again_until_it_is_done(page: Client) -> None:
    html = text_of(upload(page, ("notes.md", NOTES)))
    source = Source.objects.get()
    address = f"/sources/{source.uuid}/state/"
    assert f'hx-get="{address}"' in html
    ingest_pipeline.ingest(source.pk)
    assert_shows(page.get(address, **HTMX), "Walruses", without=("hx-get",))
    assert page.get(address)["Location"] == f"/sources/{source.uuid}/"


def test_a_plain_browser_is_told_in_the_library(page: Client) -> None:
    response = upload(page, ("notes.md", NOTES), htmx=False)
    assert response["Location"] == "/library/"
    assert "is being read" in text_of(page.get("/library/"))
    again = upload(page, ("other name.md", NOTES), htmx=False)
    assert "already exists" in text_of(page.get(again["Location"]))


def test_the_box_is_for_those_who_may_write(page: Client, viewer: Client) -> None:
    assert 'id="files"' in text_of(page.get("/add/"))
    assert "<html" not in text_of(page.get("/add/", **HTMX))
    assert_shows(viewer.get("/add/"), "no collection that you may add to", without=('id="files"',))


def test_the_box_says_into_which_collection_it_adds_or_lets_choose(
    page: Client, collection: Collection, owner: User
) -> None:
    only = text_of(page.get("/add/", **HTMX))
    assert f"Into the collection “{collection.name}”" in only
    assert 'id="into"' not in only
    shelf = collections.create("Shelf", owner=owner)
    box = LexborHTMLParser(text_of(page.get("/add/?collection=shelf", **HTMX)))
    options = {option.attributes["value"]: option for option in box.css("#into option")}
    assert options.keys() == {collection.slug, shelf.slug}
    assert "selected" in options[shelf.slug].attributes


def test_an_address_becomes_a_job_with_live_progress(page: Client, collection: Collection) -> None:
    sent = {"what": WATCH, "language": "de", "tags": "a, b"}
    html = text_of(page.post("/add/", sent, **HTMX))
    job = Job.objects.get()
    fetched = (job.target, job.language, job.tags, job.collection)
    assert fetched == ("dQw4w9WgXcQ", "de", ["a", "b"], collection)
    assert f"/jobs/{job.pk}/events/" in html


def test_the_choice_of_files_offers_every_ending_that_is_read(page: Client) -> None:
    box = LexborHTMLParser(text_of(page.get("/add/"))).css("#files")[0]
    offered = str(box.attributes["accept"]).split(",")
    assert {".vtt", ".json3", ".pdf", ".xhtml", ".mkd", ".txt", "video/*"} <= {*offered}
    assert len({*offered}) == len(offered)


def test_a_language_is_named_as_people_call_it(page: Client, collection: Collection) -> None:
    make_document(collection, ["Il pleut."], language="fr")
    box = LexborHTMLParser(text_of(page.get("/add/", **HTMX)))
    offered = [option.attributes["value"] for option in box.css("#add-languages option")]
    assert offered[:2] == ["French", "Afrikaans"]
    page.post("/add/", {"what": WATCH, "language": "Deutsch"}, **HTMX)
    assert Job.objects.get().language == "de"
    assert "German" in text_of(page.get("/activity/"))
    sent = {"what": WATCH, "language": "Klingonisch"}
    refused = page.post("/add/", sent, HTTP_ACCEPT_LANGUAGE="de", **HTMX)
    assert refused.status_code == 422
    assert "Sprache: Eine Sprache „Klingonisch“ ist nicht bekannt." in text_of(refused)


def test_a_wrong_address_does_not_stop_the_others(page: Client) -> None:
    html = text_of(page.post("/add/", {"what": f"{WATCH}\nhttps://me@example.org/x"}, **HTMX))
    assert Job.objects.count() == 1
    assert "contains a user name" in html


def test_a_playlist_keeps_its_limit_and_schedule(page: Client) -> None:
    what = "https://www.youtube.com/@lecturehall"
    page.post("/add/", {"what": what, "newest": "5", "every_hours": "24"}, **HTMX)
    feed = Feed.objects.get()
    assert (feed.newest, feed.every_hours) == (5, 24)


def test_the_job_of_an_upload_links_to_the_video(page: Client) -> None:
    talk = caption_json(make_cues(3), id="talk", title="A talk")
    upload(page, ("talk.json", talk))
    job = acquisition.perform(Job.objects.get().pk)
    assert job is not None
    assert f"/videos/{Video.objects.get().pk}/" in text_of(page.get(f"/jobs/{job.pk}/"))


@pytest.mark.parametrize("text", ["0:00\nHello there.\n0:05\nGood bye.", "It has no times at all."])
def test_a_pasted_text_is_in_the_library_at_once(page: Client, text: str) -> None:
    html = text_of(page.post("/add/", {"title": "My talk", "what": text}, **HTMX))
    assert Video.objects.get().title == "My talk"
    assert "in the library" in html


def test_a_few_words_are_no_text(page: Client) -> None:
    assert "is not YouTube" in text_of(page.post("/add/", {"what": "moss and rain"}, **HTMX))
    assert not Video.objects.exists()


def test_pasted_captions_whose_clock_starts_again_are_stored_with_a_warning(page: Client) -> None:
    pasted = {"title": "Talks", "what": restarting_vtt().decode()}
    assert "read as 2 parts" in text_of(page.post("/add/", pasted, **HTMX))
    assert "read as 2 parts" in text_of(page.post("/add/", pasted, follow=True))


def test_a_machine_translation_can_be_asked_for(page: Client) -> None:
    page.post("/add/", {"what": "dQw4w9WgXcQ", "language": "de", "translated": "on"})
    assert Job.objects.get().translated


def test_a_plain_browser_is_sent_to_activity_after_adding(page: Client) -> None:
    response = page.post("/add/", {"what": "dQw4w9WgXcQ"}, follow=True)
    assert response.redirect_chain == [("/activity/", 302)]
    assert "is queued" in text_of(response)


def test_nothing_to_add_is_an_error_that_says_what_to_do(page: Client) -> None:
    response = page.post("/add/", {"what": " "}, **HTMX)
    assert response.status_code == 422
    assert "Paste an address" in text_of(response)


def test_a_file_that_is_too_large_is_refused_by_name(page: Client, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    response = upload(page, ("big.vtt", b"x" * 11))
    assert response.status_code == 413
    assert "big.vtt" in text_of(response)


def test_nobody_adds_where_they_may_not(
    viewer: Client, stranger: Client, collection: Collection
) -> None:
    assert upload(viewer, ("notes.md", NOTES), collection=collection.slug).status_code == 403
    assert upload(stranger, ("notes.md", NOTES), collection=collection.slug).status_code == 404
    assert not Document.objects.exists()


def test_the_page_of_a_document_tells_what_its_reader_noticed(page: Client) -> None:
    upload(page, ("notes.md", NOTES))
    source = Source.objects.get()
    Document.objects.update(note="No text on page 7 of 9.")
    assert "No text on page 7 of 9." in text_of(page.get(f"/sources/{source.uuid}/passages/"))


def test_a_document_is_deleted_with_its_pages_and_bytes(page: Client) -> None:
    upload(page, ("notes.md", NOTES))
    source = Source.objects.get()
    ingest_pipeline.ingest(source.pk)
    page.post("/library/change/", {"item": f"document-{source.pk}", "action": "delete"})
    Deletion.objects.update(run_after=None)
    selection.carry_out(Deletion.objects.get())
    assert (Source.objects.count(), Document.objects.count(), Page.objects.count()) == (0, 0, 0)


def test_a_mixed_batch_is_counted_by_what_its_files_are(
    page: Client, collection: Collection
) -> None:
    texts = [("notes.md", NOTES), ("talk.vtt", CAPTIONS), ("talk.srt", CAPTIONS)]  # of one talk
    sounds = [(name, make_wav()) for name in ("talk.wav", "alone.wav")]
    html = text_of(upload(page, *texts, *sounds, collection="lectures"))
    assert "Transcripts: 1 · Documents: 1 · Audio and video: 1" in html
    assert "alone.wav" in html
    assert "Transcripts:" not in text_of(upload(page, ("b.vtt", CAPTIONS), collection="lectures"))


def test_a_name_that_begins_with_points_is_added(page: Client, collection: Collection) -> None:
    files = [("....dots...vtt", CAPTIONS), ("talk.vtt", CAPTIONS)]
    assert "Transcripts: 2" in text_of(upload(page, *files, collection="lectures"))
    acquisition.perform(Job.objects.get().pk)
    assert {*Video.objects.values_list("title", flat=True)} == {"dots", "talk"}


@pytest.mark.parametrize("htmx", [True, False])
def test_files_that_are_not_read_are_named_and_stop_no_other(
    page: Client, collection: Collection, htmx: bool
) -> None:
    files = [("talk.vtt", CAPTIONS), ("other.talk", CAPTIONS), ("other.wav", make_wav())]
    answer = upload(page, *files, collection="lectures", htmx=htmx)
    html = text_of(answer if htmx else page.get("/activity/"))
    assert "other.talk" in html
    assert "other.wav" in html
    assert "None of these files has the name of a transcript." in html
    assert not htmx or "Transcripts: 1" in html
    assert Job.objects.get().target == "3 files"
