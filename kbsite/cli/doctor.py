"""`kb doctor`: check everything that has to work. A check reports an exception as its result."""

import resource
import socket
import stat
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import requests
import typer
from django.db import connection

from citations import conf
from citations.documents import storage as document_storage
from citations.lexical import index as lexical_index
from citations.library import sources
from citations.listening import recognition
from citations.models import Source
from citations.providers import registry
from citations.providers.reranking import Reranker
from citations.vectors import language_gap
from citations.vectors import space as vector_space
from kbsite import apps, boot, celery, health
from kbsite.callers import everything
from kbsite.cli import proxy_checks
from kbsite.cli.jobs import gate_text
from kbsite.cli.options import Json, option
from kbsite.cli.terminal import expected_error, print_json, say, typed
from kbsite.health import HealthCheck
from kbsite.identity import provider
from kbsite.library import server_lock
from kbsite.library.database import open_database
from kbsite.postgres import account
from kbsite.settings import django as settings
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.sanitize import redact
from transcripts.core.work.disk import make_private_folder
from transcripts.models import YouTubeGate

MARKS: dict[bool | None, tuple[str, str]] = {
    True: ("✓", "green"),
    False: ("✗", "red"),
    None: ("–", "yellow"),
}
FEW_FILES = 1_024  # a server has one for each connection
Result = tuple[bool | None, str, str]  # ok, detail, hint


def doctor(
    as_json: Json = False,
    url: Annotated[
        str, option(metavar="URL", help="Check a server from outside, through its proxy, instead.")
    ] = "",
) -> None:
    """Check the installation and suggest fixes.

    The exit code is 1 if a check fails.
    """
    results = proxy_checks.check(url) if url else _check_here()
    has_failed = any(result.ok is False for result in results)
    if as_json:
        print_json({"ok": not has_failed, "checks": results})
    else:
        for result in results:
            mark, style = MARKS[result.ok]
            say(f"{mark} {result.name}: {result.detail}", style)
            if result.ok is not True and result.hint:
                say(typed(f"    {result.hint}"))
    raise typer.Exit(1 if has_failed else 0)


def _check_here() -> list[HealthCheck]:
    results = [_run("Python", _python), _run("Data directory", _data_dir)]
    opened = _run(health.DATABASE, _open_database)
    results += health.check_all() if opened.ok else [opened]
    if opened.ok:
        results += [_run(name, check) for name, check in _AFTER_DATABASE.items()]
    results += [_run(name, _package, name) for name in ("yt-dlp", "youtube-transcript-api")]
    return [*results, _run("Open files", _open_files), _run("Port", _port)]


def _run(name: str, check: Callable[..., Result], *arguments: str) -> HealthCheck:
    try:
        ok, detail, hint = check(*arguments)
        return HealthCheck(name, ok, redact(detail), redact(hint))
    except Exception as error:  # noqa: BLE001  an exception is a result
        problem = expected_error(error) or KnowledgeBaseError(f"{type(error).__name__}: {error}")
        return HealthCheck(name, ok=False, detail=problem.message, hint=problem.hint)


def _python() -> Result:
    version = ".".join(map(str, sys.version_info[:3]))
    return sys.version_info >= (3, 11), version, "Cuebase needs Python 3.11 or newer."


def _data_dir() -> Result:
    folder = Path(settings.DATA_DIR)
    make_private_folder(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            return _close_to_others(folder)
    except OSError as error:
        hint = "Set YOUTUBE_KB_DATA_DIR to a writable directory."
        return False, f"{folder}: {error.strerror}", hint


def _close_to_others(folder: Path) -> Result:
    """Take away the rights that other users have to what the data directory contains."""
    opened = [path for path in (folder, *folder.iterdir()) if _unmeant_rights(path)]
    try:
        for path in opened:
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_unmeant_rights(path))
    except PermissionError:
        hint = f"Its owner can run `chmod -R go= {folder}`."
        return None, f"{folder} is open to other users of this machine", hint
    database = folder / "postgres"
    if opened and database.exists() and boot.is_embedded():
        account.open_way(database, account.account_for(database))
    if opened:
        return True, f"{folder}, which was open to other users and is closed now", ""
    is_shared = folder.stat().st_mode & stat.S_ISGID
    return True, f"{folder}, open to its group" if is_shared else str(folder), ""


def _unmeant_rights(path: Path) -> int:
    """Return the rights of others to a path, as bits of its mode.

    Those of a group are meant if new files get its group (setgid) or an access list exists.
    """
    if path.is_symlink():
        return 0
    mode = path.stat().st_mode
    is_shared = mode & stat.S_ISGID or account.has_access_list(path)
    return mode & (0o007 if is_shared else 0o077)


def _open_database() -> Result:
    open_database()
    return True, "", ""


def _pgvector() -> Result:
    if problems := apps.vector_extension(databases=["default"]):
        return False, str(problems[0].msg), str(problems[0].hint or "")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(max(extversion), 'available, not created yet')"
            " FROM pg_extension WHERE extname = 'vector'"
        )
        return True, str(cursor.fetchone()[0]), ""


def _embedding_model() -> Result:
    space = vector_space.active()  # raises if the settings name another model
    if space is None:
        return True, "none is needed before the first source is indexed", ""
    vector_space.embedder_of(space)  # raises if it is unavailable
    return True, space.model, ""


def _languages() -> Result:
    gap = language_gap.find(Source.objects.all())
    if gap is None:
        return True, "the embedding model knows those of most sources", ""
    detail = (
        f"{gap.sources} of {gap.total} sources are in languages that {gap.model} was not made for"
        f" ({', '.join(gap.languages)})"
    )
    fetch, migrate = gap.commands
    return None, detail, f"`{fetch}`, then `{migrate}` finds them by meaning, too."


def _reranker(
    setting: str, configured: Callable[[], str], find: Callable[[], Reranker | None], without: str
) -> Result:
    name = configured()
    if name == conf.NO_RERANKER:
        return None, "switched off", f"{setting} names one; without it, {without}."
    reranker = find()
    if conf.is_served(name) and reranker:
        reranker.score("test", ["test"])  # raises if the server cannot be used
        return True, f"{name} at its server", ""
    if reranker is None:
        hint = f"`kb models fetch` gets it; {setting}=none turns it off."
        return None, f"{name} is not installed", hint
    return True, name, ""


def _sources() -> Result:
    counts = sources.list_sources(everything(), limit=0).counts
    detail = (
        f"{counts.ready} of {counts.total} ready,"
        f" {counts.unfinished} in progress, {counts.failed} failed"
    )
    is_complete = not (counts.failed or counts.unfinished)
    return is_complete or None, detail, "`kb sources` shows their states and problems."


def _words() -> Result:
    count = lexical_index.outdated(Source.objects.all()).count()
    if not count:
        return True, "all sources are indexed by this version", ""
    detail = f"{count} source{'s' * (count > 1)} indexed by an earlier version, and found as there"
    return None, detail, "A worker indexes them again, and so does `kb db reindex --wait`."


def _chunks() -> Result:
    count = sources.split_otherwise(Source.objects.all()).count()
    if not count:
        return True, "all sources are split as the settings say", ""
    names = "CHUNK_SIZE, CHUNK_OVERLAP, CHUNKING or CHUNK_PERCENTILE"
    detail = f"{count} source{'s' * (count > 1)} split with other values of {names}"
    return None, detail, "`kb db reindex` splits and embeds them again; searches continue."


def _documents() -> Result:
    count = document_storage.read_otherwise(Source.objects.all()).count()
    if not count:
        return True, "all were read by this version", ""
    detail = f"{count} document{'s' * (count > 1)} read by an earlier version"
    hint = (
        "`kb db reindex` reads and indexes them again; until then, nothing is marked on images"
        " of their pages."
    )
    return None, detail, hint


def _queue() -> Result:
    celery.make_queue_folders()
    is_local = str(settings.CELERY_BROKER_URL).startswith("filesystem:")
    broker = "files in the data directory" if is_local else "CELERY_BROKER_URL"
    try:
        with celery.app.connection_for_write(connect_timeout=5) as queue:
            queue.ensure_connection(max_retries=1, timeout=5)
    except Exception as error:  # noqa: BLE001  every broker has errors of its own
        hint = "Check CELERY_BROKER_URL, and that the broker runs."
        return False, f"{broker}: {type(error).__name__}", hint
    return True, broker, ""


def _gate() -> Result:
    gate = YouTubeGate.current()
    hint = "Set PROXY_URL, wait, or add caption files instead."
    return gate.state == "open" or None, gate_text(gate), hint


def _oidc() -> Result:
    try:
        return provider.check()
    except requests.RequestException as error:
        detail = f"the issuer does not answer: {type(error).__name__}"
        hint = "Check OIDC_ISSUER, and that this server reaches it and knows its certificate."
        return False, detail, hint


def _package(name: str) -> Result:
    try:
        return True, version(name), ""
    except PackageNotFoundError:
        return False, "is not installed", "Run `make setup`."


def _open_files() -> Result:
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_enough = most == resource.RLIM_INFINITY or most >= FEW_FILES
    hint = "Each connection is one. Raise the limit with `ulimit -n 65536` or LimitNOFILE=65536."
    return is_enough or None, f"this user may have {most:,}", hint


def _port() -> Result:
    if server := server_lock.find(Path(settings.DATA_DIR)):
        return True, f"Cuebase runs at {server.url} (process {server.pid})", ""
    with socket.socket(socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.HOST, settings.PORT))
        except OSError as error:
            detail = f"{settings.PORT} of {settings.HOST}: {error.strerror}"
            return False, detail, "Use `kb serve --port N`, or set PORT."
    return True, f"{settings.PORT} is free", ""


def _speech() -> Result:
    try:
        name = recognition.recognizer().name
    except KnowledgeBaseError as error:
        return None, f"off: {error.message}", error.hint
    minute = round(60 * recognition.PACE)
    return True, f"{name}; the base model takes about {minute} s for a minute on two cores", ""


_AFTER_DATABASE: dict[str, Callable[[], Result]] = {
    "pgvector": _pgvector,
    "Embedding model": _embedding_model,
    "Languages": _languages,
    "Cross-encoder": lambda: _reranker(
        "RERANKER", conf.reranker, registry.reranker, "passages keep the order of words and meaning"
    ),
    "Cross-encoder of lectures": lambda: _reranker(
        "LIVE_RERANKER", conf.live_reranker, registry.live_reranker, "lectures cite by the judge"
    ),
    "Speech recognition": _speech,
    "Sources": _sources,
    "Words": _words,
    "Chunks": _chunks,
    "Documents": _documents,
    "Queue": _queue,
    "OIDC": _oidc,
    "YouTube": _gate,
}
