"""A quote is checked against the library: whether, where and for whom it is there."""

import hashlib
import random
from dataclasses import replace
from io import BytesIO
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from citations.documents import storage as document_storage
from citations.errors import CitationNotFound, InvalidFilter, PassageNotFound, SourceNotFound
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.library.filters import Filter
from citations.models import Answer, Citation, Conversation, Document, DocumentPart, Page, Source
from citations.quotes import source_texts, verification
from citations.quotes.matching import Verdict
from citations.readers.page import Paragraph, ReadPage
from tests.makers import make_cues, make_paper, make_video
from transcripts.adding import storage
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Collection
from transcripts.text.cues import Cue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

SAID = "A network is a chain of simple functions. Point 7."
TIMED = b"""WEBVTT

00:00:01.000 --> 00:00:04.000
so<00:00:01.400><c> the</c><00:00:01.700><c> gradient</c><00:00:02.300><c> points</c><00:00:02.800><c> uphill</c>

00:00:04.000 --> 00:00:07.000
and<00:00:04.500><c> we</c><00:00:04.900><c> walk</c><00:00:05.500><c> downhill</c><00:00:06.100><c> instead</c>
"""  # noqa: E501  as YouTube writes it


def indexed(collection: Collection, **about: Any) -> Source:
    """Make a video whose source is indexed."""
    video = make_video(collection, **about)
    discovery.adopt()
    source = Source.objects.get(video=video)
    ingest_pipeline.ingest(source.pk)
    return Source.objects.get(pk=source.pk)


@pytest.fixture
def talk(collection: Collection) -> Source:
    return indexed(collection)


@pytest.fixture
def paper(collection: Collection) -> Source:
    pages = [
        "Gradients point uphill. We walk",
        "downhill instead, step by step. The step is the learning rate.",
    ]
    read = [
        ReadPage(number=number, text=text, blocks=(Paragraph(0, len(text), "1 Steps"),))
        for number, text in enumerate(pages, start=1)
    ]
    return make_paper(collection, read)


def quoted(source: Source, quote: str, *, after: str = "") -> Citation:
    """Store a citation of a source, as an answer does."""
    reading = source_texts.of(source)
    first = reading.text.index(quote, reading.text.index(after))
    last = first + len(quote)
    conversation = Conversation.objects.create(title="Steps")
    answer = Answer.objects.create(conversation=conversation, ordinal=1, question="How?")
    around = {
        "prefix": reading.text[max(0, first - 100) : first],
        "suffix": reading.text[last : last + 100],
    }
    at = reading.locate((first, last))
    times = {"start": at.start, "end": at.end, "page": at.page, "last_page": at.last_page}
    about = {"digest": reading.digest, "span_start": first, "span_end": last, **around, **times}
    return Citation.objects.create(answer=answer, number=1, source=source, quote=quote, **about)


def rewrite(source: Source, cues: list[Cue]) -> Source:
    """Store other captions in place of a source's."""
    assert source.video is not None
    make_video(source.collection, key=source.video.key, title=source.title, cues=cues)
    return Source.objects.get(pk=source.pk)


# Verdicts


def test_a_quote_is_found_wherever_it_stands_with_its_seconds_and_its_link(
    scope: Scope, talk: Source
) -> None:
    result = verification.verify(scope, "“a network is a chain of simple functions. Point 7”")
    assert result.verdict == Verdict.VERBATIM
    assert result.locator is not None
    assert result.origin is not None
    assert (result.origin.id, result.locator.start, result.locator.end) == (
        talk.uuid,
        35_000,
        40_000,
    )
    assert result.link == f"/videos/{talk.video_id}/?t=35s&until=40s&lang=en"
    assert result.text == SAID[:-1]
    assert (result.prefix[-9:], result.suffix[:14]) == ("Point 6. ", ". Backpropagat")


def test_a_quote_of_another_source_is_misattributed_and_the_true_place_is_told(
    scope: Scope, talk: Source, paper: Source
) -> None:
    result = verification.verify(scope, "a chain of simple functions", source=str(paper.uuid))
    assert (result.verdict, result.source) == (Verdict.MISATTRIBUTED, talk.pk)


def test_an_altered_quote_is_shown_beside_what_stands_there(scope: Scope, talk: Source) -> None:
    result = verification.verify(
        scope, "Error 505 means that the page is missing", source=str(talk.uuid)
    )
    assert result.verdict == Verdict.ALTERED
    assert [tuple(difference) for difference in result.differences] == [("changed", "505", "404")]
    assert (
        verification.verify(scope, "Error 505 means that the page is missing").verdict
        == Verdict.ALTERED
    )


def test_what_nobody_said_is_not_found(scope: Scope, talk: Source) -> None:
    result = verification.verify(scope, "Bananas ripen faster in a paper bag")
    assert (result.verdict, result.source, result.link) == (Verdict.NOT_FOUND, None, "")
    assert not verification.verify(scope, "a chain").is_enough


def test_nothing_is_found_outside_the_scope_or_the_filter(
    scope: Scope, talk: Source, collection: Collection
) -> None:
    Collection.objects.create(name="Other", slug="other")
    both = replace(scope, readable=scope.readable | {Collection.objects.get(slug="other").pk})
    assert verification.verify(NOTHING, SAID).verdict == Verdict.NOT_FOUND
    assert (
        verification.verify(both, SAID, filter=Filter(collections=("other",))).verdict
        == Verdict.NOT_FOUND
    )
    with pytest.raises(SourceNotFound):
        verification.verify(NOTHING, SAID, source=str(talk.uuid))


def test_a_quote_may_come_with_the_breaks_of_its_page_and_the_marks_of_its_captions(
    scope: Scope, talk: Source, paper: Source
) -> None:
    for source, quote in (
        (paper, "We walk\fdownhill\rinstead,\vstep by step"),
        (
            talk,
            "<i>A network</i> is a\r\n00:00:36.000 --> 00:00:37.000\r\nchain of simple functions",
        ),
    ):
        result = verification.verify(scope, quote, source=str(source.uuid))
        assert result.verdict == Verdict.VERBATIM


def test_a_quote_is_found_among_many_passages_that_have_more_of_its_words(
    scope: Scope, collection: Collection
) -> None:
    words = "the step of the rate of the step is what the learning of the step is about"
    shuffled = " ".join(sorted(words.split()))
    for number in range(40):
        cues = make_cues(8, sentences=(f"{shuffled} {shuffled} {number}.",))
        indexed(collection, key=f"talk-{number}", cues=cues)
    rest = " ".join(f"other{number}" for number in range(60))
    quoted = indexed(collection, key="quoted", cues=make_cues(2, sentences=(f"{words} {rest}.",)))
    result = verification.verify(scope, words)
    assert (result.verdict, result.source) == (Verdict.VERBATIM, quoted.pk)


def test_the_marks_of_notes_are_counted_over_the_whole_source(
    scope: Scope, collection: Collection
) -> None:
    texts = ["Young bees¹ dance.", *[f"A network is a chain, number {n}." for n in range(200)]]
    texts.append("Slow ants² walk home over the green hill.")
    cues = make_cues(len(texts), sentences=texts)
    indexed(collection, cues=cues)
    assert verification.verify(scope, "slow ants walk home over the").verdict == Verdict.VERBATIM


def test_a_quote_right_behind_a_negation_is_found_elsewhere_or_marked(
    scope: Scope, collection: Collection
) -> None:
    first = make_cues(2, sentences=("We never raise the rate in between.",))
    source = indexed(collection, key="never", cues=first)
    marked = verification.verify(scope, "raise the rate in between")
    assert (marked.verdict, marked.negation, marked.source) == (
        Verdict.VERBATIM,
        "never",
        source.pk,
    )
    second = make_cues(2, sentences=("They raise the rate in between.",))
    other = indexed(collection, key="always", cues=second)
    result = verification.verify(scope, "raise the rate in between")
    assert (result.verdict, result.negation, result.source) == (Verdict.VERBATIM, "", other.pk)


def test_a_quote_that_is_too_long_is_refused(scope: Scope) -> None:
    with pytest.raises(InvalidFilter, match="at most"):
        verification.verify(scope, "word " * verification.MAX_QUOTE)


# Places


def test_where_words_have_times_exactly_they_are_played(collection: Collection) -> None:
    video = storage.add_captions(collection, TIMED, name="timed.en.vtt").video
    discovery.adopt()
    source = Source.objects.get(video=video)
    reading = source_texts.of(source)
    first = reading.text.index("gradient")
    at = reading.locate((first, reading.text.index(" and")))
    assert (at.start, at.end) == (1_700, 4_000)
    at = reading.locate((first, reading.text.index(" points")))
    assert (at.start, at.end) == (1_700, 2_300)
    assert "?t=1.7s&until=2.3s" in source.path_to(at)


def test_a_quote_over_the_end_of_a_page_names_both(scope: Scope, paper: Source) -> None:
    result = verification.verify(scope, "We walk downhill instead", source=str(paper.uuid))
    assert result.locator is not None
    assert (result.verdict, result.locator.page, result.locator.last_page, result.heading) == (
        Verdict.VERBATIM,
        1,
        2,
        "1 Steps",
    )
    start, end = result.locator.span
    assert result.link == f"/sources/{paper.uuid}/pages/1/?from={start}&to={end}"


def test_a_stored_quote_is_found_again_when_the_captions_around_it_change(talk: Source) -> None:
    citation = quoted(talk, SAID)
    cues = [Cue(start=0, end=900, text="Something new at the start."), *make_cues()]
    talk = rewrite(
        talk,
        [replace(cue, text=cue.text.replace("Error 404", "Error four oh four")) for cue in cues],
    )
    place = verification.locator_of(Citation.objects.get(pk=citation.pk))
    assert place is not None
    assert source_texts.of(talk).text[slice(*place.span)] == SAID
    assert place.start == 35_000


def test_a_stored_quote_that_is_gone_has_no_place(talk: Source) -> None:
    citation = quoted(talk, SAID)
    rewrite(talk, make_cues(7))
    assert verification.locator_of(Citation.objects.get(pk=citation.pk)) is None


# The permanent address


def test_the_permanent_address_of_a_citation_leads_to_its_place(page: Client, talk: Source) -> None:
    citation = quoted(talk, SAID)
    assert (
        page.get(f"/citations/{citation.uuid}/")["Location"]
        == f"/videos/{talk.video_id}/?t=35s&until=40s&lang=en"
    )
    video = page.get(f"/videos/{talk.video_id}/?t=35s&until=40s")
    youtube_id = talk.video.youtube_id  # type: ignore[union-attr]
    assert 'data-until="40000"' in video.content.decode() or not youtube_id
    rewrite(talk, make_cues(7))
    assert page.get(f"/citations/{citation.uuid}/").status_code == 404


def edited(cues: list[Cue], chance: random.Random) -> list[Cue]:
    """Edit some cues as people do: words changed or left out, cues gone, repeated or put in,
    punctuation lost.
    """
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(cues))
        cue = cues[place]
        words = cue.text.split()
        words[chance.randrange(len(words))] = chance.choice(["", "newly", "not"])
        made = [
            replace(cue, text=" ".join(words)),
            replace(cue, text=cue.text.replace(".", ",").lower()),
            replace(cue, text="Newly said."),
        ]
        cues[place : place + 1] = chance.choice(
            [made[:1], made[1:2], [], [cue, made[2]], [cue, cue], made[:1]]
        )
    return [replace(cue, start=n * 5_000, end=(n + 1) * 5_000) for n, cue in enumerate(cues)]


def _plain(text: str) -> str:
    return text.lower().replace(",", ".")


def test_after_any_edit_a_citation_leads_to_its_own_sentence_or_says_that_it_is_gone(
    page: Client, talk: Source
) -> None:
    chance, said = random.Random(3), [cue.text for cue in make_cues()]
    citation = quoted(
        talk, said[30].removesuffix(" Point 30."), after="Point 29."
    )  # said ten times; what is around it differs
    led = 0
    for _ in range(40):
        cues = edited(make_cues(), chance)
        rewrite(talk, cues)
        answer = page.get(f"/citations/{citation.uuid}/")
        now = [cue.text for cue in cues]
        true = [n for n, text in enumerate(now) if _plain(text) == _plain(said[30])]
        is_whole = any(now[n - 3 : n + 4] == said[27:34] for n in true) and len(true) == 1
        assert answer.status_code == 302 or not is_whole
        if answer.status_code == 302:
            led += 1
            assert int(answer["Location"].split("?t=")[1].split("s")[0]) // 5 in true
    assert led > 20


def test_after_a_document_was_written_anew_a_citation_leads_to_its_own_sentence(
    page: Client, collection: Collection
) -> None:
    said = [cue.text for cue in make_cues()]
    source = document_storage.add(
        collection, BytesIO("\n\n".join(said).encode()), name="talk.txt"
    ).source
    ingest_pipeline.ingest(source.pk)
    citation = quoted(source, said[30])
    for number, lines in enumerate(
        (
            [said[3], *said],
            said[20:],
            [*said, *said[29:33]],
            [*said[:30], *said[31:], said[30]],
            said[:30] + said[31:],
        )
    ):
        data = "\n\n".join(lines).encode()
        source.document.parts.all().delete()
        DocumentPart.objects.create(document=source.document, ordinal=0, data=data)
        Document.objects.filter(pk=source.pk).update(
            digest=hashlib.sha256(data).hexdigest(), size=len(data), read_by="older"
        )
        document_storage.extract(Source.objects.get(pk=source.pk))
        answer = page.get(f"/citations/{citation.uuid}/")
        assert answer.status_code == (302 if number < 3 else 404)
        if answer.status_code == 302:
            first, last = (
                int(part.split("=")[1]) for part in answer["Location"].split("?")[1].split("&")
            )
            text = source_texts.of(Source.objects.get(pk=source.pk)).text
            assert text[first:last] == said[30]
            assert text[:first].strip().endswith(said[29])


def test_who_may_not_read_the_source_finds_no_citation(scope: Scope, talk: Source) -> None:
    citation = quoted(talk, SAID)
    with pytest.raises(CitationNotFound):
        verification.address_of(NOTHING, citation.uuid)
    with pytest.raises(CitationNotFound):
        verification.address_of(scope, uuid4())
    Page.objects.all().delete()
    rewrite(talk, make_cues(7))
    with pytest.raises(PassageNotFound):
        verification.address_of(scope, citation.uuid)


# Doors


def test_rest_answers_with_verdict_place_and_differences(page: Client, talk: Source) -> None:
    body = page.post(
        "/api/v1/verify",
        {"quote": SAID, "source_id": str(talk.uuid)},
        content_type="application/json",
    ).json()
    assert (body["verdict"], body["start"], body["end"], body["differences"]) == (
        "verbatim",
        35.0,
        40.0,
        [],
    )
    altered = page.post(
        "/api/v1/verify", {"quote": SAID.replace("7", "700")}, content_type="application/json"
    ).json()
    assert (altered["verdict"], altered["negation"]) == ("altered", "")
