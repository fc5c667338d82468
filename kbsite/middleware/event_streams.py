"""Django's ASGI handler, for which event streams cost no thread."""

import asyncio
from typing import Any, Final

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpResponseBase

from transcripts.core.site_path import own_path, site_path
from transcripts.core.views.events import EventStream

STUCK_SECONDS: Final = 60.0  # that a client may leave an event unread


class SiteRequest(ASGIRequest):
    """A request below the path of the site, whether or not the proxy has taken it off."""

    def __init__(self, scope: Any, body_file: Any) -> None:
        super().__init__(scope, body_file)
        self.path_info = own_path(scope["path"])
        self.path = site_path(self.path_info)


class SiteHandler(ASGIHandler):
    """Sends an event stream when its request is over.

    Django keeps a thread for each request until the response has ended.
    """

    request_class = SiteRequest

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        sender = _Sender(send)
        await super().__call__(scope, receive, sender)
        if sender.stream is not None:
            await self._send_stream(sender.stream, receive, send)

    async def send_response(self, response: HttpResponseBase, send: Any) -> None:
        if isinstance(send, _Sender) and isinstance(response, EventStream):
            send.stream = response
        else:
            await super().send_response(response, send)

    async def _send_stream(self, stream: EventStream, receive: Any, send: Any) -> None:
        async def send_in_time(event: Any) -> None:
            async with asyncio.timeout(STUCK_SECONDS):
                await send(event)

        tasks = [
            asyncio.create_task(self.send_response(stream, send_in_time)),
            asyncio.create_task(self.listen_for_disconnect(receive)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception) and not isinstance(end, RequestAborted | TimeoutError):
                raise end


class _Sender:
    """Sends the events of a response, and keeps a stream for later."""

    def __init__(self, send: Any) -> None:
        self._send = send
        self.stream: EventStream | None = None

    async def __call__(self, event: Any) -> None:
        await self._send(event)
