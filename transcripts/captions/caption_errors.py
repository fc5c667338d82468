"""Why captions cannot be read, and warnings about those that are stored nevertheless."""

from typing import Final

from transcripts.core.errors import InvalidInput, TooLarge


class CaptionError(InvalidInput):
    """The caption file cannot be read."""

    code = "bad_captions"


class EmptyCaptions(CaptionError):
    """The file is empty or contains no speech."""

    code = "empty"


class UnknownFormat(CaptionError):
    """The caption format is not supported."""

    code = "unknown_format"


class BadEncoding(CaptionError):
    """The file is not text in a supported encoding."""

    code = "bad_encoding"


class LiveChat(CaptionError):
    """The file contains the chat of a live stream, not its captions."""

    code = "live_chat"


class HtmlPage(CaptionError):
    """The file is a web page, not a caption file."""

    code = "html_page"


class BadJson(CaptionError):
    """The JSON is broken, too deeply nested, or not captions."""

    code = "bad_json"


class BadXml(CaptionError):
    """The XML is broken, hostile, or not captions."""

    code = "bad_xml"


class CaptionsTooLarge(CaptionError, TooLarge):
    """The caption file is above the size limit."""

    code = "too_large"

    @staticmethod
    def of(name: str, size: int, *, limit: int) -> "CaptionsTooLarge":
        """Return the error for a file of more bytes than one may have."""
        return CaptionsTooLarge(
            f"“{name}” has {size:,} bytes; the limit is {limit:,}.",
            hint="Captions are small. Check that it is the right file.",
        )


class CaptionWarning(CaptionError):
    """A warning about captions that are stored."""


class ClockRestarts(CaptionWarning):
    """A warning: the times of the captions start again. The captions are stored."""

    code = "clock_restarts"
    default_hint = (
        "Times of later parts count on from the part before."
        " If the parts are different recordings, split the file."
    )

    def __init__(self, parts: int) -> None:
        super().__init__(
            f"The clock of these captions starts again, so they are read as {parts} parts,"
            " one after another."
        )


class UntimedText(CaptionWarning):
    """A warning: text without a time that can be read is left out; the rest is stored."""

    code = "untimed_text"
    default_hint = "If they were said, correct their times and add the file again."

    def __init__(self, count: int, first: str) -> None:
        super().__init__(
            f"Passages without a time that can be read were left out: {count}."
            f" The first is “{first}”."
        )


class UnsureEncoding(CaptionWarning):
    """A warning: the encoding of the captions was guessed, and may be wrong. They are stored."""

    code = "unsure_encoding"
    default_hint = "If words are wrong, save the file as UTF-8 and add it again."

    def __init__(self, encoding: str) -> None:
        super().__init__(
            f"The file does not say its encoding, and was read as {encoding}, which is a guess."
        )


class UnsureFrameRate(CaptionWarning):
    """A warning: captions in frames do not say how many a second has. They are stored."""

    code = "unsure_frame_rate"
    default_hint = "If the times are wrong, save it with its frame rate as SRT or WebVTT."

    def __init__(self, rate: float) -> None:
        super().__init__(
            f"The file does not say how many frames a second has; it was read with {rate:g}."
        )


class SameText(CaptionWarning):
    """A warning: the collection has captions with this text and these times. Both are stored."""

    code = "same_text"
    default_hint = "If both are the same recording, delete one of them."

    def __init__(self, title: str, key: str) -> None:
        super().__init__(f"It has the same text as “{title}” ({key}), which was there already.")


CODES: Final = tuple(warning.code for warning in CaptionWarning.__subclasses__())
