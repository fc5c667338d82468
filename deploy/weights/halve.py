"""Halve the weights of a model: float16 in place of float32, in which models are run all the same.

``python deploy/weights/halve.py FOLDER`` changes ``model.safetensors`` there.
"""

import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file


def halve(folder: Path) -> None:
    """Store the weights of a folder with half as many bits."""
    file = folder / "model.safetensors"
    tensors = load_file(file)
    for name, tensor in tensors.items():
        if tensor.dtype == np.float32:
            tensors[name] = tensor.astype(np.float16)
    save_file(tensors, file, {"format": "pt"})


if __name__ == "__main__":
    halve(Path(sys.argv[1]))
