"""Small models write JSON that no parser takes."""

import pytest

from citations.answers.writing.json_output import begins_json, read_claims


@pytest.mark.parametrize(
    ("line", "is_json"),
    [
        ("```json", True),
        ("{", True),
        ("[", True),
        ('[{"claim": "a"}]', True),
        ("{'claim': 'a'}", True),
        ("[2] says so", False),
        ("{a} is a set", False),
        ("```", False),
    ],
)
def test_it_begins_with_a_bracket_and_a_key(line: str, is_json: bool) -> None:
    assert begins_json(line) == is_json


@pytest.mark.parametrize(
    "text",
    [
        '[{"claim": "It goes back.", "quote": "carries the \\"error\\"", "passage": 2}]',
        '{"quote": "carries the \\"error\\"", "passage": "Passage [2]", "claim": "It goes back."',
        '{"claims": [{"text": "It goes back.", "quotes": ["carries the \\"error\\""],}], "id": 2',
        '{"Statement": "It goes back.", "citations": [{"id": 2, "quote": "carries the \\"error\\"',
    ],
)
def test_a_claim_its_quotes_and_its_passages_are_read_wherever_it_breaks(text: str) -> None:
    (claim,) = read_claims(text)
    assert claim.text == "It goes back."
    assert claim.quotes in (['carries the "error"'], [])
    assert claim.passages in ([2], [])


def test_each_object_is_a_claim_and_what_is_missing_is_said() -> None:
    said = '{"claims": [{"claim": "a"}, {"claim": "b"}], "not_found": "who invented it"}'
    claims = list(read_claims(said))
    assert [claim.text or claim.missing for claim in claims] == ["a", "b", "who invented it"]
    assert list(read_claims("{" * 100_000)) == []
