"""`kb calibrate`: setting the distance, saying what came of it, and going back."""

from pathlib import Path

import pytest

from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_document
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


def test_a_library_is_calibrated_and_goes_back(kb: Kb, library: Collection, tmp_path: Path):
    source = make_document(library, ["entropy and heat", "work and heat"])
    space = vector_space.claim()
    list(
        vector_store.make(
            space,
            vector_space.embedder_of(space),
            vector_store.in_batches(vector_store.missing(space, source=source.pk)),
        )
    )
    talk = tmp_path / "talk.txt"
    talk.write_text(
        "\n\n".join(
            f"Number{index} dogs bark " + "and it rains on the cake in my garden " * 5
            for index in range(30)
        )
    )

    shown = kb("calibrate")
    result = kb("calibrate", "--false-citations", 0, "--file", talk, "--json").json[library.slug]
    space.refresh_from_db()

    assert "calibrate again when it has grown" in " ".join((shown.out + shown.err).split())
    assert (result["within"], result["chunks"]) == (0, 2)
    assert space.calibration == {str(library.pk): result}

    kb("calibrate", "--forget")
    space.refresh_from_db()
    assert space.calibration == {}


def test_an_empty_library_says_what_to_do(kb: Kb, library: Collection):
    assert "Nothing is embedded yet" in kb("calibrate", code=5).err
