#!/bin/sh
# Install the type checker and the linter for scripts, at the versions that package.json pins.
# No lock file: it would name the address of one registry, and npm uses the one it is set up for.
set -eu
cd "$(dirname "$0")"
exec npm install --no-package-lock --no-audit --no-fund --loglevel=error
