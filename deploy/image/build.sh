#!/bin/sh
# Install Cuebase from a checkout into a folder: what the Dockerfile runs, and what a machine without
# containers can run as well. Needs Python 3.11 or newer with venv, and the package index.
#   [EXTRA_PACKAGES="av …"] sh deploy/image/build.sh [SOURCE] [TARGET]
# EXTRA_PACKAGES are installed besides, such as what an extra of pyproject.toml names.
set -eu
SOURCE=$(cd "${1:-.}" && pwd)
TARGET=${2:-/opt/cuebase}
PIP="$TARGET/bin/python -m pip --disable-pip-version-check --no-cache-dir --quiet"

python3 -m venv "$TARGET"
$PIP install --no-deps -r "$SOURCE/requirements-core.lock"
$PIP install --no-deps "$SOURCE"
[ -z "${EXTRA_PACKAGES:-}" ] || $PIP install $EXTRA_PACKAGES

sh "$SOURCE/deploy/image/trim.sh" "$TARGET"
$PIP uninstall --yes setuptools pip
"$TARGET/bin/kb" --version
