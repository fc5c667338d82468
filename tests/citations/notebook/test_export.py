"""Exports contain questions, answers and citations, and escape every text."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from markdown_it import MarkdownIt
from pybtex.database import parse_string
from selectolax.lexbor import LexborHTMLParser

from citations.models import Answer, AnswerState, Citation, Conversation, Source
from citations.notebook import conversations
from citations.notebook.export import ExportFormat, export
from tests.makers import make_citation, make_paper
from transcripts.conf import public_url
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection

EVIL = '<script>alert(1)</script> [x](javascript:alert) {} \\ & " # `'


@pytest.fixture
def paper(collection: Collection) -> Source:
    return make_paper(collection, ["Entropy grows. Always."], title=f"Secret {EVIL}")


@pytest.fixture
def conversation(scope: Scope, owner: User, paper: Source) -> Conversation:
    """Two questions: one answered with a hostile claim, one refused."""
    conversation = conversations.begin(scope, owner, collection="lectures", title=f"On heat {EVIL}")
    claims = [
        {"label": "", "text": f"Entropy grows {EVIL}", "citations": [1], "is_supported": True},
        {"text": "It shrinks.", "citations": [], "is_supported": False},
    ]
    first = Answer.objects.create(
        conversation=conversation,
        ordinal=1,
        question=EVIL,
        claims=claims,
        state=AnswerState.ANSWERED,
    )
    at = {
        "span_start": 0,
        "span_end": 14,
        "digest": "d",
        "page": 1,
        "last_page": 2,
        "section_heading": "Heat",
    }
    Citation.objects.create(answer=first, number=1, source=paper, quote="Entropy grows.", **at)
    Answer.objects.create(
        conversation=conversation,
        ordinal=2,
        question="Why?",
        note="I cannot find information about why in the sources.",
        state=AnswerState.REFUSED,
    )
    return conversation


def quoted() -> Citation:
    return Citation.objects.get()


def pages_of(scope: Scope, conversation: Conversation) -> list[LexborHTMLParser]:
    """Return what readers see of the Markdown, and the page to print."""
    markdown, printed = (
        export(scope, conversation.owner, conversation, form).text
        for form in (ExportFormat.MARKDOWN, ExportFormat.HTML)
    )
    return [LexborHTMLParser(MarkdownIt("gfm-like").render(markdown)), LexborHTMLParser(printed)]


def json_of(scope: Scope, conversation: Conversation) -> Any:
    return json.loads(export(scope, conversation.owner, conversation, ExportFormat.JSON).text)


def test_markdown_shows_titles_and_claims_as_they_are_and_links_nowhere_else(
    scope: Scope, conversation: Conversation, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://kb.example"
    file = export(scope, conversation.owner, conversation, ExportFormat.MARKDOWN)
    assert file.name == "on-heat-scriptalert1script-xjavascriptalert.md"
    page, _ = pages_of(scope, conversation)
    assert page.css_first("script") is None
    assert [element.attributes["href"] for element in page.css("a")] == [
        f"https://kb.example/citations/{quoted().uuid}/"
    ]
    assert [element.text() for element in page.css("h2")] == [EVIL, "Why?"]
    assert "pages 1–2" in page.css_first("li").text()
    assert "It shrinks. (unsupported)" in page.body.text()
    assert "I cannot find information about why" in page.body.text()


def test_the_page_to_print_is_whole_and_runs_nothing(
    scope: Scope, conversation: Conversation
) -> None:
    _, page = pages_of(scope, conversation)
    assert page.css_first("script") is None
    assert page.css_first("h1").text() == f"On heat {EVIL}"
    assert page.css_first(f'sup a[href="#c{quoted().uuid}"]').text() == "[1]"
    link = page.css_first(f'li[id="c{quoted().uuid}"] a')
    assert link.attributes["href"].endswith(f"/citations/{quoted().uuid}/")
    assert [element.text() for element in page.css("h2")] == [EVIL, "Why?"]
    assert {element.attributes.get("dir") for element in page.css("h1, h2, section p, li")} == {
        "auto"
    }, "Hebrew and Arabic are read from the right"


def test_json_has_all_of_it(scope: Scope, conversation: Conversation) -> None:
    answered, refused = json_of(scope, conversation)["answers"]
    assert answered["claims"][0] == {
        "label": "",
        "text": f"Entropy grows {EVIL}",
        "citations": [1],
        "is_supported": True,
        "is_more": False,
        "answer": "",
        "heading": "",
    }
    (citation,) = answered["citations"]
    assert (citation["quote"], citation["page"], citation["place"], citation["title"]) == (
        "Entropy grows.",
        1,
        "pages 1–2",
        f"Secret {EVIL}",
    )
    assert (refused["state"], refused["claims"]) == ("refused", [])


def test_bibliographies_have_each_source_once(
    scope: Scope, conversation: Conversation, paper: Source
) -> None:
    second = Answer.objects.get(ordinal=2)
    make_citation(second, paper, "Always.", first=15, page=1)
    (item,) = json.loads(export(scope, conversation.owner, conversation, ExportFormat.CSL).text)
    assert item["note"] == "pages 1–2: “Entropy grows.”; page 1: “Always.”"
    assert item["URL"].endswith(f"/sources/{paper.uuid}/")
    file = export(scope, conversation.owner, conversation, ExportFormat.BIBTEX)
    (entry,) = parse_string(file.text, "bibtex").entries.values()
    assert entry.fields["urldate"]
    assert file.media_type.startswith("application/x-bibtex")


def test_an_overview_has_a_paragraph_for_each_heading(
    scope: Scope, conversation: Conversation
) -> None:
    labels = ["Heat *", "", "Cold <b>"]
    claims = [
        {"label": label, "text": f"It is {label}.", "citations": [1], "is_supported": True}
        for label in labels
    ]
    Answer.objects.filter(ordinal=1).update(claims=claims)
    paragraphs = ["Heat *: It is Heat *. [1] It is . [1]", "Cold <b>: It is Cold <b>. [1]"]
    for page in pages_of(scope, conversation):
        assert [element.text() for element in page.css("strong")][:2] == ["Heat *:", "Cold <b>:"]
        said = [element.text().replace("[", " [") for element in page.css("p")[1:3]]
        assert [" ".join(text.split()) for text in said] == paragraphs


def test_each_of_several_questions_is_a_heading_and_what_was_not_ready_is_said(
    scope: Scope, conversation: Conversation, collection: Collection
) -> None:
    claims = [
        {"text": text, "citations": [1], "is_supported": True, "heading": heading}
        for heading, text in (("Does it *grow*?", "It grows."), ("Always?", "Always."))
    ]
    headings = ["Does it *grow*?", "Who says so?", "Always?"]
    Answer.objects.filter(ordinal=1).update(
        claims=claims,
        parts=[{"heading": text, "is_answered": text != "Who says so?"} for text in headings],
        unready=[
            {"title": "Soup", "state": "reading", "source_id": None, "collection": collection.pk}
        ],
    )
    for page in pages_of(scope, conversation):
        assert [heading.text() for heading in page.css("h3")] == headings
        said = [text.text() for text in page.css("h3 + p")]
        assert said[1] == "The sources do not answer this question."
        assert [text.partition(".")[0] for text in said] == ["It grows", said[1][:-1], "Always"]
        assert "1 source was not ready yet when this was asked: “Soup”." in page.body.text()
    answered = json_of(scope, conversation)["answers"][0]
    assert [claim["heading"] for claim in answered["claims"]] == ["Does it *grow*?", "Always?"]
    assert answered["parts"][1]["heading"] == "Who says so?"
    assert not answered["parts"][1]["is_answered"]
    assert answered["unready"] == [{"source_id": None, "title": "Soup", "state": "reading"}]


def test_what_was_cited_keeps_its_number_when_others_are_gone(
    scope: Scope, conversation: Conversation, paper: Source, collection: Collection
) -> None:
    other = make_paper(collection, ["Heat flows."], data=b"Other.", title="Other")
    answer = Answer.objects.get(ordinal=1)
    make_citation(answer, other, "Heat flows.", number=2, page=1)
    make_citation(answer, paper, "Always.", number=3, first=15, page=1)
    claims = [
        {"text": f"Claim {number}.", "citations": [number], "is_supported": True}
        for number in (1, 2, 3)
    ]
    Answer.objects.filter(pk=answer.pk).update(claims=claims)
    other.delete()
    page, printed = pages_of(scope, conversation)
    lines = [element.text() for element in page.css("li")]
    assert [line[:3] for line in lines] == ["[1]", "[2]", "[3]"]
    assert "deleted" in lines[1]
    assert "Claim 2. [2]" in page.body.text()
    assert [element.attributes["value"] for element in printed.css("li")] == ["1", "2", "3"]
    assert "deleted" in printed.css("li")[1].text()
    assert json_of(scope, conversation)["answers"][0]["gone"] == [2]


HOSTILE = (
    "=SUM(A1)|b|`c`",
    "- item",
    "# head",
    "1. one",
    "1) one",
    "> said",
    "``` fence",
    "--- ***",
    "{x} $y$ \\z %w &amp; #v &lt;",
    "äöü 日本語 🙂 👩\u200d👩\u200d👧",
    "שלום עולם \u202e",
    "a\nb\r\nc\u2028d",
    "<!-- c ]]>",
    "![a](http://x) <http://y>",
    "[1]: http://x",
    "* **bold** _a_ ~~b~~",
    "\\",
    "@misc{a,",
    "x" * 10_000,
)


@pytest.mark.parametrize("said", HOSTILE, ids=lambda said: ascii(said[:12]))
def test_whatever_is_written_is_read_back_by_each_form_s_own_parser(
    scope: Scope, owner: User, paper: Source, said: str
) -> None:
    Source.objects.filter(pk=paper.pk).update(title=said[:300], author=said[:200])
    conversation = conversations.begin(scope, owner, collection="lectures", title=said)
    claims = [{"text": said, "citations": [1], "is_supported": True}]
    answer = Answer.objects.create(
        conversation=conversation,
        ordinal=1,
        question=said,
        claims=claims,
        state=AnswerState.ANSWERED,
        note=said,
    )
    row = make_citation(answer, paper, said, page=1)
    line = " ".join(said.split())
    page, printed = pages_of(scope, conversation)
    tags = {element.tag for element in page.body.css("*")}
    assert tags - {"code"} == {"body", "h1", "h2", "p", "a", "ul", "li", "strong"}
    assert (page.css_first("h2").text(), page.css("p")[-1].text()) == (line, line)
    assert f"“{line}” — {line[:300].strip()}" in page.css_first("li").text()
    assert [element.attributes["href"] for element in page.css("a")] == [
        f"{public_url()}/citations/{row.uuid}/"
    ] * len(page.css("a"))
    assert " ".join(printed.css_first("h2").text().split()) == line
    assert not printed.css("script, img, form")
    (exported,) = json_of(scope, conversation)["answers"]
    assert (exported["question"], exported["citations"][0]["quote"]) == (said, said)
    (item,) = json.loads(export(scope, conversation.owner, conversation, ExportFormat.CSL).text)
    assert (item["title"], item["note"]) == (line[:300].strip(), f"page 1: “{line}”")
    (entry,) = parse_string(
        export(scope, conversation.owner, conversation, ExportFormat.BIBTEX).text, "bibtex"
    ).entries.values()
    assert entry.fields["note"]


@pytest.mark.parametrize("form", ExportFormat)
def test_nothing_is_written_of_what_may_not_be_read(
    scope: Scope, conversation: Conversation, form: ExportFormat
) -> None:
    file = export(NOTHING, conversation.owner, conversation, form)
    assert "Entropy grows" not in file.text
    assert "Secret" not in file.text
