"""Server-sent events."""

import asyncio
from collections.abc import AsyncIterator
from typing import cast

from transcripts.views import events


def test_a_stream_sends_changes_and_ends_with_the_final_state() -> None:
    states = iter([("one", False), ("one", False), ("two\nlines", True)])

    async def collect() -> list[str]:
        stream = cast(
            AsyncIterator[bytes], events.stream("job", lambda: next(states)).streaming_content
        )
        return [part.decode() async for part in stream]

    sent = asyncio.run(collect())
    assert sent == [
        "event: job\ndata: one\n\n",
        "event: job\ndata: two\ndata: lines\n\n",
        "event: finished\ndata: finished\n\n",
    ]


def test_a_stream_ignores_changes_of_the_csrf_token() -> None:
    form = '<input type="hidden" name="csrfmiddlewaretoken" value="{}">'
    states = iter([(form.format("a"), False), (form.format("b"), False), (form.format("c"), True)])

    async def collect() -> list[str]:
        stream = cast(
            AsyncIterator[bytes], events.stream("job", lambda: next(states)).streaming_content
        )
        return [part.decode() async for part in stream]

    assert [part.splitlines()[0] for part in asyncio.run(collect())] == [
        "event: job",
        "event: finished",
    ]


def test_a_line_break_in_the_data_starts_no_other_event() -> None:
    assert events.event("job", "a\r\nevent: x\u2028y\x85z").count("event:") == 2
    assert events.event("job", "a\r\nevent: x").splitlines()[1:3] == ["data: a", "data: event: x"]
