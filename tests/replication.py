"""A database with streaming replicas, and a site that reads from them: all of it real processes."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import requests

from kbsite import postgres
from kbsite.postgres.home import PORT, home_of, prepare
from kbsite.postgres.programs import run
from tests import template
from tests.instance import wait_until
from tests.programs import run_python
from tests.serving import Serving

METRICS = "only-for-metrics"
MAKE_PEOPLE = """
from django.contrib.auth.models import User
from kbsite.models import ApiToken
from transcripts.core.access import AccessLevel
for name in ("ada", "bob"):
    user = User.objects.create_superuser(name, password="correct horse battery")
    print(ApiToken.issue(user, name=name, access=AccessLevel.MANAGE)[1])
"""


class Server:
    """A PostgreSQL server, primary or replica."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.lease = postgres.start(home, fast=True)

    def sql(self, query: str) -> Any:
        with psycopg.connect(self.lease.dsn, autocommit=True) as connection:
            row = connection.execute(query).fetchone()
            return row[0] if row else None

    def kill(self) -> None:
        pid = int((self.home / "postgres/data/postmaster.pid").read_text().partition("\n")[0])
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.lease.is_running(), what="the end of a server")

    def clone(self, home: Path) -> "Server":
        """Make a streaming replica of this server."""
        own, other = home_of(home), home_of(self.home)
        account = prepare(own)
        source = ("-h", str(other.sockets), "-p", str(PORT), "-U", "cuebase")
        options = ("-D", str(own.data), "-R", "-c", "fast", "--no-sync")
        copied = run("pg_basebackup", *source, *options, account=account)
        assert copied.returncode == 0, copied.stderr
        return Server(home)


class Team:
    """A primary, two replicas and a web server, which two people use by token."""

    def __init__(self, folder: Path) -> None:
        template.copy_to(folder / "primary")
        self.primary = Server(folder / "primary")
        self.replicas = [self.primary.clone(folder / f"replica-{n}") for n in (1, 2)]
        # The driver finds the primary among all: after a promotion, that is another server.
        servers = (self.primary, *self.replicas)
        hosts = ",".join(quote(str(home_of(server.home).sockets)) for server in servers)
        first = "postgresql://cuebase@/cuebase"
        self.site = Serving(
            folder / "site",
            "--no-worker",
            DATABASE_URL=f"{first}?host={hosts}&port={PORT}&target_session_attrs=read-write",
            DATABASE_REPLICAS=",".join(replica.lease.dsn for replica in self.replicas),
            METRICS_TOKEN=METRICS,
        )
        self.tokens = dict(zip(("ada", "bob"), self._make_people(), strict=True))

    def _make_people(self) -> list[str]:
        code = f"from kbsite import boot\nboot.boot()\n{MAKE_PEOPLE}"
        return run_python("-c", code, environment=self.site.environment).stdout.split()

    def ask(self, name: str, path: str, method: str = "GET", **body: Any) -> requests.Response:
        """Send a request; a person's answer is waited for as long as a browser would."""
        return requests.request(
            method,
            f"{self.site.url}{path}",
            headers={"Authorization": f"Bearer {self.tokens[name]}"},
            json=body or None,
            timeout=30,
        )

    def reads(self) -> dict[str, int]:
        """Return how many reads the primary and the replicas have answered."""
        headers = {"Authorization": f"Bearer {METRICS}"}
        text = requests.get(f"{self.site.url}/metrics", headers=headers, timeout=30).text
        counts = re.findall(r'cuebase_reads_total\{server="(\w+)"\} ([\d.]+)', text)
        return {"primary": 0, "replica": 0} | {name: int(float(count)) for name, count in counts}


@contextmanager
def team(folder: Path) -> Iterator[Team]:
    """Run a team's servers for the block."""
    with ExitStack() as ends:
        made = Team(folder)
        for server in (made.primary, *made.replicas):
            ends.callback(server.lease.release)
        ends.callback(made.site.end, signal.SIGTERM)
        yield made
