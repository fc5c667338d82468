"""What keeps a user from sharing by links, and who can change that."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.contrib.auth.models import User

from citations.models import Source
from citations.notebook.answers import AnswerRecord
from transcripts.core.alphabet import alphabet_key
from transcripts.core.scope import Scope
from transcripts.library import collections
from transcripts.models import Collection, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """A collection without links, or that is only read; whether the user owns it, or who does."""

    collection: Collection
    is_own: bool
    is_writable: bool
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinkTerms:
    """The obstacles to a link; none where it can be made at once."""

    obstacles: tuple[Obstacle, ...] = ()

    @property
    def own(self) -> list[Collection]:
        """The collections in which the user can allow links."""
        return [obstacle.collection for obstacle in self.obstacles if obstacle.is_own]

    @property
    def is_possible(self) -> bool:
        """Whether the user can make a link, if only to a part, once they allow links where they
        may.
        """
        return bool(self.own) or not self.obstacles

    @property
    def is_for_writers(self) -> bool:
        """Whether the user may share something of this at all."""
        return not self.obstacles or any(obstacle.is_writable for obstacle in self.obstacles)


def of(scope: Scope, user: User, hindering: Iterable[Collection]) -> LinkTerms:
    """Return the terms where these collections are in the way."""
    rows = list(hindering)
    if not rows:
        return LinkTerms()
    roles, owners = collections.roles_of(user), collections.owners_of(rows)
    obstacles = []
    for row in rows:
        is_writable = row.pk in scope.writable
        is_own = is_writable and roles(row) == Role.OWNER
        own = Obstacle(
            collection=row, is_own=is_own, is_writable=is_writable, owners=tuple(owners[row.pk])
        )
        obstacles.append(own)
    return LinkTerms(tuple(obstacles))


def of_collection(scope: Scope, user: User, collection: Collection) -> LinkTerms:
    """Return the terms of what a collection holds."""
    return of(scope, user, [collection] if is_hindering(scope, collection) else [])


def of_answers(scope: Scope, user: User, answers: Iterable[AnswerRecord]) -> dict[UUID, LinkTerms]:
    """Return the terms of answers, by their ids: a part of one can be shared where one collection
    that it quotes is not in the way.
    """
    quoted = {answer.id: {quote.origin.id for quote in answer.quotes} for answer in answers}
    sources = Source.objects.visible(scope).filter(uuid__in=set().union(*quoted.values()))
    held = {source.uuid: source.collection for source in sources.select_related("collection")}
    every = of(scope, user, filter(partial(is_hindering, scope), set(held.values())))
    hindering = {obstacle.collection.pk: obstacle for obstacle in every.obstacles}
    terms = {}
    for answer, ids in quoted.items():
        keys = {held[source].pk for source in ids if source in held}
        own = [hindering[key] for key in keys] if keys <= hindering.keys() else []
        own.sort(key=lambda obstacle: alphabet_key(obstacle.collection.name))
        terms[answer] = LinkTerms(tuple(own))
    return terms


def is_hindering(scope: Scope, collection: Collection) -> bool:
    """Tell whether a collection keeps what it holds from being shared by a link of this user."""
    return not collection.allows_links or collection.pk not in scope.writable
