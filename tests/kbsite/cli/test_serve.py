"""serve and worker, as real processes in a data directory of their own."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from kbsite.cli.serve import _listen
from tests import template
from tests.programs import run_program
from tests.serving import LINK, OWN_KB, PATIENCE, ROOT, Serving, environment, processes_of, until
from tests.youtube_standin import MANUAL, YouTubeStandIn

Serve = Callable[..., Serving]
WEIGHTS = "model.safetensors"  # mapped into the memory of a process that runs a model


@pytest.fixture
def serve(home: Path) -> Iterator[Serve]:
    """Start servers on the data directory."""
    started: list[Serving] = []

    def start(*arguments: str, **more: str) -> Serving:
        started.append(Serving(home, *arguments, program=OWN_KB, **more))
        return started[-1]

    yield start
    for serving in started:
        if serving.process.poll() is None:
            serving.end(signal.SIGTERM)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A data directory; whatever a failed test left running in it is ended."""
    folder = tmp_path / "home"
    yield folder
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in processes_of(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        with contextlib.suppress(AssertionError):
            until(lambda: not processes_of(folder), seconds=15)


@pytest.fixture
def database(home: Path) -> None:
    """The data directory has a database already: what its first start does is tested once."""
    template.copy_to(home)


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="looks for processes in /proc"
)


@needs_proc
def test_the_first_start_greets_signs_in_once_and_leaves_nothing_behind(
    home: Path, serve: Serve
) -> None:
    serving = serve("--sample")
    output = serving.output()
    assert f"{serving.url}/mcp" in output
    assert str(home) in output
    steps = ("Starting the database", "Loading the sample library", "Starting the web server")
    places = [output.index(step) for step in (*steps, "Cuebase is running")]
    assert places == sorted(places)
    with requests.Session() as browser:
        assert "/sign-in" in browser.get(serving.url, timeout=30).url
        first = browser.get(serving.link, timeout=30)
        assert first.status_code == 200
        assert "/sign-in" not in first.url
        assert "How BM25 ranks" in browser.get(f"{serving.url}/", timeout=30).text
    assert requests.get(serving.link, timeout=30).status_code == 410
    assert {video["title"] for video in serving.json("list")["videos"]} >= {
        "When a service says no"
    }

    assert serving.end(signal.SIGINT) == 0
    until(lambda: not processes_of(home), seconds=20)
    assert "Traceback" not in serving.output()
    assert "Cuebase has stopped." in serving.output()

    serving.start()  # its output is a log, and somebody has signed in
    assert len(LINK.findall(serving.output())) == 1, serving.output()
    assert f"Open  {serving.url}\n" in serving.output()
    assert "`kb user link` makes a link" in serving.output()


@needs_proc
@pytest.mark.usefixtures("database")
def test_the_samples_come_once_and_stay_deleted(home: Path, serve: Serve) -> None:
    serving = serve("--sample", "--no-worker")
    serving.kb("collections", "delete", "samples", "--yes")
    assert serving.end(signal.SIGTERM) == 0
    again = serve("--sample", "--no-worker")
    assert again.json("list")["total"] == 0
    assert again.end(signal.SIGTERM) == 0
    until(lambda: not processes_of(home), seconds=20)


@needs_proc
@pytest.mark.usefixtures("database")
def test_a_second_server_on_the_directory_says_where_the_first_is(home: Path, serve: Serve) -> None:
    serving = serve("--no-worker")
    output = serving.kb("serve", "--port", "0", code=5).stderr
    assert serving.url in output
    assert "YOUTUBE_KB_DATA_DIR" in output
    assert serving.url in serving.kb("user", "link").stdout
    assert all(
        hit["timestamp_link"].startswith(serving.url) for hit in serving.json("demo")["hits"]
    )
    assert (
        f"{serving.url}/mcp"
        in serving.kb("mcp-config", "--client", "cursor", "--token", "kb_x").stdout
    )
    assert serving.end(signal.SIGHUP) == 0


def test_small_packets_are_sent_at_once() -> None:
    async def has_no_delay() -> bool:
        connected: asyncio.Future[asyncio.StreamWriter] = asyncio.Future()
        with _listen("127.0.0.1", 0) as listener:
            server = await asyncio.start_server(
                lambda _, writer: connected.set_result(writer), sock=listener
            )
            async with server:
                with socket.create_connection(listener.getsockname()):
                    writer = await connected
                    accepted = writer.get_extra_info("socket")
                    value = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                    writer.close()
                    await writer.wait_closed()
        return bool(value)

    assert asyncio.run(has_no_delay())


def test_a_port_in_use_is_named_with_the_way_out(home: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = run_program(
            *OWN_KB, "serve", "--port", str(port), code=None, environment=environment(home)
        )
    assert process.returncode == 8
    assert f"Port {port}" in process.stderr
    assert "--port" in process.stderr
    assert "Traceback" not in process.stderr
    assert not (home / "postgres").exists()  # refused before anything was started


def test_where_nobody_named_the_port_the_next_free_one_is_taken_and_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with _listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with _listen("127.0.0.1", port, following=20) as listener:
            assert port < listener.getsockname()[1] <= port + 20
    printed = capsys.readouterr()
    assert f"Port {port} is in use: Cuebase listens on" in printed.out + printed.err


@needs_proc
@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    ("trusted", "forwarded", "is_stopped"),
    [
        ("", "198.51.100.{}", True),
        ("127.0.0.0/30", "198.51.100.{}", False),
        ("127.0.0.1", "198.51.100.{}, 192.0.2.1", True),  # a visitor's lie, then the proxy's word
    ],
    ids=["no proxy", "proxy", "liar behind a proxy"],
)
def test_only_a_trusted_proxy_says_who_tries_to_sign_in(
    serve: Serve, trusted: str, forwarded: str, is_stopped: bool
) -> None:
    serving = serve("--no-worker", TRUSTED_PROXIES=trusted)
    address, last = f"{serving.url}/sign-in/wrong/", 0
    for number in range(31):  # one more than an address may try
        headers = {"X-Forwarded-For": forwarded.format(number)}
        last = requests.get(address, headers=headers, timeout=30).status_code
    assert last == (429 if is_stopped else 410)


@needs_proc
@pytest.mark.usefixtures("database")
def test_the_worker_beside_it_does_jobs_and_is_replaced_when_it_is_killed(
    home: Path, serve: Serve
) -> None:
    with YouTubeStandIn() as standin:
        serving = serve(**standin.environment())
        until(lambda: serving.worker_pid() is not None)
        until(serving.has_worker)
        first = serving.worker_pid()
        assert first is not None
        os.kill(first, signal.SIGKILL)
        until(lambda: serving.worker_pid() not in (None, first))
        report = serving.json("add", MANUAL, "--wait")
        assert [job["state"] for job in report["jobs"]] == ["done"]
        assert serving.end(signal.SIGINT) == 0
    until(lambda: not processes_of(home), seconds=20)


@needs_proc
@pytest.mark.usefixtures("database")
def test_unused_models_leave_memory_and_are_loaded_again_for_who_arrives(
    serve: Serve, tmp_path: Path
) -> None:
    serving = serve(EMBEDDING_PROVIDER="local", MODEL_IDLE_SECONDS="2")
    until(lambda: serving.worker_pid() is not None)
    first = serving.worker_pid()
    (tmp_path / "queues.md").write_text("A queue keeps what cannot be done at once.\n")
    serving.kb("add", str(tmp_path / "queues.md"))
    until(lambda: serving.worker_pid() not in (None, first))  # the first embedded the note
    assert "worker ended" not in serving.output()  # nothing to worry about

    server = Path(f"/proc/{serving.process.pid}/maps")
    reader = requests.Session()
    reader.get(serving.link).raise_for_status()
    reader.get(f"{serving.url}/search/?q=what+waits").raise_for_status()
    until(lambda: WEIGHTS not in server.read_text())
    requests.get(f"{serving.url}/healthz").raise_for_status()
    assert WEIGHTS not in server.read_text()

    def is_back_for_a_visitor() -> bool:
        requests.get(f"{serving.url}/").raise_for_status()
        return WEIGHTS in server.read_text()

    until(is_back_for_a_visitor)


@needs_proc
@pytest.mark.usefixtures("database")
def test_a_killed_database_is_back_within_seconds_and_nobody_sees_a_crash(
    home: Path, serve: Serve
) -> None:
    with YouTubeStandIn() as standin:
        serving = serve(**standin.environment())
        reader, token = requests.Session(), serving.json("token", "create", "test")["token"]
        assert reader.get(serving.link).status_code == 200
        until(serving.has_worker)
        for number, line in processes_of(home).items():
            if "/bin/postgres" in line and f"-D {home}" in line:
                os.kill(number, signal.SIGKILL)
        killed_at = time.monotonic()
        while (page := reader.get(f"{serving.url}/library/")).status_code != 200:
            assert page.status_code == 503
            assert page.headers["Retry-After"]
            assert 'http-equiv="refresh"' in page.text
            problem = requests.get(
                f"{serving.url}/api/v1/jobs", headers={"Authorization": f"Bearer {token}"}
            )
            assert problem.status_code == 200 or problem.json()["code"] == "database_lost"
            assert requests.get(f"{serving.url}/healthz").status_code == 200
        assert time.monotonic() - killed_at < 10
        report = serving.json("add", MANUAL, "--wait")
        assert [job["state"] for job in report["jobs"]] == ["done"]


@needs_proc
@pytest.mark.usefixtures("database")
def test_when_the_server_is_killed_its_worker_and_the_database_end_by_themselves(
    home: Path, serve: Serve
) -> None:
    serving = serve()
    until(lambda: serving.worker_pid() is not None)
    until(serving.has_worker)
    serving.end(signal.SIGKILL)
    until(lambda: not processes_of(home), seconds=30)


@needs_proc
def test_a_stop_during_the_start_leaves_nothing_behind(home: Path) -> None:
    process = subprocess.Popen(
        [*OWN_KB, "serve", "--port", "0"],
        cwd=ROOT,
        env=environment(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    until(lambda: (home / "postgres").exists())
    process.send_signal(signal.SIGTERM)
    _, output = process.communicate(timeout=PATIENCE)
    assert b"Traceback" not in output
    until(lambda: not processes_of(home), seconds=30)


@pytest.mark.usefixtures("database")
def test_connections_whose_request_does_not_begin_or_end_are_closed(serve: Serve) -> None:
    serving = serve("--no-worker")
    host, _, port = serving.url.removeprefix("http://").partition(":")
    with contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection((host, int(port)), timeout=PATIENCE))
            for _ in range(150)
        ]
        for client in clients:
            client.sendall(b"GET /library/ HTTP/1.1\r\nHost: x\r\n")
        started = time.monotonic()
        assert {client.recv(1_000) for client in clients} == {b""}
        assert time.monotonic() - started < 37
        assert requests.get(f"{serving.url}/healthz", timeout=PATIENCE).text == "ok"
