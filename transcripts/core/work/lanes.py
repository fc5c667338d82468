"""Turns between the people who add work: see docs/decisions/0013."""

from collections.abc import Sequence
from typing import Any, TypeVar

from django.db.models import Case, F, OuterRef, QuerySet, Subquery, When, Window
from django.db.models.functions import FirstValue, RowNumber

_Works = TypeVar("_Works", bound="QuerySet[Any]")


def in_turn(
    works: _Works,
    *,
    classes: Sequence[str],
    started: "QuerySet[Any]",
    names: tuple[str, str],
    within: Sequence[Any] = ("pk",),
) -> _Works:
    """Order work: the first of each lane, beginning with the lane that was served longest ago;
    then the second of each lane, and so on.

    A lane is the work of one collection that one person added. ``classes`` go before turns ("-":
    descending); ``within`` is the order within a lane. ``started`` is all work that was begun ever.
    ``names`` are those of the columns of who added it and of when it was begun.
    """
    person, begun_at = names
    lane = started.filter(**{"collection": OuterRef("collection"), f"{begun_at}__isnull": False})
    own, nobodys = lane.filter(**{person: OuterRef(person)}), lane.filter(**{person: None})
    latest = [
        Subquery(rows.order_by(f"-{begun_at}").values(begun_at)[:1]) for rows in (own, nobodys)
    ]
    window: dict[str, Any] = {
        "partition_by": [*(name.removeprefix("-") for name in classes), "collection", person],
        "order_by": list(within),
    }
    turned = works.annotate(
        turn=Window(RowNumber(), **window),
        served_at=Case(When(**{person: None}, then=latest[1]), default=latest[0]),
        head=Window(FirstValue("pk"), **window),  # lanes that were never served, in this order
    )
    return turned.order_by(*classes, "turn", F("served_at").asc(nulls_first=True), "head")
