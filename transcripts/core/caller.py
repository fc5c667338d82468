"""Who calls: a user, with what they may see and change now. Doors make callers; work reads them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from django.contrib.auth.models import User

from transcripts.core.scope import Scope


@dataclass(frozen=True, slots=True)
class Caller(ABC):
    """A user, and what they may see and change."""

    user: User
    scope: Scope

    @abstractmethod
    def renewed(self) -> "Caller | None":
        """Return them with what they may see and change now; None if they are signed out.

        A long request may outlive a membership, a token, a session or an account.
        """

    def still_reads(self, collection_id: int) -> bool:
        """Check again that they may read a collection."""
        renewed = self.renewed()
        return renewed is not None and collection_id in renewed.scope.readable
