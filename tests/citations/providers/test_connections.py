"""Connections to model servers end when nobody waits for the answer any more."""

import threading
import time

import pytest

from citations.providers.http import ModelServer
from tests.citations.providers.test_http import BODY, Listed, _server
from tests.model_standin import Fault, ModelStandIn
from transcripts.core import cancellation


@pytest.fixture
def server(model_server: ModelStandIn) -> ModelServer:
    return _server(model_server, timeout=20.0)


@pytest.mark.parametrize("fault", [Fault.SLOW, Fault.DRIPPING])
def test_a_request_that_is_given_up_ends_while_it_waits(
    server: ModelServer, model_server: ModelStandIn, fault: Fault
) -> None:
    model_server.delay = 20.0
    model_server.fail(fault)
    given_up = threading.Event()
    token = cancellation.GIVEN_UP.set(given_up)
    threading.Timer(0.3, given_up.set).start()
    started = time.monotonic()
    try:
        with pytest.raises(cancellation.Cancelled):
            server.post("/embeddings", BODY, Listed)
    finally:
        cancellation.GIVEN_UP.reset(token)
    assert time.monotonic() - started < 10
    assert len(server.post("/embeddings", BODY, Listed).data) == 1


def test_a_timeout_longer_than_a_look_still_ends_the_wait(model_server: ModelStandIn) -> None:
    model_server.delay = 20.0
    model_server.fail(Fault.SLOW)
    server, started = _server(model_server, timeout=1.2), time.monotonic()
    with pytest.raises(Exception, match="did not answer within"):
        server.post("/embeddings", BODY, Listed, tries=1)
    assert 1.0 < time.monotonic() - started < 10
