"""Where a hit is opened: the sentence that has the words or comes nearest in meaning."""

from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from citations.ingest import pipeline as ingest_pipeline
from citations.models import EmbeddingSpace, Source, SpaceState, State
from citations.passages import SearchMode
from citations.providers import registry
from citations.reading import landing
from citations.search import chunk_rows
from citations.search import pipeline as search_pipeline
from kbsite.callers import everything
from tests.makers import make_paper, make_source, make_video
from transcripts.models import Collection, Transcript
from transcripts.text.cues import Cue

TALK = "dQw4w9WgXcQ"
TEXT = ("We begin with a joke.", "A rare word counts more.", "The end is near.")


@pytest.fixture
def talk(collection: Collection) -> Source:
    cues = [Cue(start=10_000 * n, end=10_000 * n + 9_000, text=text) for n, text in enumerate(TEXT)]
    return make_source(make_video(collection, cues=cues, youtube_id=TALK), texts=[" ".join(TEXT)])


def opened(page: Client, source: Source, query: str, to: int = 60) -> tuple[str, dict[str, str]]:
    """Return the page and the parameters that a hit of the whole text leads to."""
    response = page.get(f"/sources/{source.uuid}/hit/", {"from": 0, "to": to, "q": query})
    address = urlsplit(response["Location"])
    return address.path, {name: value for name, (value,) in parse_qs(address.query).items()}


def test_a_hit_opens_at_the_sentence_with_its_words(page: Client, talk: Source) -> None:
    path, sent = opened(page, talk, "rare words")
    assert path == f"/videos/{talk.video_id}/"
    assert sent == {"t": "10s", "from": "22", "to": "46", "q": "rare words", "lang": "en"}


def test_a_list_of_hits_reads_no_whole_transcript(page: Client, collection: Collection) -> None:
    cues = [Cue(0, 4_000, TEXT[0]), Cue(4_000, 10_000, TEXT[1])]
    make_source(make_video(collection, cues=cues), texts=[" ".join(TEXT[:2])])
    with CaptureQueriesContext(connection) as queries:
        listed = page.get("/search/?q=rare&mode=words").content.decode()
    assert "0:04–0:10" in listed
    assert [query["sql"] for query in queries if '"cues"' in query["sql"]] == []


def test_a_passage_names_who_alone_says_it(collection: Collection, page: Client) -> None:
    apples = ["There are apple trees here, and nobody picks what falls.", "They grow."] * 12
    texts = ["Ann Lee: Where is it?", *apples, "Bo Ray: It is here.", "The pears are ripe."]
    texts += ["Ann Lee: They are sweet.", "Bo Ray: So they are."]
    cues = [Cue(9_000 * n, 9_000 * n + 8_900, text) for n, text in enumerate(texts)]
    source = make_source(make_video(collection, cues=cues))
    Source.objects.update(state=State.PENDING)
    ingest_pipeline.ingest(source.pk)
    rows = chunk_rows.fetch(everything(), source.chunks.values_list("position", flat=True))
    speakers = {row.text: row.speaker for row in rows.values()}
    assert set(speakers.values()) == {"Ann Lee", ""}
    assert all((name == "") == ("Bo Ray" in text) for text, name in speakers.items())
    listed = page.get("/search/?q=apple+trees&mode=words").content.decode()
    assert "Speaker: </span>Ann Lee</span>" in listed


@pytest.mark.parametrize("has_word_times", [False, True])
def test_a_passage_keeps_the_second_at_which_each_of_its_sentences_is_opened(
    collection: Collection, *, has_word_times: bool
) -> None:
    cues = [
        Cue(3_000 * n, 3_000 * n + 4_500, f"and point {n} comes now. A word of {n} follows so")
        for n in range(40)
    ]
    source = make_source(make_video(collection, cues=cues))
    if has_word_times:
        words = [
            [[cue.start + 300 * n, word] for n, word in enumerate(cue.text.split())] for cue in cues
        ]
        Transcript.objects.update(word_times=words, updated_at=timezone.now())
    Source.objects.update(state=State.PENDING)
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    inside = []
    for n in (14, 17, 23, 39):
        query = f"word of {n}"
        passage = search_pipeline.search(everything(), query, mode=SearchMode.WORDS).passages[0]
        opened_at = landing.find(source, passage.locator.span, query)
        assert opened_at is not None
        assert passage.opens_at == opened_at.sentence.start
        inside.append(passage.opens_at != passage.locator.start)
    assert any(inside)


def test_a_hit_that_is_gone_leads_to_its_source_and_puts_no_page_into_the_list(
    page: Client, talk: Source
) -> None:
    path, gone = f"/sources/{talk.uuid}/hit/play/", {"from": 900, "to": 960, "q": "rare"}
    clip = page.get(path, gone, headers={"HX-Request": "true"})
    assert (clip.status_code, clip["HX-Redirect"]) == (204, f"/sources/{talk.uuid}/")
    assert page.get(path, gone)["Location"] == f"/sources/{talk.uuid}/"


def test_a_hit_its_player_and_its_youtube_address_begin_at_the_sentence_that_is_marked(
    page: Client, collection: Collection
) -> None:
    text = "We begin with a joke that is long. A rare word counts more."
    cues = [Cue(start=0, end=20_000, text=text)]
    source = make_source(make_video(collection, cues=cues, youtube_id=TALK), texts=[text])
    second = 20 * text.index("A rare") // len(text)

    _, sent = opened(page, source, "rare")
    listed = page.get("/search/?q=rare&mode=words").content.decode()
    recording = page.get(f"/videos/{source.video_id}/", sent).content.decode()
    parameters = {"from": 0, "to": len(text), "q": "rare"}
    path = f"/sources/{source.uuid}/hit/play/"
    clip = page.get(path, parameters, headers={"HX-Request": "true"})

    assert sent["t"] == f"{second}s"
    assert f"0:{second}–" in listed
    assert f"&amp;t={second}s" in listed
    assert f'data-from="{second}' in clip.content.decode()
    assert 'data-until="20000"' in clip.content.decode()
    assert f'data-from="{second}' in recording


def test_a_hit_without_its_words_is_played_from_the_sentence_that_it_opens_at(
    page: Client, talk: Source
) -> None:
    parameters = {"from": 22, "to": 62, "q": "finale"}
    path = f"/sources/{talk.uuid}/hit/play/"
    response = page.get(path, {**parameters, "on": "youtube"})
    assert response["Location"] == "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=10s"
    unscripted = page.get(path, parameters)
    assert unscripted["Location"].startswith(f"/sources/{talk.uuid}/hit/?from=22")


def test_a_hit_without_its_words_opens_at_the_sentence_nearest_in_meaning(
    talk: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    EmbeddingSpace.objects.create(
        provider="fake", model="words", dimensions=32, state=SpaceState.ACTIVE
    )

    class Model:
        """Takes the last sentence for what is meant."""

        def embed_query(self, text: str) -> object:
            return np.array([1.0])

        def embed_documents(self, texts: list[str]) -> object:
            return np.array([[float(text.startswith("The end"))] for text in texts])

    monkeypatch.setattr(registry, "embedder", lambda *_, **__: Model())
    located = landing.find(talk, (0, 62), "finale")
    assert located is not None
    assert located.sentence.start == 20_000


def test_without_a_model_the_passage_is_marked(talk: Source) -> None:
    located = landing.find(talk, (0, 62), "finale")
    assert located is not None
    assert located.sentence.span == (0, 62)


def test_a_hit_of_a_document_opens_the_page_of_its_sentence(
    page: Client, collection: Collection
) -> None:
    paper = make_paper(collection, ["Of jokes.", "A rare word counts more."])
    path, sent = opened(page, paper, "rare", to=35)
    assert path == f"/sources/{paper.uuid}/pages/2/"
    first, last = int(sent["from"]), int(sent["to"])
    assert "Of jokes.\n\nA rare word counts more."[first:last] == "A rare word counts more."


def test_a_hit_beyond_the_end_opens_the_source(page: Client, talk: Source) -> None:
    response = page.get(f"/sources/{talk.uuid}/hit/", {"from": 900, "to": 950, "q": "rare"})
    assert response["Location"] == f"/sources/{talk.uuid}/"
