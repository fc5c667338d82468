"""Program of the child process that reads the words of pictures of pages with RapidOCR.

``child_loop`` has the protocol: a request has the ``path`` of an image; the answer is the JSON of a
``pdf.ocr_page.OcrPage``.
"""

import json
import math
from collections.abc import Iterator
from importlib.metadata import version
from statistics import median
from typing import Any, Final, Literal

import numpy
from PIL import Image
from rapidocr import RapidOCR
from rapidocr.utils.typings import EngineType

from citations.readers import child_loop

MEMORY: Final = 6 * 1024**3  # bytes of address space, of which a quarter is used
KEPT: Final = 900 * 1024**2  # bytes, of which half are the models'
PAGE_STEPS: Final = (320, 320)  # pixels of height and width
LINE_STEPS: Final = (1, 160)
IDLE: Final = 120  # seconds: its models take some hundred megabytes
MAX_PIXELS: Final = 24_000_000  # of a picture
DETECTION_SIDE: Final = 1_280  # pixels of the longer side where lines are looked for
MIN_LETTERS: Final = 3  # of a line whose direction counts
GOOD: Final = 0.8  # a mean score above which a page is surely upright
ENGINE: Final = EngineType.OPENVINO
SETTINGS: Final = {
    **{f"{part}.engine_type": ENGINE for part in ("Det", "Cls", "Rec")},
    "Global.log_level": "critical",
    "Global.max_side_len": 20_000,  # only detection works on a smaller picture
    "Global.text_score": 0.0,  # who asks decides what is good enough
    "Global.use_cls": False,
    "Global.return_word_box": True,
    "Global.return_single_char_box": True,
    "Det.limit_type": "max",
    "Det.limit_side_len": DETECTION_SIDE,
    "Rec.rec_batch_num": 1,  # more take a gigabyte and no less time
}

Filling = Literal["constant", "edge"]
Line = tuple[str, float, float, float, float, list[tuple[int, int]]]


def main() -> None:
    """Answer requests."""
    child_loop.set_limits(MEMORY)
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS // 2  # Pillow refuses twice as many
    engine: Any = RapidOCR(params=SETTINGS)
    detector, recogniser = engine._load_det_model(), engine._load_rec_model()
    detector.session = _InSteps(detector.session, PAGE_STEPS, "edge")
    recogniser.session = _InSteps(recogniser.session, LINE_STEPS, "constant")
    child_loop.serve(lambda request: _answer(engine, request), idle=IDLE, most=KEPT)


class _InSteps:
    """Runs a model on pictures whose sides are whole steps, and cuts its result to their size:
    OpenVINO keeps memory for each size that it has met.
    """

    def __init__(self, session: Any, steps: tuple[int, int], filling: Filling) -> None:
        self._session, self._steps, self._filling = session, steps, filling

    def __call__(self, pictures: Any) -> Any:
        height, width = pictures.shape[2:]
        down, right = (
            -side % step for side, step in zip((height, width), self._steps, strict=True)
        )
        wider = numpy.pad(pictures, ((0, 0), (0, 0), (0, down), (0, right)), self._filling)
        result = self._session(wider)
        if result.ndim == 4:  # where letters are
            return result[:, :, :height, :width]
        return result[:, : math.ceil(result.shape[1] * width / (width + right))]


def _answer(engine: RapidOCR, request: dict[str, Any]) -> child_loop.Answer:
    try:
        return {}, [json.dumps(_read(engine, request["path"])).encode()]
    except (OSError, Image.DecompressionBombError) as error:  # others end the program
        return {"refused": f"{type(error).__name__}: {error}"[:300]}, ()


def _read(engine: RapidOCR, path: str) -> dict[str, Any]:
    with Image.open(path) as image:
        picture = numpy.asarray(image.convert("RGB"))[:, :, ::-1]
    turn, result, blank = _read_upright(engine, picture)
    height, width = picture.shape[:2] if turn % 2 == 0 else picture.shape[1::-1]
    skew = _skew(result)
    return {
        "width": width,
        "height": height,
        "turn": turn,
        "skew": skew,
        "blank": blank,
        "engine": f"RapidOCR {version('rapidocr')}, {engine.cfg.Rec.ocr_version.value}"
        f" {engine.cfg.Rec.model_type.value}",
        "lines": list(_lines(result, (width / 2, height / 2), skew)),
    }


def _read_upright(engine: RapidOCR, picture: Any) -> tuple[int, Any, int]:
    """Read a picture; one whose lines run upwards, or hardly make words, turned until they do.

    Return by how many quarter turns, what was read, and the number of lines without a letter.
    """
    result, blank = _recognise(engine, picture)
    tries = [(0, result, blank)]
    if not result.txts or (_mean(result) > GOOD and not _is_sideways(result)):
        return tries[0]
    for turn in (1, 3) if _is_sideways(result) else (2,):
        turned = numpy.ascontiguousarray(numpy.rot90(picture, turn))
        tries.append((turn, *_recognise(engine, turned)))
    return max(tries, key=lambda result: (not _is_sideways(result[1]), _mean(result[1])))


def _recognise(engine: RapidOCR, picture: Any) -> tuple[Any, int]:
    """Return what is read, and the number of lines that were found but have no letter."""
    image, changes = engine.preprocess_img(picture)
    detected, classified, recognised, crops = engine.run_ocr_steps(image, changes)
    texts = recognised.txts or ()
    blank = sum(
        not text.strip() and _size(box)[0] > 2 * _size(box)[1]
        for box, text in zip(detected.boxes if texts else (), texts, strict=True)
    )
    result = engine.build_final_output(picture, detected, classified, recognised, crops, changes)
    return result, blank


def _mean(result: Any) -> float:
    weights = [len(text) for text in result.txts or ()]
    return float(numpy.average(result.scores, weights=weights)) if sum(weights) else 0.0


def _is_sideways(result: Any) -> bool:
    sizes = [_size(box) for box, _ in _long(result)]
    return 2 * sum(height > 1.5 * width for width, height in sizes) > len(sizes)


def _long(result: Any) -> Iterator[tuple[Any, str]]:
    for box, text in zip(result.boxes if result.txts else (), result.txts or (), strict=True):
        if len(text) >= MIN_LETTERS:
            yield box, text


def _size(box: Any) -> tuple[float, float]:
    """Return the lengths of the upper and of the left side of a box."""
    return math.dist(box[0], box[1]), math.dist(box[0], box[3])


def _skew(result: Any) -> float:
    angles = [
        math.atan2(float(box[1][1] - box[0][1]), float(box[1][0] - box[0][0]))
        for box, _ in _long(result)
        if _size(box)[0] > 5 * _size(box)[1]
    ]
    return median(angles) if angles else 0.0


def _lines(result: Any, centre: tuple[float, float], skew: float) -> Iterator[Line]:
    cosine, sine = math.cos(skew), math.sin(skew)

    def level(x: float, y: float) -> tuple[float, float]:
        x, y = x - centre[0], y - centre[1]
        return centre[0] + cosine * x + sine * y, centre[1] - sine * x + cosine * y

    if not result.txts:
        return
    lines = zip(result.boxes, result.txts, result.scores, result.word_results, strict=True)
    for box, text, score, characters in lines:
        places, middles = [], []
        for _, _, corners in characters:
            (x1, y1), (x2, y2) = (
                level((corners[a][0] + corners[b][0]) / 2, (corners[a][1] + corners[b][1]) / 2)
                for a, b in ((0, 3), (1, 2))
            )
            places.append((round(x1), round(x2)))
            middles.append((y1 + y2) / 2)
        if places:
            middle, (width, height) = median(middles), _size(box)
            sizes = (round(value, 1) for value in (middle, width, height))
            yield text, round(float(score), 3), *sizes, places


if __name__ == "__main__":
    main()
