"""Replay many lectures at once at ten times their speed, over HTTP, and see whether windows are
lost or doubled, how long they take, and what memory does.

Run ``python bench/soak.py`` from the repository; ``--sessions``, ``--speed``, ``--minutes``,
``--chunks`` for others. The server is `kb serve`; every session is moved on once a second, and
begins anew with another recording when its own ends. The library is that of ``bench/search.py``. At
the end the words of every session's windows are compared with those that its recording says until
then.
"""

import asyncio
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import fmean
from typing import Final

from harness.environment import arguments, boot, command, machine

boot(RERANKER="none", API_CALLS_PER_MINUTE="0")

import httpx
from asgiref.sync import sync_to_async
from harness.large import LargeLibrary
from harness.report import publish, spread
from harness.server import Server, new_token, serving
from harness.sets import paths

from citations.models import Citation, LectureSession, Window, WindowOutcome
from citations.providers import registry
from transcripts.adding import storage
from transcripts.library import reading as library
from transcripts.models import Transcript

FOLDERS: Final = ("ocw6012", "nyudl")
TICK: Final = 1.0  # s
DRAIN: Final = 120.0  # s that the last windows may take
PARTS: Final = 10  # of the time, whose mean memory is told


def main() -> None:
    options = arguments(__doc__, sessions=20, speed=10.0, minutes=10.0, chunks=10_000)
    large = LargeLibrary()
    large.grow(options.chunks)
    recordings = stored(large)
    seconds = options.minutes * 60
    soak = Soak(large, recordings, options.sessions, options.speed, seconds)
    registry.warm()  # makes the models ready for this machine, once
    with serving("--no-worker") as server:
        asyncio.run(soak.run(server, new_token("--write")))
    publish(
        "Live lectures: soak",
        f"{command()}: {soak.count} sessions at once, each at {soak.speed:g} times its speed, for"
        f" {options.minutes:g} minutes, moved on once a second over HTTP by another process on the"
        f" same {os.cpu_count()} cores. {options.chunks:,} chunks, all-MiniLM-L6-v2, no"
        f" cross-encoder; the embedded PostgreSQL; {machine()}. Milliseconds are median / 95th"
        " percentile.",
        "\n".join(f"- {line}" for line in report(soak)),
    )


def stored(large: LargeLibrary) -> list[Transcript]:
    made = [
        storage.add_captions(large.collection, path.read_bytes(), name=path.name).transcript
        for path in paths(*FOLDERS)
    ]
    english = Transcript.objects.filter(
        pk__in=[each.pk for each in made], language__startswith="en"
    )
    return list(english.select_related("video"))


@dataclass
class Soak:
    """One soak: which sessions there were, and what was seen."""

    large: LargeLibrary
    recordings: Sequence[Transcript]
    count: int
    speed: float
    seconds: float
    sessions: list[int] = field(default_factory=list)  # their primary keys
    calls: list[float] = field(default_factory=list)  # ms that moving a session on took
    memory: list[float] = field(default_factory=list)  # MB, once a second
    drained: float = 0.0  # s after the end until nothing waited
    late: int = 0  # ticks that could not be kept

    async def run(self, server: Server, token: str) -> None:
        """Replay, and wait until everything is cited."""
        turns = cycle(self.recordings)
        async with httpx.AsyncClient(
            base_url=f"{server.origin}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        ) as client:
            stop = time.monotonic() + self.seconds
            await asyncio.gather(
                *(
                    self._replay(client, turns, stop, number * TICK / self.count)
                    for number in range(self.count)
                ),
                self._weigh(server.process.pid, stop),
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
                "collection": self.large.collection.slug,
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


def report(soak: Soak) -> Iterator[str]:
    faults = [fault for pk in soak.sessions if (fault := wrong(pk))]
    rows = Window.objects.filter(session__in=soak.sessions)
    done = [
        (row.finished_at - row.created_at).total_seconds() * 1000 for row in rows if row.finished_at
    ]
    own = [each for each in rows.values_list("milliseconds", flat=True) if each]
    cited = rows.filter(outcome=WindowOutcome.CITED).count()
    yield (
        f"{len(soak.sessions)} sessions, {len(done):,} windows"
        f" ({len(done) / soak.seconds:.1f} a second), {cited:,} of them with citations."
    )
    again = rows.filter(attempts__gt=1).count()
    yield (
        f"Lost, doubled or wrong: {', '.join(faults) or 'none, word by word'}. Cited in a second"
        f" try: {again}."
    )
    yield (
        f"From a window's being whole until its citations are stored: {spread(done, 0)}, most"
        f" {max(done):.0f}."
    )
    yield f"Of that, being cited (in batches of up to 8): {spread(own, 0)}."
    yield (
        f"Moving a session on, over HTTP: {spread(soak.calls, 0)}. Ticks more than a second late:"
        f" {soak.late}."
    )
    yield f"Nothing waited any more {soak.drained:.1f} s after the end."
    each = -(-len(soak.memory) // PARTS)
    parts = [soak.memory[at : at + each] for at in range(0, len(soak.memory), each)]
    means = ", ".join(f"{fmean(part):.0f}" for part in parts)
    yield f"Memory of the server in MB, mean of each tenth of the time: {means}."
    described = rows.exclude(keywords=[]).count()
    yield f"Keywords, which come when nothing waits: of {described:,} windows."


if __name__ == "__main__":
    main()
