"""The reader of a recording: where it opens, what it marks, how it is shown, and find in it."""

import re

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from citations.models import Note
from tests.html import assert_shows, text_of
from tests.makers import caption_json, make_cues, make_source, make_video
from transcripts.adding import storage
from transcripts.models import Collection, Video
from transcripts.text.cues import Cue

HTMX = {"HTTP_HX_REQUEST": "true"}
TALK = (
    "Hello and welcome. Today it is",
    "about rare words. A rare word",
    "counts more than a common one.",
    "And now for something else.",
)


@pytest.fixture
def video(collection: Collection) -> Video:
    """A lecture of 50 minutes."""
    return make_video(collection, cues=make_cues(600))


@pytest.fixture
def talk(collection: Collection) -> Video:
    """A talk of four captions, 5 s each, whose sentences do not end where captions do."""
    cues = [Cue(start=5_000 * n, end=5_000 * n + 5_000, text=text) for n, text in enumerate(TALK)]
    return make_video(collection, key="talk", cues=cues)


def marked(html: str) -> str:
    """Return all that a page marks as the place it was opened for."""
    return "".join(re.findall(r'<mark class="quoted[^"]*">(.*?)</mark>', html))


# Who speaks


@pytest.fixture
def panel(collection: Collection) -> Video:
    """A discussion of two who are named, and a stranger."""
    said = (
        "Ann: Welcome to all.",
        "We begin.",
        "Bob: Thank you.",
        ">> From the hall.",
        "Note: Ok.",
    )
    return make_video(collection, key="panel", cues=make_cues(20, sentences=said))


def test_a_speaker_is_chosen_and_only_their_paragraphs_are_shown_with_times(
    page: Client, panel: Video
) -> None:
    assert 'href="?speaker=Ann' in text_of(page.get(f"/videos/{panel.pk}/"))
    html = text_of(page.get(f"/videos/{panel.pk}/", {"speaker": "Ann", "t": "30s"}))
    transcript = html[html.index('id="transcript"') :]
    assert "4 paragraphs" in transcript
    assert transcript.count("Welcome to all.") == transcript.count("We begin.") == 4
    assert "Thank you." not in transcript
    assert "From the hall." not in transcript
    assert 'class="cue at" id="t30000"' in transcript
    assert 'data-seek="25000">0:25</a>' in transcript
    assert 'href="?view=captions&amp;t=30s"' in html


def test_to_a_speaker_and_back_the_place_the_view_and_the_words_stay(
    page: Client, panel: Video
) -> None:
    here = {"t": "30s", "q": "welcome", "view": "captions"}
    listed = LexborHTMLParser(text_of(page.get(f"/videos/{panel.pk}/", here)))
    chip = listed.css_first("#speakers a:not([aria-current])")
    assert chip.attributes["href"] == "?speaker=Ann&t=30s&q=welcome"
    of_ann = f"/videos/{panel.pk}/{chip.attributes['href']}"
    said = LexborHTMLParser(text_of(page.get(of_ann)))
    assert said.css_first("#views [aria-current]").text() == "Paragraphs"
    back = said.css_first("#speakers a")
    assert back.attributes["href"] == "?view=captions&t=30s&q=welcome"


def test_the_question_beside_it_is_that_of_the_search_and_not_what_is_looked_for_here(
    page: Client, panel: Video
) -> None:
    make_source(panel)
    address = f"/videos/{panel.pk}/"

    def question(**parameters: str) -> str:
        tree = LexborHTMLParser(text_of(page.get(address, {"q": "welcome", **parameters})))
        return str(tree.css_first("#beside-ask textarea").text(strip=True))

    assert question() == ""
    assert question(hit="1", of="2", search="q=Who+is+welcome%3F&mode=words") == "Who is welcome?"


def test_what_a_speaker_says_in_many_turns_goes_on_on_another_page(
    page: Client, collection: Collection
) -> None:
    cues = make_cues(300, sentences=("Ann: One.", "Bob: Two."))
    address = f"/videos/{make_video(collection, key='long-panel', cues=cues).pk}/"
    assert "?turn=100&amp;speaker=Ann" in text_of(page.get(address, {"speaker": "Ann"}))
    last = text_of(page.get(address, {"speaker": "Ann", "turn": "100"}))
    assert "150 paragraphs" in last
    assert "Point 298." in last
    assert "?turn=200" not in last


def test_a_speaker_gets_a_name_on_the_page_of_what_they_say(page: Client, panel: Video) -> None:
    assert "Rename “" not in text_of(page.get(f"/videos/{panel.pk}/"))
    html = text_of(page.get(f"/videos/{panel.pk}/", {"speaker": "Bob", "lang": "en"}))
    assert "Rename “Bob”" in html
    form = {"speaker": "Bob", "name": "bob (Dylan)", "lang": "en"}
    saved = page.post(f"/videos/{panel.pk}/speakers/", form, follow=True)
    assert saved.redirect_chain == [(f"/videos/{panel.pk}/?speaker=Bob+Dylan&lang=en", 302)]
    html = text_of(saved)
    assert_shows(html, "“Bob” is now called “Bob Dylan”.", "Thank you.")


def test_a_name_that_cannot_be_stays_in_the_form_with_what_is_wrong(
    page: Client, panel: Video
) -> None:
    form = {"speaker": "Bob", "name": "one two three four five <b>", "lang": "en"}
    refused = page.post(f"/videos/{panel.pk}/speakers/", form)
    assert refused.status_code == 422
    html = text_of(refused)
    assert 'value="one two three four five &lt;b&gt;"' in html
    assert "Write a name of at most four words that begins with a letter." in html
    assert "Thank you." in html


def test_only_who_may_write_names_speakers(viewer: Client, stranger: Client, panel: Video) -> None:
    html = text_of(viewer.get(f"/videos/{panel.pk}/", {"speaker": "Bob"}))
    assert "Thank you." in html
    assert "Rename “" not in html
    form = {"speaker": "Bob", "name": "Ada"}
    assert viewer.post(f"/videos/{panel.pk}/speakers/", form).status_code == 403
    assert stranger.post(f"/videos/{panel.pk}/speakers/", form).status_code in (302, 404)
    panel.refresh_from_db()
    assert "Bob: Thank you." in str(panel.transcripts.get().cues)


# Where it opens


FORMS = "Other forms of these words are included"
RARE = "A rare wordcounts more than a common one."
CUT = '<mark class="quoted looked-for">count</mark><mark class="quoted">s'


@pytest.mark.parametrize(
    ("place", "shown", "hidden"),
    [
        ("", ["Point 0.", "?chunk=1"], ["Point 60.", "?speaker="]),
        ("?t=15m7s", ['<p class="cue at" id="t905000"', "part 4 of 10"], []),
        ("?t=90000", ['<p class="cue at" id="t2995000"'], []),
        ("?t=soon", ["Point 0."], []),
        ("chunks/1/?only=next", ['rel="next"'], ['rel="prev"', "<html"]),
        ("?t=2400s&from=10&to=20", ['id="t2400000"'], ['<mark class="quoted']),
    ],
    ids=[
        "the first part, which leads to the next",
        "the line of a moment",
        "the last line for a moment after the end",
        "the beginning for a broken moment",
        "the next part alone where the reader scrolls",
        "the moment where characters far from it are of an earlier transcript",
    ],
)
def test_a_recording_opens_at(
    page: Client, video: Video, place: str, shown: list[str], hidden: list[str]
) -> None:
    headers = HTMX if place.startswith("chunks") else {}
    assert_shows(page.get(f"/videos/{video.pk}/{place}", **headers), *shown, without=hidden)


@pytest.mark.parametrize(
    ("place", "words", "shown"),
    [
        ("?q=rare+count", RARE, ["1 of 1", CUT, '<p class="cue at" id="t5000"']),
        ("?q=counting", RARE, ["1 of 1", FORMS]),
        ("?t=8s&until=15s", RARE, []),
        ("?t=0s&from=19&to=47&q=rare", "Today it isabout rare words", ["1 of 2"]),
        ("?q=else", TALK[-1], ["0:20 long, with 1 matching sentence", 'matches" d="M750 0v20"']),
        (
            "?q=rare+words+zebra+welcome",
            "Today it isabout rare words. ",
            ["No sentence has all 4 words; these have 2 of them."],
        ),
    ],
    ids=[
        "the first sentence with all words",
        "a sentence with other forms of them, which is announced",
        "the sentences that are said in a clip",
        "the characters of a link, beside the words that are looked for",
        "a match, which the strip shows",
        "the first of the sentences with the most words, and how many these are",
    ],
)
def test_a_place_marks(page: Client, talk: Video, place: str, words: str, shown: list[str]) -> None:
    html = text_of(page.get(f"/videos/{talk.pk}/{place}"))
    assert marked(html) == words
    assert_shows(html, *shown, without=[] if "counting" in place else [FORMS])


@pytest.mark.parametrize(
    ("part", "whole"), [("chunks/2/", "?chunk=2"), ("search/?q=error", "?q=error")]
)
def test_a_plain_browser_gets_the_page_of_a_part(
    page: Client, video: Video, part: str, whole: str
) -> None:
    address = f"/videos/{video.pk}/"
    assert page.get(f"{address}{part}")["Location"] == f"{address}{whole}"


def test_an_earlier_part_is_opened_at_its_end(page: Client, video: Video) -> None:
    later = text_of(page.get(f"/videos/{video.pk}/?chunk=3"))
    assert f'href="/videos/{video.pk}/?chunk=2&amp;lang' not in later
    assert f'/videos/{video.pk}/?chunk=2#chunk-2-end"' in later
    assert 'id="chunk-2-end"' in text_of(page.get(f"/videos/{video.pk}/?chunk=2"))


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("how-bm25-ranks", ["how-bm25-ranks"]),
        ("dQw4w9WgXcQ", ["dQw4w9WgXcQ"]),
        ("A talk", []),  # the title itself
        ("ba10b3d4-8087-4c1e-9f6a-0d2f0c7c1b11", []),  # that of a lecture that was kept
    ],
)
def test_an_id_stands_below_the_title_where_it_tells_anything(
    page: Client, collection: Collection, key: str, shown: list[str]
) -> None:
    video = make_video(collection, key=key, title="A talk")
    facts = LexborHTMLParser(text_of(page.get(f"/videos/{video.pk}/"))).css(".facts > span.wrap")
    assert [fact.text(strip=True) for fact in facts] == shown


def test_a_whole_second_means_the_line_that_begins_within_it(
    page: Client, collection: Collection
) -> None:
    cues = [
        Cue(start=59_000, end=60_900, text="before"),
        Cue(start=60_900, end=63_000, text="meant"),
    ]
    address = f"/videos/{make_video(collection, cues=cues).pk}/"
    assert '<p class="cue at" id="t60900"' in text_of(page.get(f"{address}?t=60s"))
    assert '<p class="cue at" id="t59000"' in text_of(page.get(f"{address}?t=60.5"))
    assert '<p class="cue at" id="t59000"' in text_of(page.get(f"{address}?t=59s"))


@pytest.mark.parametrize(
    ("chunk", "status"),
    [("9", 200), ("10", 404), ("-1", 422), ("x", 422), ("9" * 30, 422), ("²", 422)],
)
def test_a_missing_chunk_is_an_error(page: Client, video: Video, chunk: str, status: int) -> None:
    assert page.get(f"/videos/{video.pk}/", {"chunk": chunk}).status_code == status


def test_the_chunks_together_are_the_transcript(page: Client, video: Video) -> None:
    pages = [
        text_of(page.get(f"/videos/{video.pk}/chunks/{index}/", **HTMX)) for index in range(10)
    ]
    assert all(any(f"Point {number}." in page for page in pages) for number in range(600))


def test_a_video_without_a_transcript_points_to_its_job(
    page: Client, collection: Collection
) -> None:
    bare = Video.objects.create(collection=collection, key="bare", title="Bare")
    assert "has no transcript yet" in text_of(page.get(f"/videos/{bare.pk}/"))


def test_a_missing_language_lists_the_available_ones(page: Client, video: Video) -> None:
    response = page.get(f"/videos/{video.pk}/?lang=fr")
    assert response.status_code == 404
    assert "Available: en" in text_of(response)


def test_the_languages_of_a_video_can_be_switched(
    page: Client, video: Video, collection: Collection
) -> None:
    cues = make_cues(3, sentences=("Das ist ein Satz.",))
    storage.add_captions(
        collection, caption_json(cues, id="lecture-1"), name="lecture-1.de.json", language="de"
    )
    assert "?lang=de" in text_of(page.get(f"/videos/{video.pk}/"))
    assert "Das ist ein Satz" in text_of(page.get(f"/videos/{video.pk}/?lang=de"))


def test_a_player_is_offered_for_youtube_only_and_nothing_of_it_is_loaded(
    page: Client, video: Video
) -> None:
    assert 'id="player"' not in text_of(page.get(f"/videos/{video.pk}/"))
    Video.objects.filter(pk=video.pk).update(youtube_id="dQw4w9WgXcQ")
    html = text_of(page.get(f"/videos/{video.pk}/"))
    assert 'data-youtube="dQw4w9WgXcQ"' in html
    assert "<iframe" not in html


# Find


def test_matches_are_listed_in_order_of_time_with_the_next_and_the_previous(
    page: Client, video: Video
) -> None:
    html = text_of(page.get(f"/videos/{video.pk}/?q=gradient&n=2"))
    times = re.findall(r'<li class="hit"[^>]*>.*?<span class="time">(\d+):(\d+)</span>', html)
    seconds = [60 * int(minutes) + int(rest) for minutes, rest in times]
    assert seconds == sorted(seconds)
    assert len(seconds) == 100
    assert "2 of 100" in html
    for number, name in ((1, "Previous"), (3, "Next")):
        assert re.search(rf'href="\?q=gradient&amp;n={number}"[^>]*aria-label="{name} match"', html)


def test_find_goes_on_from_where_the_reader_is(page: Client, video: Video) -> None:
    response = page.get(f"/videos/{video.pk}/search/?q=gradient&near=1000000", **HTMX)
    assert "34 of 100" in text_of(response)
    assert response["HX-Replace-Url"] == f"/videos/{video.pk}/?q=gradient&t=1005s&n=34"
    assert_shows(response, 'id="chunk-3"', without=("<html",))


def test_hostile_text_and_queries_are_escaped(page: Client, collection: Collection) -> None:
    cues = make_cues(2, sentences=("<img src=x onerror=alert(1)> gradient & co.",))
    hostile = make_video(collection, cues=cues)
    for view in ("captions", "paragraphs"):
        address = f"/videos/{hostile.pk}/?view={view}&q=gradient+%3Cscript%3E"
        html = text_of(page.get(address))
        assert "<img src=x" not in html
        assert "gradient <script>" not in html
        assert ">gradient</mark>" in html


def test_a_search_in_vain_says_so_and_marks_nothing(page: Client, video: Video) -> None:
    html = text_of(page.get(f"/videos/{video.pk}/search/?q=zebra&near=905000", **HTMX))
    assert "Nobody says “zebra” here." in html
    assert "<mark" not in html
    assert 'id="chunk-3"' in html  # where the reader was


def test_a_recording_without_a_player_offers_to_add_its_file_in_the_place_of_one(
    page: Client, viewer: Client, talk: Video
) -> None:
    html = text_of(page.get(f"/videos/{talk.pk}/"))
    assert html.count("Add its audio or video") == 1
    assert html.index("Add its audio or video") < html.index(">More<")
    assert "Add its audio or video" not in text_of(viewer.get(f"/videos/{talk.pk}/"))
    Video.objects.filter(pk=talk.pk).update(youtube_id="abcdefghijk")
    html = text_of(page.get(f"/videos/{talk.pk}/"))
    assert html.index("Audio or video") > html.index(">More<")
    assert "Add its audio or video" not in html


# Landing on the words


def test_a_copied_link_marks_its_words_also_after_new_captions(page: Client, talk: Video) -> None:
    make_source(talk)
    html = text_of(page.get(f"/videos/{talk.pk}/?t=2s&passage=rare+words.+A+rare+word"))
    assert marked(html) == "rare words. A rare word"
    elsewhere = text_of(page.get(f"/videos/{talk.pk}/?t=5s&passage=never+said"))
    assert marked(elsewhere) == ""
    assert 'cue at" id="t5000"' in elsewhere


def test_a_time_beyond_the_end_opens_the_end_and_says_so(page: Client, talk: Video) -> None:
    html = text_of(page.get(f"/videos/{talk.pk}/?t=99999"))
    assert "This link is to 27:46:39, but the recording ends at" in html
    assert 'cue at" id="t15000"' in html
    assert "This link is to" not in text_of(page.get(f"/videos/{talk.pk}/?t=15s"))


# Sharing


def clip_of(html: str) -> list[str]:
    """Return from when until when the form of a clip begins."""
    return re.findall(r'data-clip-\w+\s+value="(.*?)"', html)


@pytest.mark.parametrize(
    ("address", "clip"),
    [
        ("", ["0:00", "0:20"]),
        ("?t=8s", ["0:08", "0:20"]),  # the sentence that is said, and the rest of this short talk
        ("?t=8s&until=12s", ["0:08", "0:15"]),  # to the end of the sentence
        ("?t=9.5&until=10", ["0:08", "0:15"]),
        ("?q=common", ["0:08", "0:15"]),  # the sentence that is marked
    ],
)
def test_a_clip_to_share_begins_where_the_reader_is(
    page: Client, talk: Video, address: str, clip: list[str]
) -> None:
    make_source(talk)
    html = text_of(page.get(f"/videos/{talk.pk}/{address}"))
    assert clip_of(html) == clip


# Views


def test_paragraphs_have_whole_sentences_a_time_and_the_chapters_that_begin(
    page: Client, talk: Video
) -> None:
    Video.objects.filter(pk=talk.pk).update(chapters=[[0, "Hello"], [15_000, "Something else"]])
    html = text_of(page.get(f"/videos/{talk.pk}/?view=paragraphs"))
    assert html.count('<div class="paragraph">') == 2
    assert ">A rare word counts more than a common one. </span>" in html
    last = html.index("Something else</h3>")
    assert html.index("common one.") < last < html.index("And now for something else.")


def test_who_speaks_is_told_from_what_is_said(page: Client, collection: Collection) -> None:
    said = ["Ada <i>K.</i>: no", "Ada: Yes.", "Bo: Why?", "The reason is simple: it rains."]
    said += ["Note: it pours.", "Ada: So.", "Bo: I see."]
    cues = [Cue(1_000 * n, 1_000 * n + 900, text) for n, text in enumerate(said)]
    text = text_of(page.get(f"/videos/{make_video(collection, cues=cues).pk}/"))
    assert '<b class="speaker">Ada:</b> Yes.' in text
    assert text.count('<b class="speaker">') == 4
    assert "Ada &lt;i&gt;K.&lt;/i&gt;: no" in text


def test_the_view_that_was_chosen_is_kept(page: Client, talk: Video) -> None:
    page.get(f"/videos/{talk.pk}/?view=paragraphs")
    assert '<div class="paragraph">' in text_of(page.get(f"/videos/{talk.pk}/"))


@pytest.mark.parametrize(
    "place", ["t=8s", "q=rare", "t=0s&from=19&to=47", "t=2s&passage=rare+words", "chunk=0"]
)
def test_a_place_opens_at_its_words_though_chapters_were_chosen_before(
    page: Client, talk: Video, place: str
) -> None:
    make_source(talk)
    Video.objects.filter(pk=talk.pk).update(chapters=[[0, "Hello"], [15_000, "Something else"]])
    address = f"/videos/{talk.pk}/"
    page.get(f"{address}?view=chapters&t=8s")
    html = text_of(page.get(f"{address}?{place}"))
    assert '<div class="paragraph">' in html
    assert "chapter-list" not in html
    assert '<div class="paragraph">' in text_of(page.get(f"{address}chunks/0/", **HTMX))
    assert "chapter-list" in text_of(page.get(address)), "the choice is kept for other visits"


def test_find_in_the_chapters_tells_that_paragraphs_are_shown(page: Client, talk: Video) -> None:
    page.get(f"/videos/{talk.pk}/?view=chapters")
    html = text_of(page.get(f"/videos/{talk.pk}/search/?q=rare", **HTMX))
    views = html[html.index('id="views"') :]
    assert re.findall(r'aria-current="true">(.*?)</a>', views)[0] == "Paragraphs"


def test_chapters_are_shown_with_their_length_and_what_they_are_about(
    page: Client, talk: Video
) -> None:
    Video.objects.filter(pk=talk.pk).update(chapters=[[0, "Hello"], [15_000, "Something else"]])
    html = text_of(page.get(f"/videos/{talk.pk}/?view=chapters"))
    assert 'href="?view=paragraphs&amp;t=15s"' in html
    assert "And now for something else." in html
    assert "15 s" in html


def test_the_view_of_chapters_has_their_list_once(page: Client, talk: Video) -> None:
    assert "It has no chapters" in text_of(page.get(f"/videos/{talk.pk}/?view=chapters"))
    Video.objects.filter(pk=talk.pk).update(chapters=[[0, "Hello"], [15_000, "Something else"]])
    for view in ("captions", "chapters"):
        html = text_of(page.get(f"/videos/{talk.pk}/?view={view}"))
        assert html.count("Something else") - html.count('chapter-title wrap">Something') == 1


# Beside it


def test_a_note_that_links_here_stands_beside_the_transcript(page: Client, talk: Video) -> None:
    address = f"/videos/{talk.pk}/?t=5s"
    assert f"(/videos/{talk.pk}/?t=5s): </textarea>" in text_of(page.get(address))
    sent = {"text": f"Of rare words (/videos/{talk.pk}/?t=5s)", "next": address}
    assert page.post("/notes/add/", sent)["Location"] == address
    assert str(Note.objects.get().title) in text_of(page.get(address))


def test_a_note_leads_nowhere_else(page: Client, talk: Video) -> None:
    sent = {"text": "A note", "next": "https://example.org/"}
    assert page.post("/notes/add/", sent)["Location"].startswith("/notes/")


def test_a_question_beside_it_is_asked_of_this_source_alone(page: Client, talk: Video) -> None:
    source = make_source(talk, texts=["Hello and welcome."])
    html = text_of(page.get(f"/videos/{talk.pk}/?q=rare"))
    assert f'<input type="hidden" name="source" value="{source.uuid}">' in html


def test_of_very_many_matches_those_around_the_current_one_are_listed(
    page: Client, collection: Collection
) -> None:
    long = make_video(collection, key="marathon", cues=make_cues(7200))  # ten hours
    html = text_of(page.get(f"/videos/{long.pk}/?q=gradient&n=1200"))
    assert "1200 of 1200" in html
    assert html.count('<li class="hit"') == 200  # those around it
    assert len(html) < 120_000
