"""What every test may ask for."""

import gc
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis
import pytest
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.utils import translation
from huggingface_hub import close_session
from numpy.typing import NDArray

from citations.providers import http as provider_http
from citations.providers import registry
from citations.providers.embedding import HashEmbedder
from kbsite import boot, garbage, postgres
from tests import template
from tests.hub_standin import CHUNK, HubStandIn
from tests.makers import make_user
from tests.model_standin import ModelStandIn
from tests.web_standin import Web
from tests.youtube_standin import YouTubeStandIn
from transcripts.core import actors
from transcripts.core.actors import Actor
from transcripts.core.scope import Scope
from transcripts.models import Collection, Role
from transcripts.youtube.guard import LOOPBACK_VARIABLE

hypothesis.settings.register_profile("quick", deadline=None, max_examples=25)
hypothesis.settings.register_profile("thorough", deadline=None)
hypothesis.settings.load_profile("quick")

# What `make test` leaves to `make test-all`: kills, upgrades, protocols, what only browsers do.
THOROUGH = (
    "tests/browser/",
    "tests/conformance/",
    "tests/generated_clients/",
    "tests/image/",
    "tests/journeys/test_backup_drill",
    "tests/journeys/test_chaos",
    "tests/journeys/test_full_disk",
    "tests/journeys/test_ingest_kills",
    "tests/journeys/test_kills",
    "tests/journeys/test_listening_kills",
    "tests/journeys/test_llama_server",
    "tests/journeys/test_load",
    "tests/journeys/test_once",
    "tests/journeys/test_proxies",
    "tests/journeys/test_replicas",
    "tests/kbsite/test_schema",
    "tests/speech/",
    "tests/upgrades/",
)

# The files that take longest, the longest first.
LONGEST = (
    "tests/kbsite/test_schema",
    "tests/kbsite/cli/test_serve",
    "tests/kbsite/cli/test_remote",
    "tests/journeys/",
    "tests/upgrades/",
    "tests/kbsite/test_content.py",
    "tests/kbsite/test_postgres",
    "tests/kbsite/test_apps",
    "tests/kbsite/library/test_library",
    "tests/kbsite/cli/",
    "tests/citations/readers/pdf/test_bombs",
    "tests/kbsite/mcp/test_stdio",
    "tests/citations/providers/",
    "tests/citations/lectures/test_worker",
    "tests/conformance/",
    "tests/transcripts/test_admin",
    "tests/browser/test_machinery",
    "tests/browser/test_wheel",
    "tests/browser/test_pages",
    "tests/browser/test_journeys",
    "tests/browser/test_highlights",
    "tests/browser/test_selection",
    "tests/browser/test_ask",
    "tests/browser/test_search",
    "tests/browser/test_media",
    "tests/browser/test_palette",
    "tests/browser/test_lectures",
    "tests/browser/test_item_details",
    "tests/browser/test_extension",
)


garbage.pause()  # until all tests are collected


def pytest_configure(config: pytest.Config) -> None:
    """Start the database of this run, without fsync; the admin is there, as it is where addresses
    are. What only hands out the tests of a parallel run needs neither.
    """
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return
    admin.autodiscover()
    if boot.is_embedded() and not config.option.collectonly:
        template.copy_to(Path(settings.DATA_DIR))
        postgres.start(Path(settings.DATA_DIR), fast=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest: the processes of a parallel run then end together."""
    items.sort(key=_place)
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker(pytest.mark.thorough)


def _place(item: pytest.Item) -> int:
    places = (place for place, name in enumerate(LONGEST) if item.nodeid.startswith(name))
    return next(places, len(LONGEST))


def pytest_collection_finish() -> None:
    """Collect no garbage among the modules and tests, which stay; and the rest less often than
    usual, as a test leaves little behind.
    """
    garbage.resume()
    gc.set_threshold(5_000, 10, 10)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Repeat what tests recorded as ``score``: figures that are more than passed or failed."""
    for report in terminalreporter.getreports("passed"):
        for score in (
            value
            for name, value in report.user_properties
            if name == "score" and report.when == "call"
        ):
            terminalreporter.write_line(str(score))


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real transcripts to measure with; the test is skipped where it is not there."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CUEBASE_DATA", default))
    if not (folder / "dev").is_dir():
        pytest.skip("the measuring data is not here; set CUEBASE_DATA")
    return folder


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Make the database; in the end, close what threads of tests have left open."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(scope="module")
def rows_of_module(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """What a module's fixture writes is there for each of its tests, until all of them are done;
    what a test changes is undone after it, as always.
    """
    with django_db_blocker.unblock():
        rows = transaction.atomic()
        rows.__enter__()
    yield
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        rows.__exit__(None, None, None)


@pytest.fixture(autouse=True)
def nobody_acts() -> None:
    """Forget who acted last: a request that a test made by itself has no response that does."""
    actors.resolve_with(Actor)


@pytest.fixture(autouse=True)
def page_language() -> None:
    """Forget the language of the last request, which its thread keeps."""
    translation.deactivate()


@pytest.fixture
def collection(db: None) -> Collection:
    """An empty collection."""
    return Collection.objects.create(name="Lectures", slug="lectures")


@pytest.fixture
def scope(collection: Collection) -> Scope:
    """The right to read and change that collection."""
    return Scope(readable=frozenset({collection.pk}), writable=frozenset({collection.pk}))


@pytest.fixture
def model_server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelStandIn]:
    """A stand-in for the servers of models, which the settings of all remote providers name; pauses
    between tries are tiny.
    """
    monkeypatch.setattr(
        provider_http,
        "RETRY_POLICY",
        provider_http.HttpRetryPolicy(first=0.001, pause=0.005, total=5.0),
    )
    registry.reset()
    with ModelStandIn() as standin:
        for name, value in standin.settings().items():
            setattr(settings, name, value)
        yield standin
    registry.reset()


@pytest.fixture
def fresh_registry() -> Iterator[None]:
    """No model is loaded before the test, nor after it."""
    registry.reset()
    yield
    registry.reset()


@pytest.fixture
def hub_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache of the hub."""
    folder = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    return folder


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, hub_cache: Path) -> Iterator[HubStandIn]:
    """A stand-in for the hub, which the settings name; whoever fetches has an empty cache and does
    not pause.
    """
    monkeypatch.setattr("huggingface_hub.file_download.time", SimpleNamespace(sleep=lambda _: None))
    monkeypatch.setattr(
        "huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", CHUNK
    )  # else a tiny model arrives in one piece or not at all
    with HubStandIn() as standin:
        monkeypatch.setenv("HF_ENDPOINT", standin.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        close_session()
        yield standin
        close_session()


@pytest.fixture
def fake_models(settings: Any, fresh_registry: None) -> None:
    """Texts are embedded by their words, and no other model is there."""
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL, settings.EMBEDDING_DIMENSIONS = (
        "fake",
        "",
        0,
    )
    settings.LLM_PROVIDER = settings.RERANKER = "none"
    settings.ADD_FULL_STOPS = False


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that a model was asked to embed."""
    received: list[str] = []
    real = HashEmbedder.embed_documents

    def embed(self: HashEmbedder, texts: Sequence[str]) -> NDArray[Any]:
        received.extend(texts)
        return real(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed_documents", embed)
    return received


@pytest.fixture
def owner(collection: Collection) -> User:
    """Ada owns the collection."""
    return make_user("ada", collection=collection)


@pytest.fixture
def page(client: Client, owner: User) -> Client:
    """A browser in which Ada is signed in."""
    client.force_login(owner)
    return client


@pytest.fixture
def viewer(collection: Collection) -> Client:
    """A browser in which somebody is signed in who may only read."""
    browser = Client()
    browser.force_login(make_user("vera", collection=collection, role=Role.VIEWER))
    return browser


@pytest.fixture
def stranger(db: None) -> Client:
    """A browser of somebody who is signed in, but a member of another collection only."""
    other = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    browser = Client()
    browser.force_login(make_user("eve", collection=other))
    return browser


@pytest.fixture
def youtube(monkeypatch: pytest.MonkeyPatch) -> Iterator[YouTubeStandIn]:
    """A stand-in that is asked in place of YouTube."""
    with YouTubeStandIn() as standin:
        for name, value in standin.environment().items():
            monkeypatch.setenv(name, value)
        yield standin


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """A stand-in for all sites."""
    with Web() as standin:
        monkeypatch.setenv(LOOPBACK_VARIABLE, standin.url)
        yield standin


@pytest.fixture
def boss(db: None) -> User:
    """Who may do everything."""
    return User.objects.create_superuser("boss", password="correct horse battery")


@pytest.fixture
def browser(boss: User) -> Client:
    """A browser in which they are signed in."""
    client = Client()
    client.force_login(boss)
    return client
