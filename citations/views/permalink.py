"""The permanent address of a citation: it leads to the place as it is now."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from citations.quotes import verification
from transcripts.views.requests import PageRequest


@require_safe
def go(request: PageRequest, citation_id: UUID) -> HttpResponse:
    """Go to the second or the page that a citation quotes."""
    return redirect(verification.address_of(request.reach, citation_id))
