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

from kbsite.accounts import users
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
