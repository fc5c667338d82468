"""Real proxies before a server: Caddy and nginx."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.instance import is_listening, kill, wait_until
from tests.programs import find_program, require, require_program, run_program

ROOT = Path(__file__).resolve().parent.parent
NGINX = """
{user}
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/proxied;
    {server}
}}
"""


@contextmanager
def caddy(folder: Path, port: int, routes: str, *, secure: bool = False) -> Iterator[Path]:
    """Run Caddy with these routes on a port of this machine; without it, the test is skipped.

    ``secure`` wants HTTPS, with a certificate of Caddy's own authority, whose file is yielded.
    """
    options = "{\nadmin off\nskip_install_trust\nauto_https disable_redirects\n}\n"
    address = f"https://localhost:{port}" if secure else f"http://127.0.0.1:{port}"
    routes = f"tls internal\n{routes}" if secure else routes
    file = folder / "Caddyfile"
    file.write_text(f"{options}{address} {{\n{routes}\n}}\n")
    command = [require_program("caddy"), "run", "--adapter", "caddyfile", "--config", str(file)]
    authority = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
    with _running(command, port, XDG_DATA_HOME=str(folder)):
        yield authority


@contextmanager
def nginx(folder: Path, port: int, server: str) -> Iterator[None]:
    """Run nginx with this server, which listens on a port of this machine."""
    program = find_program("nginx", "/usr/sbin/nginx")
    require("" if program else "nginx is not installed")
    file = folder / "nginx.conf"
    user = "" if os.getuid() else "user root;"  # who may write into the folder
    file.write_text(NGINX.format(folder=folder, server=server, user=user))
    with _running([program, "-p", str(folder), "-c", str(file), "-e", "stderr"], port):
        yield


@contextmanager
def _running(command: list[str], port: int, **environment: str) -> Iterator[None]:
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: is_listening(port), what=Path(command[0]).name)
        yield
    finally:
        kill(process)


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for this machine that is its own authority; return it and its key."""
    file, key = folder / "cert.pem", folder / "key.pem"
    run_program(
        *(require_program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes"),
        *("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
        *("-keyout", key, "-out", file),
    )
    return file, key


def documented(beginning: str) -> str:
    """Return the example of docs/deployment.md that begins like this."""
    text = (ROOT / "docs" / "deployment.md").read_text()
    match = re.search(rf"^```\n({re.escape(beginning)}.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert match, beginning
    return match[1]
