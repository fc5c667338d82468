"""The audit trail, and who acts now: each door sets the actor, an entry names them.

An entry is part of the transaction of what it tells about.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Protocol

from django.db import models
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A user, perhaps with a token, at a door; nobody: the server or a worker itself."""

    door: str = "server"
    name: str = ""
    token: str = ""  # how it begins
    address: str | None = None


_find: ContextVar[Callable[[], Actor]] = ContextVar("actor", default=Actor)


def current() -> Actor:
    return _find.get()()


def resolve_with(find: Callable[[], Actor]) -> None:
    """Look the actor up with this function, from now on, in this context."""
    _find.set(find)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Act as this actor during the block."""
    token = _find.set(lambda: actor)
    try:
        yield
    finally:
        _find.reset(token)


class HasSlug(Protocol):
    """A collection, which the trail names by its slug."""

    @property
    def slug(self) -> str: ...


class AuditEntry(models.Model):
    """Who did what, when, by which door. It names things by ids, and contains no texts."""

    class Action(models.TextChoices):
        ADD = "add", _("added")
        CHANGE = "change", _("changed")
        DELETE = "delete", _("deleted")
        EXPORT = "export", _("exported")
        REVOKE = "revoke", _("revoked")
        SIGN_IN = "sign_in", _("signed in")
        REFUSE = "refuse", _("was refused")
        RESTORE = "restore", _("restored")
        MIGRATE = "migrate", _("migrated")

    at = models.DateTimeField("time", auto_now_add=True, db_index=True)
    door = models.CharField(max_length=10, help_text="web, admin, rest, mcp, kb or server.")
    actor = models.CharField(max_length=150, blank=True, help_text="The user; at kb, the account.")
    token = models.CharField(max_length=12, blank=True, help_text="How it begins.")
    address = models.GenericIPAddressField(null=True, blank=True)
    action = models.CharField(max_length=10, choices=Action.choices)
    kind = models.CharField(max_length=30)
    thing = models.CharField(max_length=200, blank=True, help_text="Its id or its key.")
    collection = models.CharField(max_length=60, blank=True, help_text="Its slug.")
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.actor or self.door} {self.get_action_display()} {self.kind} {self.thing}"


Action = AuditEntry.Action


def record(
    action: str, kind: str, thing: object = "", *, collection: HasSlug | None = None, **details: Any
) -> None:
    """Record what the current actor does. ``thing`` and ``details`` are no texts and no secrets."""
    actor, address = current(), None
    with suppress(ValueError):  # a test client, or a proxy that tells something else
        address = str(ip_address(actor.address or ""))
    AuditEntry.objects.create(
        door=actor.door,
        actor=actor.name[:150],
        token=actor.token[:12],
        address=address,
        action=action,
        kind=kind,
        thing=str(thing)[:200],
        collection=collection.slug if collection else "",
        details=details,
    )
