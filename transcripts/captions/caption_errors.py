"""Warnings about captions that are stored nevertheless."""

from typing import Final

from transcripts.core.errors import CaptionError


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
    default_hint = "If the times are wrong, put the right rate above the rest: {1}{1}23.976"

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
