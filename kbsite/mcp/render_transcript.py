"""Renders transcripts, videos and the segments of a search as tools' answers."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from citations.passages import interval
from citations.readers.source_blocks import cue_blocks
from citations.text.blocks import text_of
from citations.text.chunking import pauses_of
from citations.text.sentences import split
from kbsite.mcp.answer_text import (
    CURSOR,
    MIN_TEXT,
    MORE,
    NAME,
    TITLE,
    clip,
    longest,
    material,
    page,
    shorten,
    tokens,
)
from kbsite.mcp.tool_inputs import GetTranscript, ListTranscripts, SearchTranscript
from transcripts.core.errors import InvalidCursor
from transcripts.library import reading as library
from transcripts.schemas import HitOut, VideoDetailsOut
from transcripts.text import reading
from transcripts.text.cues import Cue, group_by_time
from transcripts.text.reading import full_text
from transcripts.text.timecodes import clock, milliseconds

STEP = 15  # seconds of a line
PLACE = 10  # tokens of a page's number
MORE_OF_FETCHED = (
    "More follows: get_transcript with the same videoId, language and collection, and cursor="
)
_NO_HITS = (
    "No segment contains these words. Next: search_transcript with other words, or get_transcript "
    "to read."
)


def render_transcript(
    result: library.VideoReading, arguments: GetTranscript, *, contents: str = "", more: str = MORE
) -> str:
    """Return a page of a transcript, with ``contents`` after the head.

    Raises ``InvalidCursor`` if the transcript has changed since the page before.
    """
    offset, version = arguments.position
    text = transcript_text(result.reading.cues, times=arguments.times)
    digest = result.transcript.digest[:12]
    if arguments.cursor and (version != digest or offset >= len(text)):
        raise InvalidCursor(
            "The transcript has changed since the page before.", hint="Start again without cursor."
        )
    next_step = _next_step(result)
    taken = sum(map(tokens, (_head(result, ""), contents, next_step)))
    room = max(arguments.budget - CURSOR - PLACE - taken, MIN_TEXT)
    starts = _page_starts(text, room=room)
    number = bisect_right(starts, offset)
    place = f", page {number} of {len(starts)}" if offset or len(starts) > 1 else ""
    part, following = reading.page_text(text, offset, longest(text, offset, room=room))
    cursor = arguments.cursor_at(following, of=version or digest)
    tail = f"{more}{cursor}" if cursor else next_step
    answer = material("\n\n".join(filter(None, (_head(result, place), contents, part))))
    return f"{answer}\n\n{tail}".rstrip()


def _page_starts(text: str, *, room: int) -> list[int]:
    """Return at which characters the pages begin if each has ``room`` tokens."""
    starts: list[int] = []
    following: int | None = 0
    while following is not None:
        starts.append(following)
        length = longest(text, following, room=room)
        _, following = reading.page_text(text, following, length)
    return starts


def render_hits(result: library.VideoSearch, arguments: SearchTranscript) -> str:
    offset, _ = arguments.position
    shown = result.hits[offset : offset + arguments.max_results]
    rows = [HitOut.model_validate(hit) for hit in shown]
    head, tail = _NO_HITS, ""
    if result.hits:
        count = f"{len(result.hits)}{' or more' if len(result.hits) == library.MAX_HITS else ''}"
        head = f"{count} segments of {result.video.key} match, best first."
        tail = "To read around a hit: get_transcript with startTime and endTime."
    room = arguments.budget - CURSOR - tokens(head) - tokens(tail)
    for row in rows:  # a file without times is one long segment
        row.text = shorten(row.text, room=room - 100)
    return page(head, rows, _hit_line, arguments, total=len(result.hits), tail=tail)


def render_videos(listed: library.VideoPage, arguments: ListTranscripts) -> str:
    head = "No video matches. Next: list_transcripts without filters, or add_source."
    if listed.total:
        head = f"{listed.total} videos, newest first."
    rows = [clip(VideoDetailsOut.read(video, library.tracks(video))) for video in listed.videos]
    return page(head, rows, _video_line, arguments, total=listed.total)


def _head(result: library.VideoReading, place: str) -> str:
    video, transcript = result.video, result.transcript
    language = f"{transcript.language or 'unknown language'}, {transcript.get_origin_display()}"
    language += ", full stops added" if transcript.has_added_stops else ""
    length = f"{clock(transcript.duration)} long"
    about = (video.title[:TITLE], video.key, video.channel[:NAME], language, length)
    link = library.link_at(video, int(result.reading.start * 1000))
    warning = "" if place else result.reading.warning
    part = f"{_part(result.reading)}{place}, {link}"
    return "\n".join(filter(None, (" · ".join(filter(None, about)), part, warning)))


def _part(read: reading.Reading) -> str:
    name = {"range": "Part", "preview": "Preview"}.get(read.mode, "Chunk")
    if read.chunk:
        name = f"Chunk {read.chunk.index} (of {read.chunk.count}, from 0)"
    times = interval(milliseconds(read.start), milliseconds(read.end))
    return "Whole transcript" if read.mode == "full" else f"{name} {times}"


def _next_step(result: library.VideoReading) -> str:
    read = result.reading
    if read.mode == "preview":
        return (
            "This is the beginning only. Next: search_transcript for what you look for; "
            "get_outline for the summary of each part; "
            f"get_transcript with chunkIndex 0 to {read.total_chunks - 1}, or startTime and "
            "endTime in seconds; or includeFullTranscript for all of it, about "
            f"{read.total_characters // 4:,} tokens."
        )
    if read.chunk and read.chunk.next is not None:
        return f"Next: get_transcript with chunkIndex={read.chunk.next}."
    return ""


def _hit_line(number: int, hit: HitOut) -> str:
    times = interval(milliseconds(hit.start), milliseconds(hit.end))
    return f"{number + 1}. [{times}] {hit.text} ({hit.timestamp_link})"


def _video_line(_: int, video: VideoDetailsOut) -> str:
    length, languages = clock(milliseconds(video.duration)), ", ".join(video.languages)
    about = (video.id, video.title, video.channel, length, languages, video.collection)
    return f"- {' · '.join(filter(None, about))}"


def transcript_text(cues: Sequence[Cue], *, times: str) -> str:
    """Write cues with a line for each sentence, or for about 15 seconds; or without times."""
    if times == "none":
        return full_text(cues)
    if times == "sentence":
        return "\n".join(_sentences(cues))
    return "\n".join(f"[{clock(group.start)}] {group.text}" for group in group_by_time(cues, STEP))


def _sentences(cues: Sequence[Cue]) -> Iterator[str]:
    """Yield each sentence with the time of the cue in which it begins."""
    blocks = list(cue_blocks(cues))
    text, offsets = text_of(blocks), [block.offset for block in blocks]
    for start, stop in split(text, dict(pauses_of(blocks))):
        block = blocks[bisect_right(offsets, start) - 1]
        yield f"[{clock(block.start or 0)}] {text[start:stop].strip()}"
