"""Sentences about a number of items, and about those that were not there any more."""

from typing import TypeAlias

from django.contrib import messages
from django.utils.formats import number_format
from django.utils.translation import ngettext

from citations.ingest.selection import ChosenItems
from transcripts.core.views.requests import PageRequest

Sentence: TypeAlias = tuple[int, str]  # what it counts, and the text


def counted(text: str, count: int, **values: object) -> str:
    """Fill in a number, and other values."""
    return text % {"count": number_format(count, force_grouping=True), **values}


def joined(*sentences: Sentence, **values: object) -> str:
    """Join the sentences that have something to count."""
    return " ".join(counted(text, count, **values) for count, text in sentences if count)


def tell_missing(request: PageRequest, chosen: ChosenItems) -> None:
    """Say how many items something could not be done with: another tab may have deleted some."""
    if chosen.missing:
        text = ngettext(
            "%(count)s item was not there any more.",
            "%(count)s items were not there any more.",
            chosen.missing,
        )
        messages.warning(request, counted(text, chosen.missing))
