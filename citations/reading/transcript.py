"""The transcript that a reader is shown: its time chunks and the words of its sentences."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from citations.providers.languages import empty_words
from citations.readers.source_blocks import cue_blocks, unsure_spans
from citations.reading.spoken_text import (
    SentenceMatches,
    Speech,
    SpokenText,
    find_matches,
    speeches,
)
from citations.text import occurrences
from transcripts import conf
from transcripts.core.errors import ChunkNotFound
from transcripts.library import reading as library
from transcripts.models import Transcript
from transcripts.text.cues import group_by_time

Span = tuple[int, int]  # characters [first, last)


@dataclass(frozen=True)
class TranscriptChunk:
    """Cues that are read at once; ``first`` is the number of its first cue, times are ms."""

    first: int
    count: int
    start: int
    end: int
    span: Span


@dataclass(frozen=True)
class TranscriptText(SpokenText):
    """A transcript's text with its time chunks; ``unsure`` are the words of low probability."""

    unsure: Sequence[Span] = ()
    language: str = ""
    chunk_seconds: int = 300

    @cached_property
    def vocabulary(self) -> dict[str, list[str]]:
        """Its words by their stems; takes a fifth of a second for ten hours of speech."""
        return occurrences.words_by_stem(self.text, self.language)

    @cached_property
    def chunks(self) -> list[TranscriptChunk]:
        offsets = [*self.offsets, len(self.text)]
        return [
            TranscriptChunk(
                first=group.first,
                count=group.count,
                start=group.start,
                end=group.end,
                span=(offsets[group.first], offsets[group.first + group.count]),
            )
            for group in group_by_time(self.cues, self.chunk_seconds)
        ]

    @cached_property
    def speeches(self) -> list[Speech]:
        return speeches(self)

    def chunk(self, index: int) -> TranscriptChunk:
        """Return a time chunk. Raises ``ChunkNotFound``."""
        if index >= len(self.chunks):
            last = len(self.chunks) - 1
            valid = f"valid are 0 to {last}" if self.chunks else "the transcript is empty"
            raise ChunkNotFound(f"There is no time chunk {index}: {valid}.", hint="Count from 0.")
        return self.chunks[index]

    def chunk_at(self, ms: int) -> int:
        """Return the index of the time chunk at a moment, or of the first or last one."""
        return max(0, bisect_right(self.chunks, ms, key=lambda chunk: chunk.start) - 1)

    def find(self, query: str) -> SentenceMatches:
        """Find the sentences with a query as a phrase, else with the most of its telling words."""
        stops = empty_words(self.language)
        return find_matches(
            self.text,
            [sentence.first for sentence in self.sentences],
            occurrences.split_terms(query, stops),
            phrase=occurrences.phrase_of(query, stops),
            inflect=lambda terms: occurrences.with_forms(terms, self.vocabulary, self.language),
        )


def read(transcript: Transcript) -> TranscriptText:
    """Return the text of a transcript; recent ones come from memory."""
    seconds = conf.limits().chunk_size_seconds
    return _read(transcript.pk, transcript.digest, transcript.language, seconds)


@lru_cache(maxsize=16)
def _read(pk: int, digest: str, language: str, seconds: int) -> TranscriptText:
    transcript = Transcript(pk=pk, digest=digest)
    cues, timed = library.cues_of(transcript), library.timed_cues(transcript)
    words = [word for block in cue_blocks(timed) for word in block.words]
    unsure = tuple(unsure_spans(timed))
    return TranscriptText(cues, words, unsure, language=language, chunk_seconds=seconds)
