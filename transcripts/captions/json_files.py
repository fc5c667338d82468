"""Captions in JSON: YouTube's json3, and rows of text with times."""

import json
import re
from typing import Any, Final

from transcripts.captions.builder import AboutCaptions, Captions, settle
from transcripts.captions.caption_errors import BadJson, LiveChat
from transcripts.captions.drafts import UNTIMED, CueDraft, words_at
from transcripts.captions.json_rows import drafts_of, language_of
from transcripts.captions.speech import clean, label, language_tag
from transcripts.text.cues import Word
from transcripts.text.timecodes import is_video_id

_CHAT: Final = re.compile(
    r'"(?:replayChatItemAction|addChatItemAction|liveChatTextMessageRenderer)"\s*:'
)
_FILLED: Final = re.compile(r"\S")
_CHAT_WITHIN: Final = 65_536  # characters
_LARGEST: Final = 10**12


def read_json(text: str) -> Captions:
    """Read json3, rows of text with times, and what recognisers write.

    Raises ``LiveChat`` for a chat replay and ``BadJson`` for JSON that is broken, nested too
    deeply, or not captions.
    """
    if _CHAT.search(text, 0, _CHAT_WITHIN):
        raise LiveChat(
            "This is the chat of a live stream, not its captions.",
            hint="Upload the caption file; its name does not end in live_chat.json.",
        )
    content = _load(text)
    if isinstance(content, dict) and isinstance(events := content.get("events"), list):
        return settle(filter(None, map(_event_draft, events)), format="json3")
    drafts = drafts_of(content)
    if not drafts and content not in ([], [[]]):
        raise BadJson(
            "This JSON contains no captions.",
            hint="Captions are json3, or rows of text with their times, in any names."
            " Save a notebook or another document as Markdown, HTML or PDF.",
        )
    about = AboutCaptions(language=language_tag(language_of(content)))
    if isinstance(content, dict) and "cues" in content:
        id = content.get("youtube_id")
        about["youtube_id"] = id if is_video_id(id) else ""
        about["id"], about["title"] = label(content.get("id")), label(content.get("title"))
    return settle(drafts, format="json", **about)


def _load(text: str) -> Any:
    """Return what the text says; a list, if several values follow one another."""
    decoder, position, values = json.JSONDecoder(), 0, []
    try:
        while filled := _FILLED.search(text, position):
            value, position = decoder.raw_decode(text, filled.start())
            values.append(value)
    except RecursionError:
        raise BadJson("This JSON is nested too deeply.") from None
    except ValueError as error:
        raise BadJson(
            f"This is not valid JSON: {str(error)[:100]}.",
            hint="Download the file again: it may be truncated.",
        ) from None
    return values[0] if len(values) == 1 else values


def _event_draft(event: object) -> CueDraft | None:
    """Return a draft. An event stays on screen during the next; a line break has no text.

    Manual tracks have neither offsets nor confidences of words, only lines.
    """
    if not isinstance(event, dict) or not isinstance(listed := event.get("segs"), list):
        return None
    segments = [
        segment
        for segment in listed
        if isinstance(segment, dict) and isinstance(segment.get("utf8"), str)
    ]
    if not segments:
        return None
    text = "".join(segment["utf8"] for segment in segments)
    start, duration = _number(event.get("tStartMs")), _number(event.get("dDurationMs"))
    if start is None:
        return CueDraft(UNTIMED, None, text)
    words: list[Word] = []
    if any("tOffsetMs" in segment or "acAsrConf" in segment for segment in segments):
        for segment in segments:
            moment = int(start) + int(_number(segment.get("tOffsetMs")) or 0)
            words += words_at(moment, clean(segment["utf8"]))
    end = None if duration is None else int(start + duration)
    return CueDraft(int(start), end, text, tuple(words))


def _number(value: object) -> float | None:
    """Return a number, or None for true, "1.5", NaN, 1e999 and negative times."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value <= _LARGEST else None
