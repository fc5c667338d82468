#!/bin/sh
# Install the generators of clients: of TypeScript beside this file, of Python in an environment of
# its own, as it wants another Typer than this project.
set -eu
cd "$(dirname "$0")"
npm install --no-package-lock --no-audit --no-fund --loglevel=error
"${PYTHON:-python3}" -m venv .venv
.venv/bin/pip install --quiet --no-compile openapi-python-client==0.29.1
