"""The blocks of a stored source: the cues of a recording, or the paragraphs of a document."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from citations.formats import VIDEO
from citations.models import Page, Source
from citations.text.blocks import Block
from transcripts.captions import from_json
from transcripts.models import Transcript
from transcripts.text.cues import Cue, Word

MAX_HEADING = 300  # characters of a heading or a chapter's title
_WORD_DISTANCE = 40  # characters at most between two timed words


def read(source: Source) -> list[Block]:
    """Return the blocks of a source in order, none if its text is missing."""
    if source.kind == VIDEO and source.transcript_id:
        text = Transcript.objects.filter(pk=source.transcript_id)
        columns = text.values_list("cues", "word_times", "video__chapters")
        return next((_of_cues(*row) for row in columns), [])
    return next(blocks for _, blocks in read_each([source]))


def read_each(sources: Iterable[Source]) -> Iterator[tuple[Source, list[Block]]]:
    """Yield sources with their blocks; pages of documents are fetched by one query.

    Fetch ``transcript__video`` with recordings.
    """
    documents = {}
    for source in sources:
        if source.kind == VIDEO:
            text = source.transcript
            blocks = _of_cues(text.cues, text.word_times, text.video.chapters) if text else []
            yield source, blocks
        else:
            documents[source.pk] = source
    if not documents:
        return
    pages = Page.objects.filter(document__in=documents).order_by("document", "number")
    for pk, own in groupby(pages.iterator(chunk_size=200), key=lambda page: page.document_id):
        yield documents.pop(pk), [block for page in own for block in _paragraphs(page)]
    yield from ((source, []) for source in documents.values())


def _of_cues(cues: Any, word_times: Any, chapters: Any) -> list[Block]:
    return list(cue_blocks(from_json(cues, word_times=word_times or None), chapters))


def cue_blocks(
    cues: Sequence[Cue], chapters: Sequence[Sequence[int | str]] = ()
) -> Iterator[Block]:
    """Yield a block for each cue (in time order); joined by spaces, their texts are the source's.

    ``chapters`` are [start in ms, title]; each begins a section. A cue belongs to the chapter at
    its middle: chapters are given in whole seconds, often by hand, and captions do not break where
    they begin.
    """
    starts = ((int(start), str(title)) for start, title in chapters)
    upcoming = sorted(starts, reverse=True, key=lambda chapter: chapter[0])
    offset = 0
    heading = ""
    for cue in cues:
        boundary = False
        while upcoming and 2 * upcoming[-1][0] <= cue.start + cue.end:
            heading, boundary = upcoming.pop()[1][:MAX_HEADING], True
        yield Block(
            text=cue.text,
            offset=offset,
            start=cue.start,
            end=cue.end,
            heading=heading,
            boundary=boundary,
            words=tuple(_word_starts(cue.text, cue.words, offset)),
        )
        offset += len(cue.text) + 1


def _paragraphs(page: Page) -> Iterator[Block]:
    for first, last, heading, boundary in page.blocks:
        if text := page.text[first:last]:
            yield Block(
                text=text,
                offset=page.start + first,
                page=page.number,
                heading=heading[:MAX_HEADING],
                boundary=boundary,
            )


def unsure_spans(cues: Sequence[Cue]) -> Iterator[tuple[int, int]]:
    """Yield the characters [first, last) of the words that were heard with low probability."""
    offset = 0
    for cue in cues:
        for first, word in _placed(cue.text, cue.words, offset):
            if word.is_unsure:
                yield first, first + len(word.text)
        offset += len(cue.text) + 1


def _word_starts(text: str, words: Sequence[Word], offset: int) -> Iterator[tuple[int, int]]:
    """Yield the offset in the source's text and the start of each timed word in the cue's text."""
    return ((first, word.start) for first, word in _placed(text, words, offset))


def _placed(text: str, words: Sequence[Word], offset: int) -> Iterator[tuple[int, Word]]:
    position = 0
    for word in words:
        start = text.find(word.text, position, position + len(word.text) + _WORD_DISTANCE)
        if start >= 0 and word.text:
            yield offset + start, word
            position = start + len(word.text)
