#!/bin/sh
# Install Node 22, the MCP test suites and clients, at the versions that package.json pins, beside
# this file; and fastmcp, in an environment of its own, as its packages are not this project's.
# No lock file: it would name the address of one registry, and npm is to use the one it is configured for.
set -eu
cd "$(dirname "$0")"
npm install --no-package-lock --no-audit --no-fund --loglevel=error
"${PYTHON:-python3}" -m venv .venv
.venv/bin/pip install --quiet --no-compile fastmcp==4.1.2
