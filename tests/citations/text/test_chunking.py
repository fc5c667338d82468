import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.providers.word_vectors import HashedWordVectors
from citations.readers.source_blocks import cue_blocks
from citations.text.blocks import Block, text_of
from citations.text.chunking import LONG_CUE, WHOLE, ChunkDraft, chunk, nearest_rank
from citations.text.sentences import MAX_LENGTH
from transcripts import captions

TARGET, OVERLAP = 500, 150
MOST = max(1.7 * TARGET, 1.5 * OVERLAP + MAX_LENGTH)

hashed = HashedWordVectors()


def make_blocks(
    texts: Sequence[str], *, boundaries: Sequence[int] = (), gap: int = 1, milliseconds: int = 3000
) -> list[Block]:
    blocks = []
    offset = 0
    for number, text in enumerate(texts):
        start = number * milliseconds
        blocks.append(
            Block(
                text=text,
                offset=offset,
                start=start,
                end=start + milliseconds,
                boundary=number in boundaries,
                heading=f"part {number // 10}",
            )
        )
        offset += len(text) + gap
    return blocks


def inside(draft: ChunkDraft, blocks: Sequence[Block]) -> tuple[Block, Block]:
    """Return the first and the last block of which a draft has text."""
    own = [
        block
        for block in blocks
        if block.offset < draft.span_end and draft.span_start < block.offset + len(block.text)
    ]
    return own[0], own[-1]


def lecture(count: int = 120) -> list[str]:
    topics = (
        "gradient descent moves weights",
        "entropy measures surprise",
        "the mitochondria makes energy",
        "bonds pay a coupon",
    )
    return [
        f"In step {number} the {topics[number // 15 % 4]} a little, and this is remark"
        f" {number * 7}."
        for number in range(count)
    ]


def check(blocks: Sequence[Block], drafts: Sequence[ChunkDraft]) -> None:
    """Check what holds of any drafts of any blocks."""
    text = text_of(blocks)
    borders = [block.offset for block in blocks if block.boundary]
    for draft in drafts:
        assert draft.text == text[draft.span_start : draft.span_end] == draft.text.strip() != ""
        assert len(draft.text) <= MOST
        assert not any(draft.span_start < border < draft.span_end for border in borders)
    for before, after in pairwise(drafts):
        assert before.span_start < after.span_start
        assert before.span_end < after.span_end
        assert before.span_end - after.span_start <= 1.5 * OVERLAP
        assert not text[before.span_end : after.span_start].strip()
    ends = [0, *(draft.span_end for draft in drafts)]
    covered = "".join(
        text[max(draft.span_start, before) : draft.span_end]
        for draft, before in zip(drafts, ends, strict=False)
    )
    assert "".join(covered.split()) == "".join(text.split())


# Whatever the text

PIECES = [
    "word ",
    "Ends here. ",
    "x" * 300,
    "好" * 150,
    "好。",
    " " * 70,
    "\n\n",
    "",
    "a",
    "The cat sat on the mat, and the dog did not. ",
]
BLOCKS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
        st.booleans(),
        st.integers(0, 9),
    ),
    max_size=25,
)


@given(BLOCKS, st.sampled_from([None, hashed]), st.integers(0, 2))
def test_drafts_of_any_blocks_are_exact_whole_bounded_and_in_order(rows, words, gap):
    blocks = make_blocks(
        [text for text, _, _ in rows],
        boundaries=[number for number, (_, begins, dice) in enumerate(rows) if begins and dice < 2],
        gap=gap,
    )
    drafts = chunk(blocks, words=words)
    check(blocks, drafts)
    assert chunk(blocks, words=words) == drafts
    times = [(draft.start or 0, draft.end or 0) for draft in drafts]
    assert all(start <= end for start, end in times)
    assert times == sorted(times)


@given(BLOCKS, st.integers(1, 400), st.integers(0, 399))
def test_any_sizes_give_drafts_that_cover_the_text(rows, target, overlap):
    blocks = make_blocks([text for text, _, _ in rows])
    overlap = min(overlap, target - 1)
    drafts = chunk(blocks, target=target, overlap=overlap)
    assert all(
        before.span_start < after.span_start and before.span_end < after.span_end
        for before, after in pairwise(drafts)
    )
    assert all(len(draft.text) <= max(1.7 * target, 1.5 * overlap + MAX_LENGTH) for draft in drafts)
    text = text_of(blocks)
    outside = set(range(len(text))).difference(
        *(range(draft.span_start, draft.span_end) for draft in drafts)
    )
    assert not "".join(text[place] for place in outside).strip()


@pytest.mark.parametrize(("target", "overlap"), [(0, 0), (100, 100), (100, -1)])
def test_sizes_that_cannot_be_are_refused(target, overlap):
    with pytest.raises(ValueError, match="overlap"):
        chunk([], target=target, overlap=overlap)


# Sizes and overlap


@pytest.mark.parametrize("words", [None, hashed])
def test_chunks_are_of_about_the_target_with_about_the_overlap(words):
    blocks = make_blocks(lecture())
    drafts = chunk(blocks, words=words)
    check(blocks, drafts)
    assert all(300 <= len(draft.text) <= 700 for draft in drafts)
    assert all(
        50 <= before.span_end - after.span_start <= 225 for before, after in pairwise(drafts)
    )
    assert all(draft.text.startswith("In step") and draft.text.endswith(".") for draft in drafts)


def test_without_overlap_chunks_follow_one_another():
    drafts = chunk(make_blocks(lecture()), overlap=0)
    assert all(before.span_end + 1 == after.span_start for before, after in pairwise(drafts))


def test_an_overlong_sentence_overlaps_by_words():
    blocks = make_blocks(["Short start here. ", *("everyword goesonand neverstops " * 40,)])
    drafts = chunk(blocks, overlap=60)
    check(blocks, drafts)
    leads = [
        (before.span_end - after.span_start, after.text.split()[0])
        for before, after in pairwise(drafts)
    ]
    assert all(20 <= length <= 90 for length, _ in leads)
    assert {word for _, word in leads} <= {"everyword", "goesonand", "neverstops"}


def test_a_little_rest_is_no_chunk_of_its_own():
    for count in range(2, 60):
        drafts = chunk(make_blocks(["Ten signs."] * count), overlap=0)
        assert all(len(draft.text) >= 150 for draft in drafts) or len(drafts) == 1


# Where chunks end


def test_neither_chunk_nor_overlap_reaches_over_a_boundary():
    blocks = make_blocks(lecture(40), boundaries=(7, 8, 30))
    drafts = chunk(blocks)
    check(blocks, drafts)
    assert {blocks[place].offset for place in (0, 7, 8, 30)} <= {
        draft.span_start for draft in drafts
    }
    assert blocks[7].text in {draft.text for draft in drafts}  # alone, as the boundary demands


def test_a_boundary_without_text_holds_for_what_follows():
    texts = lecture(20)
    texts[10] = " "
    blocks = make_blocks(texts, boundaries=(10,))
    assert blocks[11].offset in {draft.span_start for draft in chunk(blocks)}


def test_chunks_end_where_the_subject_changes():
    topics = ["apples pears plums", "engines wheels brakes", "sonnets odes verses"]
    texts = [
        f"We speak of {topics[number // 13]} and of number {number} in this sentence of ours."
        for number in range(39)
    ]
    blocks = make_blocks(texts)
    changes = {blocks[13].offset - 1, blocks[26].offset - 1}
    assert changes <= {draft.span_end for draft in chunk(blocks, words=hashed)}
    assert not changes & {draft.span_end for draft in chunk(blocks)}
    assert chunk(blocks, words=hashed, percentile=100) == chunk(blocks), "which no distance exceeds"


def test_equal_distances_are_no_breakpoints():
    blocks = make_blocks(["All sentences are the same."] * 200)
    assert chunk(blocks, words=hashed) == chunk(blocks)


def page(texts: Sequence[str], *, boundaries: Sequence[int] = ()) -> list[Block]:
    return [
        replace(block, start=None, end=None, page=1)
        for block in make_blocks(texts, boundaries=boundaries)
    ]


def test_a_short_document_is_one_chunk_whatever_its_headings():
    blocks = page(
        ["Restart the service.", "Look at its log, then call us."] * 20, boundaries=(2, 8)
    )
    length = len(text_of(blocks))
    assert 2 * TARGET < length < WHOLE * TARGET
    (whole,) = chunk(blocks, words=hashed)
    assert whole.span == (0, length)
    assert len(chunk(blocks, target=length // WHOLE, words=hashed)) > 1, "one that is no shorter"


def test_pages_and_recordings_are_split_however_short_they_are():
    blocks = page(["Restart the service.", "Look at its log, then call us."] * 20)
    pages = [replace(block, page=1 + number // 20) for number, block in enumerate(blocks)]
    assert len(chunk(pages)) > 1
    assert len(chunk(make_blocks([block.text for block in blocks]))) > 1


# Places


def test_times_are_those_of_whole_cues_where_words_have_none():
    blocks = make_blocks(lecture(), milliseconds=4000)
    for draft in chunk(blocks):
        first, last = inside(draft, blocks)
        assert (draft.start, draft.end) == (first.start, last.end)


def test_times_are_those_of_words_where_they_are_known():
    text = " ".join(f"word{number:04}" for number in range(300))
    words = tuple((9 * number, 100 * number) for number in range(300))
    blocks = [Block(text=text, offset=0, start=0, end=60_000, words=words)]
    drafts = chunk(blocks)
    assert len(drafts) > 5
    for draft in drafts[:-1]:
        assert draft.start == 100 * int(draft.text[4:8])
        assert draft.end == 100 * int(draft.text[-4:]) + 100
    assert drafts[-1].end == 60_000


def test_a_word_before_the_first_that_is_timed_begins_with_its_cue():
    block = Block(text="so and so", offset=0, start=70, end=900, words=((3, 100),))
    assert [(draft.start, draft.end) for draft in chunk([block])] == [(70, 900)]


def test_within_long_cues_times_are_interpolated_by_characters():
    text = "".join(f"It is sentence number {number:03}. " for number in range(100)).strip()
    assert 100 * len(text) > LONG_CUE
    for draft in chunk([Block(text=text, offset=0, start=1000, end=1000 + 100 * len(text))]):
        places = [1000 + 100 * place for place in (draft.span_start, draft.span_end)]
        assert [draft.start, draft.end] == places


def test_pages_and_headings_are_those_of_the_first_and_last_block():
    blocks = [
        replace(block, start=None, end=None, page=number // 4 + 1)
        for number, block in enumerate(make_blocks(lecture(30), gap=2))
    ]
    for draft in chunk(blocks):
        first, last = inside(draft, blocks)
        assert (draft.start, draft.end) == (None, None)
        pages = (draft.page, draft.last_page)
        assert (*pages, draft.heading) == (first.page, last.page, first.heading)


def test_the_source_text_has_a_blank_or_lines_between_blocks():
    placed = {0: "a", 2: "b", 5: "c", 6: "", 8: "d"}
    blocks = [Block(text=text, offset=offset) for offset, text in placed.items()]
    assert text_of(blocks) == "a b\n\nc\n\nd"


# Shapes


@pytest.mark.parametrize("words", [None, hashed])
@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        [" ", "\n", ""],
        ["One sentence."],
        ["x"],
        ["x" * 100_000],
        ["深度学习" * 25_000],
        ["深度学习。" * 20_000],
        ["ภาษาไทยไม่มีวรรค" * 5_000],
        ["uh"] * 20_000,
        ["", "a", "", "", "b."] * 3_000,
        ["." * 50_000],
        ["a" + " " * 50_000 + "b"],
    ],
    ids=lambda texts: f"{len(texts)}-{texts[0][:4] if texts else ''}",
)
def test_odd_texts_are_cut_in_linear_time(texts, words):
    blocks = make_blocks(texts, milliseconds=100)
    check(blocks, chunk(blocks, words=words))


def test_pauses_decide_in_captions_without_punctuation():
    words = [f"word{number:03}" for number in range(400)]
    blocks = []
    start = 0
    for number, text in enumerate(words):
        start += 2500 if number % 16 == 0 else 400
        blocks.append(Block(text=text, offset=8 * number, start=start, end=start + 300))
    drafts = chunk(blocks)
    after_pauses = {8 * number for number in range(0, 400, 16)}
    assert sum(draft.span_start in after_pauses for draft in drafts) >= 0.9 * len(drafts)


# Changes


@pytest.mark.parametrize("words", [None, hashed])
def test_a_change_replaces_only_chunks_nearby(words):
    texts = lecture(600)
    before = {draft.text for draft in chunk(make_blocks(texts), words=words)}
    texts[300] = "Here somebody corrected the transcript with rather different words."
    after = [draft.text for draft in chunk(make_blocks(texts), words=words)]
    fresh = [place for place, text in enumerate(after) if text not in before]
    assert 1 <= len(fresh) <= 12
    assert len(after) > 100


def test_a_change_in_one_chapter_leaves_the_others():
    texts = lecture(100)
    changed = [*texts[:49], "Something else.", *texts[50:]]
    before, after = make_blocks(texts, boundaries=(50,)), make_blocks(changed, boundaries=(50,))
    assert [draft.text for draft in chunk(after) if draft.span_start >= after[50].offset] == [
        draft.text for draft in chunk(before) if draft.span_start >= before[50].offset
    ]


# Real captions


@pytest.mark.parametrize("collection", ["nyudl", "hfcourse_zh-CN", "ocw1801", "nyudl_ar"])
def test_real_captions_give_chunks_of_about_the_target(real_data, collection):
    paths = sorted((real_data / "dev" / "transcripts" / collection).glob("*.json"))[:4]
    drafts = []
    for path in paths:
        blocks = list(cue_blocks(captions.parse(path.read_bytes(), name=path.name).cues))
        chunks = chunk(blocks)
        check(blocks, chunks)
        drafts += chunks
    assert json.loads(paths[0].read_text())["cues"]
    assert sum(300 <= len(draft.text) <= 700 for draft in drafts) >= 0.98 * len(drafts)


@pytest.mark.parametrize(
    ("percentile", "value"), [(0, 1), (10, 1), (11, 2), (80, 8), (80.1, 9), (100, 10)]
)
def test_the_percentile_is_one_of_the_values(percentile, value):
    assert nearest_rank([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], percentile) == value
    assert nearest_rank([], percentile) == 0
