"""Languages by name, as people read and write them, for tags such as "pt-BR".

The names are those of Django, which knows them in every language of the pages.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from django.conf.locale import LANG_INFO
from django.utils.translation import get_language, gettext, gettext_noop, to_locale

from transcripts.core.errors import InvalidInput
from transcripts.core.sanitize import clean

MAX_LENGTH: Final = 35  # characters of a tag, and of a name
_NAMES: Final[dict[str, tuple[str, str]]] = {
    **{tag: (of["name"], of["name_local"]) for tag, of in LANG_INFO.items() if "name" in of},
    "zh": (gettext_noop("Chinese"), "中文"),  # Django has it by its scripts alone
}
_TAG: Final = re.compile(r"([A-Za-z]{2,3})((?:-[A-Za-z0-9]{1,8}){0,4})", re.ASCII)
_VARIANT: Final = re.compile(r"(.+) \(([A-Za-z0-9-]+)\)")


def name_of(tag: str) -> str:
    """Return the name of a language in that of the page; of an unknown one the tag.

    A variant without a name of its own has that of its language: "de-AT" is "German (AT)".
    """
    if names := _NAMES.get(tag.lower()):
        return gettext(names[0])
    code, _, variant = tag.partition("-")
    names = _NAMES.get(code.lower())
    return f"{gettext(names[0])} ({variant})" if names and variant else tag


def code_of(text: str) -> str:
    """Return the tag of a language that is called so in the language of the page, in English or in
    its own, in any case; any other text as it is.
    """
    tags, written = _tags(get_language() or ""), clean(text, MAX_LENGTH)
    if tag := tags.get(" ".join(written.casefold().split())):
        return tag
    variant = _VARIANT.fullmatch(written)
    tag = tags.get(variant[1].casefold()) if variant else None
    return f"{tag}-{variant[2]}" if variant and tag else text


def parse(text: str) -> str:
    """Return the tag of a language that a person wrote, by name or as a tag; "" for nothing.

    Raises ``InvalidInput``.
    """
    tag = code_of(clean(text, MAX_LENGTH + 1)).replace("_", "-")
    match = _TAG.fullmatch(tag)
    if tag and (not match or len(tag) > MAX_LENGTH):
        raise unknown(text)
    return f"{match[1].lower()}{match[2]}" if match else ""


def unknown(text: str) -> InvalidInput:
    """Return the error of a language whose name or tag is not known."""
    return InvalidInput(
        f"No language is known as “{clean(text, MAX_LENGTH)}”.",
        hint="Choose one from the list, or write its code, such as de or pt-BR.",
    )


def choices(own: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names and tags of all languages that have a name: first the own ones, given by
    their tags, then the others by name.
    """
    first = dict.fromkeys(filter(None, own))
    known = {tag.lower() for tag in first}
    others = [_canonical(code) for code in _NAMES if code not in known]
    named = sorted(((name_of(tag), tag) for tag in others), key=lambda pair: pair[0].casefold())
    return [(name_of(tag), tag) for tag in first] + named


@cache
def _tags(page: str) -> dict[str, str]:  # which gettext reads, too
    """Return the tags of languages by their names in the language of a page and in others."""
    return {
        name.casefold(): _canonical(code)
        for code, names in _NAMES.items()
        for name in (gettext(names[0]), *names)
    }


def _canonical(code: str) -> str:
    """Write a code of Django as a tag: "pt-br" as "pt-BR"."""
    return to_locale(code).replace("_", "-")
