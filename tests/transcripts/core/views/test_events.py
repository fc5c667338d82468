"""Server-sent events: what changed is sent, to those who may read it, as long as they may."""

import asyncio
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import translation
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext

from transcripts.core import announcements
from transcripts.core.errors import JobNotFound, Throttled
from transcripts.core.scope import NOTHING, Scope
from transcripts.core.views import events
from transcripts.core.views.events import Fragment, Render


class Ada:
    """A caller who may read a collection until she may not."""

    user = SimpleNamespace(pk=7)

    def __init__(self) -> None:
        self.scope = Scope(frozenset({1}))
        self.now: Any = self

    def renewed(self) -> Any:
        if isinstance(self.now, Exception):
            raise self.now
        return self.now


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for long: nothing is announced here."""
    for name in ("POLL_SECONDS", "IDLE_SECONDS", "BUSY_SECONDS"):
        monkeypatch.setattr(events, name, 0.01)


def written(render: Render, caller: Any = None) -> list[str]:
    """Return what a stream sends until its end."""

    async def collect() -> list[str]:
        stream = events.stream("job", render, caller=caller or Ada(), topics=["jobs"], pause=0)
        return [part.decode() async for part in stream]  # type: ignore[union-attr]

    return asyncio.run(collect())


def in_turn(*fragments: Fragment) -> Render:
    states = iter(fragments)
    return lambda _: next(states)


@pytest.mark.usefixtures("quick")
def test_a_stream_sends_changes_and_ends_with_the_final_state() -> None:
    first, two = Fragment("one"), Fragment("two\nlines", is_final=True)
    assert written(in_turn(first, first, two)) == [
        "event: job\ndata: one\n\n",
        "event: job\ndata: two\ndata: lines\n\n",
        "event: finished\ndata: finished\n\n",
    ]


@pytest.mark.usefixtures("quick")
def test_a_stream_ignores_changes_of_the_csrf_token() -> None:
    form = '<input type="hidden" name="csrfmiddlewaretoken" value="{}">'
    forms = in_turn(*(Fragment(form.format(token), token == "c") for token in "abc"))
    assert [part.splitlines()[0] for part in written(forms)] == ["event: job", "event: finished"]


@pytest.mark.usefixtures("quick")
def test_a_stream_speaks_the_language_of_its_request() -> None:
    async def collect() -> list[Any]:
        with translation.override("de"):
            stream = events.stream(
                "job",
                lambda _: Fragment(gettext("Library"), is_final=True),
                caller=Ada(),
                topics=["jobs"],
                pause=0,
            )
            texts = events.apart((gettext(text) for text in ["Library"]), caller=Ada())
        parts = [part.decode() async for part in stream]  # type: ignore[union-attr]
        return [*parts, *[text async for text in texts]]

    sent = asyncio.run(collect())
    assert sent[0] == "event: job\ndata: Bibliothek\n\n"
    assert "Bibliothek" in sent[2:]
    assert gettext("Library") == "Library"


def test_a_line_break_in_the_data_starts_no_other_event() -> None:
    assert events.event("job", "a\r\nevent: x\u2028y\x85z").count("event:") == 2
    assert events.event("job", "a\r\nevent: x").splitlines()[1:3] == ["data: a", "data: event: x"]


@pytest.mark.usefixtures("quick")
def test_a_stream_shows_what_may_be_read_now_and_ends_when_nobody_is_signed_in() -> None:
    ada, seen = Ada(), []

    def render(scope: Scope) -> Fragment:
        seen.append(scope)
        ada.now = SimpleNamespace(scope=NOTHING) if len(seen) == 1 else None
        return Fragment(f"{sorted(scope.readable)}")

    assert [part.splitlines()[1] for part in written(render, ada)] == [
        "data: [1]",
        "data: []",
        "data: finished",
    ]
    assert seen == [ada.scope, NOTHING]


@pytest.mark.usefixtures("quick")
def test_a_database_that_is_away_for_a_moment_ends_no_stream() -> None:
    away = iter([OperationalError("gone"), None])

    def render(_: Scope) -> Fragment:
        if error := next(away):
            raise error
        return Fragment("back", is_final=True)

    assert written(render)[0] == "event: job\ndata: back\n\n"


def test_silence_is_broken_now_and_then_and_no_stream_goes_on_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(announcements, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(announcements, "MAX_SECONDS", 2.0)
    first, *rest = written(lambda _: Fragment("same"))
    assert first.startswith("event: job")
    assert events.HEARTBEAT in rest
    assert set(rest) == {events.HEARTBEAT}


def test_one_user_has_so_many_streams_and_no_more(settings: Any) -> None:
    settings.STREAMS_AT_ONCE = 1
    ada = Ada()
    with events.counted(ada):
        with pytest.raises(Throttled, match="already follow 1"):
            events.stream("job", lambda _: Fragment(), caller=ada, topics=["jobs"])
        settings.STREAMS_AT_ONCE = 0
        events.require_free(ada)
    settings.STREAMS_AT_ONCE = 1
    events.require_free(ada)


def test_a_lazy_caller_is_read_before_the_stream_begins(settings: Any) -> None:
    settings.STREAMS_AT_ONCE = 0
    read: list[bool] = []
    lazy = SimpleLazyObject(lambda: read.append(True) or Ada())  # type: ignore[func-returns-value]
    events.stream("job", lambda _: Fragment(), caller=lazy, topics=["jobs"])
    assert read


def test_the_stream_of_what_was_deleted_ends() -> None:
    def render(_: Scope) -> Fragment:
        raise JobNotFound("There is no such job.")

    assert written(render) == ["event: finished\ndata: finished\n\n"]


# Texts that a thread writes


def sent_texts(caller: Ada, texts: Iterator[str]) -> list[str]:
    async def collect() -> list[str]:
        return [text async for text in events.apart(texts, caller=caller)]

    return asyncio.run(collect())


def test_texts_are_told_in_order_to_the_end() -> None:
    assert sent_texts(Ada(), iter(["one", "two", "three"])) == ["one", "two", "three"]


def test_whoever_may_read_less_is_told_nothing_more_and_the_texts_are_sentto_the_end() -> None:
    ada, ended = Ada(), threading.Event()

    async def watch() -> list[str]:
        loop, listener = asyncio.get_running_loop(), announcements.current_listener()
        withdrawn = threading.Event()

        def withdraw() -> None:
            ada.now = SimpleNamespace(scope=NOTHING)
            listener.tell(announcements.ACCESS)
            withdrawn.set()

        def texts() -> Iterator[str]:
            yield "one"
            loop.call_soon_threadsafe(withdraw)
            withdrawn.wait(20)
            yield "two"
            ended.set()

        return [text async for text in events.apart(texts(), caller=ada)]

    assert "two" not in asyncio.run(watch())
    assert ended.wait(20)


def test_texts_wait_while_nobody_knows_who_may_read_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.02)
    ada = Ada()
    ada.now = OperationalError("gone")

    async def watch() -> list[str]:
        asyncio.get_running_loop().call_later(0.1, setattr, ada, "now", ada)
        return [text async for text in events.apart(iter(["one"]), caller=ada)]

    *pauses, last = asyncio.run(watch())
    assert last == "one"
    assert set(pauses) == {events.HEARTBEAT}
