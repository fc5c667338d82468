"""`kb audit`: the audit trail as a table, CSV or JSON."""

import csv
import sys
from datetime import timedelta
from typing import Annotated

import typer
from django.utils import timezone

from kbsite.cli.options import Json
from kbsite.cli.terminal import print_json, table
from kbsite.library.database import open_library
from transcripts.models import AuditEntry

FIELDS = (
    *("at", "door", "actor", "token", "address"),
    *("action", "kind", "thing", "collection", "details"),
)


def audit(
    days: Annotated[int, typer.Option(min=1, max=36_500, help="Number of days to look back.")] = 7,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: Json = False,
) -> None:
    """Show the audit trail: who added, deleted, exported, shared or signed in, oldest first."""
    open_library()
    since = timezone.now() - timedelta(days=days)
    entries = AuditEntry.objects.filter(at__gte=since).order_by("pk").values(*FIELDS)
    rows = [
        {**entry, "at": entry["at"].isoformat(timespec="seconds")} for entry in entries.iterator()
    ]
    if as_json:
        print_json(rows)
    elif as_csv:
        writer = csv.DictWriter(sys.stdout, FIELDS)
        writer.writeheader()
        writer.writerows({name: _safe(value) for name, value in row.items()} for row in rows)
    else:
        cells = (tuple(str(row[name] or "") for name in FIELDS) for row in rows)
        table(tuple(name.capitalize() for name in FIELDS), cells, empty="Nothing was recorded.")


def _safe(value: object) -> object:
    """Keep a spreadsheet from calculating what a user's name or an address seems to ask for."""
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
