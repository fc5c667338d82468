"""Errors of audio and video files."""

from transcripts.core.errors import InvalidInput, NotFound, TooLarge


class MediaNotFound(NotFound):
    """The recording has no audio or video file."""

    code = "media_not_found"


class MediaTooLarge(TooLarge):
    """The audio or video file is above the size limit."""

    code = "media_too_large"
    default_hint = "Make it smaller, or raise MAX_MEDIA_BYTES."


class MediaWithoutCaptions(InvalidInput):
    """The audio or video file has no captions, and Cuebase does not recognise speech."""

    code = "media_without_captions"
    default_hint = (
        "Make captions with a speech recogniser, such as Whisper, and add both at once under one"
        " name, such as talk.mp3 and talk.vtt."
    )
