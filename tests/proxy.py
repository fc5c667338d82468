"""A real proxy before a server: Caddy."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.instance import is_listening, kill, wait_until
from tests.programs import require_program


@contextmanager
def caddy(folder: Path, port: int, routes: str) -> Iterator[None]:
    """Run Caddy with these routes on a port of this machine; without it, the test is skipped."""
    file = folder / "Caddyfile"
    options = "{\nadmin off\nauto_https off\n}\n"
    file.write_text(f"{options}http://127.0.0.1:{port} {{\n{routes}\n}}\n")
    command = [require_program("caddy"), "run", "--adapter", "caddyfile", "--config", str(file)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until(lambda: is_listening(port), what="Caddy")
        yield
    finally:
        kill(process)
