"""Replay many lectures at once at ten times their speed, over HTTP, and see whether windows are
lost or doubled, how long they take, and what memory does.

Run ``python bench/soak.py`` from the repository; ``--sessions``, ``--speed``, ``--minutes``,
``--chunks`` for others. The server is a process of its own, as `kb serve` starts it; every session
is moved on once a second, and begins anew with another recording when its own ends. The library is
that of ``bench/search.py``. At the end the words of every session's windows are compared with those
that its recording says until then.
"""

import argparse
import asyncio
import os
import platform
import shlex
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Final

from environment import DATA, HOME, ROOT, boot

boot(RERANKER="none")

import httpx
import search
import shaped
from asgiref.sync import sync_to_async
from bm25 import percentile, write
from django.contrib.auth.models import User

from citations.models import Citation, LectureSession, Window, WindowOutcome
from citations.providers import registry
from kbsite.models import ApiToken
from transcripts.adding import storage
from transcripts.core.access import AccessLevel
from transcripts.library import reading as library
from transcripts.models import Transcript

FOLDERS: Final = ("ocw6012", "nyudl")
TICK: Final = 1.0  # s
DRAIN: Final = 120.0  # s that the last windows may take
PARTS: Final = 10  # of the time, whose mean memory is told


def main() -> None:
    """Soak, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--speed", type=float, default=10.0)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--chunks", type=int, default=10_000)
    options = parser.parse_args()
    os.environ.update(
        LIVE_RERANKER=str(shaped.tinybert(Path(HOME) / "tinybert")), LIVE_RELEVANCE_THRESHOLD="0"
    )
    kept = search.Library()
    kept.grow(options.chunks)
    recordings = stored(kept)
    soak = Soak(kept, recordings, options.sessions, options.speed, options.minutes * 60)
    registry.warm()  # makes the models ready for this machine, once
    with served() as (address, pid):
        asyncio.run(soak.run(address, pid, token(kept)))
    report = "\n".join(section(soak, options.chunks))
    print(report)
    write(report)


# Before


def stored(kept: search.Library) -> list[Transcript]:
    """Store the recordings."""
    paths = [
        path
        for folder in FOLDERS
        for path in sorted((DATA / "dev" / "transcripts" / folder).glob("*.json"))
    ]
    made = [
        storage.add_captions(kept.collection, path.read_bytes(), name=path.name).transcript
        for path in paths
    ]
    return list(
        Transcript.objects.filter(
            pk__in=[source.pk for source in made], language__startswith="en"
        ).select_related("video")
    )


def token(kept: search.Library) -> str:
    """Return the token of somebody who owns the collection."""
    owner = User.objects.create_user("soak", is_superuser=True)
    return ApiToken.issue(owner, name="soak", access=AccessLevel.WRITE)[1]


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """Run the server; give its address and process."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "kbsite.asgi:application",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--log-level",
        "warning",
    ]
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "DJANGO_SETTINGS_MODULE": "kbsite.settings.django"}
    )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                httpx.get(f"{address}/healthz", timeout=1)
                break
            except httpx.HTTPError:
                time.sleep(0.2)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(30)


# During


@dataclass
class Soak:
    """One soak: which sessions there were, and what was seen."""

    kept: search.Library
    recordings: Sequence[Transcript]
    count: int
    speed: float
    seconds: float
    sessions: list[int] = field(default_factory=list)  # their primary keys
    calls: list[float] = field(default_factory=list)  # ms that moving a session on took
    memory: list[float] = field(default_factory=list)  # MB, once a second
    drained: float = 0.0  # s after the end until nothing waited
    late: int = 0  # ticks that could not be kept

    async def run(self, address: str, pid: int, key: str) -> None:
        """Replay, and wait until everything is cited."""
        turns = cycle(self.recordings)
        async with httpx.AsyncClient(
            base_url=f"{address}/api/v1/", headers={"Authorization": f"Bearer {key}"}, timeout=60
        ) as client:
            stop = time.monotonic() + self.seconds
            await asyncio.gather(
                *(
                    self._replay(client, turns, stop, number * TICK / self.count)
                    for number in range(self.count)
                ),
                self._weigh(pid, stop),
            )
            await self._end(client)
        started = time.monotonic()
        waiting = sync_to_async(
            Window.objects.filter(session__in=self.sessions, outcome=WindowOutcome.WAITING).exists
        )
        while await waiting() and time.monotonic() - started < DRAIN:
            await asyncio.sleep(0.2)
        self.drained = time.monotonic() - started

    async def _replay(
        self, client: httpx.AsyncClient, turns: Iterator[Transcript], stop: float, wait: float
    ) -> None:
        await asyncio.sleep(wait)  # not all at the same moment
        while time.monotonic() < stop:
            recording = next(turns)
            session, length = await self._begin(client, recording)
            started = time.monotonic()
            tick = 0
            while time.monotonic() < stop and tick * TICK * self.speed < length:
                tick += 1
                pause = started + tick * TICK - time.monotonic()
                self.late += pause < -TICK
                await asyncio.sleep(max(0.0, pause))
                before = time.perf_counter()
                answer = await client.post(
                    f"sessions/{session}/replay",
                    json={"position": (time.monotonic() - started) * self.speed},
                )
                self.calls.append((time.perf_counter() - before) * 1000)
                answer.raise_for_status()

    async def _begin(self, client: httpx.AsyncClient, recording: Transcript) -> tuple[str, float]:
        """Begin a lecture; return its id, and how long the recording is in s."""
        answer = await client.post(
            "sessions",
            json={
                "collection": self.kept.collection.slug,
                "video_id": recording.video.key,
                "title": "soak",
            },
        )
        answer.raise_for_status()
        session = await LectureSession.objects.aget(uuid=answer.json()["id"])
        self.sessions.append(session.pk)
        cues = await sync_to_async(library.cues_of)(recording)
        return str(session.uuid), cues[-1].end / 1000 + TICK * self.speed

    async def _weigh(self, pid: int, stop: float) -> None:
        while time.monotonic() < stop:
            self.memory.append(resident(pid))
            await asyncio.sleep(1)

    async def _end(self, client: httpx.AsyncClient) -> None:
        async for session in LectureSession.objects.filter(pk__in=self.sessions, ended_at=None):
            (await client.post(f"sessions/{session.uuid}/end")).raise_for_status()


def resident(pid: int) -> float:
    """Return the MB of memory that a process has (Linux)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


# After


def wrong(pk: int) -> str:
    """Say what is wrong with a session's windows; empty where nothing is."""
    session = LectureSession.objects.select_related("transcript").get(pk=pk)
    assert session.transcript is not None
    said = [cue for cue in library.cues_of(session.transcript) if cue.end <= session.position]
    rows = list(Window.objects.filter(session=session).order_by("index"))
    if [row.index for row in rows] != [*range(len(rows))]:
        return "an index is missing"
    if merged(row.text for row in rows) != " ".join(segment.text for segment in said).split():
        return "words are lost or doubled"
    if open_ := sum(row.outcome in (WindowOutcome.WAITING, WindowOutcome.FAILED) for row in rows):
        return f"{open_} windows wait or failed"
    ranks: dict[int | None, list[int | None]] = {}
    for index, rank in (
        Citation.objects.filter(session=session)
        .order_by("window_index", "rank")
        .values_list("window_index", "rank")
    ):
        ranks.setdefault(index, []).append(rank)
    cited = {row.index for row in rows if row.outcome == WindowOutcome.CITED}
    return (
        ""
        if set(ranks) == cited
        and all(rank == [*range(1, len(rank) + 1)] for rank in ranks.values())
        else "citations and windows do not agree"
    )


def merged(texts: Iterable[str]) -> list[str]:
    """Return the words of windows, those once that a window has in common with the one before.

    Where it is cut depends on when its words came.
    """
    words: list[str] = []
    for text in texts:
        own = text.split()
        shared = next(
            (
                count
                for count in range(min(len(own), len(words)), 0, -1)
                if words[-count:] == own[:count]
            ),
            0,
        )
        words += own[shared:]
    return words


def section(soak: Soak, chunks: int) -> Iterator[str]:
    """Write the section of the results."""
    faults = [fault for pk in soak.sessions if (fault := wrong(pk))]
    rows = Window.objects.filter(session__in=soak.sessions)
    done = [
        (row.finished_at - row.created_at).total_seconds() * 1000 for row in rows if row.finished_at
    ]
    own = [
        milliseconds for milliseconds in rows.values_list("milliseconds", flat=True) if milliseconds
    ]
    again = [attempts for attempts in rows.values_list("attempts", flat=True) if attempts > 1]
    yield "## Live lectures: soak"
    yield ""
    yield (
        f"`python {shlex.join(['bench/soak.py', *sys.argv[1:]])}`: {soak.count} sessions at"
        f" once, each at {soak.speed:g} times its speed, for"
    )
    yield (
        f"{soak.seconds / 60:g} minutes, moved on once a second over HTTP by another process"
        f" on the same {os.cpu_count()} cores. {chunks:,} chunks,"
    )
    yield (
        f"all-MiniLM-L6-v2, a cross-encoder of TinyBERT's shape with random weights; the"
        f" embedded PostgreSQL; Python {platform.python_version()}."
    )
    yield ""
    cited = rows.filter(outcome=WindowOutcome.CITED).count()
    yield (
        f"- {len(soak.sessions)} sessions, {len(done):,} windows"
        f" ({len(done) / soak.seconds:.1f} a second), {cited:,} of them with citations."
    )
    yield (
        f"- Lost, doubled or wrong: {', '.join(faults) if faults else 'none, word by word'}."
        f" Cited in a second try: {len(again)}."
    )
    yield (
        f"- From a window's being whole until its citations are stored: {spread(done)}, most"
        f" {max(done):.0f}."
    )
    yield f"- Of that, being cited (in batches of up to 8): {spread(own)}."
    yield (
        f"- Moving a session on, over HTTP: {spread(soak.calls)}. Ticks more than a second"
        f" late: {soak.late}."
    )
    yield f"- Nothing waited any more {soak.drained:.1f} s after the end."
    each = -(-len(soak.memory) // PARTS)
    means = [
        statistics.fmean(soak.memory[at : at + each]) for at in range(0, len(soak.memory), each)
    ]
    yield (
        f"- Memory of the server in MB, mean of each tenth of the time:"
        f" {', '.join(f'{mean:.0f}' for mean in means)}."
    )
    described = rows.exclude(keywords=[]).count()
    yield f"- Keywords, which come when nothing waits: of {described:,} windows."


def spread(values: Sequence[float]) -> str:
    """Write median and 95th percentile of milliseconds."""
    return f"median {statistics.median(values):.0f} ms, 95th percentile {percentile(values):.0f} ms"


if __name__ == "__main__":
    main()
