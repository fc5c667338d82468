"""What the address of an invitation says, signed: who invites to which collection.

It is in the address, as it is still needed when the link is used up, and forgotten.
"""

from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlencode

from django.core import signing
from django.http import HttpRequest

FIELD: Final = "invitation"  # of an address


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """Who invites to which collection."""

    by: str
    collection: int

    @classmethod
    def read(cls, request: HttpRequest) -> Self | None:
        """Return what the address of a request says; None if it is of no invitation."""
        try:
            by, collection = signing.loads(request.GET.get(FIELD, ""), salt=FIELD)
        except signing.BadSignature:
            return None
        return cls(by=by, collection=collection)

    @property
    def query(self) -> str:
        return urlencode({FIELD: signing.dumps([self.by, self.collection], salt=FIELD)})
