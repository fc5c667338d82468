"""Errors of audio and video files."""

from transcripts.errors import InvalidInput, NotFound, TooLarge


class MediaNotFound(NotFound):
    """The recording has no audio or video file."""

    code = "media_not_found"


class MediaTooLarge(TooLarge):
    """An audio or video file above the size limit."""

    code = "media_too_large"
    default_hint = "Make it smaller, or raise MAX_MEDIA_BYTES."


class MediaWithoutCaptions(InvalidInput):
    """An audio or video file without a transcript, which is what a library reads."""

    code = "media_without_captions"
    default_hint = (
        "Make captions with a speech recogniser, such as Whisper, and add both at once under one"
        " name, such as talk.mp3 and talk.vtt."
    )
