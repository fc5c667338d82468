"""Whether something can be shared by a link, said before the form is sent."""

from typing import Any
from uuid import UUID

from django import template

from citations.notebook import link_terms
from citations.notebook.answers import AnswerRecord
from citations.notebook.link_terms import LinkTerms
from citations.readers.clips import cutter
from transcripts.models import Collection

register = template.Library()
register.simple_tag(cutter.is_installed, name="can_cut_clips")


@register.simple_tag(takes_context=True)
def terms_of_links(context: dict[str, Any], collection: Collection) -> LinkTerms:
    """Return what keeps the reader of this page from sharing what a collection holds."""
    request = context["request"]
    return link_terms.of_collection(request.access, request.user, collection)


@register.simple_tag(takes_context=True)
def terms_of_answer(context: dict[str, Any], answer: AnswerRecord) -> LinkTerms:
    """Return what keeps the reader of this page from sharing an answer."""
    request = context["request"]
    known: dict[UUID, LinkTerms] = request.__dict__.setdefault("terms_of_answers", {})
    if answer.id not in known:
        shown = [entry.answer for entry in context.get("answers", ())]  # all at once
        known |= link_terms.of_answers(request.access, request.user, [*shown, answer])
    return known[answer.id]
