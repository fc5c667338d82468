import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.errors import NothingToCalibrate
from citations.lectures import calibration
from citations.lectures import pipeline as lecture_pipeline
from citations.lectures.calibration import calibrate, forget, threshold
from citations.models import Source
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from tests.makers import make_document
from transcripts.errors import InvalidInput
from transcripts.models import Collection

ELSEWHERE = "\n\n".join(
    f"Number{place} "
    + "dogs bark at the moon tonight while we eat some cake in the rain and nobody minds it " * 3
    + "."
    for place in range(40)
)


def embed(source: Source) -> None:
    space = vector_space.claim()
    list(
        vector_store.make(
            space,
            vector_space.embedder_of(space),
            vector_store.in_batches(vector_store.missing(space, source=source.pk)),
        )
    )


@pytest.fixture
def library(db: None) -> Collection:
    """The collection that is searched."""
    return Collection.objects.default()


@given(st.lists(st.floats(0, 4), min_size=1, max_size=200), st.floats(0, 50))
def test_no_more_than_wanted_lie_within_the_threshold(distances, rate):
    found = threshold(distances, rate)

    assert (
        sum(distance <= found for distance in distances if distance > 0)
        <= len(distances) * rate / 100
    )
    assert 0 <= found <= max(distances)


@pytest.mark.usefixtures("fake_models")
class TestALibrary:
    def test_is_calibrated_so_that_only_so_many_windows_of_other_talk_would_cite(
        self, library: Collection
    ):
        embed(
            make_document(
                library,
                [
                    f"entropy theorem {word} heat"
                    for word in ("gas", "work", "dogs", "cake rain moon")
                ],
            )
        )

        strict, loose = (
            calibrate(false_citations=rate, off_topic=ELSEWHERE)[library.slug] for rate in (0, 20)
        )

        assert strict.within == 0
        assert loose.within <= loose.windows * 0.2
        assert strict.max_distance <= loose.max_distance
        space = vector_space.locked()
        assert space is not None
        assert lecture_pipeline.max_distance(space, library.pk) == loose.max_distance
        assert space.calibration[str(library.pk)]["chunks"] == 4
        assert space.calibrated_at is not None
        assert loose.is_small

    def test_is_calibrated_by_what_each_collection_holds_alone(self, library: Collection):
        embed(make_document(library, ["entropy theorem heat"]))
        alone = calibrate(off_topic=ELSEWHERE)

        other = Collection.objects.create(name="Other", slug="other")
        embed(make_document(other, ["dogs bark at the moon tonight while we eat some cake"]))
        both = calibrate(off_topic=ELSEWHERE)

        assert both[library.slug] == alone[library.slug]
        assert both["other"].max_distance < alone[library.slug].max_distance

    def test_takes_our_own_talk_where_none_is_given_and_can_forget(
        self, library: Collection, settings
    ):
        embed(make_document(library, ["entropy and heat"]))

        found = calibrate()[library.slug]
        forget()

        assert found.windows > 60
        assert found.kept is None
        space = vector_space.locked()
        assert space is not None
        assert lecture_pipeline.max_distance(space, library.pk) == settings.LIVE_DISTANCE_THRESHOLD

    def test_cannot_be_calibrated_while_it_is_empty_or_with_too_little_talk(
        self, library: Collection
    ):
        with pytest.raises(NothingToCalibrate):
            calibrate()

        embed(make_document(library, ["entropy and heat"]))
        for refused in ("too short", "x" * (calibration.MAX_TEXT + 1)):
            with pytest.raises(InvalidInput):
                calibrate(off_topic=refused)
        with pytest.raises(InvalidInput):
            calibrate(false_citations=51)
