"""Reading for models: times inside, contents beside a preview, and nothing for operators."""

import pytest

from citations.guide import storage as guide_storage
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Source
from citations.outline import storage as outline_storage
from citations.search import pipeline
from kbsite.mcp.answer_text import for_models, tokens
from kbsite.mcp.errors import explained
from kbsite.mcp.render_transcript import transcript_text
from tests.citations.talks import talk_in
from tests.kbsite.mcp.conftest import Shelf
from tests.makers import make_cues, make_source, make_video
from transcripts.core.errors import Forbidden
from transcripts.models import Video
from transcripts.text.cues import Cue

CUES = (
    Cue(0, 4_000, "We begin with a"),
    Cue(4_000, 9_000, "definition. Then comes"),
    Cue(9_000, 16_000, "a theorem. It is short."),
    Cue(16_000, 30_000, "The proof is not."),
)


def test_a_time_stands_every_fifteen_seconds_or_at_each_sentence_or_nowhere() -> None:
    assert transcript_text(CUES, times="15s").splitlines() == [
        "[0:00] We begin with a definition. Then comes a theorem. It is short.",
        "[0:16] The proof is not.",
    ]
    assert transcript_text(CUES, times="sentence").splitlines() == [
        "[0:00] We begin with a definition.",
        "[0:04] Then comes a theorem.",
        "[0:09] It is short.",
        "[0:16] The proof is not.",
    ]
    assert transcript_text(CUES, times="none") == " ".join(cue.text for cue in CUES)
    assert transcript_text((), times="sentence") == ""


def test_a_transcript_is_read_with_the_times_that_are_asked_for(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=CUES)
    arguments = {"videoId": "lecture-1", "times": "sentence"}
    assert "\n[0:09] It is short.\n" in shelf.read("get_transcript", **arguments)


def test_chapters_come_with_the_preview_and_with_the_outline(shelf: Shelf) -> None:
    make_source(make_video(shelf.collection, cues=make_cues(2_000)))
    Video.objects.update(chapters=[[0, "Welcome"], [600_000, "Gradients"]])
    preview = shelf.read("get_transcript", videoId="lecture-1")
    assert "Chapters:\n- [0:00] Welcome\n- [10:00] Gradients\n" in preview
    outline = shelf.read("get_outline", sourceId="lecture-1")
    assert "- [10:00] Gradients" in outline
    Source.objects.all().delete()
    outline = shelf.read("get_outline", sourceId="lecture-1")
    assert "- [10:00] Gradients" in outline


@pytest.mark.usefixtures("fake_models")
def test_an_outline_comes_with_a_preview_without_chapters(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(1_500))
    discovery.adopt()
    source = Source.objects.get()
    ingest_pipeline.ingest(source.pk)
    outline_storage.refresh(source)
    preview = shelf.read("get_transcript", videoId="lecture-1")
    assert "\nOutline:\n- [0:00–" in preview
    outline = shelf.read("get_outline", sourceId=str(source.uuid))
    assert "\n## " in outline


@pytest.mark.usefixtures("fake_models")
def test_a_search_tells_nothing_that_only_an_operator_can_do(
    shelf: Shelf, settings: object
) -> None:
    make_source(make_video(shelf.collection), texts=["Whales sing."])
    text = shelf.read("search_knowledge_base", query="whales")
    assert text.startswith("1 passages, best first.")
    assert "kb " not in text
    assert "re-rank" not in text


def test_commands_and_settings_are_left_out_of_what_a_model_is_told() -> None:
    text = "It failed. Set LLM_PROVIDER. Run `kb models fetch`, or wait. Try again later."
    assert for_models(text) == "It failed. Try again later."
    hint = "Create one with `kb token create --write`."
    assert "kb token" not in explained(Forbidden("This token may only read.", hint=hint))


def test_a_search_by_words_alone_says_so(shelf: Shelf) -> None:
    make_source(make_video(shelf.collection), texts=["Whales sing."])
    hybrid = shelf.read("search_knowledge_base", query="whales")
    assert "Found by words alone" in hybrid
    arguments = {"query": "whales", "mode": pipeline.SearchMode.WORDS}
    lexical = shelf.read("search_knowledge_base", **arguments)
    assert "Found by words alone" not in lexical


def test_a_guide_has_the_words_of_its_source_with_their_places(shelf: Shelf) -> None:
    said = (
        "A sourdough starter is a dough of flour and water that wild yeast has fermented.",
        "How long does a sourdough starter rise in a warm kitchen?",
        "A sourdough starter rises for about 12 hours in a warm kitchen before it is used.",
        "The sourdough starter is fed with flour every day.",
    )
    source = talk_in(shelf.collection, said=said)
    arguments = {"sourceId": str(source.uuid)}
    assert "(It has no guide yet" in shelf.read("get_guide", **arguments)
    source.refresh_from_db()
    guide_storage.make(source)
    guide = shelf.read("get_guide", **arguments)
    assert "## Questions that it answers\n- [0:10–0:20] How long does a sourdough starter" in guide
    assert "None" not in guide
    short = shelf.read("get_guide", **arguments, maxTokens=500)
    assert tokens(short) <= 500
