"""Requests wait for a database that restarts, but not each of them for one that stays away."""

from collections.abc import Iterator

import pytest
from django.db import OperationalError, connection

from kbsite.database.base import AWAY_SECONDS, DatabaseWrapper

PATIENT = 0.2


@pytest.fixture
def away(db: None) -> Iterator[DatabaseWrapper]:
    """A pool of connections to a port where nobody listens."""
    place = {**connection.settings_dict, "HOST": "127.0.0.1", "PORT": "1"}
    place["OPTIONS"] = {"pool": {"min_size": 0, "max_size": 2, "timeout": PATIENT}}
    wrapper = DatabaseWrapper(place, alias="away")
    yield wrapper
    wrapper.close()
    wrapper.close_pool()


def test_who_comes_after_one_that_waited_in_vain_waits_less(
    away: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert away.pool.timeout == PATIENT
    with pytest.raises(OperationalError):
        away.ensure_connection()
    assert away.pool.timeout == AWAY_SECONDS
    monkeypatch.setattr(away.pool, "getconn", lambda: connection.connection)
    away.get_new_connection(away.get_connection_params())  # it is back
    assert away.pool.timeout == PATIENT


def test_the_backend_is_in_use() -> None:
    assert connection.settings_dict["ENGINE"] == "kbsite.database"
