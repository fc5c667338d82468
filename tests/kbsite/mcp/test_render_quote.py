"""verify_quote."""

import pytest

from citations.ingest import discovery
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, text
from tests.makers import make_video


@pytest.mark.usefixtures("fake_models")
def test_a_quote_is_checked_within_the_budget(endpoint: Endpoint, shelf: Shelf) -> None:
    make_video(shelf.collection, key="talk", title="A talk")
    discovery.adopt()
    result = endpoint.call(
        shelf.reading,
        "verify_quote",
        quote="A network is a chain of simple functions.",
        sourceId="talk",
    )
    assert text(result).startswith("Verbatim")
    assert "“A talk”, 0:05–0:10 http" in text(result)
    altered = endpoint.call(
        shelf.reading,
        "verify_quote",
        quote="A network is a chain of complex functions.",
        sourceId="talk",
        maxTokens=500,
    )
    assert "“complex” → “simple”" in text(altered)
    assert len(text(altered)) < 2_000
    assert text(endpoint.call(shelf.reading, "verify_quote", quote="a chain")).startswith(
        "Too short"
    )
