"""A file whose reader fails in any way has failed: it says what to do, and the log says why."""

from io import BytesIO
from pathlib import Path

import pytest

from citations.documents import page_images
from citations.documents import storage as document_storage
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Document, Source, State
from citations.readers.markup import reader as markup_reader
from citations.readers.office import reader as office_reader
from citations.readers.pdf import reader as pdf_reader
from citations.readers.sandbox import ChildProcess
from tests.citations.readers.office.archives import docx, paragraph
from transcripts.models import Collection

pytestmark = pytest.mark.usefixtures("fake_models")

# What a file that has taken over its child process may do: the child's program, without its fault.
CHILD = """
import json, os, signal, sys, time
facts = {"page_count": 2, "title": "", "author": "", "language": "", "outline": []}
facts |= {"is_xfa": False, "attachments": 0}
page = {"width": 600, "height": 700, "is_drawn_on": False, "label": "", "page_count": 2}
page |= {"notes": [], "has_layers_off": False}

def answer(head, *blobs):
    head = json.dumps({**head, "blobs": [len(blob) for blob in blobs]}).encode()
    sys.stdout.buffer.write(len(head).to_bytes(4, "big") + head + b"".join(blobs))
    sys.stdout.buffer.flush()

for line in sys.stdin.buffer:
    request = json.loads(line)
    if request["do"] == "describe":
        answer({}, json.dumps(facts).encode())
    else:
        FAULT
"""
DEATHS = (
    "os.kill(os.getpid(), signal.SIGSEGV)",
    "os.kill(os.getpid(), signal.SIGKILL)",  # as for want of memory
    "os.kill(os.getpid(), signal.SIGALRM)",  # as after its time
    "os._exit(1)",
    "answer({'refused': 'broken'})",
    "sys.stdout.buffer.write(bytes([0, 1, 0, 0]) + b'[' * 65_536); sys.stdout.buffer.flush()",
)
LIES = (
    "answer(page)",  # no arrays
    "answer(page, b'abcd', bytes(1), bytes(4))",  # a letter with one number
    "answer(page, bytes(3), bytes(1), bytes(28))",
    "answer({}, bytes(4), bytes(1), bytes(28))",  # no size
    "answer({**page, 'width': 'x', 'height': None}, b'abcd', bytes(1), bytes(28))",
)
NOT_LINES = ("print('no JSON')", "print('[]')", "print('{}'); print('[1]')", "print('{}\\n' * 3)")


def ingested(collection: Collection, data: bytes, name: str) -> Source:
    source = document_storage.add(collection, BytesIO(data), name=name).source
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    return source


def assert_failed_for_good(source: Source) -> None:
    assert (source.state, source.error_code) == (State.FAILED, "document_broken")
    assert source.run_after is None
    assert "cannot be read" in source.error or "takes too long" in source.error
    assert "Open it in another program" in source.hint
    assert "Traceback" not in source.error


def replace_child(monkeypatch: pytest.MonkeyPatch, folder: Path, fault: str) -> None:
    program = folder / "child.py"
    program.write_text(CHILD.replace("FAULT", fault))
    for child in ("_READER", "_RENDERER"):
        monkeypatch.setattr(pdf_reader, child, ChildProcess(program, grace=0.2))


@pytest.mark.parametrize("fault", DEATHS + LIES)
def test_a_pdf_whose_child_dies_or_lies_has_failed(
    collection: Collection,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    fault: str,
) -> None:
    replace_child(monkeypatch, tmp_path, fault)
    source = ingested(collection, b"%PDF-1.7\n" + fault.encode(), "x.pdf")
    assert_failed_for_good(source)
    assert ("Traceback" in caplog.text) == (fault in LIES)
    assert "failed unexpectedly" not in caplog.text


@pytest.mark.parametrize("fault", [*DEATHS, *LIES, "answer({}, b'no image')"])
def test_a_page_whose_child_dies_or_lies_is_shown_as_text(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fault: str
) -> None:
    source = document_storage.add(
        collection, BytesIO(b"%PDF-1.7\n" + fault.encode()), name="x.pdf"
    ).source
    document = Document.objects.get(source=source)
    replace_child(monkeypatch, tmp_path, fault)
    page = document.pages.create(number=1, text="Words", start=0, blocks=[])
    assert page_images.measure_image(document, 1) is None
    image = page_images.PageImage(width=800, height=900)
    assert page_images.text_lines(document, page, image) == ()
    assert page_images.boxes(document, page, [(0, 5)], []) == ((), ())


@pytest.mark.parametrize("said", NOT_LINES)
def test_a_web_page_whose_child_lies_has_failed(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str
) -> None:
    program = tmp_path / "child.py"
    program.write_text(said)
    monkeypatch.setattr(markup_reader, "PROGRAM", program)
    assert_failed_for_good(ingested(collection, b"<html><p>Words", "x.html"))


@pytest.mark.parametrize("said", [*NOT_LINES, 'print(\'{"pages": "many"}\')'])
def test_an_office_document_whose_child_lies_has_failed(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str
) -> None:
    program = tmp_path / "child.py"
    program.write_text(said)
    monkeypatch.setattr(office_reader, "PROGRAM", program)
    assert_failed_for_good(ingested(collection, docx(paragraph("Words.")), "x.docx"))


def test_one_page_that_cannot_be_read_leaves_the_others(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    letters = "import array; codes, boxes = map(array.array, 'If')"
    letters += "; codes.extend(b'Words'); [boxes.extend((9 * n, 9, 9 * n + 8, 19, 9 * n, 19, 10))"
    letters += " for n in range(5)]; answer(page, codes.tobytes(), bytes(5), boxes.tobytes(),"
    letters += " bytes(20))"
    fault = f"answer(page) if request['number'] == 2 else exec({letters!r})"
    replace_child(monkeypatch, tmp_path, fault)
    source = ingested(collection, b"%PDF-1.7\nx", "x.pdf")
    assert source.state == State.READY
    document = Document.objects.get(source=source)
    assert list(document.pages.order_by("number").values_list("text", flat=True)) == ["Words", ""]
    assert document.note == "No text on page 2 of 2: the program that reads the file failed there."
