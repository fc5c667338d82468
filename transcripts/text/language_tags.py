"""How far apart two language tags are, such as ``he`` and ``iw`` (BCP 47)."""

import re
from typing import Final

_TAG: Final = re.compile(
    r"([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|[0-9]{3}))?(?:-.*)?", re.IGNORECASE
)
# Replaced codes (IANA's registry of subtags), and ``no`` and ``tl`` as Unicode's CLDR has them.
_REPLACED: Final = {"iw": "he", "in": "id", "ji": "yi", "mo": "ro", "no": "nb", "tl": "fil"}
# The script of a tag that names none, where a language is written in two (CLDR likely subtags).
_SCRIPTS: Final = {"zh": "hans", "zh-tw": "hant", "zh-hk": "hant", "zh-mo": "hant", "sr": "cyrl"}


def distance(requested: str, offered: str) -> int | None:
    """Return how far captions are from the requested language: 0 for the same tag, None for another
    language or script.

    A requested language without script and region includes all of its variants.
    """
    if requested.casefold() == offered.casefold():
        return 0
    first, second = _parts(requested), _parts(offered)
    if not first or not second or first[0] != second[0]:
        return None
    (_, script, region), (_, other_script, other_region) = first, second
    if script != other_script:
        return 4 if requested.isalpha() else None
    return 1 if region == other_region else 3 if region and other_region else 2


def _parts(tag: str) -> tuple[str, str, str] | None:
    """Return language, script and region in small letters; "" for what is not known."""
    if not (match := _TAG.fullmatch(tag)):
        return None
    language, script, region = ((part or "").lower() for part in match.groups())
    language = _REPLACED.get(language, language)
    likely = _SCRIPTS.get(f"{language}-{region}") or _SCRIPTS.get(language, "")
    return language, script or likely, region
