#!/bin/sh
# Check the scripts in templates/static: "check.sh lint" for style and types, "check.sh test".
set -eu
cd "$(dirname "$0")"
if [ ! -d node_modules ] || ! command -v node >/dev/null; then
  echo "Skipped: the checks of scripts need Node.js and tests/frontend/install.sh" >&2
  [ "${CI:-}" != true ]
  exit
fi
case "$1" in
  lint)
    node_modules/.bin/biome lint --error-on-warnings . ../../templates/static ../../kbsite/extension
    node_modules/.bin/tsc --project .
    ;;
  test) node --test ;;
esac
