"""A source becomes a tree: structure first, then what is alike; each node tells of itself in
sentences of its own.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from citations.outline import tree as outline_tree
from citations.outline.partition import MAX_SIZE
from citations.outline.tree import DOCUMENT, GROUP, SECTION, NodeDraft, OutlineChunk, build
from citations.text.words import UNKNOWN, FunctionWords, function_words

ENGLISH = function_words("en")
LETTERS = FunctionWords(opening=frozenset("abc"), leading=frozenset("a"))
ALPHABET = "abc. ?!\n«é漢字>0"


def pieces_of(
    texts: list[str],
    *,
    headings: list[str] | None = None,
    vectors: np.ndarray | None = None,
    overlap: int = 0,
) -> list[OutlineChunk]:
    """Make chunks that stand one after the other in a text, each with the end of the one before."""
    pieces = []
    for n in range(len(texts)):
        place = sum(len(text) + 1 for text in texts[:n])
        before = texts[n - 1][-overlap:] + " " if n and overlap else ""
        row = None if vectors is None else vectors[n]
        span = {"span_start": place - len(before), "span_end": place + len(texts[n])}
        pieces.append(
            OutlineChunk(
                ordinal=n,
                text=before + texts[n],
                **span,
                start=n * 1000,
                end=n * 1000 + 1000,
                heading=headings[n] if headings else "",
                vector=row,
            )
        )
    return pieces


def around(centres: list[int], *, noise: float = 0.2) -> np.ndarray:
    """Make vectors of length 1 near to axes."""
    dice = np.random.default_rng(3)
    rows = np.eye(16)[centres] + noise * dice.normal(size=(len(centres), 16)) / 4
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def of_level(tree: list[NodeDraft], level: int) -> list[NodeDraft]:
    return [draft for draft in tree if draft.level == level]


def ranges(tree: list[NodeDraft], level: int) -> list[tuple[int, int]]:
    return [(draft.first, draft.last) for draft in of_level(tree, level)]


SENTENCE = "The {0} of the {1} turns slowly around its own axis. Nobody knows why the {0} does so. "


def texts(count: int) -> list[str]:
    return [SENTENCE.format(f"wheel{n}", f"machine{n // 4}").strip() for n in range(count)]


def test_nothing_has_no_levels() -> None:
    assert build([]) == []


def test_one_chunk_is_its_own_group_section_and_document() -> None:
    tree = build(pieces_of(texts(1)))
    assert [draft.level for draft in tree] == [DOCUMENT, SECTION, GROUP]
    assert [draft.parent for draft in tree] == [None, 0, 0]


def test_groups_do_not_reach_over_a_heading_and_are_named_by_it() -> None:
    headings = ["Bread"] * 5 + ["Stars"] * 7
    tree = build(pieces_of(texts(12), headings=headings))
    assert ranges(tree, SECTION) == [(0, 4), (5, 11)]
    assert [draft.title for draft in of_level(tree, SECTION)] == ["Bread", "Stars"]
    assert all(draft.last <= 4 or draft.first >= 5 for draft in of_level(tree, GROUP))


def test_short_chapters_are_put_together_and_named_by_all_their_headings() -> None:
    headings = ["One", "Two", "Two", "Three", *["Four"] * 6]
    tree = build(pieces_of(texts(10), headings=headings))
    assert ranges(tree, SECTION) == [(0, 3), (4, 9)]
    assert of_level(tree, SECTION)[0].title == "One · Two · Three"
    assert ranges(tree, GROUP)[:3] == [(0, 0), (1, 2), (3, 3)]


def test_without_headings_a_group_ends_where_the_subject_changes() -> None:
    centres = [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2]
    tree = build(pieces_of(texts(12), vectors=around(centres)))
    assert ranges(tree, GROUP) == [(0, 2), (3, 7), (8, 11)]


def test_without_vectors_words_say_where_the_subject_changes() -> None:
    own = ["oven dough bread flour yeast crust."] * 5 + ["comet orbit planet telescope star."] * 3
    assert ranges(build(pieces_of(own)), GROUP) == [(0, 4), (5, 7)]


def test_a_long_silence_begins_something_new() -> None:
    pieces = pieces_of(texts(6), vectors=around([0] * 6))
    late = [
        replace(piece, start=60_000 + piece.ordinal * 1000, end=61_000 + piece.ordinal * 1000)
        for piece in pieces[3:]
    ]
    assert (0, 2) in ranges(build([*pieces[:3], *late]), GROUP)


def test_a_summary_is_made_of_central_sentences_in_their_order() -> None:
    text = (
        "Gradient descent moves weights along the gradient. I had coffee. The gradient of"
        " the loss tells the weights where to move. Well then."
    )
    tree = build(pieces_of([text]), stops=frozenset({"the", "of", "along", "where", "to", "tells"}))
    group = of_level(tree, GROUP)[0]
    assert (
        group.text
        == "Gradient descent moves weights along the gradient. The gradient of the loss tells"
        " the weights where to move."
    )
    assert [text[first:last] for first, last in group.spans] == group.text.replace(
        ". ", ".|"
    ).split("|")


def test_a_summary_leaves_out_what_cannot_be_understood_alone() -> None:
    text = (
        "The gradient of the loss moves every weight of the network downhill. Because the gradient"
        " of the loss moves every weight of it. So the weights of the network follow the gradient"
        " of the loss. Does the gradient of the loss move every weight of the network?"
    )
    group = of_level(build(pieces_of([text]), function_words=ENGLISH), GROUP)[0]
    assert [text[first:last] for first, last in group.spans] == [
        "The gradient of the loss moves every weight of the network downhill.",
        "the weights of the network follow the gradient of the loss.",
    ]


def test_a_document_begins_with_what_it_is_about() -> None:
    own = texts(50)
    own[0] = (
        "My dog ate a wheel of cheese and slept around noon. This talk is about the machine and"
        " its axis, which turns slowly."
    )
    tree = build(pieces_of(own), function_words=ENGLISH, title="Machines and their axis")
    assert of_level(tree, DOCUMENT)[0].text.startswith(
        "This talk is about the machine and its axis"
    )


def test_a_document_begins_with_the_sentence_that_is_nearest_to_the_whole() -> None:
    own = texts(50)
    says = "This talk is about how the machine got its second axis."
    own[0] = f"This talk is about the machine, its axis, its machine and its axis again. {says}"

    def embed(sentences: Sequence[str]) -> np.ndarray:
        return around([int(sentence == says) for sentence in sentences], noise=0)

    tree = build(pieces_of(own, vectors=around([1] * 50, noise=0)), embed=embed)
    assert of_level(tree, DOCUMENT)[0].text.startswith(says)


def test_phrases_are_embedded_only_for_parts_without_headings() -> None:
    embedded: list[str] = []

    def embed(phrases: Sequence[str]) -> np.ndarray:
        embedded.extend(phrase for phrase in phrases if not phrase.endswith("."))
        return around([int("machine" in phrase) for phrase in phrases], noise=0)

    vectors = around([1] * 4, noise=0)
    headings = ["Bread"] * 4
    build(pieces_of(texts(4), headings=headings, vectors=vectors), embed=embed)
    assert embedded == []
    build(pieces_of(texts(4)), embed=embed)  # nor where the parts have no vectors
    assert embedded == []
    tree = build(pieces_of(texts(4), vectors=vectors), embed=embed)
    assert "machine" in of_level(tree, SECTION)[0].title.lower()
    assert embedded
    assert len(set(embedded)) == len(embedded)


def test_a_section_without_a_heading_is_named_by_a_phrase() -> None:
    own = [
        f"The {name} is in the oven. A {name} is warm. We eat the {name} with butter."
        for name in ("white bread", "apple pie")
        for _ in range(4)
    ]
    tree = build(pieces_of(own, vectors=around([0] * 4 + [1] * 4)), function_words=ENGLISH)
    assert [draft.title for draft in of_level(tree, GROUP)] == ["White bread", "Apple pie"]


def test_a_heading_that_several_places_have_does_not_come_first() -> None:
    headings = ["Definition", "Limits", "Definition", "Series", "Definition", "Primes"]
    tree = build(pieces_of(texts(6), headings=headings))
    assert of_level(tree, SECTION)[0].title == "Limits · Series · Primes"


def test_what_two_chunks_share_is_told_once() -> None:
    tree = build(
        pieces_of(
            [
                "The first wheel turns around its own axis here.",
                "The second engine burns fuel in a chamber.",
            ],
            overlap=47,
        )
    )
    spans = of_level(tree, DOCUMENT)[0].spans
    assert len(spans) == len(set(spans)) == 2


def test_a_change_leaves_the_digests_elsewhere() -> None:
    before = build(pieces_of(texts(200), vectors=around([n // 5 % 16 for n in range(200)])))
    changed = texts(200)
    changed[100] = "Giraffes have long necks and live in Africa."
    after = build(pieces_of(changed, vectors=around([n // 5 % 16 for n in range(200)])))
    assert len({draft.digest for draft in after} - {draft.digest for draft in before}) == 3


@given(
    st.lists(
        st.tuples(
            st.text(ALPHABET, min_size=1, max_size=60).filter(str.strip),
            st.sampled_from(["", "A", "B"]),
        ),
        min_size=1,
        max_size=16,
    ),
    st.booleans(),
    st.integers(0, 10),
    st.sampled_from(
        [UNKNOWN, ENGLISH, FunctionWords(opening=frozenset("abc"), leading=frozenset("a"))]
    ),
)
def test_any_source_is_told_whole_and_verbatim(
    rows: list[tuple[str, str]], has_vectors: bool, overlap: int, words: FunctionWords
) -> None:
    own, headings = [text for text, _ in rows], [heading for _, heading in rows]
    dice = random.Random(len(own))
    vectors = around([dice.randrange(16) for _ in own]) if has_vectors else None
    pieces = pieces_of(own, headings=headings, vectors=vectors, overlap=overlap)
    tree = build(pieces, function_words=words)
    whole = " ".join(own)
    for level in (GROUP, SECTION, DOCUMENT):
        places = [place for first, last in ranges(tree, level) for place in range(first, last + 1)]
        assert places == list(range(len(own)))
        assert [draft.ordinal for draft in of_level(tree, level)] == list(
            range(len(of_level(tree, level)))
        )
    for draft in tree:
        assert draft.text == " ".join(whole[first:last] for first, last in draft.spans)
        assert all(
            draft.span_start <= first < last <= draft.span_end for first, last in draft.spans
        )
        assert list(draft.spans) == sorted(draft.spans)
        assert draft.level != GROUP or draft.last - draft.first < MAX_SIZE
        assert (draft.vector is None) == (vectors is None)
        parent = draft.parent is None or next(
            node for node in tree if node.level == draft.level + 1 and node.ordinal == draft.parent
        )
        assert parent is True or parent.first <= draft.first <= draft.last <= parent.last


def test_the_tree_of_equal_chunks_is_the_same_again() -> None:
    pieces = pieces_of(texts(50), vectors=around([n // 5 % 16 for n in range(50)]))
    first, second = outline_tree.build(pieces), outline_tree.build(pieces)
    assert [draft.digest for draft in first] == [draft.digest for draft in second]
    assert [draft.text for draft in first] == [draft.text for draft in second]
