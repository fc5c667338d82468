"""Transcripts as files."""

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from django.conf import settings
from django.utils import translation

from transcripts import captions, conf
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.translation import translated
from transcripts.library.reading import cues_of, find_transcript, link_at
from transcripts.models import Transcript, Video
from transcripts.text.cues import Cue, group_by_time
from transcripts.text.timecodes import clock

# Of the cues of a section, by the number of its first and its length: times (ms) and texts.
Paragraphs = Callable[[int, int], Iterable[tuple[int, str]]]
STOPS_NOTE: Final = "Cuebase added the full stops and question marks; the words are unchanged."


class TranscriptFormat(StrEnum):
    VTT = "vtt"
    SRT = "srt"
    TXT = "txt"
    MD = "md"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Export:
    """A file: its name, media type and text."""

    name: str
    media_type: str
    text: str


def export(video: Video, *, form: TranscriptFormat, language: str = "") -> Export:
    """Write a video's transcript as a file. Raises ``TranscriptNotFound``."""
    transcript = find_transcript(video, language=language)
    audit.record(Action.EXPORT, "video", video.key, collection=video.collection, form=form)
    media_type, write = _WRITERS[form]
    suffix = f".{transcript.language}" if transcript.language else ""
    with translation.override(settings.LANGUAGE_CODE):  # a file is for programs, too
        text = write(video, transcript)
    return Export(
        name=f"{video.key}{suffix}.{form}", media_type=f"{media_type}; charset=utf-8", text=text
    )


def to_markdown(
    video: Video, transcript: Transcript, *, file: str = "", paragraphs: Paragraphs | None = None
) -> str:
    """Return a transcript as sections, each under a link to its second, here or in a media file;
    with ``paragraphs``, each of these begins with such a link, too. Where nothing plays it, times
    stand without links. What is said about it is in the active language.
    """
    origin = str(transcript.get_origin_display())
    about = (video.channel, clock(video.duration), transcript.language, origin)
    added = f"*{translated(STOPS_NOTE)}*" if transcript.has_added_stops else ""
    parts = [f"# {video}", " · ".join(filter(None, about)), added]

    def link(start: int) -> str:
        if not (file or video.player):
            return clock(start)
        address = f"{file}#t={start // 1000}" if file else link_at(video, start)
        return f"[{clock(start)}]({address})"

    cues = cues_of(transcript)
    for section in _sections(video, cues):
        if paragraphs is None:
            texts = [" ".join(cue.text for cue in cues[section.first :][: section.count])]
        else:
            pairs = paragraphs(section.first, section.count)
            texts = [f"{link(start)} {text}" for start, text in pairs]
        if texts or section.title:  # a sentence may last through a whole section
            parts += [f"## {link(section.start)} {section.title}".rstrip(), *texts]
    return "\n\n".join(filter(None, parts)) + "\n"


@dataclass(frozen=True, slots=True)
class _Section:
    """Cues under a heading: the number of the first, and how many."""

    start: int  # ms
    title: str
    first: int
    count: int


def _sections(video: Video, cues: Sequence[Cue]) -> list[_Section]:
    """Split the cues at the chapters, or into time chunks if there are none."""
    if not video.chapters:
        groups = group_by_time(cues, conf.limits().chunk_size_seconds)
        return [_Section(group.start, "", group.first, group.count) for group in groups]
    starts = sorted((int(start), str(title)) for start, title in video.chapters)
    if cues and cues[0].start < starts[0][0]:
        starts.insert(0, (cues[0].start, ""))
    firsts = [bisect_left(cues, start, key=lambda cue: cue.start) for start, _ in starts]
    spans = pairwise([*firsts, len(cues)])
    return [
        _Section(start, title, first, last - first)
        for (start, title), (first, last) in zip(starts, spans, strict=True)
        if first < last
    ]


def _json(video: Video, transcript: Transcript) -> str:
    rows = [
        {"text": cue.text, "start": cue.start / 1000, "duration": (cue.end - cue.start) / 1000}
        for cue in cues_of(transcript)
    ]
    about = {
        "id": video.key,
        "title": video.title,
        "lang": transcript.language,
        "has_added_stops": transcript.has_added_stops,
    }
    return json.dumps({**about, "cues": rows}, ensure_ascii=False)


_WRITERS: dict[TranscriptFormat, tuple[str, Callable[[Video, Transcript], str]]] = {
    TranscriptFormat.VTT: (
        "text/vtt",
        lambda _, made: captions.to_vtt(
            cues_of(made), note=STOPS_NOTE if made.has_added_stops else ""
        ),
    ),
    TranscriptFormat.SRT: ("application/x-subrip", lambda _, made: captions.to_srt(cues_of(made))),
    TranscriptFormat.TXT: ("text/plain", lambda _, made: captions.to_txt(cues_of(made))),
    TranscriptFormat.MD: ("text/markdown", to_markdown),
    TranscriptFormat.JSON: ("application/json", _json),
}
