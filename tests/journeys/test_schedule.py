"""One of all workers runs the schedule, and another takes over when it is killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.instance import Instance, kill, wait_until
from transcripts.core.locks import Lock


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    with Instance(tmp_path / "home") as site:
        yield site


def holder(instance: Instance) -> int | None:
    """Return the database session that holds the lock of the schedule."""
    rows = instance.rows(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"
        " AND (classid::bigint << 32) + objid::bigint = %s",
        Lock.SCHEDULE.value,
    )
    return rows[0][0] if rows else None


def test_another_worker_takes_the_schedule_over_and_work_goes_on(instance: Instance) -> None:
    with instance.worker() as first:
        elected = wait_until(lambda: holder(instance), what="an election")
        with instance.worker():
            wait_until(
                lambda: instance.rows("SELECT FROM transcripts_workerpulse"), what="a worker"
            )
            assert holder(instance) == elected
            kill(first)
            wait_until(
                lambda: holder(instance) not in (None, elected), what="a successor", patience=30
            )
            instance.rows("DELETE FROM transcripts_workerpulse RETURNING 1")
            wait_until(
                lambda: instance.rows(
                    "SELECT FROM transcripts_workerpulse WHERE schedule_ran_at IS NOT NULL"
                ),
                what="its schedule",
                patience=30,
            )
