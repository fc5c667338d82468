"""What templates ask of the site: what scripts say, and who was invited and has not come yet."""

from functools import cache
from typing import Any

from django import template
from django.contrib.auth.models import User
from django.utils.html import json_script
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation.trans_real import DjangoTranslation
from django.views.i18n import JavaScriptCatalog

from citations import samples
from kbsite.accounts import users
from kbsite.callers import SignedInRequest
from kbsite.pages import guided_start
from transcripts.models import Collection

register = template.Library()


@register.simple_tag
def script_texts() -> SafeString | str:
    """Return the translations that ``texts.js`` reads; none where the page is English."""
    texts = _texts(get_language() or "")
    return json_script(texts, "texts") if texts else ""


@cache
def _texts(language: str) -> dict[str, Any]:
    """Return the texts of scripts by their English ones; a list where there are plurals."""
    catalog = JavaScriptCatalog()
    catalog.translation = DjangoTranslation(language, domain="djangojs")
    return catalog.get_catalog()


@register.simple_tag
def guests(collection: Collection, of: User) -> dict[int, User]:
    """Return the invited members of a collection whom this user may invite again."""
    return users.guests(collection, of=of)


@register.inclusion_tag("kbsite/_guided_start.html", takes_context=True)
def guided_start_here(context: template.RequestContext) -> dict[str, Any]:
    """Return the hint of the guided start, or its offer in a library that has the sample."""
    request: SignedInRequest = context["request"]
    number = guided_start.number_of(request)
    shown: dict[str, Any] = {"csrf_token": context.get("csrf_token"), "number": number}
    if number:
        total = len(guided_start.STEPS)
        shown |= {"step": guided_start.STEPS[number - 1], "total": total, "previous": number - 1}
        return {**shown, "next": number + 1 if number < total else None}
    match = request.resolver_match  # None: there is no such page
    is_library = match is not None and match.url_name in {"library", "collection"}
    return {**shown, "is_offered": number is None and is_library and samples.are_in(request.access)}
