"""Django's backend for PostgreSQL, which waits for a connection as long as is worth it."""

from typing import Any, Final

from django.db.backends.postgresql import base
from psycopg_pool import PoolTimeout

AWAY_SECONDS: Final = 0.5  # that a request waits for a database that others waited for in vain


class DatabaseWrapper(base.DatabaseWrapper):
    """Waits for a restart of the database; but once that was in vain, not with every request."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect. Raises ``PoolTimeout``, soon if the attempt before did."""
        pool = self.pool
        try:
            connected = super().get_new_connection(conn_params)
        except PoolTimeout:
            if pool:
                pool.timeout = AWAY_SECONDS
            raise
        if pool:
            pool.timeout = self.settings_dict["OPTIONS"]["pool"]["timeout"]
        return connected
