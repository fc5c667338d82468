"""The clock of the database, by which work waits.

Processes on several machines share it. The clocks of these machines differ, and may jump.
"""

from datetime import datetime

from django.db import connection


def now() -> datetime:
    """Return the time when this statement began, as ``Now()`` does within a query."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment
