"""Where data are: the data directory, the database and its replicas."""

from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from platformdirs import user_data_path

from kbsite import postgres
from kbsite.settings.options import env, option

_data_dir = option(
    "YOUTUBE_KB_DATA_DIR",
    "",
    "Directory of the embedded database and the queue; empty: the platform's user data directory.",
)
DATA_DIR = Path(_data_dir or user_data_path("cuebase"))
DATABASE_URL = option(
    "DATABASE_URL",
    "",
    "An external PostgreSQL with pgvector, as postgres://user:password@host/name; "
    "empty: the embedded one.",
    secret=True,
)
DATABASE_REPLICAS = option(
    "DATABASE_REPLICAS",
    [],
    "Read replicas of DATABASE_URL: addresses of the same form, separated by commas.",
    secret=True,
)

_SCHEMES = {"postgres", "postgresql", "psql", "pgsql"}
for _name, _url in (
    ("DATABASE_URL", DATABASE_URL),
    *(("DATABASE_REPLICAS", _replica) for _replica in DATABASE_REPLICAS),
):
    if _url and _url.partition("://")[0] not in _SCHEMES:
        raise ImproperlyConfigured(
            f"{_name} does not name a PostgreSQL: postgres://user:password@host/name is expected"
        )
if DATABASE_REPLICAS and not DATABASE_URL:
    raise ImproperlyConfigured("DATABASE_REPLICAS needs DATABASE_URL, whose replicas they are")
_database: dict[str, Any] = (
    dict(env.db("DATABASE_URL")) if DATABASE_URL else postgres.database_settings(DATA_DIR)
)
DB_POOL_SIZE = option(
    "DB_POOL_SIZE", 20, "Database connections per process, which its requests share.", least=1
)


def _pooled(place: dict[str, Any], **pool: float) -> dict[str, Any]:
    pool = {"min_size": 1, "max_size": DB_POOL_SIZE, **pool}
    options = {**place.get("OPTIONS", {}), "pool": pool}
    return {**place, "ENGINE": "kbsite.database", "CONN_HEALTH_CHECKS": True, "OPTIONS": options}


# A replica that does not answer at once is left out; it is looked for anew soon.
REPLICAS = {
    f"replica-{number}": _pooled(env.db_url_config(url), timeout=0.3, reconnect_timeout=2)
    for number, url in enumerate(DATABASE_REPLICAS, 1)
}
DATABASES = {"default": _pooled(_database, timeout=5), **REPLICAS}
