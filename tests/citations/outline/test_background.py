"""Outlines and guides know the other sources of the collection."""

import pytest

from citations.guide import builder
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Node, Source
from citations.outline import background
from citations.outline import storage as outline_storage
from citations.outline.background import formula_end
from tests.makers import make_cues, make_video
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

LICENCE = (
    "The following content is provided under a licence of the commons.",
    "Your support will help the school to offer high quality lectures for free.",
)


@pytest.fixture
def lectures(collection: Collection) -> list[Source]:
    """Two lectures that begin with the same licence, and one elsewhere that does, too."""
    hidden = Collection.objects.create(name="Hidden", slug="hidden")
    for shelf, key, said in (
        (collection, "Rates", "The derivative of a function is the slope of its tangent line."),
        (collection, "Areas", "An integral is the area below the curve of a function."),
        (hidden, "Bread", "A sourdough is a dough that wild yeast has fermented."),
    ):
        cues = make_cues(
            12, sentences=(*LICENCE, *(f"{said} This is point {n}." for n in range(9)))
        )
        make_video(shelf, key=key, title=key, cues=cues)
    discovery.adopt()
    for source in Source.objects.all():
        ingest_pipeline.ingest(source.pk)
    return [Source.objects.get(title=title) for title in ("Rates", "Areas", "Bread")]


def test_what_several_sources_of_a_collection_begin_with_is_nobodys_subject(
    lectures: list[Source],
) -> None:
    rates, _, bread = lectures
    outline_storage.refresh(rates)
    text = " ".join(Node.objects.filter(source=rates).values_list("text", flat=True))
    assert "derivative" in text
    assert "licence" not in text
    assert not any("licence" in item.text for item in builder.build(rates).about)
    assert background.of(bread).openings == (), "other collections are not compared"


def test_a_word_that_a_third_of_the_others_begin_with_sets_no_source_apart() -> None:
    openings = ("This video is on tokens.", "In this Video, loss.", "Attention.", "A hub.", "Bias.")
    others = background.Background(openings=openings)
    assert others.is_common("Video")
    assert not others.is_common("tokens")
    assert not background.Background(openings=openings[:3]).is_common("video"), "too few to tell"


FORMULA = (
    "The following content is provided under a licence of the commons. Your support will help us to"
    " offer high quality resources for free. To make a donation or to see more of the material of"
    " hundreds of courses visit our site. "
)
LECTURE = "Today we begin with the definition of the derivative. It is the limit of a quotient. "
OTHER = "Last time we talked about areas below a curve. They are limits of sums of rectangles. "


def test_sentences_that_another_source_begins_with_are_a_formula() -> None:
    text = FORMULA + LECTURE
    assert text[: formula_end(text, [FORMULA + OTHER])] == FORMULA


def test_a_word_that_differs_makes_no_difference() -> None:
    text = FORMULA + LECTURE
    other = FORMULA.replace("to see more", "see more") + OTHER
    assert text[: formula_end(text, [other])] == FORMULA


def test_a_greeting_before_the_formula_belongs_to_it() -> None:
    text = f"Hello there. {FORMULA}{LECTURE}"
    assert text[: formula_end(text, [FORMULA + OTHER])] == f"Hello there. {FORMULA}"


def test_a_text_that_nothing_resembles_has_none() -> None:
    assert formula_end(LECTURE, [OTHER, FORMULA]) == 0
    assert formula_end(LECTURE, []) == 0
    assert formula_end("", [OTHER]) == 0


def test_a_copy_of_a_source_makes_no_formula_of_it() -> None:
    assert formula_end(LECTURE, [LECTURE]) == 0


def test_a_sentence_that_returns_far_behind_the_beginning_is_no_formula() -> None:
    text = LECTURE + "We will prove this in the next hour of the course, as I said. "
    other = OTHER + "We will prove this in the next hour of the course, as I said. "
    assert formula_end(text, [other]) == 0
