"""What is deleted goes whole, also while another process adds to it."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection

from citations.models import Guide, Mark, Node, Source
from tests.makers import make_document
from transcripts.core import deleting
from transcripts.library import collections
from transcripts.models import Collection


def add_guide(source: Source, user: Any) -> None:
    Guide.objects.create(source=source, digest=source.digest, version=1)


def add_section(source: Source, user: Any) -> None:
    place = {"span_start": 0, "span_end": 9, "first": 0, "last": 0}
    Node.objects.create(source=source, level=1, ordinal=99, text="x", digest=b"", **place)


def add_mark(source: Source, user: Any) -> None:
    place = {"span_start": 0, "span_end": 9, "right": True}
    Mark.objects.create(user=user, source=source, query="gradient", **place)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("add", [add_guide, add_section, add_mark])
@pytest.mark.parametrize("door", ["collection", "source", "list"])
def test_rows_that_another_process_adds_during_the_deletion_do_not_fail_it(
    owner: Any, collection: Collection, add: Callable[[Source, Any], None], door: str
) -> None:
    source = make_document(collection, ["Gradient descent follows the slope."])
    added: list[threading.Thread] = []

    def work() -> None:
        try:
            add(source, owner)
        except IntegrityError:  # the source is gone
            pass
        finally:
            connection.close()

    def add_last(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith('DELETE FROM "citations_source"'):  # all that belongs to it is gone
            added.append(threading.Thread(target=work))
            added[0].start()
            added[0].join(1)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(add_last):
        if door == "collection":
            collections.delete(collection)
        elif door == "source":
            deleting.delete_row(source)
        else:
            deleting.delete(Source.objects.filter(pk=source.pk))
    added[0].join()
    assert not Source.objects.exists()
