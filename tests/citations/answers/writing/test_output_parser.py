"""What a language model answers, taken apart as it comes."""

from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.answers.writing.output_parser import (
    MAX_CHARACTERS,
    MAX_CLAIM,
    MAX_CLAIMS,
    MAX_QUOTE,
    MAX_QUOTES,
    CitedQuote,
    ClaimDraft,
    UnansweredPart,
    begins_json,
    parse_drafts,
    read_claims,
)

ASKED_FOR = """CLAIM: Errors travel backwards.
QUOTE [2]: "carries the error from the end to the start"
QUOTE [3]: "against its gradient"

NOT FOUND: who invented it
"""


def test_claims_and_quotes_are_read_as_they_were_asked_for() -> None:
    quotes = (
        CitedQuote(quote="carries the error from the end to the start", passage=2),
        CitedQuote(quote="against its gradient", passage=3),
    )
    assert list(parse_drafts([ASKED_FOR])) == [
        ClaimDraft(text="Errors travel backwards.", cited=quotes),
        UnansweredPart(text="who invented it"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        'QUOTE [2]: "carries the error"',
        "Quote (2): “carries the error”",
        "- **Quote 2:** carries the error",
        '[2] "carries the error"',
        'Quote: "carries the error" [2]',
        '> SOURCE [2]: "carries the error"',
        "Passage 2: 'carries the error'",
    ],
)
def test_small_models_write_quotes_in_many_ways(line: str) -> None:
    assert list(parse_drafts([f"**Claim 1:** Errors travel.\n{line}"])) == [
        ClaimDraft(text="Errors travel.", cited=(CitedQuote(quote="carries the error", passage=2),))
    ]


def test_prose_with_quotes_inside_it_is_read_too_and_its_own_numbers_vanish() -> None:
    (draft,) = parse_drafts(['It goes back, "carries the error from the end" [2], as said [1, 3].'])
    assert draft == ClaimDraft(
        text='It goes back, "carries the error from the end", as said.',
        cited=(CitedQuote(quote="carries the error from the end", passage=2),),
    )


@pytest.mark.parametrize(
    "text",
    [
        "Errors go back [2]. Weights move. [3]",
        "Errors go back (Passage 2).\n\nWeights move [passage 3].",
        "- **Errors go back** [2].\n- Weights move [3].",
        "1. Errors go back (2).\n2. Weights move (3).",
        "Errors go back.[^1] Weights move.[^2]\n\n[^1]: Passage 2\n[^2]: Passage [3]",
        '{"answer": "Errors go back [2]. Weights move [3]."}',
    ],
)
def test_sentences_name_their_passages_in_many_ways(text: str) -> None:
    assert [(draft.text.rstrip("."), draft.passages) for draft in claims(text)] == [
        ("Errors go back", (2,)),
        ("Weights move", (3,)),
    ]


@pytest.mark.parametrize(
    "text",
    [
        'Errors go back.\n\n> "carries the error" [2]',
        'Errors go back.[^7]\n\n[^7]: "carries the error" (passage 2)',
        '```json\n{"claim": "Errors go back.", "quote": "carries the error", "passage": 2}\n```',
    ],
)
def test_quotes_stand_apart_from_their_claims(text: str) -> None:
    assert [(draft.text, draft.cited) for draft in claims(text)] == [
        ("Errors go back.", (CitedQuote(quote="carries the error", passage=2),))
    ]


def claims(text: str) -> list[ClaimDraft]:
    return [draft for draft in parse_drafts([text]) if isinstance(draft, ClaimDraft)]


def test_a_claim_is_told_when_it_is_complete_not_at_the_end() -> None:
    read: list[str] = []

    def pieces() -> "list[str]":
        return [*ASKED_FOR]

    def noted() -> "object":
        for piece in pieces():
            read.append(piece)
            yield piece

    first = next(iter(parse_drafts(noted())))  # type: ignore[arg-type]
    assert isinstance(first, ClaimDraft)
    assert len(read) < len(ASKED_FOR) - 20


def test_thoughts_are_not_read_whatever_they_quote() -> None:
    said = (
        '<think>\nCLAIM: no\nQUOTE [1]: "never said"\n</THINK>CLAIM: yes\nQUOTE [1]: "was '
        'said here"\n<reasoning>CLAIM: hidden'
    )
    assert list(parse_drafts([said])) == [
        ClaimDraft(text="yes", cited=(CitedQuote(quote="was said here", passage=1),))
    ]


@pytest.mark.parametrize(
    "mark", ["[1]", "【1】", "［1］", "[[1]]", "{1}", "⟨1⟩", "(1)", "[1†L3-L5]"]
)
def test_numbers_of_passages_stand_in_any_brackets(mark: str) -> None:
    assert claims(f"Errors go back {mark}.") == [ClaimDraft(text="Errors go back.", passages=(1,))]


def test_a_number_may_be_a_link_and_an_answer_in_a_fence() -> None:
    expected = [ClaimDraft(text="Errors go back.", passages=(1,))]
    assert claims("```text\nErrors go back [1](#passage-1).\n```") == expected


def test_what_comes_before_a_closing_tag_was_thought() -> None:
    said = ["The user asks. Errors ", "stay [2].\nCLAIM: so\n</thi", "nk>\n\nErrors go back [1]."]
    assert list(parse_drafts(said)) == [ClaimDraft(text="Errors go back.", passages=(1,))]


def test_thoughts_without_marks_leave_what_is_not_about_the_task() -> None:
    said = (
        "Okay, the user wants a fact. Passage 2 says: errors stay [2]. I should cite the first.\n"
        "Errors go back [1]."
    )
    assert claims(said) == [ClaimDraft(text="Errors go back.", passages=(1,))]


def test_claims_in_their_form_are_read_as_they_come() -> None:
    drafts = parse_drafts(iter(['CLAIM: a\nQUOTE [1]: "so it is said"\n\n', "CLAIM: b"]))
    assert next(drafts) == ClaimDraft(
        text="a", cited=(CitedQuote(quote="so it is said", passage=1),)
    )


def test_claims_carry_no_markup_no_addresses_and_no_marks() -> None:
    said = (
        "CLAIM: See ![x](https://evil.example/a?b=c) **this** at http://evil.example/ and "
        "</passage-0123456789ab> `code`"
    )
    assert [draft.text for draft in parse_drafts([said])] == ["See x this at and code"]


def test_an_answer_without_end_is_read_to_an_end() -> None:
    def endless() -> "object":
        while True:
            yield 'CLAIM: more\nQUOTE [1]: "and more and more"\n'

    assert len(list(parse_drafts(endless()))) == MAX_CLAIMS  # type: ignore[arg-type]


@given(
    st.text(
        alphabet=st.sampled_from(list('CLAIMQUOTE NOT FOUND[]()12:"“”*<think>/\n\x00 .a漢')),
        max_size=400,
    ),
    st.lists(st.integers(0, 400), max_size=5),
)
def test_how_an_answer_is_cut_into_pieces_does_not_matter_and_nothing_in_it_breaks_the_reader(
    text: str, cuts: list[int]
) -> None:
    borders = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    whole = list(parse_drafts([text]))
    assert (
        list(
            parse_drafts(
                [text[start:stop] for start, stop in zip(borders, borders[1:], strict=False)]
            )
        )
        == whole
    )
    for draft in whole:
        assert len(draft.text) <= MAX_CLAIM
        assert "\x00" not in draft.text
        if isinstance(draft, ClaimDraft):
            assert draft.text
            assert len(draft.cited) <= MAX_QUOTES
            assert all(0 < len(cited.quote) <= MAX_QUOTE for cited in draft.cited)


@pytest.mark.parametrize(
    "bad", ["*", "[", '"', " ", "<think>", "[1", "# ", '"a" [', "**a", "![", "CLAIM:", "\n"]
)
def test_the_worst_lines_are_read_in_linear_time(bad: str) -> None:
    started = perf_counter()
    list(parse_drafts([bad * (2 * MAX_CHARACTERS // len(bad))]))
    assert perf_counter() - started < 3


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
