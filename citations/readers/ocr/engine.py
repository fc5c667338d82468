"""Reads the words of pictures with RapidOCR and OpenVINO, in a child process (see ``worker``)."""

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from citations.errors import OcrFailed, OcrMissing
from citations.readers.pdf.ocr_page import OcrPage
from citations.readers.sandbox import ChildExited, ChildProcess, ChildTimeout

PAGE_TIME: Final = 180.0  # seconds, of which a full page takes five on two cores
DPI: Final = 200  # a line of 10 points has then 30 pixels, of which the models use 48
MAX_SIDE: Final = 4_000  # pixels; what is larger is read smaller

_ENGINE: Final = ChildProcess(Path(__file__).with_name("worker.py"))


def is_installed() -> bool:
    return find_spec("rapidocr") is not None


def require_installed() -> None:
    """Raise ``OcrMissing`` without the extra ``ocr``."""
    if not is_installed():
        raise OcrMissing


def read(picture: bytes) -> OcrPage:
    """Return what a picture shows, an image file. Raises ``OcrFailed`` and ``OcrMissing``."""
    require_installed()
    with tempfile.NamedTemporaryFile(prefix="cuebase-ocr-") as file:
        file.write(picture)
        file.flush()
        try:
            answer = _ENGINE.ask({"path": file.name}, seconds=PAGE_TIME)
        except ChildTimeout as error:
            raise OcrFailed(f"OCR took more than {PAGE_TIME:.0f} seconds.") from error
        except ChildExited as error:
            raise OcrFailed("The program that reads pages by OCR failed.") from error
    if "refused" in answer.head:
        raise OcrFailed("OCR could not open the picture of the page.")
    return OcrPage.of(json.loads(answer.blobs[0]))
