"""Warnings about captions that are stored nevertheless."""

from transcripts.core.errors import CaptionError


class ClockRestarts(CaptionError):
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


class SameText(CaptionError):
    """A warning: the collection has captions with this text and these times. Both are stored."""

    code = "same_text"
    default_hint = "If both are the same recording, delete one of them."

    def __init__(self, title: str, key: str) -> None:
        super().__init__(f"It has the same text as “{title}” ({key}), which was there already.")
