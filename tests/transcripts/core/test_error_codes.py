"""Errors by their codes: what a row or an answer has of one is its code, message and hint."""

import pytest

from transcripts.captions.caption_errors import CaptionError
from transcripts.core import errors
from transcripts.core.errors import KnowledgeBaseError, TooLarge


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("too_large", TooLarge),
        ("bad_captions", CaptionError),
        ("of_a_later_version", KnowledgeBaseError),
    ],
)
def test_an_error_is_rebuilt_as_the_widest_class_of_its_code(
    code: str, kind: type[KnowledgeBaseError]
) -> None:
    error = errors.rebuilt(code, "It is so.", "Do that.")
    assert type(error) is kind
    assert (error.message, error.hint) == ("It is so.", "Do that.")
