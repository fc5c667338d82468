"""Names that lead into this machine or its network are not connected to, whenever they do.

The child process really resolves, connects and speaks through both libraries; only its resolver is
another, and connections to public addresses are refused at its edge, so that no packet leaves.
"""

import json
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.programs import run_program
from transcripts.youtube.guard import is_public

pytestmark = pytest.mark.youtube

CHILD = """
import json, socket, sys
from transcripts.core.errors import YouTubeError
from transcripts.text.timecodes import Target
from transcripts.youtube import Options, YouTube

port, way, rebound = int(sys.argv[1]), sys.argv[2], sys.argv[3]
real, connect, answers, tried = socket.getaddrinfo, socket.socket.connect, {}, []

def resolve(host, *args, **options):
    if host in (rebound, "203.0.113.7") or host[0].isdigit() or ":" in host:
        return real(host, port, *args[1:], **options)  # an address is resolved by nobody
    answers[host] = answers.get(host, 0) + 1
    address = "142.250.1.1" if answers[host] % 2 and rebound != "always" else rebound
    address = "127.0.0.1" if address == "always" else address
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

def edge(self, address):
    tried.append(address[0])
    if address[0] == "142.250.1.1":
        raise ConnectionRefusedError(111, "no such way out")
    return connect(self, address)

socket.getaddrinfo, socket.socket.connect = resolve, edge
youtube = YouTube(Options(timeout=2))
ask = {
    "fetch": lambda: youtube.fetch("dQw4w9WgXcQ"),
    "list": lambda: youtube.list_videos(Target("playlist", "PL0123456789ABCDEF")),
    "thumbnail": lambda: youtube.thumbnail("dQw4w9WgXcQ"),
}[way]
said = []
for _ in range(4):
    try:
        ask()
    except YouTubeError as error:
        said.append([error.code, error.message])
print(json.dumps({"said": said, "tried": tried, "looked_up": sum(answers.values())}))
"""


class Listener:
    """A server of this machine that counts who connects to it."""

    def __init__(self) -> None:
        self._socket = socket.create_server(
            ("::", 0), family=socket.AF_INET6, dualstack_ipv6=socket.has_dualstack_ipv6()
        )
        self.port = self._socket.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    running = Listener()
    yield running
    running.close()


def ask(listener: Listener, way: str, rebound: str) -> dict[str, Any]:
    process = run_program(
        sys.executable,
        "-W",
        "ignore",
        "-c",
        CHILD,
        str(listener.port),
        way,
        rebound,
        environment={"PATH": "", "PYTHONPATH": ":".join(sys.path), "no_proxy": "*"},
    )
    answer: dict[str, Any] = json.loads(process.stdout)
    return answer


@pytest.mark.parametrize("way", ["fetch", "list", "thumbnail"])
@pytest.mark.parametrize("rebound", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_a_name_that_leads_to_this_machine_the_second_time_is_not_followed(
    listener: Listener, way: str, rebound: str
) -> None:
    answer = ask(listener, way, rebound)
    assert answer["looked_up"] > 1
    assert set(answer["tried"]) == {"142.250.1.1"}
    assert listener.connections == 0


def test_the_error_says_where_the_fault_lies(listener: Listener) -> None:
    [code, message] = ask(listener, "thumbnail", "always")["said"][0]
    assert code == "network"
    assert message == ("The name i.ytimg.com leads to no public address here; nothing was sent.")


def test_the_listener_of_these_tests_sees_a_connection(listener: Listener) -> None:
    with socket.create_connection(("127.0.0.1", listener.port), timeout=5) as connection:
        assert connection.recv(1) == b""
    assert listener.connections == 1


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255", "198.18.0.1"),
        *("::", "::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1"),
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::"),
    ],
)
def test_an_address_of_this_machine_or_its_network_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["142.250.1.1", "2a00:1450:4001:830::200e", "::ffff:142.250.1.1", "64:ff9b::8efa:101"],
)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)
