"""The Ask page: content, rights and input. tests/browser covers its look."""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from selectolax.lexbor import LexborHTMLParser

from citations.answers.answer import Claim, ClaimEvent, Event, Progress
from citations.documents import storage as document_storage
from citations.errors import ModelServerError
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Answer, AnswerState, Citation, Conversation, Note, Source
from citations.notebook import conversations
from citations.views import answer as view_answer
from citations.views import conversations as view_conversations
from tests.citations.talks import ask, finished_answer, talk_in
from tests.html import assert_shows, text_of
from tests.makers import make_document, make_user, make_wav, multiply
from transcripts.core.scope import Scope
from transcripts.media import files as media
from transcripts.models import Collection, Membership, Role, Transcript

pytestmark = pytest.mark.usefixtures("fake_models")
HTMX = {"HTTP_HX_REQUEST": "true"}
STREAM = {"HTTP_ACCEPT": "text/event-stream"}
HOSTILE = "<script>alert(1)</script>"
QUESTION = "What does backpropagation carry to the start of a network?"
SAID = (
    "Backpropagation carries the error of a network from its end back to its start.",
    "Bread rises because yeast makes carbon dioxide in the dough.",
)


@pytest.fixture
def talk(collection: Collection) -> Source:
    """A talk that is found by its words."""
    return talk_in(collection, title="A talk & more", said=SAID)


@pytest.fixture
def book(collection: Collection) -> Source:
    """Something to cite: a page of text."""
    text = BytesIO(b"The error runs backwards. It begins at the end.")
    source = document_storage.add(collection, text, name="book.txt", title="A book").source
    ingest_pipeline.ingest(source.pk)
    return Source.objects.get(pk=source.pk)


@pytest.fixture
def conversation(scope: Scope, owner: User, collection: Collection) -> Conversation:
    return conversations.begin(scope, owner, collection=collection.slug, title="On networks")


@pytest.fixture
def stranger(collection: Collection, viewer: Client) -> Client:
    """Somebody who reads the same collection: conversations are not theirs."""
    return viewer


def make_answer(
    conversation: Conversation,
    *,
    ordinal: int = 1,
    question: str = "Why?",
    state: str = AnswerState.ANSWERED,
    **more: Any,
) -> Answer:
    return Answer.objects.create(
        conversation=conversation, ordinal=ordinal, question=question, state=state, **more
    )


def make_citation(
    answer: Answer, source: Source, quote: str = "The error runs backwards.", **more: Any
) -> Citation:
    place = {"span_start": 0, "span_end": len(quote), "page": 1, "last_page": 1}
    about = {"digest": source.digest, "section_heading": "2. Gradients", **place, **more}
    return Citation.objects.create(answer=answer, number=1, source=source, quote=quote, **about)


def cited(conversation: Conversation, source: Source, **more: Any) -> tuple[Answer, Citation]:
    answer = make_answer(
        conversation,
        claims=[{"text": "It runs backwards.", "citations": [1], "is_supported": True}],
        **more,
    )
    return answer, make_citation(answer, source)


def passage(source: Source, **more: Any) -> dict[str, Any]:
    about = {"number": 1, "source": str(source.uuid), "title": source.title, "heading": ""}
    about |= {"level": 0, "score": 0.5, "text": "Nearly it.", "link": "/x"}
    return {**about, "part": 0, "start": None, "page": 1, **more}


def path(conversation: Conversation, rest: str = "") -> str:
    return f"/ask/{conversation.uuid}/{rest}"


def test_claims_beside_the_first_are_folded_beneath_it(
    page: Client, conversation: Conversation, talk: Source
) -> None:
    claims = [
        {"text": text, "citations": [1], "is_supported": True, "is_more": is_more}
        for text, is_more in (("It runs backwards.", False), ("It runs far.", True))
    ]
    make_citation(make_answer(conversation, claims=claims), talk)
    tree = LexborHTMLParser(text_of(page.get(path(conversation))))
    (more,) = tree.css("details.more-claims")
    assert [claim.text(strip=True) for claim in more.css(".claim")] == ["It runs far.[1]"]
    assert "open" not in more.attributes
    assert "More from the sources" in more.css_first("summary").text()


def test_of_several_questions_each_has_a_heading_over_its_claims_and_says_if_it_has_none(
    page: Client, conversation: Conversation, talk: Source
) -> None:
    claims = [
        {"text": text, "citations": [1], "is_supported": True, "heading": heading, "is_more": more}
        for text, heading, more in (
            ("Backwards.", "How does it run?", False),
            ("From the end.", "How does it run?", True),
            ("Far.", "How far?", False),
        )
    ]
    parts: list[dict[str, Any]] = [
        {"heading": heading, "is_answered": heading != "What is soup?"}
        for heading in ("How does it run?", "What is soup?", "How far?")
    ]
    parts[0]["confidence"] = 0.85
    answer = make_answer(conversation, state=AnswerState.PARTIAL, claims=claims, parts=parts)
    make_citation(answer, talk)
    tree = LexborHTMLParser(text_of(page.get(path(conversation))))
    text = tree.css_first(".answer-text")
    (sure,) = tree.css(".sureness")
    assert sure.text(strip=True) == "Sure", "one for each part that has it"
    for line in tree.css(".part-confidence"):
        line.decompose()
    shown = [node.text(strip=True) for node in text.css("h3.part-question, .claim, p.muted")]
    assert shown == [
        *("How does it run?", "Backwards.[1]", "From the end.[1]"),
        *("What is soup?", "The sources do not answer this question."),
        *("How far?", "Far.[1]"),
    ]
    (more,) = text.css("details.more-claims")
    assert [claim.text(strip=True) for claim in more.css(".claim")] == ["From the end.[1]"]


def test_one_line_says_which_sources_were_not_ready(
    page: Client, conversation: Conversation, talk: Source, collection: Collection
) -> None:
    answer = make_answer(conversation, claims=[], state=AnswerState.REFUSED, note="Not found.")
    assert "not ready" not in text_of(page.get(path(conversation)))
    answer.unready = [
        {"title": "Soup", "state": "fetching", "source_id": None, "collection": collection.pk}
    ]
    answer.save()
    tree = LexborHTMLParser(text_of(page.get(path(conversation))))
    (line,) = (note for note in tree.css(".note") if "not ready" in note.text())
    assert "1 source was not ready yet when this was asked: “Soup”." in line.text()
    address = line.css_first("a").attributes["href"] or ""
    assert address == f"/library/?collection={collection.slug}"
    assert page.get(address).status_code == 200


# The empty page


def test_what_can_be_asked_is_listed_with_all_of_it_asked_unless_some_is_chosen(
    page: Client, talk: Source, collection: Collection
) -> None:
    broken = make_document(collection, [], title="Notes that cannot be read")
    Source.objects.filter(pk=broken.pk).update(state="failed")
    html = text_of(page.get("/ask/?q=What+is+it"))
    assert "A talk &amp; more" in html
    assert broken.title not in html
    assert ">all 1<" in html
    assert ">What is it</textarea>" in html
    chosen = text_of(page.get(f"/ask/?source={talk.uuid}&source=x"))
    assert ">1 of 1<" in chosen
    assert re.search(r'value="[^"]+" form="ask-form" checked', chosen)


def test_the_page_says_how_much_is_asked(page: Client, talk: Source, book: Source) -> None:
    assert "Ask 2 sources." in text_of(page.get("/ask/"))
    assert "Ask the source that is chosen." in text_of(page.get(f"/ask/?source={book.uuid}"))
    both = text_of(page.get(f"/ask/?source={book.uuid}&source={talk.uuid}"))
    assert "Ask the 2 sources that are chosen." in both


def test_without_a_source_the_page_says_how_to_add_one(page: Client) -> None:
    assert_shows(page.get("/ask/"), "There is nothing to ask yet", without=('id="ask-form"',))


def test_the_sources_of_one_collection_are_shown_when_it_is_chosen(
    page: Client, owner: User, talk: Source
) -> None:
    other = Collection.objects.create(name="Other", slug="other")
    Membership.objects.create(collection=other, user=owner, role="owner")
    make_document(other, ["x"], title="Elsewhere")
    html = text_of(page.get("/ask/sources/?collection=other", **HTMX))
    assert "Elsewhere" in html
    assert "A talk" not in html
    assert page.get("/ask/sources/?collection=nowhere").status_code == 404


# Asking


def test_without_scripts_a_question_is_answered_and_its_conversation_shown(
    page: Client, talk: Source
) -> None:
    response = page.post(
        "/ask/", {"q": QUESTION, "collection": talk.collection.slug, "source": [str(talk.uuid)]}
    )
    answer = Answer.objects.get()
    assert response["Location"] == f"{path(answer.conversation)}#answer-{answer.uuid}"
    assert answer.conversation.sources == [str(talk.uuid)]
    html = text_of(page.get(path(answer.conversation)))
    assert "carries the error of a network" in html
    assert f'href="/citations/{answer.citations.get(number=1).uuid}/"' in html
    _, made = html.split("How this answer was made", 1)
    said, numbers = made.split("In numbers", 1)
    assert "of one source were read. One quote was looked up in its source" in said
    assert "Checking every quote" in numbers


def test_who_reads_a_single_collection_can_share_what_is_asked_without_choosing_it(
    page: Client, talk: Source, owner: User
) -> None:
    page.post("/ask/", {"q": QUESTION})
    alone = Conversation.objects.get()
    assert alone.collection == talk.collection
    assert f"Share with readers of {talk.collection.name}" in text_of(page.get(path(alone)))
    another = Collection.objects.create(name="Another", slug="another")
    Membership.objects.create(collection=another, user=owner, role=Role.VIEWER)
    page.post("/ask/", {"q": QUESTION})
    broad = Conversation.objects.exclude(pk=alone.pk).get()
    assert broad.collection is None
    assert f"Share with readers of {talk.collection.name}" in text_of(page.get(path(broad)))


def test_with_whose_readers_a_conversation_about_everything_can_be_shared_is_said(
    page: Client, owner: User, collection: Collection, talk: Source
) -> None:
    conversation = Conversation.objects.create(owner=owner, title="All")
    assert "Once an answer cites something" in text_of(page.get(path(conversation)))
    answer = make_answer(conversation)
    another = Collection.objects.create(name="Another", slug="another")
    Membership.objects.create(collection=another, user=owner, role=Role.VIEWER)
    at = {"span_start": 0, "span_end": 5, "digest": "d", "quote": "Words"}
    sources = [talk, talk_in(another, key="other")]
    claims = []
    for number, source in enumerate(sources, start=1):
        Citation.objects.create(answer=answer, number=number, source=source, **at)
        claims.append({"text": f"Claim {number}.", "citations": [number], "is_supported": True})
    Answer.objects.update(claims=claims)
    html = LexborHTMLParser(text_of(page.get(path(conversation))))
    offered = html.css("button[name=shared_with]")
    assert {button.attributes["value"] for button in offered} == {"another", collection.slug}
    for button in offered:
        note = html.css_first(f"#{button.attributes['aria-describedby']}").text()
        assert "1 of 2 sentences cites another collection" in note
    page.post(path(conversation, "change/"), {"shared_with": "another"})
    html_text = text_of(page.get(path(conversation)))
    assert "Shared with all who read Another" in html_text
    assert "1 of 2 sentences cites another collection" in html_text
    reader = Client()
    reader.force_login(make_user("reader", collection=another, role=Role.VIEWER))
    shown = text_of(reader.get(path(conversation)))
    assert "Claim 2." in shown
    assert "Claim 1." not in shown
    assert "1 sentence of it stands in sources that you may not read." in shown
    assert "another collection" not in shown
    assert page.post(path(conversation, "change/"), {"shared_with": "hidden"}).status_code == 404


def test_sources_can_be_chosen_anew_with_every_question(
    page: Client, talk: Source, conversation: Conversation
) -> None:
    page.post(path(conversation), {"q": QUESTION, "source": [str(talk.uuid)]})
    assert Conversation.objects.get().sources == [str(talk.uuid)]
    page.post(path(conversation), {"q": QUESTION})
    assert Conversation.objects.get().sources == []
    assert conversation.answers.count() == 2


@pytest.mark.parametrize("question", ["", "  \x00 ", "?!", "x" * 1001])
def test_what_is_no_question_begins_no_conversation(
    page: Client, talk: Source, question: str
) -> None:
    response = page.post("/ask/", {"q": question})
    assert response.status_code == 422
    assert "notice-error" in text_of(response)
    streamed = text_of(page.post("/ask/", {"q": question}, **STREAM))
    assert streamed.startswith('<div class="notice notice-error">')
    assert not Conversation.objects.exists()


def test_a_collection_or_sources_that_are_not_there_are_refused(page: Client, talk: Source) -> None:
    assert page.post("/ask/", {"q": QUESTION, "collection": "nowhere"}).status_code == 404
    assert page.post("/ask/", {"q": QUESTION, "source": [str(uuid4())]}).status_code == 404
    assert not Conversation.objects.exists()


def test_while_one_question_is_answered_no_other_is_taken(
    page: Client, talk: Source, conversation: Conversation
) -> None:
    make_answer(conversation, state=AnswerState.RUNNING)
    response = page.post(path(conversation), {"q": QUESTION})
    assert response.status_code == 422
    assert_shows(response, "still being answered", QUESTION)


# Telling


def sent_texts(events: Iterator[Event]) -> list[str]:
    return list(
        view_answer.encode(events, address="/ask/1/", render=lambda: "<article>\nall\n</article>")
    )


def test_an_answer_is_told_piece_by_piece_and_whole_at_the_end(
    scope: Scope, owner: User, talk: Source
) -> None:
    conversation = conversations.begin(scope, owner)
    heard = sent_texts(ask(scope, owner, conversation, QUESTION))
    kinds = [message.partition("\n")[0].removeprefix("event: ") for message in heard]
    assert kinds[0] == "begun"
    assert kinds[-1] == "answer"
    assert "claim" in kinds
    claim = heard[kinds.index("claim")]
    assert "carries the error of a network" in claim
    assert 'class="cited-line" href="/videos/' in claim
    assert heard[-1] == "event: answer\ndata: <article>\ndata: all\ndata: </article>\n\n"


def test_of_several_questions_each_is_told_once_with_its_first_claim() -> None:
    direction, distance = "How does it run?", "How far?"
    claims = (
        Claim(text="Backwards.", heading=direction),
        Claim(text="From the end.", heading=direction),
        Claim(text="Far.", heading=distance),
        Claim(text="Of no question."),
    )
    _, *heard, _ = sent_texts(ClaimEvent(claim=claim) for claim in claims)
    headings = [LexborHTMLParser(claim).css("h3.part-question") for claim in heard]
    titles = [[heading.text() for heading in heading_list] for heading_list in headings]
    assert titles == [[direction], [], [distance], []]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ModelServerError("It does not answer."), "It does not answer."),
        (ZeroDivisionError("secret"), "Something unexpected"),
    ],
)
def test_what_goes_wrong_is_told_without_secrets(error: Exception, said: str) -> None:
    def events() -> Iterator[Event]:
        yield Progress(stage="route")
        raise error

    *_, last = sent_texts(events())
    assert last.startswith("event: failed\n")
    assert said in last
    assert "secret" not in last


def test_a_browser_that_listens_is_answered_with_events(page: Client, talk: Source) -> None:
    response: Any = page.post("/ask/", {"q": QUESTION}, **STREAM)
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "private, no-store"
    assert Answer.objects.get().question == QUESTION


# A conversation


def test_claims_show_their_citations_and_everything_is_escaped(
    page: Client, conversation: Conversation, book: Source
) -> None:
    Source.objects.filter(pk=book.pk).update(title=HOSTILE)
    answer = make_answer(
        conversation,
        question=HOSTILE,
        full_question=HOSTILE + "?",
        note=HOSTILE,
        model=HOSTILE,
        claims=[
            {"text": HOSTILE, "citations": [1], "is_supported": True},
            {"text": "Nobody said it.", "citations": [], "is_supported": False},
        ],
        trace={
            "evidence": [passage(book, title=HOSTILE, text=HOSTILE)],
            "parts": [{"text": HOSTILE, "breadth": "broad"}],
            "notes": [HOSTILE],
        },
        confidence=0.8,
    )
    make_citation(answer, book, quote=HOSTILE)
    html = text_of(page.get(path(conversation)))
    assert HOSTILE not in html
    assert html.count("&lt;script&gt;") > 8
    assert_shows(
        html, "not in the sources", 'title="Of ten such answers, nine cite the right passage first"'
    )


def test_a_follow_up_names_the_question_that_it_was_searched_with(
    page: Client, conversation: Conversation
) -> None:
    make_answer(conversation, question="And why?", full_question="And why? (What is yeast?)")
    html = text_of(page.get(path(conversation)))
    assert 'Searched together with: <span class="wrap">What is yeast?</span>' in html
    assert "(What is yeast?)" not in html


def test_the_sources_own_words_are_shown_as_a_quotation_with_speaker_time_and_title(
    page: Client, owner: User, conversation: Conversation, scope: Scope, collection: Collection
) -> None:
    said = (
        "Ann Lee: Good morning. Backpropagation carries the error back to the start.",
        "Bo: Bread rises in the oven. Ann Lee: It does. Bo: Every morning.",
    )
    talk_in(collection, key="dialogue", title="A dialogue", said=said)
    finished_answer(scope, owner, conversation, "What does backpropagation carry to the start?")
    html = LexborHTMLParser(text_of(page.get(f"/ask/{conversation.uuid}/")))
    quotation = html.css_first("figure.quotation")
    words = quotation.css_first(".quotation-text").text()
    assert words.startswith("“")
    assert words.endswith("back to the start.”")
    assert "Bread" not in words
    assert quotation.css_first(".quotation-speaker").text() == "Ann Lee"
    assert quotation.css_first("cite").text() == "A dialogue"
    assert "0:01" in quotation.css_first("a.cited-place").text()
    assert html.css_first(".answer-cited-above"), "each claim names its source"


def test_a_refusal_shows_what_comes_nearest(
    page: Client, conversation: Conversation, book: Source
) -> None:
    make_answer(
        conversation,
        state=AnswerState.REFUSED,
        note="I cannot find information about “bees” in the sources.",
        nearest=[passage(book)],
    )
    html = text_of(page.get(path(conversation)))
    assert "I cannot find information about “bees”" in html
    assert "What comes nearest" in html
    assert "Nearly it." in html
    assert "Save as note" not in html


def test_help_is_no_refusal_and_is_not_rated(page: Client, conversation: Conversation) -> None:
    make_answer(conversation, state=AnswerState.HELP, note="Ask about what is said in “Bees”.")
    html = text_of(page.get(path(conversation)))
    assert "Ask about what is said in “Bees”." in html
    assert "What comes nearest" not in html
    assert "feedback" not in html


def test_an_answer_that_is_being_made_asks_for_itself_again(
    page: Client, conversation: Conversation
) -> None:
    answer = make_answer(conversation, state=AnswerState.RUNNING)
    assert f'hx-get="/ask/answers/{answer.uuid}/"' in text_of(page.get(path(conversation)))
    Answer.objects.update(
        state=AnswerState.FAILED, error="The model was away.", hint="Run `kb doctor`."
    )
    fresh = text_of(page.get(f"/ask/answers/{answer.uuid}/", **HTMX))
    assert "hx-trigger" not in fresh.partition("answer-foot")[0]
    assert_shows(fresh, "The model was away.", "<code>kb doctor</code>", "Try again")


def test_an_answer_is_made_anew_in_its_place(
    page: Client, talk: Source, conversation: Conversation
) -> None:
    answer = make_answer(conversation, question=QUESTION, state=AnswerState.FAILED)
    response = page.post(f"/ask/answers/{answer.uuid}/again/")
    assert response["Location"].endswith(f"#answer-{answer.uuid}")
    answer.refresh_from_db()
    assert answer.state == AnswerState.ANSWERED
    assert page.get(f"/ask/answers/{answer.uuid}/again/").status_code == 405


# What can be done


def test_conversations_are_listed_renamed_and_deleted(
    page: Client, conversation: Conversation
) -> None:
    make_answer(conversation)
    page.post(path(conversation, "change/"), {"title": HOSTILE})
    assert_shows(page.get("/ask/conversations/"), "&lt;script&gt;", without=(HOSTILE,))
    confirmation = text_of(page.get(path(conversation, "delete/")))
    assert "1 question and its answer will be deleted" in confirmation
    assert Conversation.objects.exists()
    assert page.post(path(conversation, "delete/"))["Location"] == "/ask/"
    assert not Conversation.objects.exists()
    assert "Nothing was asked yet" in text_of(page.get("/ask/conversations/"))


def test_a_blank_title_of_a_conversation_is_refused_on_its_page(
    page: Client, conversation: Conversation
) -> None:
    sent = page.post(path(conversation, "change/"), {"title": "  "}, follow=True)
    assert sent.redirect_chain == [(path(conversation), 302)]
    assert_shows(sent, "The title is empty. Enter a short one.", conversation.title)


def test_a_shared_conversation_is_read_by_readers_of_its_collection_and_changed_by_nobody_else(
    page: Client, collection: Collection, owner: User, talk: Source
) -> None:
    conversation = Conversation.objects.create(collection=collection, owner=owner, title="Together")
    answer = make_answer(conversation)
    reader = Client()
    reader.force_login(make_user("reader", collection=collection, role=Role.VIEWER))
    assert reader.get(path(conversation)).status_code == 404
    page.post(path(conversation, "change/"), {"shared_with": collection.slug})

    html = text_of(reader.get(path(conversation)))
    assert_shows(html, answer.question, "Shared by")
    for offered in ("data-ask-form", "change/", "again/", "delete/"):
        assert offered not in html
    assert "Together" in text_of(reader.get("/ask/conversations/"))
    for rest in ("", "change/", "delete/"):
        sent = {"q": "x", "title": "x", "shared_with": ""}
        assert reader.post(path(conversation, rest), sent).status_code in (403, 404)

    page.post(path(conversation, "change/"), {"shared_with": ""})
    assert reader.get(path(conversation)).status_code == 404


def test_a_conversation_becomes_a_note_of_its_collection(
    page: Client, conversation: Conversation, collection: Collection, book: Source
) -> None:
    Conversation.objects.update(collection=collection)
    answer, _ = cited(conversation, book)
    page.post(path(conversation, "note/"))
    note = Note.objects.get()
    assert note.title == conversation.title
    assert f"## {answer.question}" in note.text


def test_any_source_of_a_large_library_can_be_chosen_by_its_title(
    page: Client, collection: Collection, book: Source
) -> None:
    multiply(book, 150, uuid="gen_random_uuid()", title="'Volume ' || n")
    latest = Source.objects.get(title="Volume 150")
    assert "100 of 151 are shown" in text_of(page.get("/ask/"))
    asking = {"words": "volume 150", "source": [str(book.uuid)]}
    choices = text_of(page.get("/ask/sources/", asking))
    assert choices.count('type="checkbox"') == 2
    assert re.search(rf'value="{book.uuid}" form="ask-form"\s+checked', choices)
    assert str(latest.uuid) in choices
    assert "No source has these words" in text_of(page.get("/ask/sources/", {"words": "zebra"}))


def test_a_pinned_conversation_stays_at_the_top(
    page: Client, conversation: Conversation, owner: User
) -> None:
    page.post(path(conversation, "change/"), {"pinned": "1"})
    Conversation.objects.create(owner=owner, title="Later")
    html = text_of(page.get("/ask/conversations/"))
    assert html.index(conversation.title) < html.index("Later")
    page.post(path(conversation, "change/"), {"pinned": "0"})
    html = text_of(page.get("/ask/conversations/"))
    assert html.index("Later") < html.index(conversation.title)


def test_feedback_is_given_and_taken_back(page: Client, conversation: Conversation) -> None:
    answer = make_answer(conversation)
    rate = f"/ask/answers/{answer.uuid}/rate/"
    for sent, kept, said in (
        ("1", 1, "Marked as helpful"),
        ("-1", -1, "Marked as not helpful"),
        ("", None, "The mark was taken back"),
    ):
        assert f'data-announce="{said}"' in text_of(page.post(rate, {"rating": sent}, **HTMX))
        answer.refresh_from_db()
        assert answer.feedback == kept
    assert page.post(rate, {"rating": "5"}).status_code == 422
    place = f"{path(conversation)}#answer-{answer.uuid}"
    assert page.post(rate, {"rating": "1"})["Location"] == place


def test_a_conversation_is_given_as_a_file_or_as_a_page_to_print(
    page: Client, conversation: Conversation, book: Source
) -> None:
    cited(conversation, book)
    for form, kind in (
        ("md", "text/markdown"),
        ("json", "application/json"),
        ("csl", "application/vnd.citationstyles.csl+json"),
        ("bib", "application/x-bibtex"),
    ):
        response = page.get(path(conversation, f"export/{form}/"))
        assert response["Content-Type"].startswith(kind)
        assert response["Content-Disposition"].startswith("attachment")
    printed = page.get(path(conversation, "export/html/"))
    assert printed["Content-Disposition"].startswith("inline")
    assert "style-src 'unsafe-inline'" in printed["Content-Security-Policy"]
    assert "default-src 'none'" in printed["Content-Security-Policy"]
    assert page.get(path(conversation, "export/exe/")).status_code == 404


def test_an_answer_whose_source_was_deleted_is_shown_with_its_citation_marked_as_gone(
    page: Client, conversation: Conversation, book: Source
) -> None:
    _, citation = cited(conversation, book)
    book.delete()
    html = text_of(page.get(path(conversation)))
    assert "cref-gone" in html
    assert "was deleted with its source" in html
    assert "Save as note" not in html
    assert str(citation.uuid) not in html
    assert page.get(f"/citations/{citation.uuid}/").status_code == 404
    for form in ("md", "html", "json", "csl", "bib"):
        assert page.get(path(conversation, f"export/{form}/")).status_code == 200


def test_conversations_are_found_by_words_of_their_titles(
    page: Client, scope: Scope, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_conversations, "PAGE_SIZE", 2)
    for n in range(5):
        conversations.begin(scope, owner, title=f"Bread & butter {n}")
    conversations.begin(scope, owner, title="Networks")
    first = text_of(page.get("/ask/conversations/?q=bread+%26"))
    assert [n for n in range(5) if f"Bread &amp; butter {n}" in first] == [3, 4]
    assert_shows(first, 'href="?q=bread+%26&amp;offset=2"', without=("Networks",))
    assert "Bread &amp; butter 0" in text_of(page.get("/ask/conversations/?q=bread+%26&offset=4"))
    assert "No conversation has these words" in text_of(page.get("/ask/conversations/?q=%22%3E"))


# One citation


def test_a_citation_shows_its_page_and_its_quote_in_whole_words(
    page: Client, conversation: Conversation, book: Source
) -> None:
    _, citation = cited(conversation, book)
    Citation.objects.update(suffix=" It begins at the e")
    html = text_of(page.get(f"/ask/citations/{citation.uuid}/", **HTMX))
    assert '<mark class="quoted">The error runs backwards.</mark>' in html
    assert " It begins at the …" in html
    assert f"/citations/{citation.uuid}/" in html
    assert "Open at page 1" in html


def test_a_citation_of_a_video_plays_from_its_start_to_its_end(page: Client, talk: Source) -> None:
    page.post("/ask/", {"q": QUESTION})
    citation = Citation.objects.get(number=1)
    address = f"/ask/citations/{citation.uuid}/"
    assert 'class="player' not in text_of(page.get(address, **HTMX))
    assert talk.video is not None
    type(talk.video).objects.filter(pk=talk.video.pk).update(youtube_id="abcdefghijk")
    html = text_of(page.get(address, **HTMX))
    assert_shows(html, 'data-youtube="abcdefghijk"', 'data-from="0" data-until="10000"')
    media.replace(talk.video, BytesIO(make_wav()), name="talk.wav")
    html = text_of(page.get(address, **HTMX))
    assert_shows(html, "#t=0.000,10.000", without=("youtube", "As heard by"))
    Transcript.objects.update(made_by="Whisper base", made_at=timezone.now())
    assert_shows(page.get(address, **HTMX), "As heard by Whisper base")


def test_a_quote_that_is_not_there_any_more_is_shown_as_it_was(
    page: Client, conversation: Conversation, book: Source
) -> None:
    answer = make_answer(conversation)
    citation = make_citation(answer, book, quote="This was never written in the book.", digest="0")
    html = text_of(page.get(f"/ask/citations/{citation.uuid}/", **HTMX))
    assert "no longer in the source" in html
    assert "This was never written in the book." in html
    assert "Open at" not in html


def test_a_viewer_asks_but_keeps_no_note(viewer: Client, talk: Source) -> None:
    viewer.post("/ask/", {"q": QUESTION})
    answer = Answer.objects.get()
    assert "Save as note" not in text_of(viewer.get(path(answer.conversation)))
    assert viewer.post(f"/ask/answers/{answer.uuid}/note/").status_code == 403
