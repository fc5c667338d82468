import pytest

from citations.models import Source
from citations.readers import source_blocks
from citations.readers.source_blocks import cue_blocks
from citations.text import chunking as text_chunking
from citations.text.chunking import chunk
from tests.makers import make_cues, make_video
from transcripts import captions
from transcripts.text.cues import Cue, Word

CUES = [Cue(0, 1000, "first words"), Cue(1000, 3000, "second words"), Cue(3000, 4000, "third")]


def test_cues_become_blocks_joined_by_blanks():
    blocks = list(cue_blocks(CUES))

    assert text_chunking.text_of(blocks) == "first words second words third"
    assert [(block.offset, block.start, block.end) for block in blocks] == [
        (0, 0, 1000),
        (12, 1000, 3000),
        (25, 3000, 4000),
    ]
    assert not any(block.boundary or block.heading for block in blocks)


def test_chapters_begin_with_the_cue_whose_middle_they_hold():
    blocks = list(cue_blocks(CUES, [[2001, "Late"], [0, "Intro"], [2000, "Middle"]]))

    assert [(block.boundary, block.heading) for block in blocks] == [
        (True, "Intro"),
        (True, "Middle"),
        (True, "Late"),
    ]


def test_chapters_without_speech_give_way_to_the_next():
    blocks = list(cue_blocks(CUES, [[100, "Silent"], [200, "Spoken"], [9000, "After the end"]]))

    assert [(block.boundary, block.heading) for block in blocks] == [
        (True, "Spoken"),
        (False, "Spoken"),
        (False, "Spoken"),
    ]


def test_headings_are_cut_to_what_a_chunk_holds():
    assert len(next(cue_blocks(CUES, [[0, "x" * 1000]])).heading) == 300


def test_timed_words_stand_at_their_place_in_the_text():
    cue = Cue(
        500,
        2000,
        "the cat, the dog",
        (
            Word(500, "the"),
            Word(700, "cat"),
            Word(900, "bird"),
            Word(1000, "the"),
            Word(1500, "dog"),
            Word(1600, ""),
        ),
    )
    blocks = list(cue_blocks([Cue(0, 400, "so"), cue]))

    assert blocks[1].words == ((3, 500), (7, 700), (12, 1000), (16, 1500))


def test_words_of_unspaced_writing_are_found_one_after_another():
    block = next(
        cue_blocks(
            [Cue(0, 900, "我们我们走", (Word(0, "我们"), Word(300, "我们"), Word(600, "走")))]
        )
    )

    assert block.words == ((0, 0), (2, 300), (4, 600))


def test_a_videos_source_is_read_with_its_chapters(collection):
    video = make_video(collection, cues=make_cues(6))
    video.chapters = [[0, "Intro"], [15_000, "Details"]]
    video.save()
    source = Source(
        collection=collection,
        kind="video",
        video=video,
        transcript=video.transcripts.get(),
        title=video.title,
    )

    blocks = source_blocks.read(source)

    assert [block.text for block in blocks] == [cue.text for cue in make_cues(6)]
    assert [block.heading for block in blocks] == ["Intro"] * 3 + ["Details"] * 3
    assert [block.boundary for block in blocks] == [True, False, False, True, False, False]


def test_a_source_without_text_has_no_blocks(collection):
    assert source_blocks.read(Source(collection=collection, kind="video", title="gone")) == []
    assert (
        source_blocks.read(
            Source.objects.create(collection=collection, kind="text", title="a document")
        )
        == []
    )


def test_the_digest_changes_with_all_that_chunks_are_made_from():
    digest = text_chunking.digest_of(list(cue_blocks(CUES, [[0, "Intro"]])))

    assert digest == text_chunking.digest_of(list(cue_blocks(CUES, [[0, "Intro"]])))
    others = [
        cue_blocks(CUES),
        cue_blocks(CUES, [[0, "Outro"]]),
        cue_blocks(CUES, [[0, "Intro"], [3000, "Intro"]]),
        cue_blocks(CUES[:2], [[0, "Intro"]]),
        cue_blocks([*CUES[:2], Cue(3000, 4001, "third")], [[0, "Intro"]]),
        cue_blocks([*CUES[:2], Cue(3000, 4000, "third", (Word(3000, "third"),))], [[0, "Intro"]]),
    ]
    assert len({digest, *(text_chunking.digest_of(list(other)) for other in others)}) == 1 + len(
        others
    )


def test_real_automatic_captions_are_cut_at_their_words_times(real_data):
    path = next((real_data / "dev" / "fixtures" / "youtube_auto").glob("*.vtt"))
    cues = captions.parse(path.read_bytes(), name=path.name).cues
    known = {word.start for cue in cues for word in cue.words} | {cue.start for cue in cues}

    drafts = chunk(list(cue_blocks(cues)))

    assert len(drafts) > 20
    assert {draft.start for draft in drafts} <= known
    assert sum(300 <= len(draft.text) <= 700 for draft in drafts) >= 0.9 * len(drafts)


@pytest.mark.parametrize("chapters", [[], [[0, "All"]]])
def test_no_cues_give_no_blocks(chapters):
    assert list(cue_blocks([], chapters)) == []
