"""Two transactions that want the same rows."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction

PATIENCE = 60.0  # seconds until the other transaction must have come to a lock

_WAITING = """SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'"""


def run_against(
    act: Callable[[], object], *, lock: Callable[[], object], write: Callable[[], object]
) -> None:
    """Run ``act`` while another transaction holds a lock, and writes once ``act`` waits for it.

    Raises what either of them raises.
    """
    is_locked = threading.Event()

    def run() -> None:
        try:
            with transaction.atomic():
                lock()
                is_locked.set()
                _await_waiter()
                write()
        finally:
            is_locked.set()
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(run)
        is_locked.wait(PATIENCE)
        act()
        other.result()


def _await_waiter() -> None:
    ends = time.monotonic() + PATIENCE
    with connection.cursor() as cursor:
        while time.monotonic() < ends:
            cursor.execute(_WAITING)
            if cursor.fetchone():
                return
            time.sleep(0.02)
    raise AssertionError("nobody waits for the lock")
