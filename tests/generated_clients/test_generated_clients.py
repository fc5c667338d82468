"""Clients that generators make of the OpenAPI document compile, and go one journey."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kbsite.api import api
from kbsite.models import ApiToken
from tests.conformance import suite
from tests.kbsite.declared import V1
from tests.makers import make_user
from transcripts.core.access import AccessLevel
from transcripts.models import Collection

HERE = Path(__file__).parent
MODULES = HERE / "node_modules"
ENVIRONMENT = HERE / ".venv"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def token() -> str:
    shelf = Collection.objects.create(name="Lectures", slug="lectures")
    return ApiToken.issue(
        make_user("ada", collection=shelf), name="test", access=AccessLevel.MANAGE
    )[1]


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "openapi.json"
    path.write_text(json.dumps(api.get_openapi_schema(path_prefix=V1)))
    return path


def run(*command: object, cwd: Path) -> None:
    process = subprocess.run(
        [*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.node
def test_a_typescript_client_compiles_and_goes_the_journey(
    live_server: Any, token: str, document: Path, tmp_path: Path
) -> None:
    suite.require_node()
    suite.require_installed(MODULES)
    node, programs = suite.node(), MODULES / ".bin"
    (tmp_path / "node_modules").symlink_to(MODULES)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(HERE / "journey.ts", tmp_path)
    run(node, programs / "openapi-typescript", document, "-o", "api.ts", cwd=tmp_path)
    options = ("--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck")
    run(node, programs / "tsc", *options, "journey.ts", cwd=tmp_path)
    run(node, "journey.js", live_server.url, token, cwd=tmp_path)


def test_a_python_client_goes_the_journey(
    live_server: Any, token: str, document: Path, tmp_path: Path
) -> None:
    suite.require_installed(ENVIRONMENT)
    programs = ENVIRONMENT / "bin"
    options = ("--path", document, "--output-path", tmp_path / "library", "--meta", "none")
    run(programs / "openapi-python-client", "generate", *options, cwd=tmp_path)
    shutil.copy(HERE / "journey.py", tmp_path)
    run(programs / "python", "journey.py", live_server.url, token, cwd=tmp_path)
