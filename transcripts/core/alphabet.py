"""The alphabetical order of titles, names and tags, the same in PostgreSQL and in Python.

Accents and case count for nothing, numbers by their value: “Ärzte” stands before “Zellen”, and
“Lecture 2” before “Lecture 10”. A collation of ICU would do it, but the PostgreSQL that is bundled
is built without ICU, and the locales of the C library differ from machine to machine.
"""

import re
import unicodedata
from typing import Any, Final

from django.db.models import Func, TextField
from django.db.models.functions import Collate

DIGITS: Final = 10  # with which a number is written
_MARKS: Final = re.compile("[\u0300-\u036f]")
_NUMBER: Final = re.compile("[0-9]+")


def alphabetical(text: Any) -> Func:
    """Return a column or expression as PostgreSQL sorts by it: by code points, as Python does."""
    return Collate(Func(text, function="cuebase_alphabet", output_field=TextField()), "C")


def alphabet_key(text: str) -> str:
    """Return what a text is sorted by in Python; see the function of the database."""
    plain = _MARKS.sub("", unicodedata.normalize("NFD", text)).replace("ß", "ss").lower()
    return _NUMBER.sub(lambda number: number[0][-DIGITS:].zfill(DIGITS), plain)
