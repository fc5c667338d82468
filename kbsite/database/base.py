"""Django's backend for PostgreSQL, which waits for a connection as long as is worth it, and whose
connections a replica may lend.
"""

from collections.abc import Callable
from typing import Any, Final

from django.db.backends.postgresql import base
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from psycopg_pool import PoolTimeout

AWAY_SECONDS: Final = 0.5  # that a request waits for a database that others waited for in vain


class DatabaseWrapper(base.DatabaseWrapper):
    """Waits for a restart of the database; but once that was in vain, not with every request.

    A thread reads from a replica when its next connection is one that was ``lent``. All code of the
    thread then reads there, also by cursors, which know no router. ``spare`` lends one where the
    primary does not answer.
    """

    isolation_level = IsolationLevel.READ_COMMITTED
    lent: Any = None
    spare: Callable[[], Any] | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect. Raises ``PoolTimeout``, soon if the attempt before did."""
        if self.lent is not None:
            lent, self.lent = self.lent, None
            return lent
        pool = self.pool
        try:
            connected = super().get_new_connection(conn_params)
        except PoolTimeout:
            if pool:
                pool.timeout = AWAY_SECONDS
            lent = self.spare() if self.spare else None
            if lent is None:
                raise
            return lent
        if pool:
            pool.timeout = self.settings_dict["OPTIONS"]["pool"]["timeout"]
        return connected
