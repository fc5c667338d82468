"""How a REST interface refuses a request."""

from typing import Any

from tests.kbsite import declared

PROBLEM = "application/problem+json"


def problem(response: Any, status: int, code: str) -> None:
    """Fail unless a response is this problem."""
    declared.check(response)
    assert response.status_code == status, response.content[:300]
    assert response["Content-Type"] == PROBLEM
    assert response.json()["code"] == code
    assert status != 422 or response.json()["errors"], "a refusal names what is wrong"
