"""The permanent address of a citation."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from citations.quotes import verification
from transcripts.views.requests import PageRequest


@require_safe
def go(request: PageRequest, citation_id: UUID) -> HttpResponse:
    """Redirect to the current position of a citation."""
    return redirect(verification.address_of(request.access, citation_id))
