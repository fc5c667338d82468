#!/bin/sh
# Check the scripts in templates/static: "check.sh lint" for style and types, "check.sh test".
set -eu
cd "$(dirname "$0")"
if [ ! -e node_modules/.installed ]; then
  echo "Skipped: the checks of scripts; sh tests/install.sh says what they need" >&2
  [ "${CI:-}" != true ]
  exit
fi
PATH=$PWD/../conformance/node_modules/.bin:$PATH # the Node of all tests
case "$1" in
  lint)
    node_modules/.bin/biome lint --error-on-warnings . ../../templates/static ../../kbsite/extension
    node_modules/.bin/tsc --project .
    ;;
  test) node --test ;;
esac
