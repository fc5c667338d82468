"""Pages of documents: what is marked on them, and what is found on them."""

import hashlib
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from citations.documents import page_search, pages
from citations.documents import storage as document_storage
from citations.errors import DocumentNotFound, PageNotFound, SourceNotFound
from citations.models import Citation, Document, LectureSession, Page, Source, Window
from citations.quotes import source_texts
from citations.readers import source_blocks
from citations.readers.page import Paragraph, ReadPage
from citations.text.occurrences import SearchTerm
from tests.citations.readers.pdf.papers import book
from tests.makers import make_paper, make_source, make_video
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection

pytestmark = pytest.mark.django_db

FIRST = "Gradients point uphill. We walk\ndownhill instead, step by step."
SECOND = "The step is the learning rate. A learning rate that is too large overshoots."
THIRD = "100 % of all C++ (and more) is_here; nothing else."


@pytest.fixture
def paper(collection: Collection) -> Source:
    return make_paper(collection, [FIRST, SECOND, THIRD])


def place_of(source: Source, quote: str) -> tuple[int, int]:
    """Say where a quote stands in the source's text."""
    page = next(page for page in Page.objects.filter(document=source.pk) if quote in page.text)
    first = page.start + page.text.index(quote)
    return first, first + len(quote)


def span_on(source: Source, number: int, span: tuple[int, int]) -> tuple[int, int]:
    start = Page.objects.get(document=source.pk, number=number).start
    return start + span[0], start + span[1]


# A page and its quote


def test_a_quote_is_marked_where_it_stands(scope: Scope, paper: Source) -> None:
    view = pages.show_page(scope, paper.uuid, 2, quote=place_of(paper, "learning rate"))
    assert [view.page.text[first:last] for first, last in view.quote] == ["learning rate"]
    assert (view.number, view.count, view.previous, view.next) == (2, 3, 1, 3)


def test_a_quote_that_runs_over_the_end_of_a_page_is_marked_on_both(
    scope: Scope, paper: Source
) -> None:
    quote = place_of(paper, "step by step.")[0], place_of(paper, "The step is")[1]
    marked = [pages.show_page(scope, paper.uuid, number, quote=quote) for number in (1, 2, 3)]
    hits = [[view.page.text[first:last] for first, last in view.quote] for view in marked]
    assert hits == [["step by step."], ["The step is"], []]


def test_the_first_page_has_none_before_it_and_the_last_none_after_it(
    scope: Scope, paper: Source
) -> None:
    assert pages.show_page(scope, paper.uuid, 1).previous is None
    assert pages.show_page(scope, paper.uuid, 3).next is None


def test_the_heading_is_the_one_that_the_quote_stands_under(
    scope: Scope, collection: Collection
) -> None:
    blocks = (Paragraph(0, 7, "1 Uphill", True), Paragraph(8, 17, "2 Downhill", True))
    paper = make_paper(collection, [ReadPage(number=1, text="Uphill. Downhill.", blocks=blocks)])
    assert pages.show_page(scope, paper.uuid, 1, quote=(0, 7)).heading == "1 Uphill"
    assert pages.show_page(scope, paper.uuid, 1, quote=(8, 17)).heading == "2 Downhill"
    assert pages.show_page(scope, paper.uuid, 1).heading == "1 Uphill"


def test_a_heading_without_a_number_tells_the_section_with_one_that_it_belongs_to(
    scope: Scope, collection: Collection
) -> None:
    first = (Paragraph(0, 7, "2.1 Uphill", True), Paragraph(8, 17, "Slopes", True))
    second = (Paragraph(0, 7, "Slopes"), Paragraph(8, 17, "2.2 Downhill", True))
    rows = [
        ReadPage(number=number, text="Uphill. Downhill.", blocks=blocks)
        for number, blocks in enumerate((first, second), 1)
    ]
    paper = make_paper(collection, rows)
    Document.objects.filter(source=paper).update(
        outline=[[2, "2.1 Uphill", 1], [2, "2.2 Downhill", 2]]
    )
    views = [
        pages.show_page(scope, paper.uuid, number, quote=span_on(paper, number, quote))
        for number in (1, 2)
        for quote in ((0, 7), (8, 17))
    ]
    assert [(view.section, view.heading) for view in views] == [
        ("", "2.1 Uphill"),
        ("2.1 Uphill", "Slopes"),
        ("2.1 Uphill", "Slopes"),
        ("", "2.2 Downhill"),
    ]


@pytest.mark.parametrize("number", [0, 4, 2**31])
def test_a_page_that_is_not_there_is_said_to_be_missing(
    scope: Scope, paper: Source, number: int
) -> None:
    with pytest.raises(PageNotFound, match=f"no page {number}") as refused:
        pages.show_page(scope, paper.uuid, number)
    assert "1 to 3" in refused.value.hint


def test_a_recording_has_no_pages_and_no_file(scope: Scope, collection: Collection) -> None:
    talk = make_source(make_video(collection))
    with pytest.raises(PageNotFound, match="has no pages"):
        pages.show_page(scope, talk.uuid, 1)
    with pytest.raises(DocumentNotFound):
        pages.find_document(scope, talk.uuid)


@pytest.mark.parametrize(
    "ask",
    [
        lambda scope, at: pages.show_page(scope, at, 1),
        lambda scope, at: page_search.find_pages(scope, at, "rate"),
        pages.find_document,
    ],
)
def test_what_lies_outside_the_scope_is_as_absent_as_what_does_not_exist(
    paper: Source, ask: Callable[..., object]
) -> None:
    for reference in (paper.uuid, uuid4()):
        with pytest.raises(SourceNotFound):
            ask(NOTHING, reference)


def test_a_file_is_given_in_its_parts(scope: Scope, paper: Source) -> None:
    document = pages.find_document(scope, paper.uuid)
    data = b"".join(pages.read_part(document, ordinal) for ordinal in pages.part_ordinals(document))
    assert hashlib.sha256(data).hexdigest() == document.digest
    assert pages.read_part(document, 99) == b""


def test_of_very_many_words_on_a_page_the_first_are_marked(
    scope: Scope, collection: Collection
) -> None:
    paper = make_paper(collection, ["each " * 10 * pages.MAX_MARKS])
    hits = len(pages.show_page(scope, paper.uuid, 1, terms=[SearchTerm("each")]).matches)
    assert hits == pages.MAX_MARKS


# What a citation cites


def make_citation(source: Source, words: str, **about: Any) -> Citation:
    first, last = place_of(source, words)
    session = LectureSession.objects.create(collection=source.collection, title="Lecture")
    window = Window.objects.create(session=session, index=0, text="…")
    known: dict[str, Any] = {
        "span_start": first,
        "span_end": last,
        "digest": source_texts.of(source).digest,
        "quote": words,
        "snippet": words,
        "relevance_score": 0.9,
    }
    of = {"session": session, "window": window, "window_index": 0, "rank": 1, "source": source}
    return Citation.objects.create(page=2, **{**of, **known, **about})


def test_a_citation_says_where_its_quote_is(scope: Scope, paper: Source) -> None:
    citation = make_citation(paper, "learning rate")
    expected = place_of(paper, "learning rate")
    assert pages.find_quote_span(scope, paper.uuid, citation.uuid) == expected


def test_a_quote_is_found_again_when_the_document_was_read_anew(
    scope: Scope, paper: Source
) -> None:
    runs_over = f"{FIRST}\n\n{SECOND}"
    places = {"overshoots": place_of(paper, "overshoots"), runs_over: (0, len(runs_over))}
    for quote, place in places.items():
        before = {"digest": "older", "span_start": 1, "span_end": 2}
        citation = make_citation(paper, "The step", quote=quote, **before)
        assert pages.find_quote_span(scope, paper.uuid, citation.uuid) == place


@pytest.mark.parametrize(
    "quote", ["learning rate", "what nobody wrote"], ids=["several places", "none"]
)
def test_a_quote_that_does_not_stand_at_one_place_of_a_document_read_anew_is_marked_at_none(
    scope: Scope, paper: Source, quote: str
) -> None:
    citation = make_citation(paper, "learning rate", digest="older", quote=quote)
    assert pages.find_quote_span(scope, paper.uuid, citation.uuid) is None


def test_a_citation_is_known_only_to_members_and_only_of_its_own_source(
    scope: Scope, paper: Source, collection: Collection
) -> None:
    citation = make_citation(paper, "learning rate")
    other = make_paper(collection, [SECOND], data=b"Something else.")
    assert pages.find_quote_span(NOTHING, paper.uuid, citation.uuid) is None
    assert pages.find_quote_span(scope, other.uuid, citation.uuid) is None
    assert pages.find_quote_span(scope, paper.uuid, uuid4()) is None


def test_a_sentence_goes_on_overleaf_past_the_footer_that_search_finds(
    collection: Collection, scope: Scope, tmp_path: Path
) -> None:
    path = book(tmp_path / "a.pdf", 4)
    source = document_storage.add(collection, BytesIO(path.read_bytes()), name="a.pdf").source
    document_storage.extract(source)
    text = source_texts.from_blocks(source_blocks.read(source)).text
    assert "Page 2 speaks for itself." in text
    assert not re.search(r"\n\n\n|\s[2-4]\n", text)
    third = Page.objects.get(document=source.pk, number=3)
    assert third.text.endswith("\n\n3")
    assert text[third.start : third.end] == third.text[: third.length]
    hits = page_search.find_pages(scope, source.uuid, "chapter 1 on matters of kind").hits
    assert [hit.number for hit in hits] == [1, 2, 3, 4]
