"""Connect to the database as another process does."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection


@contextmanager
def another_connection() -> Iterator["psycopg.Connection[Any]"]:
    """Connect beside the test's own connection; commit at the end, unless something was raised."""
    values = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    with psycopg.connect(**{name: values[name] for name in names if name in values}) as other:
        yield other
