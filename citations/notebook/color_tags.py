"""The colour of a highlight as a tag of other programs, in the reader's language.

It stands below one tag of Cuebase's: “yellow” by itself would be one of the reader's own tags.
"""

from django.utils.translation import gettext as _

from citations.models import Highlight


def path_of(row: Highlight) -> tuple[str, str]:
    """Return the tag of all highlights, and that of a colour below it."""
    return _("highlight"), row.get_color_display()
