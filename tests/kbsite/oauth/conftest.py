"""Every test counts anew."""

import pytest

from kbsite.middleware import rate_limits


@pytest.fixture(autouse=True)
def _uncounted() -> None:
    rate_limits.forget()
