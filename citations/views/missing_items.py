"""What is said of selected items that are not there any more: another tab may have deleted some."""

from django.contrib import messages
from django.utils.formats import number_format
from django.utils.translation import ngettext

from citations.ingest.selection import ChosenItems
from transcripts.core.views.requests import PageRequest


def tell(request: PageRequest, chosen: ChosenItems) -> None:
    """Say how many items something could not be done with, if any."""
    if not chosen.missing:
        return
    text = ngettext(
        "%(count)s item was not there any more.",
        "%(count)s items were not there any more.",
        chosen.missing,
    )
    count = number_format(chosen.missing, force_grouping=True)
    messages.warning(request, text % {"count": count})
