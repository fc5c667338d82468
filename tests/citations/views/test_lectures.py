"""The pages of lectures: content, rights and input. tests/browser covers their look."""

import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from selectolax.lexbor import LexborHTMLParser, LexborNode

from citations.lectures import sessions, speech
from citations.lectures import worker as lecture_worker
from citations.models import (
    Citation,
    Deletion,
    Document,
    LectureSession,
    Source,
    State,
    Window,
    WindowOutcome,
)
from citations.readers.page import ReadPage
from citations.views import lectures as views
from tests.html import assert_shows, text_of
from tests.makers import make_cues, make_document, make_paper, make_source, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection, Membership, Role

pytestmark = pytest.mark.usefixtures("fake_models")
HTMX = {"HTTP_HX_REQUEST": "true"}
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The windows that were handed on to be cited; nothing cites them here."""
    handed: list[int] = []
    monkeypatch.setattr(lecture_worker, "submit", lambda pks: handed.extend(pks), raising=False)
    return handed


@pytest.fixture
def book(collection: Collection) -> Source:
    """Something to cite."""
    return make_document(collection, ["The error runs backwards."], title="A book & its pages")


@pytest.fixture
def lecture(scope: Scope, owner: User, collection: Collection) -> LectureSession:
    """A lecture in which nothing was said yet."""
    return sessions.start(scope, owner, title="Networks, week 3", collection=collection)


def cite(
    lecture: LectureSession,
    source: Source,
    *,
    index: int = 0,
    ranks: int = 3,
    last: int | None = 0,
    heading: str = "2. Gradients",
    at: int | None = None,
    page: int | None = None,
    text: str = "",
) -> Window:
    """Make a window that cites pages of a source, and whose passages begin ``at`` a character: by
    default no window cites on what another one cites.
    """
    begin = index * 1_000 if at is None else at
    first_page = index * 3 + 1 if page is None else page
    window, _ = Window.objects.get_or_create(
        session=lecture,
        index=index,
        defaults={
            "text": text or f"Said in window {index}.",
            "first": last,
            "last": last,
            "outcome": WindowOutcome.CITED,
        },
    )
    for rank in range(1, ranks + 1):
        Citation.objects.create(
            session=lecture,
            window=window,
            window_index=index,
            rank=rank,
            source=source,
            page=first_page + rank - 1,
            section_heading=heading,
            quote=f"The error runs backwards, {index}.{rank}.",
            span_start=begin + rank * 100,
            span_end=begin + rank * 100 + 25,
            snippet=f"Snippet {index}.{rank} " + "long " * 50,
            relevance_score=0.9,
        )
    return window


def fields(form: LexborNode) -> dict[str, str]:
    """Return the hidden fields of a form."""
    hidden = form.css("input[type=hidden]")
    return {str(field.attributes["name"]): str(field.attributes["value"]) for field in hidden}


def path(lecture: LectureSession, rest: str = "") -> str:
    return f"/lectures/{lecture.uuid}/{rest}"


# The list, and a new lecture


def test_lectures_are_listed_newest_first_with_their_state(
    page: Client, lecture: LectureSession, scope: Scope, owner: User
) -> None:
    speech.end(sessions.start(scope, owner, title=HOSTILE, collection=lecture.collection))
    html = text_of(page.get("/lectures/"))
    assert html.index("&lt;script&gt;") < html.index("Networks, week 3")
    assert_shows(html, "not begun", "ended", without=(HOSTILE,))
    assert re.search(r"Not begun\s*</span>", text_of(page.get(path(lecture))))
    speech.say(lecture, "The error runs backwards.")
    assert "in progress" in text_of(page.get("/lectures/"))
    assert re.search(r"In progress\s*</span>", text_of(page.get(path(lecture))))


def test_an_empty_list_says_how_to_begin(page: Client, viewer: Client) -> None:
    assert 'href="/lectures/new/"' in text_of(page.get("/lectures/"))
    assert 'href="/lectures/new/"' not in text_of(viewer.get("/lectures/"))


def test_the_list_goes_on(
    page: Client, scope: Scope, owner: User, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PAGE_SIZE", 2)
    for number in range(3):
        sessions.start(scope, owner, title=f"Lecture {number}", collection=collection)
    assert "/lectures/?offset=2" in text_of(page.get("/lectures/"))
    assert "Lecture 0" in text_of(page.get("/lectures/?offset=2"))


def test_a_lecture_is_begun_with_what_was_chosen(
    page: Client, collection: Collection, book: Source
) -> None:
    video = make_video(collection)
    talk = video.transcripts.get()
    form = {"title": "Week 4", "collection": collection.slug, "language": "english"}
    chosen = {"transcript": talk.pk, "source": [str(book.uuid)]}
    answer = page.post("/lectures/new/", form | chosen)
    session = LectureSession.objects.get()
    assert answer["Location"] == path(session)
    assert (session.title, session.transcript, [*session.sources.all()]) == ("Week 4", talk, [book])
    assert session.language == "en"


def test_a_talk_is_offered_first_where_the_address_names_its_video(
    page: Client, collection: Collection
) -> None:
    first, _ = (
        make_video(collection, key="one", title="One"),
        make_video(collection, key="two", title="Two"),
    )
    html = text_of(page.get(f"/lectures/new/?video={first.pk}"))
    assert re.search(r'value="\d+" selected>One', html)
    assert html.index(">One") < html.index(">Two")


@pytest.mark.parametrize(
    "form",
    [
        {"transcript": "999999"},
        {"language": "Klingon"},
        {"collection": "nowhere"},
        {"collection": "lectures", "source": str(uuid4())},
    ],
)
def test_what_is_not_there_is_refused_and_the_form_keeps_what_was_typed(
    page: Client, owner: User, form: dict[str, str]
) -> None:
    answer = page.post("/lectures/new/", {"title": "Kept", **form})
    assert answer.status_code == 422
    assert_shows(answer, 'value="Kept"', 'role="alert"')
    assert not LectureSession.objects.exists()


def test_nonsense_in_the_form_counts_as_empty(page: Client, owner: User) -> None:
    page.post(
        "/lectures/new/",
        {"title": "a\x00b", "transcript": "soon", "collection": "lectures", "source": "no-id"},
    )
    assert not LectureSession.objects.filter(transcript__isnull=False).exists()


def test_the_collection_that_has_most_to_cite_is_chosen_at_first(
    page: Client, owner: User, collection: Collection
) -> None:
    library = Collection.objects.create(name="Library", slug="library")
    Membership.objects.create(user=owner, collection=library, role=Role.OWNER)
    chosen = re.compile(r'<option value="([^"]*)"\s+selected>')
    assert chosen.findall(text_of(page.get("/lectures/new/"))) == ["library"]
    make_document(collection, ["Said once."], title="A")
    assert chosen.findall(text_of(page.get("/lectures/new/"))) == [collection.slug]
    for title in "BC":
        make_document(library, ["Said twice."], title=title)
    assert chosen.findall(text_of(page.get("/lectures/new/"))) == ["library"]
    html = text_of(page.get(f"/lectures/new/?collection={collection.slug}"))
    assert chosen.findall(html) == [collection.slug]


def test_what_could_not_be_read_cannot_be_chosen(
    page: Client, book: Source, collection: Collection
) -> None:
    make_document(collection, ["Never read."], title="A locked book")
    Source.objects.filter(title="A locked book").update(state="failed", chunk_count=0)
    assert_shows(page.get("/lectures/new/"), "A book &amp; its pages", without=("A locked book",))


def test_whoever_only_reads_begins_nothing(viewer: Client, collection: Collection) -> None:
    assert "No collection that you may change" in text_of(viewer.get("/lectures/new/"))
    assert viewer.post("/lectures/new/", {"collection": collection.slug}).status_code == 403
    assert not LectureSession.objects.exists()


# One lecture


def numbers_in(html: str, segment: int) -> list[tuple[str, str]]:
    """Return the text of a line before each number of a citation, and the number."""
    line = LexborHTMLParser(html).css_first(f"#segment-{segment} [data-text]")
    before, numbers = "", []
    for part in line.traverse(include_text=True):
        if part.tag == "-text" and part.parent is not None and part.parent.tag == "span":
            before = " ".join(f"{before}{part.text()}".split())
        elif "ref" in (part.attributes.get("class") or "").split():
            numbers.append((before, part.text()))
    return numbers


def test_numbers_stand_behind_the_sentence_that_is_nearest_to_the_citation(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    said = "So. The error runs  backwards, I said. My dog sleeps."
    speech.say(lecture, f"First words {HOSTILE}.\n{said} And so on.")
    cite(lecture, book, last=1, text=said)
    html = text_of(page.get(path(lecture)))
    nearest = "So. The error runs backwards, I said."
    assert numbers_in(html, 1) == [(nearest, "1"), (nearest, "2"), (nearest, "3")]
    assert not numbers_in(html, 0)
    head = LexborHTMLParser(html).css_first(".cited-head")
    assert "“The error runs backwards, I said.”" in head.text()
    fetched = text_of(page.get(path(lecture, "windows/0/"), **HTMX))
    assert 'data-refs-of="1" data-after="31"' in fetched, "blanks are not counted"
    assert re.findall(r'data-tip="([^"]*)"', html)[0] == "A book &amp; its pages, page 1"
    assert HOSTILE not in html


def test_numbers_stand_behind_the_last_sentence_where_none_is_nearer(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    speech.say(lecture, "Said before.\nAnd more. And then some.")
    cite(lecture, book, last=1, ranks=1, text="And more. And then some.")
    assert numbers_in(text_of(page.get(path(lecture))), 1) == [("And more. And then some.", "1")]


SHOWN = re.compile(r"<mark>The error runs backwards, (\d\.\d)\.</mark>")


def test_a_window_has_a_card_for_each_rank_and_the_newest_comes_first(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    cite(lecture, book, index=0)
    cite(lecture, book, index=4, ranks=2)
    html = text_of(page.get(path(lecture)))
    assert SHOWN.findall(html) == ["4.1", "4.2", "0.1", "0.2", "0.3"]
    assert re.findall(r'class="rank rank-(\d)"', html) == ["1", "2", "1", "2", "3"]
    assert html.count("data-cited=") == 2
    assert '<details class="fold others' not in html
    assert re.search(r"data-count>5<", html)
    assert "Page 2</span>· 2. Gradients" in html


def test_a_page_is_cited_again_once_the_talk_has_been_elsewhere_for_two_minutes(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    for index, (shown, minute) in enumerate([(1, 0), (5, 1), (1, 2), (5, 6), (1, 7)]):
        cite(lecture, book, index=index, ranks=1, page=shown)
        times = {"start": minute * 60_000, "end": minute * 60_000 + 15_000}
        Window.objects.filter(index=index).update(**times)
    html = text_of(page.get(path(lecture)))
    assert re.findall(r'data-windows="([\d ]+)"', html) == ["4 ", "3 ", "1 ", "0 2 "]
    assert re.findall(r"data-range>([^<]*)<", html)[-1] == "0:00–2:15"


def test_what_a_window_cites_beside_a_page_that_is_shown_is_folded_beneath_it(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    cite(lecture, book, index=0, ranks=1, page=1)
    cite(lecture, book, index=1, ranks=3, page=1)
    cite(lecture, book, index=2, ranks=3, page=1)
    html = text_of(page.get(path(lecture)))
    assert SHOWN.findall(html) == ["0.1", "1.2", "1.3"]
    assert SHOWN.findall(re.sub(r"<details.*?</details>", "", html, flags=re.DOTALL)) == ["0.1"]
    assert_shows(html, "2 more passages</summary>")


def test_after_the_end_cards_stand_in_the_order_of_the_speech_and_go_on(
    page: Client, lecture: LectureSession, book: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "GROUPS", 2)
    for index in range(3):
        cite(lecture, book, index=index, ranks=1)
    assert SHOWN.findall(text_of(page.get(path(lecture)))) == ["2.1", "1.1"]
    speech.end(lecture)
    html = text_of(page.get(path(lecture)))
    assert SHOWN.findall(html) == ["0.1", "1.1"]
    assert "citations/?from=2" in html
    rest = text_of(page.get(path(lecture, "citations/"), {"from": 2}, **HTMX))
    assert SHOWN.findall(rest) == ["2.1"]
    assert "Later citations" not in rest
    older = text_of(page.get(path(lecture, "citations/"), {"before": 1}, **HTMX))
    assert SHOWN.findall(older) == ["0.1"]  # of a page that was drawn before the end


def test_a_card_of_a_replay_leads_to_its_moment_in_the_recording(
    page: Client, scope: Scope, owner: User, collection: Collection, book: Source
) -> None:
    video = make_video(collection)
    replay = sessions.start(scope, owner, collection=collection, transcript=video.transcripts.get())
    cite(replay, book, ranks=1)
    assert f'href="/videos/{video.pk}/?t=' not in text_of(page.get(path(replay)))
    Window.objects.update(start=200_500, end=210_000)
    html = text_of(page.get(path(replay)))
    assert_shows(html, f'href="/videos/{video.pk}/?t=200s"', "3:20</a>")
    assert "<time" not in html[html.index("data-groups") :]


def test_a_card_lasts_while_windows_cite_the_passages_beside_it(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    speech.say(lecture, "One.\nTwo.\nThree.\nFour.\nFive.")
    for index, at in enumerate((0, 30, 0, 900, 930)):
        cite(lecture, book, index=index, ranks=1, last=index, at=at)  # each on a page of its own
        Window.objects.filter(index=index).update(start=index * 10_000, end=index * 10_000 + 9_000)
    html = text_of(page.get(path(lecture)))
    assert re.findall(r'data-windows="([\d ]+)"', html) == ["3 4 ", "0 1 2 "]
    assert re.findall(r"data-range>([^<]*)<", html) == ["0:30–0:49", "0:00–0:29"]
    assert re.findall(r'id="refs-(\d)"', html) == ["0", "3"]
    assert re.search(r"data-count>2<", html)
    assert "more passage" not in html  # of the page that the card shows
    assert Citation.objects.count() == 5
    assert_shows(page.get(path(lecture, "windows/2/"), **HTMX), 'id="window-0"', "0:00–0:29")


def test_a_card_ends_where_another_section_begins(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    cite(lecture, book, index=0, ranks=1, at=0)
    cite(lecture, book, index=1, ranks=1, at=30, heading="3. Layers")
    assert text_of(page.get(path(lecture))).count("data-cite>") == 2


def test_a_card_marks_the_sentence_that_is_nearest_to_what_was_said(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    cite(lecture, book, ranks=1)
    Window.objects.update(text="So what do the gradients tell a weight?")
    quote = "The error is <b>small</b>. A gradient tells each weight its share. " + "More. " * 99
    Citation.objects.update(quote=quote)
    html = text_of(page.get(path(lecture)))
    shown = re.search(r'class="snippet[^>]*>(.*?)</blockquote>', html)
    assert shown is not None
    assert shown[1].startswith("… <mark>A gradient tells each weight its share.</mark> More.")
    assert len(shown[1]) <= 170


def test_a_card_shows_the_headings_above_its_passage(
    page: Client, lecture: LectureSession, collection: Collection
) -> None:
    paper = make_paper(collection, ["The error.", "The error."])
    entries = [[1, "Part I", 1], [2, "2. Gradients", 1], [1, "Part II", 1], [2, "2. Gradients", 2]]
    Document.objects.update(outline=entries)
    cite(lecture, paper, ranks=2)
    heading = "Not in the table of contents"
    cite(lecture, paper, index=1, ranks=1, heading=heading, page=3)
    html = text_of(page.get(path(lecture)))
    assert re.findall(r"Page \d</span>·([^<]*)<", html) == [
        " Not in the table of contents",
        " Part I › 2. Gradients",
        " Part II › 2. Gradients",
    ]


def test_a_card_tells_how_sure_it_is_and_the_printed_number_of_its_page(
    page: Client, lecture: LectureSession, collection: Collection
) -> None:
    paper = make_paper(collection, [ReadPage(number=1, text="The error.", label="xii")])
    for index, score in enumerate((0.99, 0.93, 0.84)):
        cite(lecture, paper, index=index, ranks=1)  # page 1, 4, 7
        Citation.objects.filter(window_index=index).update(relevance_score=score)
    html = text_of(page.get(path(lecture)))
    words = [node.text(strip=True) for node in LexborHTMLParser(html).css(".cite .sureness")]
    assert words == ["Not sure", "Not sure", "Likely"]
    assert "Page 1 (printed xii)</span>" in html


def test_a_card_leads_to_its_page_and_a_video_s_to_its_minute(
    page: Client, lecture: LectureSession, book: Source, collection: Collection
) -> None:
    cite(lecture, book, ranks=1)
    talk = make_source(make_video(collection), texts=["Said."])
    cite(lecture, talk, index=1, ranks=1)
    Citation.objects.filter(source=talk).update(page=None, start=61_000, end=64_000)
    html = text_of(page.get(path(lecture)))
    citation = Citation.objects.get(source=book)
    assert f'href="/sources/{book.uuid}/pages/1/?citation={citation.uuid}"' in html
    assert f'href="/videos/{talk.video_id}/?t=61s&amp;until=64s&amp;lang=en"' in html
    assert "1:01–1:04" in html


def test_many_windows_come_in_parts(
    page: Client, lecture: LectureSession, book: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "GROUPS", 2)
    for index in range(5):
        cite(lecture, book, index=index, ranks=1)
    html = text_of(page.get(path(lecture)))
    assert SHOWN.findall(html) == ["4.1", "3.1"]
    more = text_of(page.get(path(lecture, "citations/?before=3"), **HTMX))
    assert SHOWN.findall(more) == ["2.1", "1.1"]
    assert "before=1" in more
    assert "before=" not in text_of(page.get(path(lecture, "citations/?before=1"), **HTMX))


def test_a_long_transcript_shows_its_end_first(
    page: Client, lecture: LectureSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "LINES", 2)
    speech.say(lecture, "One.\nTwo.\nThree.")
    html = text_of(page.get(path(lecture)))
    assert "One." not in html
    assert "The 1 lines before" in html or "The 1 line before" in html
    assert "One." in text_of(page.get(path(lecture, "?all=1")))


def test_without_documents_it_says_so_and_where_to_upload(
    page: Client, lecture: LectureSession
) -> None:
    html = text_of(page.get(path(lecture)))
    assert "Upload documents to see citations" in html
    assert 'href="/add/?collection=lectures"' in html


def test_a_lecture_that_lost_what_it_named_has_no_documents(
    page: Client, scope: Scope, owner: User, collection: Collection, book: Source
) -> None:
    lecture = sessions.start(
        scope, owner, title="Networks", collection=collection, sources=[str(book.uuid)]
    )
    make_document(collection, ["Something else."])
    book.delete()
    assert_shows(page.get(path(lecture)), "Upload documents to see citations", "no longer exist")


def test_the_talk_that_is_replayed_is_no_document_to_cite(
    page: Client, scope: Scope, owner: User, collection: Collection
) -> None:
    video = make_video(collection)
    make_source(video, texts=["Said."])
    lecture = sessions.start(
        scope, owner, collection=collection, transcript=video.transcripts.get()
    )
    assert "Upload documents to see citations" in text_of(page.get(path(lecture)))


def test_after_some_windows_in_vain_it_says_what_to_check(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    hidden = re.compile(r"data-none-found hidden")
    assert hidden.search(text_of(page.get(path(lecture))))
    for index in range(3):
        Window.objects.create(
            session=lecture, index=index, text="Coffee.", outcome=WindowOutcome.OFF_TOPIC
        )
    html = text_of(page.get(path(lecture)))
    assert not hidden.search(html)
    assert_shows(html, "No relevant citations found yet", "1 source is not ready yet")


def test_the_page_goes_on_where_it_was_drawn(page: Client, lecture: LectureSession) -> None:
    speech.say(lecture, "One.\nTwo.")
    Window.objects.create(session=lecture, index=7, text="Waits.")
    html = text_of(page.get(path(lecture)))
    assert 'data-after="2"' in html
    assert 'data-waiting="7"' in html
    assert f'data-events="/api/v1/sessions/{lecture.uuid}/events"' in html


def test_a_window_s_cards_and_numbers_are_a_fragment(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    cite(lecture, book, index=2, last=5)
    answer = page.get(path(lecture, "windows/2/"), **HTMX)
    assert answer["Cache-Control"] == "private, no-store"
    assert 'data-refs-of="5"' in text_of(answer)
    assert text_of(answer).count("data-cite>") == len(SHOWN.findall(text_of(answer))) == 3
    assert page.get(path(lecture, "windows/3/"), **HTMX).status_code == 404


def test_a_window_that_belongs_to_no_speech_has_cards_alone(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    cite(lecture, book, last=None)
    assert "data-refs-of" not in text_of(page.get(path(lecture, "windows/0/"), **HTMX))
    assert page.get(path(lecture)).status_code == 200


def test_figures_say_what_became_of_the_windows(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    cite(lecture, book)
    about = {"outcome": WindowOutcome.OFF_TOPIC, "stages": {"gate": 2.5}, "milliseconds": 3.0}
    Window.objects.create(session=lecture, index=1, text="Coffee.", **about)
    html = text_of(page.get(path(lecture, "figures/"), **HTMX))
    assert "2 passages of two or three sentences were looked at; 3 citations" in html
    assert "Off-topic" in html
    assert "Gate" in html


# What is said


def test_pasted_text_is_taken_sentence_by_sentence_and_its_windows_are_handed_on(
    page: Client, lecture: LectureSession, submitted: list[int]
) -> None:
    said = " ".join(
        f"Sentence number {n} tells of networks and of the errors that run backwards"
        " through all of their layers."
        for n in range(8)
    )
    assert page.post(path(lecture, "say/"), {"text": said}, **HTMX).status_code == 204
    assert lecture.segments.count() == 8
    assert submitted == [*Window.objects.filter(session=lecture).values_list("pk", flat=True)] != []


def test_lines_that_were_wrapped_are_put_together(page: Client, lecture: LectureSession) -> None:
    page.post(path(lecture, "say/"), {"text": "A sentence that\nis wrapped. Another."})
    assert [*lecture.segments.values_list("text", flat=True)] == [
        "A sentence that is wrapped.",
        "Another.",
    ]


def paste_box(html: str) -> tuple[LexborNode, LexborNode]:
    """Return the box for pasted text, and its field."""
    [box] = LexborHTMLParser(html).css("#paste")
    [field] = box.css("textarea")
    return box, field


def test_without_scripts_the_box_of_pasted_text_stays_open_for_what_is_said_next(
    page: Client, lecture: LectureSession
) -> None:
    speech.say(lecture, "Before.")
    assert "open" not in paste_box(text_of(page.get(path(lecture))))[0].attributes
    answer = page.post(path(lecture, "say/"), {"text": "Hello."}, follow=True)
    assert answer.redirect_chain == [(path(lecture, "?paste=1"), 302)]
    box, field = paste_box(text_of(answer))
    assert "open" in box.attributes
    assert "autofocus" in field.attributes
    assert field.text() == ""


@pytest.mark.parametrize("rest", ["say/", "end/"])
def test_what_is_too_long_stays_in_its_field_and_the_lecture_goes_on(
    page: Client, lecture: LectureSession, monkeypatch: pytest.MonkeyPatch, rest: str
) -> None:
    monkeypatch.setattr(speech, "MAX_SAID", 20)
    answer = page.post(path(lecture, rest), {"text": f"More than 20. {HOSTILE}"})
    assert answer.status_code == 422
    box, field = paste_box(text_of(answer))
    assert "The text exceeds 20 characters. Send it in parts." in " ".join(box.text().split())
    assert field.text() == f"More than 20. {HOSTILE}"
    assert "maxlength" not in field.attributes  # a browser would cut a text without a word
    lecture.refresh_from_db()
    assert (lecture.ended_at, lecture.segments.count()) == (None, 0)


def test_blank_text_is_refused_beside_its_field(page: Client, lecture: LectureSession) -> None:
    field = paste_box(text_of(page.get(path(lecture))))[1]
    assert "required" in field.attributes
    answer = page.post(path(lecture, "say/"), {"text": " \n "})
    assert answer.status_code == 422
    box, field = paste_box(text_of(answer))
    assert "open" in box.attributes
    assert "The text is empty. Type or paste what was said." in " ".join(box.text().split())
    assert ("autofocus" in field.attributes, field.text()) == (True, "")


def test_the_end_adds_the_text_that_was_not_added_yet(
    page: Client, lecture: LectureSession, submitted: list[int]
) -> None:
    html = LexborHTMLParser(text_of(page.get(path(lecture))))
    button = html.css_first(f'[formaction="{path(lecture, "end/")}"]')
    form = html.css_first(f"form#{button.attributes['form']}")
    assert form.css("textarea[name=text]")
    assert "formnovalidate" in button.attributes  # it ends with an empty field, too
    speech.say(lecture, "Before.")
    answer = page.post(path(lecture, "end/"), {"text": "The error runs backwards. The end."})
    assert answer["Location"] == path(lecture)
    lecture.refresh_from_db()
    assert lecture.ended_at is not None
    texts = [*lecture.segments.order_by("number").values_list("text", flat=True)]
    assert texts == ["Before.", "The error runs backwards.", "The end."]
    assert submitted == [*lecture.windows.values_list("pk", flat=True)] != []


def test_text_that_comes_after_the_end_is_shown_to_be_copied(
    page: Client, lecture: LectureSession
) -> None:
    speech.end(lecture)
    assert 'id="paste"' not in text_of(page.get(path(lecture, "?paste=1")))
    for rest in ("say/", "end/"):
        answer = page.post(path(lecture, rest), {"text": "Too late."})
        assert answer.status_code == 422
        box, field = paste_box(text_of(answer))
        assert "The lecture ended before this was added." in box.text()
        assert (field.text(), "readonly" in field.attributes) == ("Too late.", True)
        assert not box.css("button")
    assert lecture.segments.count() == 0


def test_replaying_says_what_the_talk_says_up_to_there(
    page: Client, scope: Scope, owner: User, collection: Collection, submitted: list[int]
) -> None:
    video = make_video(collection, cues=make_cues(12))
    lecture = sessions.start(
        scope, owner, collection=collection, transcript=video.transcripts.get()
    )
    assert page.post(path(lecture, "advance/"), {"position": 31_000}, **HTMX).status_code == 204
    assert lecture.segments.count() == 6
    page.post(path(lecture, "advance/"), {"position": 60_000}, **HTMX)
    lecture.refresh_from_db()
    assert lecture.ended_at is not None
    assert len(submitted) == lecture.windows.count() > 0


def test_a_lecture_is_ended_and_replayed_again(
    page: Client, scope: Scope, owner: User, collection: Collection, book: Source
) -> None:
    video = make_video(collection, cues=make_cues(12))
    talk = video.transcripts.get()
    lecture = sessions.start(
        scope, owner, title="Once", collection=collection, transcript=talk, sources=[str(book.uuid)]
    )
    page.post(path(lecture, "end/"), **HTMX)
    assert "data-replay " not in text_of(page.get(path(lecture)))
    answer = page.post(path(lecture, "again/"))
    second = LectureSession.objects.exclude(pk=lecture.pk).get()
    assert answer["Location"] == path(second)
    assert (second.title, second.transcript) == ("Once (replay 2)", talk)
    assert (second.position, [*second.sources.all()]) == (0, [book])


@pytest.mark.parametrize(
    ("rest", "form"),
    [
        ("say/", {}),
        ("say/", {"text": " \n "}),
        ("advance/", {"position": "soon"}),
        ("advance/", {"position": "-1"}),
    ],
)
def test_what_cannot_be_understood_is_refused(
    page: Client, lecture: LectureSession, rest: str, form: dict[str, str]
) -> None:
    answer = page.post(path(lecture, rest), form, **HTMX)
    assert 400 <= answer.status_code < 500
    assert lecture.segments.count() == 0


# Sources that are not ready


def test_the_form_warns_of_what_is_not_ready_yet(page: Client, book: Source) -> None:
    html = text_of(page.get("/lectures/new/"))
    assert "1 source in “Lectures” is not ready yet" in html
    assert "<strong>not ready yet</strong>" in html
    book.reach(State.READY)
    assert "not ready yet" not in text_of(page.get("/lectures/new/"))


def test_the_page_says_what_is_not_ready_and_offers_to_look_up_what_was_said_too_early(
    page: Client, viewer: Client, lecture: LectureSession, book: Source, submitted: list[int]
) -> None:
    about = {"outcome": WindowOutcome.NO_DOCUMENTS, "finished_at": timezone.now()}
    window = Window.objects.create(session=lecture, index=0, text="Too early.", **about)
    html = text_of(page.get(path(lecture)))
    assert "1 source is not ready yet: A book &amp; its pages." in html
    assert "Upload it there" not in html
    assert "Look these up now" not in html
    book.reach(State.READY)
    renewed = text_of(page.get(path(lecture, "sources/"), **HTMX))
    assert "1 passage found nothing" in renewed
    assert "Look these up now" in renewed
    assert "Look these up now" not in text_of(viewer.get(path(lecture)))
    assert page.post(path(lecture, "look-up/"))["Location"] == path(lecture)
    assert submitted == [window.pk]
    assert 'data-waiting="0"' in text_of(page.get(path(lecture)))


def test_without_anything_that_is_not_ready_the_hint_is_to_upload(
    page: Client, lecture: LectureSession, book: Source
) -> None:
    book.reach(State.READY)
    assert "Upload it there" in text_of(page.get(path(lecture)))


# Notes, and the end of it


def test_an_ended_lecture_is_kept_as_a_recording_and_each_leads_to_the_other(
    page: Client, lecture: LectureSession
) -> None:
    speech.say(lecture, "The error runs backwards.")
    assert "data-keep hidden" in text_of(page.get(path(lecture)))
    speech.end(lecture)
    assert "Keep as a recording" in text_of(page.get(path(lecture)))
    answer = page.post(path(lecture, "recording/"))
    html = text_of(page.get(path(lecture)))
    assert "Keep as a recording" not in html
    assert f'href="{answer["Location"]}"' in html
    recording = text_of(page.get(answer["Location"]))
    assert f'href="{path(lecture)}"' in recording
    assert f">{lecture.uuid}<" not in recording
    assert page.post(path(lecture, "recording/"))["Location"] == answer["Location"]


def test_a_viewer_is_led_to_the_recording_but_does_not_keep_it(
    page: Client, viewer: Client, lecture: LectureSession
) -> None:
    speech.say(lecture, "The error runs backwards.")
    speech.end(lecture)
    assert "Keep as a recording" not in text_of(viewer.get(path(lecture)))
    address = page.post(path(lecture, "recording/"))["Location"]
    assert f'href="{address}"' in text_of(viewer.get(path(lecture)))


def test_notes_are_a_markdown_file(page: Client, lecture: LectureSession, book: Source) -> None:
    speech.say(lecture, "First words.")
    cite(lecture, book)
    answer = page.get(path(lecture, "notes.md"))
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="networks-week-3.md"'
    assert_shows(answer, "First words", "The error runs backwards")


def test_its_page_deletes_it_and_the_list_of_lectures_takes_that_back(
    page: Client, viewer: Client, lecture: LectureSession
) -> None:
    html = LexborHTMLParser(text_of(page.get(path(lecture))))
    form = fields(html.css_first('form[action="/library/change/"]'))
    assert form["item"] == f"lecture-{lecture.pk}"
    answer = page.post("/library/change/", {**form, "action": "delete"}, follow=True)
    assert answer.redirect_chain == [("/lectures/", 302)]
    assert "“Networks, week 3” was deleted." in text_of(answer)
    assert page.get(path(lecture)).status_code == 404
    address = f"/library/undo/{Deletion.objects.get().uuid}/"
    assert address not in text_of(viewer.get("/lectures/"))
    assert address in text_of(page.get("/library/"))
    undo = LexborHTMLParser(text_of(answer)).css_first(f'form[action="{address}"]')
    back = page.post(address, fields(undo), follow=True)
    assert back.redirect_chain == [(path(lecture), 302)]
    assert "“Networks, week 3” is back." in text_of(back)


def test_undoing_the_deletion_of_several_shows_the_lectures_again(
    page: Client, scope: Scope, owner: User, lecture: LectureSession
) -> None:
    other = sessions.start(scope, owner, title="Week 4", collection=lecture.collection)
    items = [f"lecture-{lecture.pk}", f"lecture-{other.pk}"]
    page.post("/library/change/", {"item": items, "action": "delete"})
    html = LexborHTMLParser(text_of(page.get("/lectures/")))
    undo = html.css_first("form[action*=undo]")
    assert fields(undo)["next"] == "/lectures/"
    back = text_of(page.post(str(undo.attributes["action"]), fields(undo), follow=True))
    assert "Networks, week 3" in back
    assert "Week 4" in back


def test_the_list_of_lectures_does_not_undo_deletions_of_other_things(
    page: Client, book: Source
) -> None:
    page.post("/library/change/", {"item": f"document-{book.pk}", "action": "delete"})
    assert "was deleted" in text_of(page.get("/library/"))
    assert "was deleted" not in text_of(page.get("/lectures/"))


# Who may do what

READS = ("", "windows/0/", "citations/", "figures/", "sources/", "notes.md")
WRITES = ("say/", "advance/", "end/", "again/", "recording/", "look-up/")


def test_a_viewer_reads_and_changes_nothing_and_a_stranger_finds_nothing(
    viewer: Client, stranger: Client, lecture: LectureSession, book: Source
) -> None:
    cite(lecture, book)
    form = {"text": "Hello.", "position": "1"}
    for client, reads, writes in ((viewer, 200, 403), (stranger, 404, 404)):
        read = {rest: client.get(path(lecture, rest)).status_code for rest in READS}
        written = {rest: client.post(path(lecture, rest), form, **HTMX) for rest in WRITES}
        assert read == dict.fromkeys(READS, reads)
        assert {rest for rest, sent in written.items() if sent.status_code != writes} == set()
    assert LectureSession.objects.get().event_count == 0


def test_a_viewer_is_shown_no_controls(
    page: Client, viewer: Client, lecture: LectureSession
) -> None:
    html = text_of(viewer.get(path(lecture)))
    assert_shows(html, without=("data-say", "data-end>"))
    assert "data-end>" in text_of(page.get(path(lecture)))
    assert 'value="delete"' not in html


def test_looking_changes_nothing(page: Client, lecture: LectureSession) -> None:
    assert {page.get(path(lecture, rest)).status_code for rest in WRITES} == {405}
