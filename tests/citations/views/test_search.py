"""The Search page and the pages of sources: content, rights, errors; tests/browser covers looks."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from django.test import Client
from django.utils import translation
from django.utils.html import escape
from selectolax.lexbor import LexborHTMLParser

from citations.errors import ModelRefused
from citations.library.sources import Counts
from citations.models import Chunk, Embedding, EmbeddingSpace, Highlight, Mark, Source, State
from citations.passages import Results, SearchMode
from citations.providers import registry
from citations.search import pipeline as search_pipeline
from citations.search.signs import OF_SOURCE, ORDER
from citations.templatetags.citations import kind_name, percent
from citations.views import sources as source_views
from citations.views.search_form import SearchForm
from tests.citations.search.test_pipeline import embed
from tests.citations.trusted_readers import trust_readers
from tests.html import assert_shows, text_of
from tests.makers import make_document, make_source, make_video
from transcripts.core.translation import translated
from transcripts.models import Collection, Video
from transcripts.text.cues import Cue

pytestmark = pytest.mark.usefixtures("fake_models")
HTMX = {"HTTP_HX_REQUEST": "true"}
TEXTS = (
    "A network is a chain of simple functions.",
    "The error runs backwards through the network.",
    "Now for something else.",
)
HOSTILE = "<script>alert(1)</script> is what a network sends"


@pytest.fixture
def video(collection: Collection) -> Video:
    """A lecture."""
    cues = [Cue(start=10_000 * n, end=10_000 * (n + 1), text=text) for n, text in enumerate(TEXTS)]
    return make_video(collection, title="Lecture on networks", youtube_id="dQw4w9WgXcQ", cues=cues)


@pytest.fixture
def source(video: Video) -> Source:
    """Its transcript, found by words."""
    return make_source(video, author="Lecture Hall", texts=TEXTS)


def hits(response: Any) -> list[str]:
    """Return the texts of the hits, and of what is beside them, in the order of the page."""
    texts = re.findall(
        r'<(?:p class="passage-text|span class="passage-part)[^>]*>(.*?)</(?:p|span)>',
        text_of(response),
        flags=re.DOTALL,
    )
    return [re.sub(r"</?mark>", "", text) for text in texts]


class Backwards:
    """A cross-encoder that likes the last candidate best."""

    name = "backwards"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        return [(number + 1) / (len(texts) + 1) for number in range(len(texts))]


@pytest.fixture
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    trust_readers(monkeypatch)
    monkeypatch.setattr(registry, "reranker", Backwards)


# Searching


def test_a_passage_is_shown_with_its_words_marked_its_place_and_its_links(
    page: Client, source: Source, video: Video
) -> None:
    html = text_of(page.get("/search/?q=error&mode=words"))
    assert "The <mark>error</mark> runs backwards" in html
    assert "0:10–0:20" in html
    assert f'href="/sources/{source.uuid}/hit/?from=42&amp;to=87&amp;q=error"' in html
    assert "https://www.youtube.com/watch?v=dQw4w9WgXcQ&amp;t=10s" in html
    assert "Lecture Hall" in html
    assert "1 passage" in html


def test_what_a_hit_says_of_its_words_is_enough_to_highlight_them(
    page: Client, source: Source, stranger: Client
) -> None:
    hit = LexborHTMLParser(text_of(page.get("/search/?q=error&mode=words"))).css_first(".passage")
    said = hit.css_first("p[data-passage]")
    about = said.attributes
    assert (about["data-place"], about["data-title"]) == ("0:10–0:20", "Lecture on networks")
    sent = {"source": about["data-source"], "start": about["data-start"], "quote": "The error runs"}
    assert stranger.post("/highlights/add/", sent, **HTMX).status_code == 404
    assert page.post("/highlights/add/", sent, **HTMX).status_code == 200
    assert Highlight.objects.get().locator.span == (42, 56)


def test_passages_stand_under_their_source(
    page: Client, source: Source, collection: Collection
) -> None:
    make_document(collection, ["Another network."], title="Notes")
    html = text_of(page.get("/search/?q=network&mode=words"))
    assert html.count('class="group"') == 2
    assert html.count('class="passage"') == 2


def test_three_hits_of_a_source_are_shown_before_the_rest_even_where_no_other_has_any(
    page: Client, collection: Collection
) -> None:
    said = [text for word in "abcde" for text in (f"Network {word} says {word}{word}.", "A cat.")]
    source = make_source(make_video(collection), texts=said)
    folded = "2 more in this source"
    alone = text_of(page.get("/search/?q=network&mode=words"))
    assert folded in alone
    first, more = alone.split(folded)
    assert (first.count('class="passage"'), more.count('class="passage"')) == (3, 2)
    for chosen in (f"source={source.uuid}", "limit=30"):
        assert folded not in text_of(page.get(f"/search/?q=network&mode=words&{chosen}"))


def test_neighbouring_passages_are_one_hit_with_links_to_each(page: Client, source: Source) -> None:
    response = page.get("/search/?q=network&mode=words")
    assert text_of(response).count('class="passage"') == 1
    assert "1 more hit right beside it" in text_of(response)
    assert '<span class="visually-hidden">Open at </span>0:00–0:20' in text_of(response)
    for first in (0, 42):
        assert f"/sources/{source.uuid}/hit/?from={first}&amp;" in text_of(response)


def test_the_next_and_the_previous_hit_open_from_a_hit(
    page: Client, source: Source, collection: Collection
) -> None:
    text = "Another network has an error that is old."
    other = make_video(collection, key="other", cues=[Cue(start=0, end=5_000, text=text)])
    make_source(other, texts=[text])
    search = "/search/?q=network+error&mode=words"
    opened = re.findall(r'href="(/sources/[^"]*hit=\d[^"]*)"', text_of(page.get(search)))
    assert len(opened) == 2
    first = text_of(page.get(unescape(opened[0]), follow=True))
    assert "Passage 1 of 2" in first
    assert 'aria-label="Previous passage"' not in first
    assert f'href="{escape(search)}"' in first
    (following,) = {*re.findall(r'href="([^"]*)"\s+aria-label="Next passage"', first)}
    second = page.get(unescape(following), follow=True)
    assert_shows(second, "Passage 2 of 2", without=('aria-label="Next passage"',))
    (before,) = {*re.findall(r'href="([^"]*)"\s+aria-label="Previous passage"', text_of(second))}
    assert "Passage 1 of 2" in text_of(page.get(unescape(before), follow=True))


def doubt_second_hit(monkeypatch: pytest.MonkeyPatch, collection: Collection) -> None:
    """Add another source on networks, and let the second hit be unlikely."""
    other = make_video(collection, key="other", cues=[Cue(start=0, end=5_000, text="Networks.")])
    make_source(other, texts=["Networks."])
    search = search_pipeline.search

    def search_with_doubt(*criteria: Any, **options: Any) -> Results:
        results = search(*criteria, **options)
        first, second, *rest = results.passages
        return replace(results, passages=(first, replace(second, is_likely=False), *rest))

    monkeypatch.setattr(search_pipeline, "search", search_with_doubt)


def test_the_next_hit_of_the_last_likely_one_is_the_first_less_likely_one(
    page: Client, source: Source, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubt_second_hit(monkeypatch, collection)
    listed = text_of(page.get("/search/?q=network&mode=words"))
    assert "Less likely" in listed
    assert re.search(r"<h2[^>]*>\s*2 passages <span[^>]*>in 2 sources<", listed), "all are counted"
    opened = re.findall(r'href="(/sources/[^"]*hit=\d[^"]*)"', listed)
    first = text_of(page.get(unescape(opened[0]), follow=True))
    assert "Passage 1 of 2" in first
    (following,) = {*re.findall(r'href="([^"]*)"\s+aria-label="Next passage"', first)}
    second = page.get(unescape(following), follow=True)
    assert "Passage 2 of 2" in text_of(second)


def test_a_hit_that_is_gone_leads_back_to_its_search(page: Client, source: Source) -> None:
    for number in ("99", "x", ""):
        gone = page.get(f"/search/hit/?q=network&mode=words&hit={number}")
        assert gone["Location"] == "/search/?q=network&mode=words"


@pytest.mark.parametrize("place", ["hit=3&of=2&search=q%3Dx", "hit=1&of=2", "hit=x&of=y&search=z"])
def test_an_address_that_names_no_place_shows_no_steps(
    page: Client, source: Source, place: str
) -> None:
    assert "hit-steps" not in text_of(page.get(f"/videos/{source.video_id}/?{place}"))


def test_hostile_text_is_shown_and_not_run(page: Client, collection: Collection) -> None:
    make_document(collection, [HOSTILE], title="<img src=x onerror=alert(2)>")
    html = text_of(page.get('/search/?q=script"><script>alert(3)</script>&mode=words'))
    assert "alert(3)" in html
    for number in (1, 3):
        assert f"<script>alert({number})" not in html
    assert_shows(html, "&lt;<mark>script</mark>&gt;", without=("<img src=x",))


def test_a_filter_is_a_chip_that_can_be_taken_away(page: Client, source: Source) -> None:
    html = text_of(
        page.get("/search/?q=network&mode=words&channel=Lecture+Hall&language=en&since=2020-01-01")
    )
    assert "Remove the filter Channel: Lecture Hall" in html
    assert "Remove the filter Language: English" in html
    assert 'href="/search/?q=network&amp;mode=words&amp;language=en&amp;since=2020-01-01"' in html
    assert "Remove all" in html


def test_values_that_are_chosen_are_offered_no_more(page: Client, source: Source) -> None:
    make_source(make_video(source.collection, key="other"), author="Another Hall", texts=TEXTS)
    html = text_of(page.get("/search/?q=network&mode=words&channel=Lecture+Hall"))
    assert '<option value="Another Hall">' in html
    assert '<option value="Lecture Hall">' not in html


def test_speakers_are_offered_where_captions_name_some(page: Client, source: Source) -> None:
    assert 'name="speaker"' not in text_of(page.get("/search/?q=network&mode=words"))
    source.chunks.filter(ordinal=0).update(speaker="Ann Lee")
    assert '<option value="Ann Lee">' in text_of(page.get("/search/?q=network&mode=words"))
    response = page.get("/search/?q=network&mode=words&speaker=Ann+Lee")
    assert hits(response) == [TEXTS[0]]
    assert "Remove the filter Speaker: Ann Lee" in text_of(response)
    nobody = page.get("/search/?q=network&mode=words&speaker=Nobody")
    assert_shows(nobody, "Nothing found", 'href="/search/?q=network&amp;mode=words"')


def test_a_search_is_narrowed_to_one_source_by_the_id_of_its_video(
    page: Client, source: Source, collection: Collection
) -> None:
    make_document(collection, ["Another network."])
    response = page.get(f"/search/?q=network&mode=words&source={source.video.key}")
    assert set(hits(response)) == {TEXTS[0], TEXTS[1]}
    assert "Lecture on networks" in text_of(response)


def test_a_time_range_leaves_out_what_is_said_elsewhere(page: Client, source: Source) -> None:
    assert hits(page.get("/search/?q=network&mode=words&start=0:12&end=15s")) == [TEXTS[1]]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("since=soon", 422),
        ("since=2025-02-31", 422),
        ("since=2025-02-02&until=2025-01-01", 422),
        ("start=late", 422),
        ("start=5:00&end=1:00", 422),
        ("start=99999999999999999999", 422),
        ("mode=magic", 422),
        ("kind=painting", 422),
        ("limit=0", 422),
        ("limit=1000000", 422),
        ("limit=ten", 422),
        ("source=nothing", 404),
        ("source=%2527%3B--", 404),
        ("collection=nowhere", 404),
        ("&".join(f"tag={n}" for n in range(150)), 422),
        ("q=%22%22", 422),
        ("q=--", 422),
        ("q=a%00b", 422),
    ],
)
def test_what_cannot_be_understood_is_refused_with_a_hint(
    page: Client, source: Source, query: str, status: int
) -> None:
    plain = page.get(f"/search/?q=network&{query}")
    assert plain.status_code == status
    assert_shows(plain, 'class="empty"', without=("Sign in",))
    assert page.get(f"/search/?q=network&{query}", **HTMX).status_code == status


def test_a_huge_query_is_cut_and_the_page_says_so(page: Client, source: Source) -> None:
    response = page.get("/search/", {"q": "network " + "x" * 50_000, "mode": "words"})
    assert response.status_code == 200
    assert "Only the first 1,000 characters" in text_of(response)
    assert TEXTS[0] in hits(response)


def test_htmx_gets_what_lies_below_the_box_and_a_clean_address(
    page: Client, source: Source
) -> None:
    response = page.get("/search/?q=network&mode=words&kind=&tag=&since=&collection=", **HTMX)
    assert "<html" not in text_of(response)
    assert hits(response)
    assert response["HX-Push-Url"] == "/search/?q=network&mode=words"
    assert response["Cache-Control"] == "private, no-store"


def test_the_address_of_a_search_says_all_of_it(page: Client) -> None:
    values = "collection=x&kind=pdf&kind=video&channel=c&tag=t&language=en&source=s&speaker=p"
    bounds = "since=2024-01-02&until=2024-02-03&start=1%3A00&end=1%3A01%3A00"
    said = f"q=a+%22b+c%22+-d&mode=meaning&{values}&{bounds}&limit=30"
    assert SearchForm(QueryDict(said)).parameters().address == said


def test_an_empty_question_is_answered_with_help(page: Client, source: Source) -> None:
    html = text_of(page.get("/search/"))
    assert "&quot;error 404&quot; -apache" in html or '"error 404" -apache' in html
    assert "in 1 source<" in html


def test_an_empty_library_says_how_to_add(page: Client, stranger: Client, source: Source) -> None:
    assert "There is nothing to search yet" not in text_of(page.get("/search/"))
    assert "There is nothing to search yet" in text_of(stranger.get("/search/"))
    assert "There is nothing to search yet" in text_of(
        stranger.get("/search/?q=network&mode=words")
    )


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_chosen_source_that_one_may_not_read_any_more_is_told_in_words_of_the_page(
    page: Client, stranger: Client, source: Source, method: str
) -> None:
    address = {"get": "/search/", "post": "/ask/"}[method]
    refused = getattr(stranger, method)(address, {"q": "error", "source": str(source.uuid)})
    assert refused.status_code == 404
    assert_shows(refused, "There is no such source.", without=("list_sources",))


def test_where_nothing_is_found_other_ways_are_offered(page: Client, source: Source) -> None:
    html = text_of(page.get("/search/?q=zebra&mode=words&tag=none"))
    assert "No results for “zebra”" in html
    assert 'href="/search/?q=zebra&amp;mode=words"' in html  # without filters
    assert 'href="/search/?q=zebra&amp;mode=meaning&amp;tag=none"' in html


def test_another_spelling_is_a_link_that_keeps_the_filter(page: Client, source: Source) -> None:
    html = text_of(page.get("/search/?q=netwrok+eror&mode=words&kind=video"))
    link = '<a href="/search/?q=network+error&amp;mode=words&amp;kind=video">network error</a>?'
    assert f"Did you mean {link}" in html
    assert "Did you mean" not in text_of(page.get("/search/?q=network&mode=words"))


def test_where_nothing_is_found_the_page_says_what_could_be_added(
    page: Client, source: Source
) -> None:
    html = text_of(page.get("/search/?q=photosynthesis&mode=words"))
    assert "If no source here is about it" in html
    assert '<a href="/library/">' in html


@pytest.mark.parametrize("is_indexed", [True, False])
def test_what_is_not_indexed_yet_is_not_said_to_be_missing(*, is_indexed: bool) -> None:
    results = Results(query="q", mode=SearchMode.BOTH, passages=(), nothing_relevant=True)
    context = {
        "criteria": {"query": "q"},
        "results": results,
        "counts": Counts(ready=3, words=0 if is_indexed else 1),
        "shown": 0,
        "source_count": 0,
        "groups": (),
    }
    shown = " ".join(render_to_string("citations/_search_results.html", context).split())
    assert ("Nothing in your library seems to answer this" in shown) == is_indexed
    assert ("Not everything is indexed yet" in shown) != is_indexed


@pytest.mark.parametrize(
    ("query", "is_hit"), [("integral curves under", True), ("integral unicorns", False)]
)
def test_what_has_all_words_is_a_hit_while_its_source_is_searched_by_words_alone(
    page: Client, collection: Collection, settings: Any, query: str, *, is_hit: bool
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    embed(make_document(collection, ["Walruses rest on ice.", "A gallop is fast."]))
    Source.objects.update(state=State.READY)
    filler = "Nodes relay transactions to each other and keep those that pay enough. " * 20
    text = f"{filler} An integral is the area under a curve. {filler}"
    fresh = make_document(collection, [text, "Moss grows on stones."], title="Fresh")
    address = f"/search/?{urlencode({'q': query, 'full': 1})}"
    shown = LexborHTMLParser(text_of(page.get(address)))
    heading = shown.css("#results h2, .results-head h2")[0].text(strip=True)
    listed = shown.css(".results > .groups .group h3")
    assert [title.text(strip=True) for title in listed] == (["Fresh"] if is_hit else [])
    assert ("Not everything is indexed yet" in heading) != is_hit
    assert "1 source can be searched only by words so far." in text_of(page.get(address))
    step = page.get(f"/search/hit/?{urlencode({'q': query, 'hit': 1})}")
    assert (str(fresh.uuid) in step["Location"]) or not is_hit
    fresh.change(state=State.READY)  # now the judge knows its meaning, or lack of it
    nothing = "Nothing in your library seems to answer this"
    assert (nothing in text_of(page.get(address))) != is_hit  # what stands there is not denied


def test_sources_that_are_not_indexed_yet_are_told(
    page: Client, source: Source, collection: Collection
) -> None:
    assert "still being indexed" not in text_of(page.get("/search/?q=network&mode=words"))
    Source.objects.create(collection=collection, kind="text", title="Fresh")
    html = text_of(page.get("/search/?q=network&mode=words"))
    assert "1 source is still being indexed; its passages may be missing." in html
    assert "words only" not in html


def test_without_vectors_a_search_goes_by_words_and_says_so(page: Client, source: Source) -> None:
    response = page.get("/search/?q=network")
    assert sorted(hits(response)) == sorted([TEXTS[0], TEXTS[1]])
    assert "Found by words only" in text_of(response)


def test_a_search_by_meaning_without_vectors_offers_what_the_words_find(
    page: Client, source: Source
) -> None:
    response = page.get("/search/?q=network&mode=meaning")
    assert sorted(hits(response)) == sorted([TEXTS[0], TEXTS[1]])
    assert_shows(response, "Nothing is embedded yet", "found by words only")


def test_settings_that_name_another_model_are_told_and_the_words_are_searched(
    page: Client, source: Source
) -> None:
    space = EmbeddingSpace.objects.create(
        provider="openai", model="text-embedding-3-large", dimensions=3, state="active"
    )
    Embedding.objects.create(
        space=space, source=source, chunk=source.chunks.get(ordinal=0), digest=b"", vector=[1, 0, 0]
    )
    response = page.get("/search/?q=network")
    assert response.status_code == 200
    assert_shows(response, "openai", "<code>kb ")
    assert sorted(hits(response)) == sorted([TEXTS[0], TEXTS[1]])


def test_what_was_found_but_is_not_listed_says_why(
    page: Client, source: Source, collection: Collection
) -> None:
    make_source(make_video(collection, key="again", title="Again"), texts=[TEXTS[1]])
    html = text_of(page.get("/search/?q=network&mode=words"))
    _, why = html.split("Not listed, as this one is:", 1)
    assert "says almost the same as a better passage" in why
    _, how = html.split("Found, but not listed:", 1)
    assert "says almost the same as a better passage" in how


def test_why_a_passage_is_a_hit_is_said_and_drawn_before_the_numbers(
    page: Client, source: Source
) -> None:
    html = text_of(page.get("/search/?q=error&mode=words"))
    _, why = html.split("Why this?", 1)
    said, numbers = why.split("In numbers", 1)
    assert "It has the word “error”." in said
    assert "why-bars" in said
    assert "BM25" not in said
    assert "BM25, word by word" in numbers
    assert "How this was found" in html


def test_why_a_passage_is_a_hit_is_said_in_the_language_of_the_page(
    page: Client, source: Source
) -> None:
    german = text_of(page.get("/search/?q=error", headers={"Accept-Language": "de"}))
    assert "Darin steht das Wort „error“" in german


def test_hits_are_sent_without_the_indentation_of_their_templates(
    page: Client, source: Source
) -> None:
    sent = page.get("/search/?q=error&mode=words").content.decode()
    _, listed = sent.split('<div class="groups">', 1)
    hit, _ = listed.split("</article>", 1)
    assert not re.search(r"\n\s", hit)
    assert "\n" in hit, "words that stand in lines of their own stay apart"


def test_explanations_are_sent_without_the_white_space_of_their_template(
    page: Client, source: Source
) -> None:
    sent = page.get("/search/?q=error&mode=words").content.decode()
    _, why = sent.split('<div class="why">', 1)
    explanation, _ = why.split("</table>", 1)
    assert not re.search(r">\s+<", explanation)


def test_the_signs_of_the_judge_are_named_in_the_language_of_the_page() -> None:
    with translation.override("de"):
        assert not [name for name in (*ORDER, *OF_SOURCE) if translated(name) == name]


def test_stages_are_named_in_the_language_of_the_page(page: Client, source: Source) -> None:
    address = "/search/?q=error&mode=words"
    assert "Search by words" in text_of(page.get(address))
    german = text_of(page.get(address, headers={"Accept-Language": "de"}))
    assert "Nach Wörtern suchen" in german
    assert ">lexical<" not in german


def test_near_duplicates_are_named(page: Client, source: Source, collection: Collection) -> None:
    make_document(collection, [TEXTS[0]], title="The same again")
    html = text_of(page.get("/search/?q=chain&mode=words"))
    assert "Also said in 1 other place" in html
    assert "100 % the same words" in html


def test_more_passages_are_a_link(page: Client, collection: Collection) -> None:
    for word in "abcdefghijklmno":
        make_document(collection, [f"Network number {word}{word} says {word}."])
    assert "limit=30" in text_of(page.get("/search/?q=network&mode=words"))
    response = page.get("/search/?q=network&mode=words&limit=30")
    assert len(hits(response)) == 15
    assert "More passages" not in text_of(response)


@pytest.mark.usefixtures("_slow")
def test_where_a_stage_is_slow_the_first_results_come_at_once(page: Client, source: Source) -> None:
    embed(source)
    Source.objects.update(state=State.READY)
    first = page.get("/search/?q=network+chain")
    assert hits(first)[0] == TEXTS[0]
    assert 'hx-get="/search/?q=network+chain&amp;full=1" hx-trigger="load"' in text_of(first)
    assert "Take a closer look" in text_of(first)  # without scripts
    final = page.get("/search/?q=network+chain&full=1", **HTMX, HTTP_HX_TARGET="results")
    assert hits(final)[0] == TEXTS[-1]
    assert_shows(final, without=("hx-trigger", 'id="search"', 'id="filters"'))
    assert "HX-Push-Url" not in final


@pytest.mark.usefixtures("_slow")
def test_a_closer_look_is_taken_without_scripts_too(page: Client, source: Source) -> None:
    embed(source)
    final = page.get("/search/?q=network+chain&full=1")
    assert hits(final)[0] == TEXTS[-1]
    assert "Take a closer look" not in text_of(final)


def test_the_search_page_costs_the_same_number_of_queries_for_many_hits(
    page: Client, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        make_document(
            collection,
            [f"Network number {number} and {'xyz'[number % 3] * 3}."],
            title=f"Notes {number}",
        )
    page.get("/search/?q=network&mode=words")
    with django_assert_max_num_queries(30):
        page.get("/search/?q=network&mode=words")


# Marks


def mark(browser: Client, chunk: Chunk, verdict: str, **more: Any) -> Any:
    return browser.post(
        "/search/mark/", {"chunk": chunk.pk, "query": "network", "verdict": verdict}, **more
    )


def test_a_hit_is_marked_and_the_mark_is_taken_back(page: Client, source: Source) -> None:
    chunk = source.chunks.get(ordinal=0)
    pressed = text_of(mark(page, chunk, "right", **HTMX))
    assert 'value="none" aria-pressed="true" title="Right' in pressed
    assert Mark.objects.get().right is True
    assert 'aria-pressed="true" title="Right' in text_of(page.get("/search/?q=network&mode=words"))
    assert 'aria-pressed="true" title="Wrong' in text_of(mark(page, chunk, "wrong", **HTMX))
    assert Mark.objects.get().right is False
    mark(page, chunk, "none", **HTMX)
    assert not Mark.objects.exists()


def test_who_may_read_may_mark_and_sees_only_their_own(
    page: Client, viewer: Client, source: Source
) -> None:
    assert mark(viewer, source.chunks.get(ordinal=0), "wrong", **HTMX).status_code == 200
    assert 'aria-pressed="true"' not in text_of(page.get("/search/?q=network&mode=words"))


def test_without_scripts_a_mark_leads_back_to_the_search_and_nowhere_else(
    page: Client, source: Source
) -> None:
    chunk = source.chunks.get(ordinal=0)
    fields = {"chunk": chunk.pk, "query": "network", "verdict": "right"}
    hit = "/search/?q=network#hit-1"
    for named, led in ((hit, hit), ("https://example.org/", "/search/")):
        assert page.post("/search/mark/", {**fields, "next": named})["Location"] == led


def test_a_mark_of_nothing_or_of_what_is_hidden_is_refused_alike(
    page: Client, stranger: Client, source: Source
) -> None:
    chunk = source.chunks.get(ordinal=0)
    assert mark(stranger, chunk, "right").status_code == 404
    known = {"chunk": chunk.pk, "query": "network", "verdict": "right"}
    assert stranger.post("/search/mark/", {**known, "chunk": 987654}).status_code == 404
    assert page.get("/search/mark/").status_code == 405
    wrong = {"chunk": ("x", 10**30), "verdict": ("maybe", ""), "query": ("a\0b", "", "x" * 1_001)}
    for name, values in wrong.items():
        for value in values:
            assert page.post("/search/mark/", {**known, name: value}).status_code == 422
    assert not Mark.objects.exists()


# Sources


def test_a_failed_source_says_why_and_who_may_change_it_can_try_again(
    page: Client, viewer: Client, source: Source
) -> None:
    source.fail(ModelRefused("The server refused the key."))
    for browser, may in ((page, True), (viewer, False)):
        html = text_of(browser.get(f"/sources/{source.uuid}/passages/"))
        assert_shows(html, "The server refused the key.", "<code>kb config</code>")
        assert ("Index again" in html) is may


def test_a_source_is_shown_with_its_text_in_order(
    page: Client, source: Source, video: Video
) -> None:
    html = text_of(page.get(f"/sources/{source.uuid}/passages/"))
    places = [html.index(text) for text in TEXTS]
    assert places == sorted(places)
    assert f'href="/videos/{video.pk}/?t=20s&amp;lang=en"' in html
    assert f'<input type="hidden" name="source" value="{source.uuid}">' in html
    assert f'It is deleted <a href="/videos/{video.pk}/">with its recording</a>.' in html


def test_the_text_of_a_source_is_paged(
    page: Client, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_views, "PAGE_SIZE", 2)
    source = make_document(collection, TEXTS)
    first, second = (
        text_of(page.get(f"/sources/{source.uuid}/passages/{query}")) for query in ("", "?offset=2")
    )
    assert "?offset=2" in first
    assert TEXTS[2] not in first
    assert TEXTS[2] in second
    assert "?offset=0" in second


def test_a_page_of_a_document_opens_at_its_passages(
    page: Client, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make_document(collection, TEXTS)
    for chunk in source.chunks.all():
        Chunk.objects.filter(pk=chunk.pk).update(
            page=chunk.ordinal + 4, last_page=chunk.ordinal + 4
        )
    html = text_of(page.get(f"/sources/{source.uuid}/passages/?page=5"))
    assert TEXTS[0] not in html
    assert re.search(r'chunk-row at"[^>]*>.*?page 5', html, flags=re.DOTALL)
    assert TEXTS[0] in text_of(page.get(f"/sources/{source.uuid}/passages/?page=99"))
    assert page.get(f"/sources/{source.uuid}/passages/?page=x&offset=-3").status_code == 200


def test_hostile_text_in_a_source_is_escaped(page: Client, collection: Collection) -> None:
    source = make_document(collection, [HOSTILE], title="<b>bold</b>")
    html = text_of(page.get(f"/sources/{source.uuid}/passages/"))
    assert "<script>alert" not in html
    assert "<b>bold" not in html
    assert escape(HOSTILE) in html


def test_indexing_again_is_for_editors_and_by_post(
    page: Client, viewer: Client, stranger: Client, source: Source
) -> None:
    path = f"/sources/{source.uuid}/index/"
    assert page.get(path).status_code == 405
    assert viewer.post(path).status_code == 403
    assert stranger.post(path).status_code == 404
    assert Source.objects.get().state == State.READY
    assert page.post(path)["Location"] == f"/sources/{source.uuid}/passages/"
    assert Source.objects.get().state == State.PENDING
    assert Source.objects.get().sent_at is not None  # the workers were told


def test_the_page_of_a_document_deletes_it_with_a_way_back(
    page: Client, viewer: Client, collection: Collection
) -> None:
    source = make_document(collection, TEXTS, title="Notes")
    path, item = f"/sources/{source.uuid}/passages/", f"document-{source.pk}"
    button = f'<input type="hidden" name="item" value="{item}">'
    assert button in text_of(page.get(path))
    assert button not in text_of(viewer.get(path))
    sent = {"item": item, "action": "delete", "next": "/library/"}
    shown = text_of(page.post("/library/change/", sent, follow=True))
    assert "“Notes” was deleted. You can undo this for half a minute." in shown
    assert page.get(path).status_code == 404


# How things are written


def test_shares_and_kinds_are_written_as_people_read_them() -> None:
    assert [percent(share) for share in (0, 0.374, 1, 1.2, -1)] == [0, 37, 100, 100, 0]
    assert [kind_name("pdf"), kind_name("painting")] == ["PDF", "painting"]


def test_a_question_in_a_language_that_the_model_does_not_know_has_its_page(
    page: Client, collection: Collection, settings: Any
) -> None:
    settings.EMBEDDING_PROVIDER = "local"
    texts = ["Die Steigung sagt, wie schnell sich die Funktion ändert.", "Ein Integral ist Fläche."]
    embed(make_document(collection, texts, language="de"))
    listed = text_of(page.get("/search/?q=Was+sagt+die+Steigung+der+Funktion%3F&full=1"))
    assert "wie schnell sich" in listed
    assert "The source as a whole" in listed


def test_a_book_does_not_hide_a_talk_on_the_first_page(
    page: Client, collection: Collection
) -> None:
    words = "abcdefghijklmnopqrstuvwxyz"
    texts = [f"entropy {letter * 3}" if n % 2 else letter * 9 for n, letter in enumerate(words)]
    make_document(collection, texts, title="The book")
    talk = make_video(collection, key="talk", title="The talk")
    make_source(talk, texts=["Much is said of other things than of entropy in this long talk."])
    listed = text_of(page.get("/search/?q=entropy&mode=words"))
    assert "The talk" in listed
    assert listed.count('class="passage"') == 10
