"""Captions in JSON: YouTube's json3, and rows of text, start and duration."""

import json
import re
from collections.abc import Sequence
from typing import Final

from transcripts.captions.builder import Captions, CueDraft, settle, words_at
from transcripts.captions.speech import clean, label, language_tag
from transcripts.core.errors import BadJson, LiveChat
from transcripts.text.cues import Word
from transcripts.text.timecodes import is_video_id

_CHAT: Final = re.compile(
    r'"(?:replayChatItemAction|addChatItemAction|liveChatTextMessageRenderer)"\s*:'
)
_CHAT_WITHIN: Final = 65_536  # characters
_LARGEST: Final = 10**12


def read_json(text: str) -> Captions:
    """Read json3, a list of rows, or an object whose ``cues`` are rows. Skip unusable rows.

    Raises ``LiveChat`` for a chat replay and ``BadJson`` for JSON that is broken, nested too
    deeply, or not captions.
    """
    if _CHAT.search(text, 0, _CHAT_WITHIN):
        raise LiveChat(
            "This is the chat of a live stream, not its captions.",
            hint="Upload the caption file; its name does not end in live_chat.json.",
        )
    match _load(text):
        case {"events": list(events)}:
            return settle(filter(None, map(_event_draft, events)), format="json3")
        case {"cues": list(rows), **about}:
            return _described(about, rows)
        # The command line of youtube-transcript-api writes a list per video.
        case [[*rows]] | [*rows] if not rows or any(map(_is_row, rows)):
            return settle(filter(None, map(_row_draft, rows)), format="json")
    raise BadJson(
        "This JSON contains no captions.",
        hint="Supported are json3, and rows of text, start and duration.",
    )


def _load(text: str) -> object:
    try:
        content: object = json.loads(text)
    except RecursionError:
        raise BadJson("This JSON is nested too deeply.") from None
    except ValueError as error:
        raise BadJson(
            f"This is not valid JSON: {str(error)[:100]}.",
            hint="Download the file again: it may be truncated.",
        ) from None
    return content


def _described(about: dict[object, object], rows: Sequence[object]) -> Captions:
    youtube_id = about.get("youtube_id")
    return settle(
        filter(None, map(_row_draft, rows)),
        format="json",
        language=language_tag(about.get("lang") or about.get("language")),
        id=label(about.get("id")),
        title=label(about.get("title")),
        youtube_id=youtube_id if is_video_id(youtube_id) else "",
    )


def _is_row(row: object) -> bool:
    return isinstance(row, dict) and "text" in row and "start" in row


def _row_draft(row: object) -> CueDraft | None:
    if not isinstance(row, dict) or not isinstance(text := row.get("text"), str):
        return None
    start, duration = _number(row.get("start")), _number(row.get("duration"))
    if start is None:
        return None
    end = None if duration is None else round((start + duration) * 1000)
    return CueDraft(round(start * 1000), end, text)


def _event_draft(event: object) -> CueDraft | None:
    """Return a draft. An event stays on screen during the next; a line break has no text."""
    if not isinstance(event, dict) or not isinstance(listed := event.get("segs"), list):
        return None
    start, duration = _number(event.get("tStartMs")), _number(event.get("dDurationMs"))
    segments = [
        segment
        for segment in listed
        if isinstance(segment, dict) and isinstance(segment.get("utf8"), str)
    ]
    if start is None or not segments:
        return None
    end = None if duration is None else int(start + duration)
    text = "".join(segment["utf8"] for segment in segments)
    return CueDraft(int(start), end, text, _words(segments, int(start)))


def _words(segments: Sequence[dict[str, object]], start: int) -> tuple[Word, ...]:
    """Return the timed words. Manual tracks have neither offsets nor confidences, only lines."""
    if not any("tOffsetMs" in segment or "acAsrConf" in segment for segment in segments):
        return ()
    words: list[Word] = []
    for segment in segments:
        moment = start + int(_number(segment.get("tOffsetMs")) or 0)
        words += words_at(moment, clean(str(segment["utf8"])))
    return tuple(words)


def _number(value: object) -> float | None:
    """Return a number, or None for true, "1.5", NaN, 1e999 and negative times."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value <= _LARGEST else None
