"""What the Dockerfile does, done without a container engine: its script and its commands run in a
fresh Debian, as a user without rights. `make image-test` runs it, in about three minutes.
"""

import json
import re
import shlex

import pytest

from tests import debian_root, sources
from tests.debian_root import HOME, DebianRoot
from tests.instance import free_port

DOCKERFILE = (sources.ROOT / "Dockerfile").read_text()
TARGET = f"{HOME}/image"
SERVE = f"""
export PATH={TARGET}/bin:$PATH PORT={{port}}
{{command}} --sample > serve.log 2>&1 &
until {{check}} 2> check.log; do sleep 0.5; done
while kb search "asking again later" --mode meaning --json | grep -q '"passages": \\[\\]'; do
  sleep 0.5
done
kb ask "What is exponential backoff?" --json
kill $!
wait $! || true
"""
MAX_MEGABYTES = 650

pytestmark = [
    pytest.mark.skipif(bool(debian_root.missing()), reason=debian_root.missing()),
    pytest.mark.timeout(1_800),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> DebianRoot:
    """A Debian with the files that an engine would send to the build, and what the script made."""
    folder = tmp_path_factory.mktemp("debian")
    ignored = (sources.ROOT / ".dockerignore").read_text().splitlines()
    sources.copy_to(folder / "source", *(line[1:] for line in ignored if line.startswith("!")))
    made = DebianRoot(folder / "root")
    made.give(folder / "source", "source")
    assert "kb " in made.run(f"sh source/deploy/image/build.sh source {TARGET}")
    return made


def instruction(name: str) -> str:
    """Return the command of the Dockerfile's last instruction of a name, as the shell wants it."""
    text = DOCKERFILE.replace("\\\n", " ")
    commands = re.findall(rf"^{name} .*?(\[.*\])$", text, flags=re.MULTILINE)
    return shlex.join(json.loads(commands[-1]))


def test_the_image_is_healthy_and_answers_with_a_citation(root: DebianRoot) -> None:
    port = free_port()
    check = instruction("HEALTHCHECK").replace("8000", str(port))
    script = SERVE.format(port=port, command=instruction("CMD"), check=check)
    answer = json.loads(root.run(script))
    assert answer["state"] == "answered"
    assert "doubling" in answer["claims"][0]["text"]
    assert answer["citations"][0]["quote"]


def test_the_image_is_small(root: DebianRoot) -> None:
    files = [path for path in (root.home / "image").rglob("*") if not path.is_symlink()]
    assert sum(path.stat().st_size for path in files if path.is_file()) < MAX_MEGABYTES * 1e6


def test_what_is_installed_does_not_need_the_files_it_was_built_from(root: DebianRoot) -> None:
    root.run(f"mv source elsewhere; {TARGET}/bin/kb --version")
