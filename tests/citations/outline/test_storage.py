"""Each source is told in levels of detail, kept up to date when it changes, and read again."""

import random
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any, NoReturn

import pytest
from django.db.models import F
from django.test import Client, TestCase
from django.utils.html import escape
from pgvector import HalfVector

from citations import conf, tasks
from citations.answers import evidence as answer_evidence
from citations.answers.answer import Breadth, QuestionPart
from citations.errors import ModelError, ModelServerError
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import merging
from citations.maintenance import migration
from citations.models import AbstractsRequest, Chunk, EmbeddingSpace, Level, Node, Source
from citations.outline import storage as outline_storage
from citations.passages import place as written
from citations.providers import registry
from citations.providers.embedding import LOCAL, HashEmbedder
from citations.readers.page import ReadPage
from kbsite.celery import app
from tests.fake_llm import FakeLlm
from tests.makers import make_cues, make_paper, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection, Video
from transcripts.text.cues import Cue

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


def indexed(collection: Collection, **about) -> Source:
    video = make_video(collection, **about)
    discovery.adopt()
    source = Source.objects.get(video=video)
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    return source


def lecture(count: int) -> list[Cue]:
    """Make cues that speak of one subject after another, in words of its own."""
    dice = random.Random(7)
    subjects = [
        [
            f"{''.join(dice.choices('bdfgklmnprst', k=3))}{ending}"
            for ending in ("or", "ane", "ight", "ely", "um", "osis", "ant", "ify")
        ]
        for _ in range(12)
    ]
    return [
        Cue(
            start=n * 5000,
            end=n * 5000 + 5000,
            text=f"Now {' '.join(dice.choices(subjects[n * 12 // count], k=7))}, point {n}.",
        )
        for n in range(count)
    ]


def test_an_ingest_tells_a_source_in_groups_sections_and_as_a_whole(collection: Collection) -> None:
    source = indexed(collection, cues=make_cues(200))
    nodes = outline_storage.of(source)
    count = Chunk.objects.filter(source=source).count()
    text = " ".join(cue.text for cue in make_cues(200))
    assert [node.level for node in nodes] == sorted((node.level for node in nodes), reverse=True)
    for level in Level:
        own = [node for node in nodes if node.level == level]
        assert [own[0].first, *(node.first for node in own[1:]), own[-1].last + 1] == [
            0,
            *(node.last + 1 for node in own),
        ]
        assert own[-1].last == count - 1
    assert all(
        node.text == " ".join(text[first:last] for first, last in node.spans) for node in nodes
    )
    assert Node.objects.filter(source=source, vector=None).count() == 0
    assert nodes[0].title == source.title


def test_a_tree_that_is_built_again_is_the_same(collection: Collection) -> None:
    source = indexed(collection)
    count = Node.objects.count()
    assert outline_storage.refresh(source) == (count, 0, 0, 0)


def as_told(source: Source) -> list[tuple]:
    """Return all that is told of a source, but for keys."""
    parents = dict(Node.objects.values_list("pk", "ordinal"))
    names = (
        "level",
        "ordinal",
        "title",
        "text",
        "spans",
        "first",
        "last",
        "span_start",
        "span_end",
        "start",
        "end",
        "page",
        "last_page",
    )
    nodes = Node.objects.filter(source=source).order_by("-level", "ordinal")
    return [
        (
            *(getattr(node, name) for name in names),
            parents.get(node.parent_id),
            bytes(node.digest),
            HalfVector(node.vector).to_binary(),
        )
        for node in nodes
    ]


def test_a_change_touches_few_nodes_and_leaves_what_a_tree_built_from_scratch_would_be(
    collection: Collection,
) -> None:
    cues = lecture(1200)
    source = indexed(collection, cues=cues)
    before = {node.pk: node.digest for node in Node.objects.all()}
    cues[600] = Cue(
        start=cues[600].start, end=cues[600].end, text="A word about giraffes, who have long necks."
    )
    make_video(collection, cues=cues)
    discovery.adopt()
    source.refresh_from_db()
    ingest_pipeline.ingest(source.pk)
    after = {node.pk: node.digest for node in Node.objects.all()}
    gone = before.keys() - after.keys()
    assert 0 < len(gone) <= 12 < len(before) / 4, len(before)
    changed = as_told(source)
    Node.objects.all().delete()
    outline_storage.refresh(source)
    assert changed == as_told(source)


def as_found(scope: Scope) -> list[tuple]:
    """Return what questions of either breadth find, but for keys."""
    rows = []
    for number, breadth in product((0, 3, 8), Breadth):
        words = lecture(120)[number * 10].text.split()
        evidence_set = answer_evidence.find(
            scope,
            QuestionPart(text=" ".join(words), breadth=breadth, about=" ".join(words[1:3])),
            limit=20,
        )
        rows += [
            (
                number,
                breadth,
                passage.level,
                passage.text,
                passage.spans,
                passage.heading,
                round(passage.score, 9),
            )
            for passage in evidence_set.evidence
        ]
    return rows


def test_a_library_that_was_changed_finds_what_one_filled_from_scratch_does(
    collection: Collection, scope: Scope
) -> None:
    def fill(cues: list[Cue], *keys: str) -> None:
        for place, key in enumerate(keys):
            indexed(collection, key=key, title=key, cues=[*cues[place * 20 :], *cues[: place * 20]])

    cues = lecture(120)
    changed = [
        *cues[:50],
        Cue(start=250_000, end=255_000, text=f"{cues[90].text[:-1]} and giraffes."),
        *cues[51:],
    ]
    fill(cues, "one", "two", "gone")
    Source.objects.get(title="gone").delete()
    fill(changed, "one", "two")
    fill(changed, "one", "two", "three")
    merging.merge()
    one_by_one = as_found(scope)
    Video.objects.all().delete()
    fill(changed, "one", "two", "three")
    merging.merge()
    assert len(one_by_one) > 100
    assert {row[2] for row in one_by_one} == {0, 2, 3}
    assert one_by_one == as_found(scope)


def test_other_sources_are_not_touched(collection: Collection) -> None:
    indexed(collection)
    before = list(Node.objects.order_by("pk").values())
    other = indexed(collection, key="lecture-2", cues=lecture(40))
    other.delete()
    assert list(Node.objects.order_by("pk").values()) == before


def test_without_vectors_the_tree_goes_by_words(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: HashEmbedder, texts: list[str]) -> None:
        raise ModelServerError("The server is away.")

    monkeypatch.setattr(HashEmbedder, "embed_documents", fail)
    source = indexed(collection, cues=lecture(100))
    assert source.state == "words"
    nodes = list(Node.objects.filter(source=source))
    assert {node.level for node in nodes} == {1, 2, 3}
    assert all(node.vector is None and node.space_id is None for node in nodes)


def test_a_source_that_was_deleted_meanwhile_is_not_told(collection: Collection) -> None:
    source = indexed(collection)
    Source.objects.filter(pk=source.pk).delete()
    assert outline_storage.refresh(source) == (0, 0, 0, 0)


def test_a_migration_moves_the_trees_along(collection: Collection, settings) -> None:
    source = indexed(collection, cues=lecture(100))
    space = migration.begin(conf.EmbeddingChoice(provider="fake", model="words", dimensions=32))
    assert migration.advance(space)
    assert set(Node.objects.filter(source=source).values_list("space", flat=True)) == {space.pk}
    assert {len(vector) for vector in Node.objects.values_list("vector", flat=True)} == {32}


def test_sources_without_a_tree_get_theirs_in_time(collection: Collection) -> None:
    source = indexed(collection)
    before = as_told(source)
    Node.objects.all().delete()
    assert outline_storage.catch_up() == 0
    assert as_told(source) == before


def test_the_outline_leads_to_the_second_on_the_pages_of_a_video(
    page: Client, collection: Collection
) -> None:
    source = indexed(collection, cues=lecture(400))
    part = outline_storage.outline(source).parts[1]
    assert part.start is not None
    address = f"/videos/{source.video_id}/?t={part.start // 1000}s&amp;lang=en"
    for path in (f"/videos/{source.video_id}/", f"/sources/{source.uuid}/passages/"):
        html = " ".join(page.get(path).content.decode().split())
        assert f'<a href="{address}" data-seek="{part.start}">' in html
        assert escape(part.summary) in html


def test_each_part_ends_where_the_next_begins_though_their_chunks_overlap(
    page: Client, collection: Collection
) -> None:
    source = indexed(collection, cues=lecture(400))
    for node in Node.objects.filter(source=source).exclude(level=Level.DOCUMENT):
        Node.objects.filter(pk=node.pk).update(end=(node.end or 0) + 7_000)
    parts = outline_storage.outline(source).parts
    assert len(parts) > 2
    assert [part.end for part in parts[:-1]] == [part.start for part in parts[1:]]
    first, second = map(written, parts[:2])
    assert first.partition("–")[2] == second.partition("–")[0]
    html = page.get(f"/sources/{source.uuid}/passages/").content.decode()
    assert f'<span class="time">{first}</span>' in html
    for level in (Level.SECTION, Level.GROUP):
        nodes = [node for node in outline_storage.of(source) if node.level == level]
        assert all(node.end == after.start for node, after in pairwise(nodes))


def test_a_chapter_of_a_talk_has_four_minutes_and_a_name_of_several_words_where_a_part_has_one(
    collection: Collection,
) -> None:
    source = indexed(collection, cues=lecture(400))  # of five seconds each
    sections = Node.objects.filter(source=source, level=Level.SECTION).order_by("ordinal")
    sections.update(start=F("start") / 2, end=F("end") / 2)
    for number, node in enumerate(sections):
        Node.objects.filter(pk=node.pk).update(title=f"part {number}" if number % 2 else "class")
    parts, text = outline_storage.outline(source).parts, sections[1].text
    starts = [part.start or 0 for part in parts]
    assert len(parts) < len(sections)
    assert all(after - start >= 240_000 for start, after in pairwise(starts))
    assert (parts[0].title, parts[0].text, starts[0]) == ("part 1", text, sections[0].start)
    assert parts[0].last == parts[1].first - 1
    assert [part.end for part in parts[:-1]] == starts[1:]
    Video.objects.filter(pk=source.video_id).update(chapters=[[0, "Their own"]])
    source = Source.objects.get(pk=source.pk)
    assert len(outline_storage.outline(source).parts) == len(sections)


def test_the_outline_leads_to_the_page_of_a_document(page: Client, collection: Collection) -> None:
    texts = [
        f"On page {n} a horse number {n} eats an apple. Later it sleeps in a stable."
        for n in range(1, 9)
    ]
    source = make_paper(
        collection,
        [
            ReadPage(number=n, text=text, blocks=[(0, len(text), f"Horse {n // 4}", n % 4 == 0)])
            for n, text in enumerate(texts, 1)
        ],
    )
    source.start_anew()
    ingest_pipeline.ingest(source.pk)
    html = page.get(f"/sources/{source.uuid}/pages/1/").content.decode()
    assert f'href="/sources/{source.uuid}/pages/4/?from=' in html
    assert "Horse 1" in html


def test_a_source_without_a_tree_has_no_outline(page: Client, collection: Collection) -> None:
    video = make_video(collection)
    discovery.adopt()
    passages = f"/sources/{Source.objects.get().uuid}/passages/"
    for address in (f"/videos/{video.pk}/", passages):
        assert 'class="outline"' not in page.get(address).content.decode()


@pytest.mark.parametrize(
    ("provider", "language", "is_embedded"),
    [
        ("local", "en", True),
        ("local", "", True),
        ("local", "fr", False),  # the built-in model was made for English
        ("e5-small", "fr", True),
        ("openai", "en", False),  # nothing is sent away for names
    ],
)
def test_parts_are_named_with_a_model_of_this_machine_made_for_their_language(
    collection: Collection,
    monkeypatch: pytest.MonkeyPatch,
    embedded: list[str],
    provider: str,
    language: str,
    is_embedded: bool,
) -> None:
    source = indexed(collection, cues=make_cues(40))
    Source.objects.filter(pk=source.pk).update(language=language)
    source.refresh_from_db()
    known = LOCAL.get(provider)
    EmbeddingSpace.objects.update(
        provider=provider, model=known.model if known else "text-embedding-3-small"
    )
    monkeypatch.setattr(registry, "embedder", lambda *_, **__: HashEmbedder())
    embedded.clear()
    outline_storage.refresh(source)
    assert bool(embedded) == is_embedded


def test_an_outline_is_built_without_a_model_that_fails(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = indexed(collection, cues=make_cues(40))
    EmbeddingSpace.objects.update(provider="local", model=LOCAL["local"].model)

    class Broken(HashEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> NoReturn:
            raise ModelError("The model cannot be loaded.")

    monkeypatch.setattr(registry, "embedder", lambda *_, **__: Broken())
    Node.objects.filter(source=source).delete()
    outline_storage.refresh(source)
    assert all(node.title for node in outline_storage.of(source) if node.level == Level.SECTION)


# In a language model's words


def test_a_language_model_tells_of_sections_then_of_the_whole_once(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = indexed(collection, cues=lecture(400))
    llm = FakeLlm(lambda prompt: f"Sure! Here is a summary: It is about point {len(llm.prompts)}.")
    monkeypatch.setattr(registry, "llm", lambda: llm)
    upper = Node.objects.filter(source=source, level__gte=Level.SECTION).count()
    assert outline_storage.ensure_abstracts(source) == upper
    assert outline_storage.ensure_abstracts(source) == 0
    assert outline_storage.of(source)[0].abstract == f"It is about point {upper}."
    assert "It is about point 1." in llm.prompts[-1].text


def test_what_a_language_model_told_stays_with_what_it_was_told_of(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = indexed(collection, cues=lecture(100))
    monkeypatch.setattr(registry, "llm", lambda: FakeLlm(lambda prompt: "It is about points."))
    outline_storage.ensure_abstracts(source)
    outline_storage.refresh(source)
    assert outline_storage.of(source)[0].abstract == "It is about points."


def test_without_a_language_model_none_is_asked(collection: Collection) -> None:
    source = indexed(collection)
    assert not outline_storage.lacks_abstracts(source)
    assert outline_storage.ensure_abstracts(source) == 0


def test_whoever_reads_a_source_has_it_told_of_in_the_background_once(
    page: Client, collection: Collection, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = indexed(collection)
    sent: list[int] = []
    monkeypatch.setattr(app.tasks[tasks.write_abstracts.name], "delay", sent.append)
    settings.LLM_PROVIDER = "ollama"
    for _ in range(2):
        with TestCase.captureOnCommitCallbacks(execute=True):
            assert page.get(f"/videos/{source.video_id}/").status_code == 200
    assert sent == [AbstractsRequest.objects.get(source=source).pk]


def test_abstracts_are_requested_until_they_are_written(
    collection: Collection, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, answers = indexed(collection), ["", "It is about points."]
    settings.LLM_PROVIDER = "ollama"
    monkeypatch.setattr(registry, "llm", lambda: FakeLlm(lambda prompt: answers[0]))
    request = outline_storage.request_abstracts(source)
    assert request
    tasks.write_abstracts(request.pk)
    request.refresh_from_db()
    assert (request.error_code, AbstractsRequest.objects.due().exists()) == ("model_server", False)
    del answers[0]
    AbstractsRequest.objects.update(run_after=None)
    tasks.write_abstracts(request.pk)
    assert outline_storage.of(source)[0].abstract == "It is about points."
    assert not AbstractsRequest.objects.exists()
    assert outline_storage.request_abstracts(source) is None


def test_a_model_that_leaves_abstracts_empty_is_not_asked_for_ever(
    collection: Collection, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = indexed(collection)
    settings.LLM_PROVIDER = "ollama"
    monkeypatch.setattr(registry, "llm", lambda: FakeLlm(lambda prompt: ""))
    request = outline_storage.request_abstracts(source)
    assert request
    for tries in range(outline_storage.ABSTRACT_TRIES):
        assert AbstractsRequest.objects.exists(), tries
        AbstractsRequest.objects.update(run_after=None)
        tasks.write_abstracts(request.pk)
    assert not AbstractsRequest.objects.exists()
    assert outline_storage.lacks_abstracts(source)


def test_sentences_are_shown_with_a_capital_and_an_end() -> None:
    text = "the loss falls. and so on the weights"
    node = Node(text=text, spans=[[10, 25], [40, 61]])
    assert node.sentences == ["The loss falls.", "And so on the weights …"]
    assert node.summary == "The loss falls. And so on the weights …"
    assert Node(text=text, abstract="It learns.").summary == "It learns."
