"""More requests than can be worked on wait briefly, then are told when to come back."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kbsite.middleware import load_limit
from kbsite.middleware.load_limit import LoadLimit

AT_ONCE = 2
App = Callable[[Any, Any, Any], Awaitable[None]]
WAIT_SECONDS = load_limit.WAIT_SECONDS
WHOLE = ({"type": "http.request", "body": b"", "more_body": False},)


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_limit, "WAIT_SECONDS", 0.1)


async def ask(
    application: App,
    path: str = "/library/",
    events: Any = WHOLE,
    method: str = "GET",
    headers: Any = (),
) -> list[Any]:
    """Send a request; return the events of its response."""
    coming, sent = iter(events), []

    async def receive() -> Any:
        event = next(coming)
        return await event if isinstance(event, asyncio.Future) else event

    async def send(event: Any) -> None:
        sent.append(event)

    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    await application(scope, receive, send)
    return sent


class Site:
    """An application that takes the body, works until it is let go, and answers."""

    def __init__(self) -> None:
        self.working = 0
        self.go = asyncio.Event()
        self.limited = LoadLimit(self, at_once=AT_ONCE, questions=AT_ONCE)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            continue
        self.working += 1
        if scope["path"] == "/crash/":
            raise RuntimeError
        if scope["path"] == "/stream/":
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await self.go.wait()
        if scope["path"] != "/stream/":
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})


def run(test: Callable[[Site], Awaitable[None]]) -> None:
    async def whole() -> None:
        await test(Site())

    asyncio.run(whole())


async def fill(
    site: Site, path: str = "/library/", count: int = AT_ONCE
) -> list[asyncio.Task[Any]]:
    tasks = [asyncio.create_task(ask(site.limited, path)) for _ in range(count)]
    await asyncio.sleep(0.01)
    return tasks


def test_a_request_beyond_the_limit_is_told_when_to_come_back_within_a_second() -> None:
    async def test(site: Site) -> None:
        served = await fill(site)
        started = time.monotonic()
        start, body = await ask(site.limited)
        assert time.monotonic() - started < 1
        headers = dict(start["headers"])
        assert (start["status"], headers[b"refresh"]) == (503, headers[b"retry-after"])
        assert 2 <= int(headers[b"retry-after"]) <= 8
        assert b"busy" in body["body"]
        start, problem = await ask(site.limited, "/api/v1/jobs")
        assert {b"retry-after"} <= {name for name, _ in start["headers"]}
        assert b"refresh" not in {name for name, _ in start["headers"]}
        assert json.loads(problem["body"])["code"] == "overloaded"
        assert site.working == AT_ONCE
        site.go.set()
        assert [events[0]["status"] for events in await asyncio.gather(*served)] == [200, 200]

    run(test)


def test_a_browser_is_told_on_a_page_in_its_language() -> None:
    async def test(site: Site) -> None:
        served = await fill(site)
        browser = [(b"accept", b"text/html,*/*;q=0.8"), (b"accept-language", b"de-DE,en;q=0.5")]
        start, body = await ask(site.limited, headers=browser)
        assert dict(start["headers"])[b"content-type"].startswith(b"text/html")
        page = body["body"].decode()
        assert '<html lang="de">' in page
        assert "Der Server ist beschäftigt." in page
        _, part = await ask(site.limited, headers=[(b"hx-request", b"true")])
        assert part["body"].decode().count("The server is busy.") == 1
        assert b"<html" not in part["body"]
        site.go.set()
        await asyncio.gather(*served)

    run(test)


def test_no_more_wait_than_are_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_limit, "WAIT_SECONDS", 60)

    async def test(site: Site) -> None:
        served = await fill(site, count=2 * AT_ONCE)
        assert (await ask(site.limited))[0]["status"] == 503
        site.go.set()
        assert {events[0]["status"] for events in await asyncio.gather(*served)} == {200}

    run(test)


def test_a_request_that_waits_is_served_when_another_ends() -> None:
    async def test(site: Site) -> None:
        served = await fill(site, count=AT_ONCE + 1)
        assert site.working == AT_ONCE
        site.go.set()
        assert [events[0]["status"] for events in await asyncio.gather(*served)] == [200] * 3

    run(test)


def test_those_for_whom_there_is_room_are_served_by_a_slow_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(load_limit, "WAIT_SECONDS", WAIT_SECONDS)

    async def test(site: Site) -> None:
        served = await fill(site, count=2 * AT_ONCE)
        await asyncio.sleep(1.5)
        site.go.set()
        assert {events[0]["status"] for events in await asyncio.gather(*served)} == {200}

    run(test)


def test_streams_slow_uploads_and_crashes_hold_no_turn() -> None:
    async def test(site: Site) -> None:
        streams = await fill(site, "/stream/", count=5)
        slow: asyncio.Future[Any] = asyncio.Future()
        uploads = [asyncio.create_task(ask(site.limited, events=[slow, *WHOLE])) for _ in range(5)]
        for _ in range(5):
            with pytest.raises(RuntimeError):
                await ask(site.limited, "/crash/")
        site.go.set()
        (start, _) = await ask(site.limited)
        assert start["status"] == 200
        slow.set_result({"type": "http.request", "body": b"x", "more_body": True})
        await asyncio.gather(*streams, *uploads)

    run(test)


def test_questions_that_wait_for_a_model_hold_nobody_else_up() -> None:
    async def test(site: Site) -> None:
        answers = [
            asyncio.create_task(ask(site.limited, "/api/v1/ask", method="POST"))
            for _ in range(AT_ONCE)
        ]
        await asyncio.sleep(0.01)
        refused = await ask(site.limited, "/ask/", method="POST")
        assert refused[0]["status"] == 503
        others = await fill(site, "/ask/")
        assert site.working == 2 * AT_ONCE
        site.go.set()
        for events in await asyncio.gather(*answers, *others):
            assert events[0]["status"] == 200

    run(test)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/static/cuebase/base.css"])
def test_probes_and_static_files_need_no_turn(path: str) -> None:
    async def test(site: Site) -> None:
        served = await fill(site)
        site.go.set()
        assert (await ask(site.limited, path))[0]["status"] == 200
        await asyncio.gather(*served)

    run(test)
