#!/bin/sh
# Install Node 22 and the MCP test suites, at the versions that package.json pins, into node_modules beside this file.
# No lock file: it would name the address of one registry, and npm is to use the one it is configured for.
set -eu
cd "$(dirname "$0")"
exec npm install --no-package-lock --no-audit --no-fund --loglevel=error
