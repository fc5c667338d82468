"""Which files are captions, and which are documents."""

import pytest

from citations.errors import DocumentUnknown
from citations.readers import recognition


@pytest.mark.parametrize(
    ("name", "head", "is_document"),
    [
        ("talk.ass", b"[Script Info]\n\n[Events]\n", False),
        ("talk.tsv", b"start\tend\ttext\n0\t4000\tIt rains\n", False),
        ("prices.tsv", b"tea\tprice\ngreen\t4\n", True),
        ("talk.sub", b"{1}{1}25\n{25}{50}It rains\n", False),
        ("notes.sub", b"Some words.\n", True),
        (
            "console.txt",
            b"[00:01.000 --> 00:02.000] It rains\n[00:03.000 --> 00:04.000] So\n",
            False,
        ),
        ("agenda.txt", b"Lunch 12:00\nTalk 13:30\nEnd 15:00\n", True),
    ],
)
def test_names_and_content_tell_captions_from_documents(
    name: str, head: bytes, is_document: bool
) -> None:
    assert recognition.is_document(head, name) is is_document


@pytest.mark.parametrize(
    "head", [b"From: <Saved by Blink>\r\nSubject: x", b"MIME-Version: 1.0\r\n"]
)
@pytest.mark.parametrize("name", ["page.mhtml", "page.html"])
def test_a_web_archive_is_refused_with_what_to_do_instead(head: bytes, name: str) -> None:
    with pytest.raises(DocumentUnknown, match="web archive") as raised:
        recognition.recognise(head, name)
    assert "save it as a web page" in raised.value.hint
