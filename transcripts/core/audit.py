"""Write the audit trail. An entry is part of the transaction of what it tells about."""

from ipaddress import ip_address
from typing import Any

from transcripts.core import actors
from transcripts.models.audit import AuditEntry
from transcripts.models.collections import Collection

Action = AuditEntry.Action


def record(
    action: str,
    kind: str,
    thing: object = "",
    *,
    collection: Collection | None = None,
    **details: Any,
) -> None:
    """Record what the current actor does. ``thing`` and ``details`` are no texts and no secrets."""
    actor = actors.current()
    AuditEntry.objects.create(
        door=actor.door,
        actor=actor.name[:150],
        token=actor.token[:12],
        address=_checked(actor.address),
        action=action,
        kind=kind,
        thing=str(thing)[:200],
        collection=collection.slug if collection else "",
        details=details,
    )


def _checked(address: str | None) -> str | None:
    try:
        return str(ip_address(address or ""))
    except ValueError:
        return None  # a test client, or a proxy that tells something else
